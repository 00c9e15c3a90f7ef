"""Hidden checks of unit 16: programs, shapes and launches that are drawn for the run."""

from __future__ import annotations

from hypothesis import strategies as st

from autograder.check.framework import harder, hidden
from autograder.units.u16.checks import texts
from autograder.units.u16.checks.groups import as_it_must
from course_lib.recorded import recorded
from lessons.u16.dispatches import cases

SEED = 161_616
OTHER_PROGRAMS = cases(recorded(__file__, "iree.txt"))

harder("u16.softmaxes", "random_programs", seed=SEED, given=st.integers(1000, 999_999),
       examples=150)  # fmt: skip


@hidden("u16.attention", seed=SEED)
def other_shapes(attention, rng):
    """Shapes that were drawn for this run, and the block under other names."""
    shapes = [tuple(int(k) for k in rng.integers(1, 5, 3)) for _ in range(8)]
    renamed = texts.block_text().replace("attention", "layer").replace("norm", "n")
    renamed = renamed.replace("R.nn.layer_n(", "R.nn.layer_norm(")
    return texts.rewritten(attention, shapes, rng, {"the block under other names": renamed})


@hidden("u16.normalize", seed=SEED)
def other_launches(normalize, rng):
    """Rows and blocks that were drawn for this run."""
    cases = []
    for _ in range(12):
        n = int(rng.integers(1, 300))
        block = 1 << (n - 1).bit_length() + int(rng.integers(0, 2))
        root = float(rng.choice([0.1, 1, 5]))
        cases.append(
            (int(rng.integers(1, 5)), n, block, float(rng.uniform(-900, 900)) * root, root)
        )
    return texts.launches(normalize, cases, rng)


@hidden("u16.dispatches", seed=SEED)
def other_programs(dispatches, rng):
    """Other programs that IREE compiled, in an order that was drawn for this run."""
    order = rng.permutation(len(OTHER_PROGRAMS))
    return as_it_must(dispatches, [OTHER_PROGRAMS[k] for k in order])


harder("u16.schedule", "random_nests", seed=SEED, given=st.integers(500, 99_999), examples=60)
