"""Checks of unit 3 for the fusing pass. Those of the heuristic that it calls: should_fuse.py."""

from __future__ import annotations

from typing import Any

from autograder.check.framework import Crashed, Wrong, beside, checks
from autograder.check.programs import deep, diamond
from autograder.check.steps import with_steps
from autograder.units.u03.checks.fuse_cases import fans, images, sharp, simple
from autograder.units.u03.checks.kernels import WORDS, Asked, asked, grouped_as_said, named

FUSE = "passes.fuse"
ALL_USERS = "in x * sigmoid(x), both users of x"


@checks(FUSE, spec=[*WORDS, ALL_USERS])
def fuse_groups_what_can_be_one_kernel(fuse):
    """Chains, epilogues, outputs, values with several readers, and ways through other kernels."""
    for case, problem in simple():
        _groups_as_said(fuse, case, problem)
    return f"{len(simple())} programs with known kernels"


@checks(FUSE, spec=WORDS)
def fuse_groups_as_the_words_say(fuse):
    """Other types, empty tensors, rows, dead nodes, outputs twice, dear edges, models."""
    for case in sharp():
        _groups_as_said(fuse, case)
    return f"{len(sharp())} programs, each operation in its group"


@checks(FUSE, given=asked(size=8) | fans(), examples=60, spec=WORDS)
def fuse_puts_each_node_into_its_group(fuse, case):
    """A node joins the group of its users where all conditions hold, and nowhere else."""
    _groups_as_said(fuse, case)


def _groups_as_said(fuse: Any, case: Asked, problem: str = "") -> None:
    """The groups are right while `should_fuse` answers what the case says. `problem` is what is
    special about it."""
    try:
        grouped_as_said(case, beside(fuse, {"passes.should_fuse": case.pays})(case.graph))
    except Crashed as error:
        error.program = case.graph
        raise
    except Wrong as error:
        error.problem = f"{problem} {error.problem}".strip()
        raise


@checks(FUSE, given=images(), examples=25, spec=WORDS)
def fuse_groups_convolutions(fuse, case):
    """The same with convolutions, biases, residuals and reductions over the image."""
    _groups_as_said(fuse, case)


@checks(FUSE, spec=WORDS)
def fuse_looks_at_each_node_once(fuse):
    """180 operations with 2**60 paths."""
    few = with_steps(fuse, 400_000, "180 operations", "each shared node is walked once per path")
    _groups_as_said(few, Asked(named(diamond()), runs=False))
    return "a program with 2**60 paths"


@checks(FUSE, spec=WORDS)
def fuse_takes_deep_programs(fuse):
    """2,000 operations in a row, asking the real `should_fuse`: kernels of at most `LARGEST`."""
    case = Asked(named(deep()), runs=False)
    try:
        grouped_as_said(case, fuse(case.graph))
    except (Crashed, Wrong) as error:
        error.program = "2,000 relu in a row"
        raise
    return "2,000 operations in a row"
