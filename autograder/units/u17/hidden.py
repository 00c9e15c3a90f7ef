"""Hidden checks of unit 17: other seeds, larger programs, other sizes."""

from __future__ import annotations

from autograder.check.framework import Wrong, harder, hidden, ours
from autograder.units.u17.checks.facts import expressions
from autograder.units.u17.checks.programs import kernels_score, right_rows, right_windows
from autograder.units.u17.checks.stored import as_text, kept_local, kept_values, staged
from autograder.units.u17.checks.stored import stored_types as types_of
from course_lib.plugins.staged import read_staged

SEED = 170_917
harder("u17.bounds", "whole_expressions", seed=SEED, given=expressions(9), examples=200)


@hidden("u17.windows", seed=SEED)
def windows_of_other_sizes(windows, rng):
    """Sizes that were drawn for this run."""
    for _ in range(8):
        n = int(rng.integers(1, rng.choice([24, 24, 500])))
        right_windows(windows, n, int(rng.integers(1, n + 1)))


@hidden("u17.normalized", seed=SEED)
def rows_of_other_shapes(normalized, rng):
    """Shapes that were drawn for this run, and the kernels of two of them."""
    shapes = [(int(rng.integers(2, 12)), int(rng.integers(2, 40))) for _ in range(5)]
    for rows, cols in shapes:
        right_rows(normalized, rows, cols, rng)
    return kernels_score(normalized, shapes[:2])


@hidden("plugins.narrowed", seed=SEED, given=staged(4), examples=60)
def stores_the_types_that_ours_does(narrowed, text):
    """The values are the same, and each stage has the type that our rule leaves."""
    after = kept_values(narrowed, text, seed=1)
    right = read_staged(ours("plugins.narrowed", text))
    if types_of(after) != types_of(right):
        raise Wrong(f"The stages must hold {types_of(right)}, not {types_of(after)}.",
                    program=text, got=as_text(after), expected=as_text(right))  # fmt: skip
    kept_local(text, after)
