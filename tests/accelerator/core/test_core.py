"""The chip at work: clocks as in the formula and step by step, values as in numpy, faults."""

import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from itertools import product as product_of

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.array.closed import cycles
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.core.clockwork import clockwork
from course_lib.accelerator.core.hazards import check_hazards
from course_lib.accelerator.core.needs import find_needs
from course_lib.accelerator.core.simulate import simulate, stalls, times
from course_lib.accelerator.isa.execute import Matmul, MatmulOs, Preload
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.isa_interp import interpret
from course_lib.accelerator.isa.load import Lda
from course_lib.accelerator.isa.text import assemble
from course_lib.accelerator.systolic import SystolicArray

NPU, SMALL = PRESETS["npu"], PRESETS["teaching"]
SIZES = st.integers(1, 20)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_folds_take_what_the_closed_form_says(folds, rows, cols, m, count, shadow):
    chip = replace(NPU, rows=rows, cols=cols, shadow=shadow)
    pipelined = (count - 1) * max(m, rows) + m + 2 * rows + cols - 2
    want = pipelined if shadow else count * (m + 2 * rows + cols - 2)
    assert times(folds(m, count), chip, free=("fetch",)).total == want
    if max(m, rows) > 1:  # else two instructions would have to be fetched in a clock
        assert times(folds(m, count), chip).total == want


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_output_stationary_folds_take_what_the_closed_form_says(rows, cols, k, count, drain):
    chip = replace(NPU, rows=rows, cols=cols, drain=drain)
    fold = MatmulOs(acts=0, h=1, w=1, step=0, line=0, k=k, n=1, weights=0, pitch=1, accs=0)
    found = times([*[fold] * count, Halt()], chip)
    each = k + rows + cols - 2
    assert found.total == count * (each + drain * rows) + (not drain) * rows
    assert found.start == [n * (each + drain * rows) for n in range(count)]
    assert [d - s for d, s in zip(found.done, found.start, strict=True)] == [each + rows] * count


@given(SIZES, SIZES, SIZES, st.integers(1, 6), st.integers(2, 6), st.booleans())
def test_whole_products_take_the_cycles_of_the_array(m, k, n, rows, cols, flag):
    """A compiler's loops over tiles, against the formula of `array/`, for both dataflows."""
    chip = replace(NPU, rows=rows, cols=cols, shadow=flag, drain=flag)
    ws, os = [], []
    for k0, n0 in product_of(range(0, k, rows), range(0, n, cols)):
        tile = dict(k=min(rows, k - k0), n=min(cols, n - n0))
        ws.append(Preload(weights=k0 * n + n0, pitch=n, **tile))
        ws.append(Matmul(acts=k0, h=m, w=1, step=0, line=k, accs=0, add=int(k0 > 0), **tile))
    for m0, n0 in product_of(range(0, m, rows), range(0, n, cols)):
        tile = dict(h=min(rows, m - m0), n=min(cols, n - n0))
        os.append(
            MatmulOs(acts=m0 * k, w=1, step=0, line=k, k=k, weights=n0, pitch=n, accs=0, **tile)
        )
    arrays = (
        SystolicArray(rows, cols, dataflow="ws", shadow=flag),
        SystolicArray(rows, cols, dataflow="os", drain=flag),
    )
    for program, array, after in zip((ws, os), arrays, (0, 0 if flag else rows), strict=True):
        found = times([*program, Halt()], chip, free=("fetch",))
        assert found.total == cycles(m, k, n, array) + after  # until the last sums have moved out


@given(SIZES, SIZES, SIZES, st.integers(1, 64), st.integers(0, 50), st.booleans())
def test_a_tiled_product_equals_numpy_and_the_interpreter(
    product, expected, m, k, n, width, latency, shadow
):
    chip = replace(SMALL, dma_bytes=width, dma_latency=latency, shadow=shadow, acts=256)
    program, dram, where = product(chip, m, k, n)
    want, plain = expected(dram, m, k, n, chip.cols), dram.copy()
    run = simulate(program, dram, chip)
    np.testing.assert_array_equal(dram[where].reshape(m, n), want)
    state = interpret(program, plain, chip)
    np.testing.assert_array_equal(plain, dram)
    for memory, left in state.memories.items():
        np.testing.assert_array_equal(left, run.state.memories[memory])
    check_account(run.times)


def check_account(found):
    """Every clock of every engine is busy or has one cause."""
    for number, engine in enumerate(ENGINES):
        assert sum(stalls(found, engine).values()) == found.total
        ends = sorted((g.start, g.end) for g in found.gaps if g.engine == number)
        assert all(a[1] <= b[0] for a, b in pairwise(ends))


def test_a_product_that_needs_no_weights_does_not_overtake_a_preload():
    load = Preload(weights=0, k=4, n=4, pitch=4)
    tile = MatmulOs(acts=0, h=1, w=1, step=0, line=0, k=5, n=4, weights=0, pitch=4, accs=0)
    assert times([load, load, tile, Halt()], SMALL).start == [0, 4, 4]


def test_sums_that_move_out_behind_the_next_product_are_stored_when_they_are_there():
    text = """
        lda dram=0 acts=0 h=1 w=4 bytes=4 step=4 line=16
        ldw dram=16 weights=0 rows=4 bytes=4 pitch=4 signal=execute
        ldb dram=32 params=0 count=1 signal=store
        matmul_os acts=0 h=1 w=4 step=4 line=16 k=4 n=4 weights=0 pitch=4 accs=0 wait=load
        matmul_os acts=0 h=1 w=4 step=4 line=16 k=4 n=4 weights=0 pitch=4 accs=8 signal=store
        act accs=8 n=4 params=0 acts=64 h=1 w=4 step=4 line=16 wait=load,execute
        halt
    """
    chip = replace(SMALL, drain=False)
    run = simulate(assemble(text), np.ones(64, np.int8), chip)
    start, done = run.times.start, run.times.done
    assert start[4] - start[3] == 4 + 4 + 4 - 2  # the array: without the drain
    assert start[5] == done[4] == start[4] + 4 + 4 + 4 - 2 + 4  # its sums: with it


# ── faults ──


def without_token(program, place):
    """One of its tokens less; `place` counts all waits and signals."""
    places = [(n, key, e) for n, i in enumerate(program) for key in ("wait", "signal")
              for e in getattr(i, key)]  # fmt: skip
    number, key, engine = places[place % len(places)]
    left = tuple(e for e in getattr(program[number], key) if e != engine)
    return [replace(i, **{key: left}) if n == number else i for n, i in enumerate(program)]


@given(st.integers(0, 10**6), st.integers(1, 64), st.integers(0, 60), st.booleans())
def test_a_lost_token_is_a_fault_or_does_no_harm(product, expected, place, width, latency, slow):
    chip = replace(SMALL, dma_bytes=width, dma_latency=latency, acts=256, shadow=not slow)
    program, dram, where = product(chip, 30, 6, 7)
    want = expected(dram, 30, 6, 7, chip.cols)
    try:
        simulate(without_token(program, place), dram, chip)
    except Fault as fault:
        assert fault.kind in ("hazard", "deadlock")
        assert not dram[where].any()
        return
    np.testing.assert_array_equal(dram[where].reshape(30, 7), want)


def test_lost_tokens_are_mostly_noticed(product):
    chip, kinds = replace(SMALL, acts=256), Counter()
    program, dram, _ = product(chip, 60, 6, 7)
    for place in range(0, 200, 7):
        try:
            simulate(without_token(program, place), dram.copy(), chip)
            kinds["harmless"] += 1
        except Fault as fault:
            kinds[fault.kind] += 1
    assert kinds["hazard"] > 5 and kinds["deadlock"] > 5
    assert kinds["harmless"] < 8  # such as a token behind the last tile


RACE = """
    ldw dram=0 weights=0 rows=4 bytes=4 pitch=4 signal=execute
    lda dram=16 acts=0 h=1 w=8 bytes=4 step=4 line=32 signal=execute    ; conv1
    preload weights=0 k=4 n=4 pitch=4 wait=load
    matmul acts=0 h=1 w=8 step=4 line=32 k=4 n=4 accs=0 {}   ; conv1
    lda dram=16 acts=0 h=1 w=4 bytes=4 step=4 line=16 {}     ; conv2
    halt
"""


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (("", ""), "read before write: instruction 3 reads bytes 0 to 31 of acts"),
        (("wait=load", ""), "overwritten in use: instruction 4 writes bytes 0 to 15 of acts"),
        (("wait=load signal=load", "wait=execute"), ""),
    ],
)
@pytest.mark.parametrize("latency", [0, 500])
def test_a_race_is_told_with_both_instructions_by_any_luck(tokens, said, latency):
    chip, dram = replace(SMALL, dma_latency=latency), np.ones(48, np.int8)
    program = assemble(RACE.format(*tokens))
    if not said:
        assert simulate(program, dram, chip).times.left == {}
        return
    with pytest.raises(Fault) as caught:
        simulate(program, dram, chip)
    assert caught.value.kind == "hazard"
    for part in (said, "from: conv1", "look at: signal="):
        assert part in str(caught.value)


def test_without_the_check_a_race_leaves_what_the_timing_makes_of_it():
    """Other loads come first, so the product starts before its pixels, and multiplies zeros."""
    load = "lda dram=0 acts=512 h=1 w=12 bytes=4 step=4 line=48"
    text = RACE.format("", "").replace("    lda", f"    {load}\n    {load}\n    lda", 1)
    program, dram = assemble(text), np.ones(48, np.int8)
    fine = interpret(program, dram, SMALL).memories["accs"]
    race = simulate(program, dram, SMALL, hazards=False).state.memories["accs"]
    assert fine[:4].tolist() == [4, 4, 4, 4] and not race.any()


def test_an_address_outside_of_an_empty_memory_is_told_with_its_instruction():
    with pytest.raises(Fault, match=r"dram holds 0 bytes(.|\n)*instruction 0: ldw"):
        simulate(assemble(RACE.format("", "")), np.zeros(0, np.int8), SMALL)


def test_a_token_of_another_instruction_is_told_as_the_cause_of_a_race():
    """Each load gives a token, and `preload` takes one: not that of its weights."""
    first = "ldw dram=0 weights=32 rows=1 bytes=1 pitch=1 signal=execute"
    with pytest.raises(Fault, match="preload 3 takes from load is that of 0, given before 1 is"):
        simulate(assemble(first + RACE.format("wait=load", "")), np.ones(48, np.int8), SMALL)


@pytest.mark.parametrize(
    "text",
    [
        "act accs=0 n=4 params=0 acts=0 h=1 w=2 step=3 line=8",
        "act accs=0 n=4 params=0 acts=0 h=2 w=2 step=4 line=4",
        "st acts=0 dram=0 h=2 w=1 bytes=4 step=4 line=3",
        "stacc accs=0 dram=0 rows=2 n=4 pitch=15",
    ],
)
def test_writing_a_byte_twice_is_a_hazard(text):
    with pytest.raises(Fault, match=r"some of them twice(.|\n)*look at: its strides") as caught:
        simulate(assemble(f"{text}\nhalt"), np.zeros(64, np.int8), SMALL)
    assert caught.value.kind == "hazard"


def test_pixels_that_interlock_are_written_once():
    """Columns of 2 x 1 bytes, 3 and 2 apart: 0, 2, 3, 5."""
    load = "lda dram=0 acts=0 h=1 w=4 bytes=1 step=1 line=4 signal=store"
    text = f"{load}\nst acts=0 dram=8 h=2 w=2 bytes=1 step=2 line=3 wait=load\nhalt"
    dram = np.arange(16, dtype=np.int8)
    simulate(assemble(text), dram, SMALL)
    assert dram[8:14].tolist() == [0, 9, 1, 2, 12, 3]


@pytest.mark.parametrize(("at", "races"), [(64, True), (66, False), (90, False), (91, True)])
def test_a_race_in_dram_is_found_by_its_own_bytes(at, races):
    """Two bytes of every eight are stored; loads that touch only bytes between them are free."""
    text = f"""
        lda dram=0 acts=0 h=1 w=8 bytes=2 step=8 line=64 signal=store
        st acts=0 dram=64 h=1 w=8 bytes=2 step=8 line=64 wait=load
        lda dram={at} acts=256 h=1 w=4 bytes=6 step=8 line=64
        halt
    """
    if not races:
        simulate(assemble(text), np.zeros(128, np.int8), SMALL)
        return
    with pytest.raises(Fault, match=r"instruction 2 reads bytes .* which instruction 1 writes"):
        simulate(assemble(text), np.zeros(128, np.int8), SMALL)


def test_the_check_of_a_large_memory_needs_little_room():
    text = "\n".join(
        f"lda dram={at} acts=0 h=1 w=1 bytes=32768 step=0 line=0 wait=store signal=store\n"
        f"st acts=0 dram={at} h=1 w=1 bytes=32768 step=0 line=0 wait=load signal=load"
        for at in range(0, 1 << 23, 1 << 15)
    ).replace("wait=store ", "", 1)
    program = assemble(f"{text}\nhalt")
    needs = find_needs(program, NPU, 1 << 23)
    found = clockwork(program, needs, NPU)
    tracemalloc.start()
    check_hazards(program, needs, found, NPU, 1 << 23)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23  # a byte for each of DRAM; it was eight


@pytest.mark.parametrize("latency", [0, 10, 500])
def test_banks_hide_a_race_that_the_check_finds(latency):
    """The interlock of `needs.py`: without a token, and right at any latency."""
    program = assemble(RACE.format("", "").replace("signal=execute", "").replace("wait=load", ""))
    chip, dram = replace(SMALL, dma_latency=latency), np.ones(48, np.int8)
    run = simulate(program, dram, chip, hazards=False)
    assert run.state.memories["accs"][:4].tolist() == [4, 4, 4, 4]
    with pytest.raises(Fault, match="no token says that it is done"):
        simulate(program, dram, chip)


def test_reading_what_nothing_has_written_is_a_hazard():
    with pytest.raises(Fault, match="which nothing has written yet"):
        simulate(assemble("preload weights=0 k=1 n=1 pitch=1\nhalt"), np.zeros(4, np.int8), SMALL)


@pytest.mark.parametrize(
    "last",
    [
        "act accs=0 n=5 params=0 acts=0 h=1 w=1 step=5 line=5",
        "lda dram=0 acts=1020 h=1 w=1 bytes=8 step=8 line=8",
    ],
)
def test_a_program_with_a_fault_leaves_memory_as_it_was(last):
    text = "lda dram=0 acts=0 h=1 w=1 bytes=8 step=8 line=8 signal=store\n"
    text += "st acts=0 dram=8 h=1 w=1 bytes=8 step=8 line=8 wait=load\n"
    dram = np.arange(16, dtype=np.int8)
    with pytest.raises(Fault, match="instruction 2: "):
        simulate(assemble(f"{text}{last}\nhalt"), dram, SMALL)
    assert dram.tolist() == list(range(16))


def test_a_token_that_nobody_takes_is_mentioned():
    text = "lda dram=0 acts=0 h=1 w=1 bytes=8 step=8 line=8 signal=store\nhalt"
    run = simulate(assemble(text), np.zeros(16, np.int8), SMALL)
    assert "1 tokens from load to store were never taken" in str(run)


def test_a_deadlock_says_who_waits_for_whom():
    text = """
        ldw dram=0 weights=0 rows=4 bytes=4 pitch=4 wait=execute signal=execute   ; conv1
        preload weights=0 k=4 n=4 pitch=4 wait=load signal=load                   ; conv1
        halt
    """
    with pytest.raises(Fault) as caught:
        simulate(assemble(text), np.zeros(16, np.int8), SMALL)
    assert caught.value.kind == "deadlock"
    for part in (
        "load: instruction 0 (ldw",
        "waits for a token from execute",
        "execute: instruction 1 (preload",
        "instruction 1 (preload weights=0 k=4 n=4 pitch=4 wait=load signal=load) of execute would",
        "store: nothing is in its queue",
        "from: conv1",
    ):
        assert part in str(caught.value)


def test_a_full_queue_can_be_what_blocks(folds):
    """Four loads wait for a product that is not fetched, because the fifth load has no room."""
    load = Lda(dram=0, acts=0, h=1, w=1, bytes=4, step=4, line=4)
    program = [replace(load, wait=("execute",)), *[load] * 4, folds(1, 1)[0]]
    program = [*program[:-1], replace(program[-1], signal=("load",)), Halt()]
    with pytest.raises(Fault, match=r"fetch: instruction 4 .* the queue of load is full \(4\)"):
        times(program, SMALL)
    assert times(program, replace(SMALL, queue=5)).total > 0


def test_a_run_says_where_the_clocks_went(product):
    program, dram, _ = product(NPU, 300, 64, 64)
    run = simulate(program, dram, NPU)
    for part in (f"{run.total:,} clocks", "execute  busy", "wait=load", "32×32 cells"):
        assert part in str(run)
    with pytest.raises(ValueError, match="free is of dma"):
        times(program, NPU, free=("lunch",))
    assert times(program, NPU, free=("dma",)).total < run.total
