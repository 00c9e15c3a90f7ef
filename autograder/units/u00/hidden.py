"""Hidden checks of unit 0, the tour."""

from hypothesis import strategies as st

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import number
from autograder.units.u00.checks import letters, one_matmul
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import slot

SEED = 4_711_020
ARRAYS = st.builds(SystolicArray, st.integers(1, 12), st.integers(1, 12), st.booleans())
LARGER = st.tuples(st.integers(1, 40), st.integers(1, 60), st.integers(1, 40), ARRAYS)

harder(
    "accelerator.systolic.cycles",
    "agrees_with_the_simulation",
    seed=SEED,
    given=LARGER,
    examples=60,
)


@hidden("accelerator.systolic.cycles", seed=SEED, given=LARGER, examples=200)
def equals_the_formula(cycles, case):
    """As many clocks as our formula says."""
    m, k, n, array = case
    expected = slot("accelerator.systolic.cycles").reference(m, k, n, array)
    number(cycles(m, k, n, array), expected, unit="clocks", rtol=0, shown=True)


@hidden("u00.intensity", seed=SEED)
def is_the_right_number(intensity):
    """FLOP per byte of the first layer."""
    number(intensity(), slot("u00.intensity").reference(), unit="FLOP/byte", rtol=0.02)


@hidden("u00.claims", seed=SEED)
def are_exactly_these(claims):
    """The false claims."""
    if letters(claims()) != slot("u00.claims").reference():
        raise Wrong("These are not the false claims.")


@hidden("u00.busy", seed=SEED)
def is_fast_by_the_formula(busy):
    """At most 320 clocks by the formula."""
    m, k, n = one_matmul(busy())
    clocks = slot("accelerator.systolic.cycles").reference(m, k, n, SystolicArray(16, 16))
    if clocks > 320 or m * k * n != 65_536:
        raise Wrong("65,536 multiply-accumulates in at most 320 clocks.", got=f"{clocks} clocks")
