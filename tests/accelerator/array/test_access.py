"""Accesses counted in the registers of level 0 equal the formulas; bytes from DRAM by hand."""

import numpy as np
import pytest
from hypothesis import given

from course_lib.accelerator.array.access import accesses
from course_lib.accelerator.array.dram import Memories, dram_bytes
from course_lib.accelerator.array.registers import BUSY, SHIFT, TAKE, registers
from course_lib.accelerator.systolic import SystolicArray

from .test_levels import ARRAYS, KINDS, SIZES


def count(states, condition):
    return sum(int(np.count_nonzero(condition(state))) for state in states)


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_what_the_registers_do_is_what_the_formulas_say(m, k, n, array):
    """With ones for numbers, what is not zero in a register is a useful number of the product."""
    states = list(registers(np.ones((m, k), int), np.ones((k, n), int), array))
    found = accesses(m, k, n, array)
    right, down = ("b", "a") if array.dataflow == "is" else ("a", "b")
    latched = count(states, lambda s: (s.control & BUSY != 0) & (s.right != 0))
    assert found[right].register_writes == latched == found[right].sram_reads * array.cols
    if array.dataflow == "os":
        assert found[down].register_writes == count(states, lambda s: s.down != 0)
        macs = count(states, lambda s: (s.control & BUSY != 0) & (s.right != 0) & (s.down != 0))
        moved = count(
            states, lambda s: (s.control & (SHIFT | TAKE) == SHIFT) & (_chain(s, array) != 0)
        )
        taken = count(states, lambda s: (s.control & TAKE != 0) & (s.spare != 0))
        assert (macs, moved) == (m * k * n, found["c"].hops)
        assert found["c"].register_writes == macs + moved + taken
    else:
        loaded = count(states, lambda s: (s.control & SHIFT != 0) & (_chain(s, array) != 0))
        assert found[down].hops + m * k * n // {"a": n, "b": m}[down] == loaded
        partial = count(states, lambda s: (s.control & BUSY != 0) & (s.down != 0))
        assert found["c"].register_writes == partial == found["c"].sram_writes * array.rows


def _chain(state, array):
    """The registers through which numbers move down that stay, or have stayed."""
    return (
        state.spare
        if array.shadow or (array.dataflow == "os" and not array.drain)
        else (state.stay)
    )


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_number_is_read_once_for_each_fold_that_needs_it(kind):
    """Folds enumerated one by one, for sizes that do not divide."""
    array, sizes = SystolicArray(3, 4, **kind), {"m": 10, "k": 7, "n": 9}
    axes = {"os": "mnk", "ws": "knm", "is": "kmn"}[array.dataflow]
    blocks = {axis: {i // step for i in range(sizes[axis])}
              for axis, step in zip(axes, (3, 4, 10**9), strict=True)}  # fmt: skip
    found = accesses(10, 7, 9, array)
    for name, mine in (("a", "mk"), ("b", "kn"), ("c", "mn")):
        (other,) = set("mkn") - set(mine)
        crossings = sizes[mine[0]] * sizes[mine[1]] * len(blocks[other])
        read = crossings - sizes["m"] * sizes["n"] if name == "c" else crossings
        assert found[name].sram_reads == read
        assert found[name].sram_writes == (crossings if name == "c" else 0)


def test_of_three_dataflows_each_moves_its_own_matrix_least():
    kinds = ("os", "ws", "is")
    counts = {d: accesses(64, 64, 64, SystolicArray(8, 8, dataflow=d)) for d in kinds}
    for stays, name in (("ws", "b"), ("is", "a")):
        reads = {d: counts[d][name].sram_reads for d in kinds}
        assert reads[stays] == 64 * 64 and all(reads[d] == 64 * 64 * 8 for d in {*kinds} - {stays})
    writes = {d: counts[d]["c"].sram_writes for d in kinds}
    assert writes == {"os": 64 * 64, "ws": 8 * 64 * 64, "is": 8 * 64 * 64}


PLENTY = Memories(1 << 30, 1 << 30, 1 << 30)


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_with_room_for_all_everything_moves_once(m, k, n, array):
    assert dram_bytes(m, k, n, array, PLENTY) == {"a": (m * k, 0), "b": (k * n, 0),
                                                 "c": (0, 4 * m * n)}  # fmt: skip


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_without_any_room_every_pass_comes_from_dram(m, k, n, array):
    moved, found = dram_bytes(m, k, n, array, Memories(0, 0, 0)), accesses(m, k, n, array)
    assert [moved[x] for x in "ab"] == [(found[x].sram_reads, 0) for x in "ab"]
    assert moved["c"] == (4 * found["c"].sram_reads, 4 * found["c"].sram_writes)


def test_partial_sums_that_fit_stay_and_one_byte_less_spills():
    array = SystolicArray(4, 4, dataflow="ws")  # 10 x 4 sums of 4 bytes wait for the next k
    fits, spills = (Memories(1000, 1000, 4 * 10 * 4 - less) for less in (0, 1))
    assert dram_bytes(10, 8, 8, array, fits)["c"] == (0, 4 * 80)
    assert dram_bytes(10, 8, 8, array, spills)["c"] == (4 * 80, 2 * 4 * 80)
    with pytest.raises(ValueError, match="at least 0 bytes, got weights -1"):
        Memories(0, -1, 0)


def test_no_memory_is_needed_for_what_is_used_at_once():
    """One block of columns: a passes once, so it may be larger than its SRAM."""
    array = SystolicArray(4, 4)
    assert dram_bytes(100, 10, 4, array, Memories(0, 40, 0))["a"] == (1000, 0)
    assert dram_bytes(100, 10, 4, array, Memories(0, 39, 0))["b"] == (25 * 40, 0)


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="n is a whole number of at least 1, got 0"):
        accesses(1, 1, 0, SystolicArray())
