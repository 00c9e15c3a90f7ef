"""Hidden checks of unit 5: other turns, other lengths, larger modules and calls."""

from __future__ import annotations

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import a_number
from autograder.units.u05.checks import named
from autograder.units.u05.checks.counter import modules
from autograder.units.u05.checks.flow import calls, same
from autograder.units.u05.checks.written import CHAIN, ONCE, checked, ran
from course_lib.exercises import slot

SEED = 51_283

harder("llvm.fma.arithmetic", "whole_modules", seed=SEED, given=modules(3, 4, 5), examples=60)
harder("llvm.control.balanced", "all_that_follows", seed=SEED, given=calls(7), examples=100)


@hidden("llvm.control.balanced", seed=SEED + 1, given=calls(6), examples=100, what="random calls")
def nothing_is_guessed(balanced, example):
    """On larger calls, exactly what the two rules give."""
    edges, known, _ = example
    expected = slot("llvm.control.balanced").reference(edges, known)
    same(balanced, edges, known, expected, "")


@hidden("u05.offset", seed=SEED)
def is_where_other_loads_read(offset, rng):
    """Where the load reads in turns that were drawn for this run."""
    for turn, channel in zip(rng.integers(0, 5000, 24), [0, 1, 2] * 8, strict=True):
        got = a_number(offset(int(turn), channel), unit="bytes")
        if got != slot("u05.offset").reference(int(turn), channel):
            raise Wrong("The load does not read there.", program=f"offset({turn}, {channel})",
                        got=f"{got:g}")  # fmt: skip


@hidden("u05.four_sums", seed=SEED)
def other_lengths(four_sums, rng):
    """The dot product, the loads and the chain for lengths that were drawn for this run."""
    text = checked(four_sums())
    for size in (4, 256, *(4 * int(n) for n in rng.integers(2, 100, 6))):
        found = ran(text, size)
        if found.chain > size // 4 + 4:
            raise Wrong(f"The chain is too long for n = {size}.", program=text, spec=CHAIN)
        if found.loads != 2 * size:
            raise Wrong(f"Each element must be read once, n = {size}.", program=text, spec=ONCE)


@hidden("u05.passes", seed=SEED)
def names_all_passes(passes):
    """The pass behind each change."""
    if named(passes()) != slot("u05.passes").reference():
        raise Wrong("Some of the six are not right.")
