"""Unit 13: the figures of its text are counted here, and its programs run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from autograder import check
from autograder.check.edits import edited
from autograder.check.received import WORD
from autograder.check.verdict import CRASHED, WRONG
from autograder.soundness.verdicts import verdict_of
from autograder.units.u13.checks.tiles import TIMED, scored, worth
from autograder.units.u13.exercises import encode
from course_lib.accelerator.compile.estimate import bound
from course_lib.accelerator.compile.product import Product, matrix
from course_lib.accelerator.compile.products import sums_stay
from course_lib.accelerator.compile.search import choose_tile, clocks
from course_lib.accelerator.compile.slots import one_slot
from course_lib.accelerator.compile.tiles import Tile, fits, smallest
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import ROWS
from course_lib.accelerator.isa.text import assemble
from course_lib.accelerator.isa.word import decode as library_decode
from course_lib.accelerator.isa.word import encode as library_encode
from course_lib.exercises import plugged, slot
from lessons.u13 import tables
from lessons.u13.hand import PRODUCT, TEACHING, W, X, by_hand, result_of
from lessons.u13.words import spelled

NPU = tables.NPU


def small(product):
    return clocks(product, smallest(product, NPU), NPU)


def test_the_numbers_of_the_opening_question():
    assert tables.plain(tables.LAYER) == 1_191_374
    assert bound(tables.LAYER, NPU) == 112_896
    assert 1_191_374 - 112_896 == 1_078_478
    assert clocks(tables.LAYER, choose_tile(tables.LAYER, NPU), NPU) == 115_782
    assert tables.LAYER.macs == 112_896 * 1024


def test_the_bill(run_notebook):
    """Its rows are worked out in the notebook, but the two that are recorded."""
    text = run_notebook("instructor", unit=13).text
    assert "it is 50 % of the clocks above the roofline" in text
    for row, clocks_of_resnet in [
        ("without this unit's pieces", 18_743_369),
        ("+ your products", 15_600_521),
        ("+ two slots in turns (ours)", tables.IN_TURNS),
        ("+ what comes back is kept (ours)", tables.KEPT),
        ("+ more slots: yours", 7_203_662),
        ("+ your tiles", tables.OURS),
        ("your tiles and products, one slot", 3_104_287),
        ("roofline", 1_946_623),
    ]:
        assert re.search(rf"^{re.escape(row)} .* {clocks_of_resnet:,} ", text, re.MULTILINE), row
    with plugged("chip.slots", tables.in_turns):
        assert tables.total(small) == tables.IN_TURNS
    with plugged("chip.slots", tables.two_of(slot("chip.slots").run)):
        assert tables.total(small) == tables.KEPT


def test_resnet_has_21_matrix_products():
    assert sum(many for _, many, _ in tables.RESNET) == 21


def test_products_alone_save_13_to_53_percent():
    with plugged("chip.slots", one_slot):
        saved = [1 - small(tables.RESNET[n][2]) / tables.plain(tables.RESNET[n][2])
                 for n in (0, 1, 6, 9)]  # fmt: skip
    assert (round(100 * min(saved)), round(100 * max(saved))) == (13, 53)


def test_the_program_written_by_hand():
    run = by_hand(PRODUCT)
    np.testing.assert_array_equal(result_of(run), X.astype(int) @ W)
    assert run.total == 36
    assert run.stalls("execute")["busy"] == 4
    assert (TEACHING.rows, TEACHING.cols) == (4, 4)


def test_words_are_those_of_the_chip():
    program = assemble(PRODUCT)
    data = b"".join(encode(*spelled(i)).to_bytes(32, "little") for i in program)
    assert data == library_encode(program)
    assert library_decode(data) == program
    assert len(ROWS) == len(tables.MEANING) == 12
    assert [row.name for row in ROWS] == list(tables.MEANING)
    assert 70_000 % (1 << 16) == 4464


def test_runs_of_a_window():
    product = Product(1, (6, 6), 20, (4, 4), 8, kernel=(3, 3))
    assert [tuple(run) for run in product.runs(6, 20)] == [(0, 60), (120, 60), (240, 60)]


def test_the_tiles_of_the_text():
    assert small(tables.LAYER) == 591_518
    load = tables.run_of(tables.LAYER, smallest(tables.LAYER, NPU)).stalls("load")["busy"]
    assert (load, 9 * 32 * 32 // NPU.dma_bytes) == (587_904, 576)
    assert fits(tables.LAYER, Tile(14, 14, 32), NPU)
    assert not fits(tables.LAYER, Tile(14, 14, 256), NPU)
    assert not fits(tables.LAYER, Tile(14, 14, 64, 8), NPU)
    assert smallest(tables.LAYER, NPU) == Tile(1, 14, 32)
    assert clocks(tables.LAYER, Tile(14, 14, 32), NPU) == 114_662
    with plugged("chip.products", sums_stay):
        assert clocks(tables.LAYER, Tile(14, 14, 32), NPU) == 512_392
    row = matrix(512, 512, 512)
    assert clocks(row, Tile(1, 512, 32, 2), NPU) == 167_184
    assert clocks(row, Tile(1, 256, 64, 4), NPU) == 140_022
    assert (1_006_798 - 591_518, 591_518 - 115_782, 115_782 - 112_896) == (415_280, 475_736, 2_886)


def test_what_another_chip_does_to_two_layers():
    took = {}
    for name, chip in {
        "npu": tables.NPU,
        "half the port": replace(tables.NPU, dma_bytes=8),
        "a quarter of the SRAM": replace(tables.NPU, acts=16 << 10, weights=32 << 10),
        "four times the cells": replace(tables.NPU, rows=64, cols=64, accs=512),
    }.items():
        layers = (tables.LAYER, tables.LAST)
        took[name] = [clocks(layer, choose_tile(layer, chip), chip) for layer in layers]
    assert {layer.macs for layer in (tables.LAYER, tables.LAST)} == {115_605_504}
    first, last = took["npu"]
    assert took["half the port"][0] < 1.05 * first and took["half the port"][1] > 1.9 * last
    assert took["four times the cells"][0] < 0.5 * first
    assert took["four times the cells"][1] == pytest.approx(last, rel=0.01)
    assert (
        max(took["a quarter of the SRAM"][0] / first, took["a quarter of the SRAM"][1] / last) < 1.1
    )


def test_our_tiles_and_the_smallest_on_the_timed_layers():
    assert scored(choose_tile, TIMED).fraction == 1.0
    ours = [clocks(p, choose_tile(p, NPU), NPU) / bound(p, NPU) for p in TIMED]
    assert round(worth(ours)[0], 2) == 1.04
    seen = scored(smallest, TIMED).seen
    assert "4.017 on average" in seen and "7 x 7 pixels: " in seen
    assert seen.endswith("weights outside, ws") and len(seen) <= WORD  # no end is cut off


@pytest.mark.parametrize(
    ("number", "due"), [(0, (142_914, 141_120, 43_904)), (1, (46_392, 15_680, 43_904))]
)
def test_what_limits_two_layers(number, due):
    name, product, tile = tables.LIMITS[number]
    run = tables.run_of(product, tile)
    busy = [run.stalls(engine)["busy"] for engine in ENGINES]
    assert (run.total, *busy[1:]) == due
    assert tile == choose_tile(product, NPU), name


def test_where_those_clocks_come_from():
    pixels, blocks = 56 * 56, -(-144 // 32)
    assert 9 * blocks * pixels == 141_120
    assert blocks * pixels == 15_680
    assert pixels * 144 // 16 == 28_224
    _, product, tile = tables.LIMITS[1]
    wider = tables.run_of(product, tile, replace(NPU, dma_bytes=32))
    assert (wider.total, wider.stalls("store")["busy"]) == (32_374, 31_360)


@pytest.mark.parametrize(("old", "new", "sentence"), [
    ("offset + at", "at", "runs (offset, length) of the stretches of bytes"),
    ("in runs:", "in runs[:1]:", "runs (offset, length) of the stretches of bytes"),
    ("first.acts + offset", "offset", "Offset 0 lies at `first.acts`."),
    ("weights=weights", "weights=weights + n", "where the weights begin: a row of `first.n`"),
    ("(first.add, first.n)", "(0, first.n)", "The first matmul has the `add` of `first`"),
    ("weights + k * n, 1)", "weights + k * n, 0)", "all others add to what is there"),
    ("pitch=n", "pitch=n + 1", "Make each preload with"),
    ("k=k, add=add)", "k=k, add=add, line=first.w * first.step)", "Every matmul equals `first`"),
    ("return program", "return [program[k ^ 1] for k in range(len(program))]",
     "For each piece, a preload"),
])  # fmt: skip
def test_wrong_sums_quote_the_sentence_that_the_instructions_do_not_keep(old, new, sentence):
    products = edited(slot("chip.products").reference, old, new)
    verdict = verdict_of(slot("chip.products"), products, shrink=False)
    assert verdict.kind == WRONG and verdict.spec.startswith(sentence)


@pytest.mark.parametrize("name, broken", [
    ("chip.slots", lambda wanted, count: None),
    ("chip.slots", lambda wanted, count: [(at + 1, True) for at in range(len(wanted))]),
    ("chip.products", lambda runs, weights, first, rows: runs + 1),
])  # fmt: skip
def test_a_tile_is_not_blamed_for_another_answer(name, broken):
    def mine(product, chip):
        return smallest(product, chip)

    with plugged("chip.tile", mine), plugged(name, broken):
        verdict = check("chip.tile")
    assert verdict.kind == WRONG
    assert f"Your answer to {name} does not pass" in verdict.problem


def test_a_tile_is_blamed_for_its_own_error():
    with plugged("chip.tile", lambda product, chip: product.nothing):
        assert check("chip.tile").kind == CRASHED


def test_an_answer_in_words_is_not_said_to_be_kept():
    assert "nothing written yet" in str(check("u13.limits"))
