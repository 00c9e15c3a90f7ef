"""The tables of unit 6: cycles of the four kernels, with more and more of the student's pieces.

Next room: `programs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from autograder.units.u06.answers.kernels import kernels
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.exercises import baselines
from course_lib.machine.build import AFTER, BEFORE, BOTH, Built, build, measure
from course_lib.machine.simulate import Run

SLOTS = ("machine.cover", "machine.linear_scan", "machine.list_schedule")
# What stands in a column, and which pieces are still the simple stand-ins.
STEPS = {"one by one": SLOTS, "your tiles": SLOTS[1:], "your registers": SLOTS[2:],
         "your order": ()}  # fmt: skip
WAYS = {"program order": (), "before": (BEFORE,), "after": (AFTER,), "both": BOTH}

# Cycles of the four kernels with the library's own pieces, and what no order of their instructions
# can beat; tests/units/test_u06.py counts again.
REFERENCE = {"linear + relu": 254, "conv 3×3 + relu": 136, "polynomial of exp": 38,
             "0.5·x + y": 18}  # fmt: skip
BOUNDS = {"linear + relu": 100, "conv 3×3 + relu": 135, "polynomial of exp": 37,
          "0.5·x + y": 17}  # fmt: skip


def built(name: str, step: str, ways: Sequence[str] | None = None) -> tuple[Built, Run]:
    """One of the four kernels, compiled with the pieces of a column, and its run."""
    with ExitStack() as stack:
        stack.enter_context(baselines(*STEPS[step]))
        made = build(kernels()[name], phases=ways)
        return made, measure(made)


def cycles_table(*steps: str) -> Picture:
    """Cycles of the four kernels; beside the last column, the bound that no order can beat."""
    rows = []
    for name in kernels():
        runs = [built(name, step) for step in steps]
        rows.append([name, *(run.cycles for _, run in runs), BOUNDS[name]])
    return table(rows, ["kernel", *(f"{step} (cycles)" for step in steps), "bound (cycles)"])


def costs_table(name: str, *steps: str) -> Picture:
    """What one kernel costs in each column, count by count."""
    rows = []
    for step in steps:
        made, run = built(name, step)
        rows.append([step, run.instructions, len(made.spilled), run.spills, run.stalls, run.cycles])
    header = ["", "instructions", "values in memory", "loads and stores of them", "empty cycles",
              "cycles"]  # fmt: skip
    return table(rows, header, title=name)


def ways_table() -> Picture:
    """The four kernels, scheduled before the registers are chosen, after, both, or not at all."""
    rows = []
    for name in kernels():
        runs = [built(name, "your order", ways) for ways in WAYS.values()]
        rows.append([name, *(run.cycles for _, run in runs), len(runs[1][0].spilled)])
    columns = [f"{way} (cycles)" for way in WAYS]
    return table(rows, ["kernel", *columns, "values spilled if before"])


def bill() -> Picture:
    """Cycles at first, with the pieces that are plugged in, with ours, and the bound."""
    rows = []
    for name, ours in REFERENCE.items():
        first, yours = built(name, "one by one")[1], built(name, "your order")[1]
        rows.append([name, first.cycles, yours.cycles, ours, BOUNDS[name]])
    return table(rows, ["kernel", "at first (cycles)", "yours (cycles)", "ours (cycles)",
                        "bound (cycles)"])  # fmt: skip
