"""The array alone as a matrix unit: chains of tiles, exact, with few loads, races excluded."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.unit import MatrixUnit, TileWork, run_tiles, tile_program
from course_lib.accelerator.isa.text import assemble, disassemble
from course_lib.accelerator.isa.word import decode, encode

TEACHING = PRESETS["teaching"]


def product_work(rows: int, depth: int, cols: int) -> TileWork:
    """All tiles of a product of [rows, depth] tiles by [depth, cols] tiles."""
    chains = [
        [(i * depth + k, k * cols + j) for k in range(depth)]
        for i in range(rows)
        for j in range(cols)
    ]
    return TileWork(chains, rows * depth, depth * cols)


def tiles(work, chip, seed=0):
    unit, rng = MatrixUnit.of(chip), np.random.default_rng(seed)
    a = rng.integers(-128, 128, (work.a, unit.m, unit.k), np.int8)
    return a, rng.integers(-128, 128, (work.b, unit.k, unit.n), np.int8)


@st.composite
def works(draw):
    a, b = draw(st.integers(1, 70)), draw(st.integers(1, 70))  # more than there are slots
    pair = st.tuples(st.integers(0, a - 1), st.integers(0, b - 1))
    return TileWork(draw(st.lists(st.lists(pair, min_size=1, max_size=5), min_size=1)), a, b)


@given(works())
def test_each_chain_is_the_sum_of_its_products(work):
    a, b = tiles(work, TEACHING)
    got, run = run_tiles(tile_program(work, TEACHING), work, TEACHING, a, b)  # races are faults
    left, right = a.astype(np.int32), b.astype(np.int32)
    wanted = [np.sum([left[i] @ right[j] for i, j in chain], axis=0) for chain in work.chains]
    assert np.array_equal(got, wanted)
    assert run.state.overflows == 0


@pytest.mark.parametrize("name", ["teaching", "npu", "rtl"])
def test_a_product_is_exact_and_loads_each_tile_once(name):
    chip, work = PRESETS[name], product_work(3, 4, 2)
    a, b = tiles(work, chip)
    program = tile_program(work, chip)
    got, _ = run_tiles(program, work, chip, a, b)
    unit = MatrixUnit.of(chip)
    left = a.reshape(3, 4, unit.m, unit.k).transpose(0, 2, 1, 3).reshape(3 * unit.m, -1)
    right = b.reshape(4, 2, unit.k, unit.n).transpose(0, 2, 1, 3).reshape(4 * unit.k, -1)
    whole = left.astype(np.int64) @ right.astype(np.int64)
    made = got.reshape(3, 2, unit.m, unit.n).transpose(0, 2, 1, 3).reshape(whole.shape)
    assert np.array_equal(made, whole)
    counted = Counter(i.name for i in program)
    wanted = {"lda": 12, "ldw": 8, "preload": 24, "matmul": 24, "stacc": 6, "halt": 1}
    assert counted == wanted


def test_the_program_is_text_and_words_like_every_other():
    program = tile_program(product_work(2, 2, 2), TEACHING, ("a kernel",))
    assert assemble(disassemble(program)) == program
    assert [str(i) for i in decode(encode(program))] == [str(i) for i in program]


def test_with_one_slot_for_weights_loads_take_turns_with_work():
    """No second slot: a load may not run before the work on what stands there is done."""
    chip = replace(TEACHING, weights=16, banks=(1, 4, 2))
    work = product_work(2, 3, 2)
    a, b = tiles(work, chip)
    got, _ = run_tiles(tile_program(work, chip), work, chip, a, b)
    same, _ = run_tiles(tile_program(work, TEACHING), work, TEACHING, a, b)
    assert np.array_equal(got, same)
    loads = [Counter(i.name for i in tile_program(work, c))["ldw"] for c in (chip, TEACHING)]
    assert loads == [12, 6]
