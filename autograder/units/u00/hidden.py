"""Hidden checks of unit 0, the tour."""

from hypothesis import strategies as st

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import number
from autograder.units.u00.checks import called, letters
from autograder.units.u00.checks.array import (
    FAST,
    clocks_allowed,
    most_clocks,
    of_size,
    shape_of,
)
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import slot

SEED = 4_711_020
ARRAYS = st.builds(SystolicArray, st.integers(1, 12), st.integers(1, 12), st.booleans())
LARGER = st.tuples(st.integers(1, 40), st.integers(1, 60), st.integers(1, 40), ARRAYS)

CYCLES = "accelerator.systolic.cycles"

harder(CYCLES, "agrees_with_the_simulation", seed=SEED, given=LARGER, examples=60)


@hidden(CYCLES, seed=SEED, given=LARGER, examples=200, what="random products")
def equals_the_formula(cycles, case):
    """As many clocks as our formula says."""
    number(cycles(*case), slot(CYCLES).reference(*case), unit="clocks", rtol=0, shown=True)


SIZES = st.tuples(st.integers(1, 128), st.integers(1, 1000), st.integers(1, 1000))
TINY = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))


@hidden("u00.intensity", seed=SEED, given=st.one_of(TINY, SIZES), examples=60, what="random layers")
def is_the_right_number(intensity, sizes):
    """FLOP per byte of other layers."""
    expected = slot("u00.intensity").reference(*sizes)
    number(intensity(*sizes), expected, unit="FLOP/byte", rtol=0.001)


BORDERS = st.sampled_from([(12, 1), (6, 2), (4, 3), (8, 2), (16, 1), (17, 1), (13, 1), (11, 1)])


@st.composite
def kernels(draw):
    """The extents of a kernel's loops, many of them at the border of a claim."""
    lanes = draw(st.sampled_from([1, 2, 4, 8, 16]))
    mi, vectors = draw(st.one_of(BORDERS, st.tuples(st.integers(1, 14), st.integers(1, 4))))
    no = draw(st.one_of(st.just(3), st.integers(1, 8)))
    k = draw(st.one_of(st.sampled_from([1, 64]), st.integers(1, 512)))
    return draw(st.integers(1, 8)), no, mi, vectors * lanes, k, lanes


@hidden("u00.claims", seed=SEED, given=kernels(), examples=120, what="random kernels")
def are_exactly_these(claims, extents):
    """The false claims about other kernels."""
    if letters(claims(*extents)) != slot("u00.claims").reference(*extents):
        raise Wrong("These are not the false claims.", program=called(extents))


WANTED = st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 300))


@hidden("u00.busy", seed=SEED, given=WANTED, examples=60, what="random arrays", spec=FAST[1])
def is_fast_by_the_formula(busy, wanted):
    """Fast enough on other arrays, by the formula."""
    rows, cols, k = wanted
    array, macs = SystolicArray(rows, cols), rows * cols * k
    m, k, n = of_size(busy(array, macs), macs)
    clocks = slot(CYCLES).reference(m, k, n, array)
    if clocks > clocks_allowed(array, macs):
        raise Wrong(most_clocks(array, macs), got=f"{clocks} clocks", spec=FAST[1])


SIDE = st.integers(1, 300) | st.integers(1, 5000)
PART = st.tuples(st.integers(1, 40) | st.integers(1, 10**6), SIDE, st.integers(1, 600), SIDE)
# Some of them stand in the list several times.
PARTS = st.builds(lambda parts, again: [*parts, *3 * parts[:again]],
                  st.lists(PART, min_size=1, max_size=8), st.integers(0, 2))  # fmt: skip


@hidden("u00.shape", seed=SEED, given=PARTS, examples=40, what="random lists of products")
def is_the_fastest(shape, parts):
    """No other shape with that many cells needs fewer clocks."""
    for cells in (18, 36, 64, 97, 1024):
        best = clocks_by_formula(parts, slot("u00.shape").reference(parts, cells))
        got = clocks_by_formula(parts, shape_of(shape, tuple(parts), cells))
        if got > best:
            raise Wrong("Another shape needs fewer clocks.", got=f"{got:,}", expected=f"{best:,}")


def clocks_by_formula(parts, sizes) -> int:
    cycles, array = slot(CYCLES).reference, SystolicArray(*sizes)
    return sum(count * cycles(m, k, n, array) for count, m, k, n in parts)
