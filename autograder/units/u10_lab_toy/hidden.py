"""Hidden checks of the lab: chains of operations that are drawn for the run."""

from __future__ import annotations

from autograder.check.framework import hidden
from autograder.units.u10_lab_toy.checks import drawn, program_of
from autograder.units.u10_lab_toy.checks.compiled import ANY, right_program
from autograder.units.u10_lab_toy.checks.operation import SHAPE, TURNED, right_module, scored

SEED = 101_055


@hidden("u10_lab_toy.operation", seed=SEED, spec=[SHAPE, TURNED])
def drawn_modules_keep_their_meaning(operation, rng):
    """Programs and modules that were drawn for this run."""
    for _ in range(6):
        right_module(operation, program_of(drawn(rng), drawn(rng)), SHAPE)
    return scored(operation, [drawn(rng).module(k % 3 == 0) for k in range(12)])


@hidden("u10_lab_toy.compiled", seed=SEED, spec=ANY)
def drawn_programs(compiled, rng):
    """Programs that were drawn for this run."""
    for _ in range(4):
        right_program(compiled, program_of(drawn(rng), drawn(rng)), ANY)
