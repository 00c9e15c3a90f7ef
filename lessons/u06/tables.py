"""The tables of unit 6: cycles of the five kernels, with more and more of the student's pieces.

Next room: `programs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import combinations

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.exercises import baselines, plugged
from course_lib.ir.loops.nest import Kernel
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, BEFORE, BOTH, Built, build, measure
from course_lib.machine.core import listing
from course_lib.machine.cover import maximal_munch
from course_lib.machine.depends import bound, needs_of
from course_lib.machine.select import select
from course_lib.machine.simulate import Run
from lessons.bill import bill_of
from lessons.u06.kernels import kernels

SLOTS = ("machine.cover", "machine.linear_scan", "machine.list_schedule")
WORDS: dict[str, str] = dict(zip(SLOTS, ("patterns", "registers", "order"), strict=True))
# What stands in a column, and which pieces are still the simple stand-ins.
STEPS = {"one by one": SLOTS, "your patterns": SLOTS[1:], "your registers": SLOTS[2:],
         "your order": ()}  # fmt: skip
WAYS = {"program order": (), "before": (BEFORE,), "after": (AFTER,), "both": BOTH}

# Cycles of the five kernels with the library's own pieces; tests/units/test_u06.py counts again.
REFERENCE = {"linear + relu": 322, "conv 3×3 + relu": 269, "polynomial of exp": 48,
             "layer scale": 32, "0.5·x + y": 20}  # fmt: skip


def before_choices(kernel: Kernel) -> str:
    """The program of a kernel with an instruction for each operation, and registers without end."""
    with baselines(SLOTS[0]):
        return listing(select(block_of(kernel)))


def built(name: str, step: str, ways: Sequence[str] | None = None) -> tuple[Built, Run]:
    """One of the kernels, compiled with the pieces of a column, and its run."""
    return _built(name, STEPS[step], ways)


def _built(name: str, plain: Sequence[str], ways: Sequence[str] | None = None) -> tuple[Built, Run]:
    with ExitStack() as stack:
        stack.enter_context(baselines(*plain))
        block = build(kernels()[name], phases=ways)
        return block, measure(block)


def counts_table(
    rows: Sequence[Sequence[str | int]], headers: Sequence[str], title: str = ""
) -> Picture:
    """A table of whole numbers with all their digits: they are counts, and the text quotes them."""
    return table(rows, headers, title, exact=headers[1:])


def bound_of(block: Built) -> int:
    """What no order of the selected instructions can beat."""
    return bound(needs_of(block.selected, block.lanes), block.core.width)


def cycles_table(*steps: str, bounds: bool = False) -> Picture:
    """Cycles of the five kernels; `bounds`: and what no order of the last column's can beat."""
    rows = []
    for name in kernels():
        blocks = [built(name, step) for step in steps]
        last = [bound_of(blocks[-1][0])] if bounds else []
        rows.append([name, *(run.cycles for _, run in blocks), *last])
    columns = [f"{step} (cycles)" for step in steps] + ["bound (cycles)"] * bounds
    return counts_table(rows, ["kernel", *columns])


def costs_table(name: str, *steps: str) -> Picture:
    """What one kernel costs in each column, count by count."""
    rows = []
    for step in steps:
        code, run = built(name, step)
        rows.append([step, run.instructions, len(code.spilled), run.spills, run.stalls, run.cycles])
    header = ["", "instructions", "spilled values", "their loads and stores", "empty cycles",
              "cycles"]  # fmt: skip
    return counts_table(rows, header, title=name)


def covers_table(*others: str) -> Picture:
    """Instructions and cycles of the five kernels with three covers; the other pieces that are
    named in `others` are the student's, the rest stand-ins."""
    plain = [name for name in SLOTS[1:] if name not in others]
    rows = []
    for name in kernels():
        single = _built(name, [SLOTS[0], *plain])
        with plugged(SLOTS[0], maximal_munch):
            munch = _built(name, plain)
        both = [single, munch, _built(name, plain)]
        rows.append([name, *(len(block.selected) for block, _ in both),
                     *(run.cycles for _, run in both)])  # fmt: skip
    covers = ("one by one", "maximal munch", "your patterns")
    return counts_table(rows, ["kernel", *(f"{c} (instructions)" for c in covers),
                        *(f"{c} (cycles)" for c in covers)])  # fmt: skip


def ways_table() -> Picture:
    """The kernels, scheduled before the registers are chosen, after, both, or not at all."""
    rows = []
    for name in kernels():
        runs = [built(name, "your order", ways) for ways in WAYS.values()]
        rows.append([name, *(run.cycles for _, run in runs), len(runs[1][0].spilled)])
    columns = [f"{way} (cycles)" for way in WAYS]
    return counts_table(rows, ["kernel", *columns, "values spilled if before"])


def subsets() -> dict[tuple[str, ...], dict[str, int]]:
    """Cycles of each kernel with each of the eight sets of pieces, the others being stand-ins."""
    return {
        mine: {name: _built(name, [s for s in SLOTS if s not in mine])[1].cycles
               for name in kernels()}
        for count in range(4) for mine in combinations(SLOTS, count)
    }  # fmt: skip


def bill() -> Picture:
    """Cycles with each set of the student's pieces, with ours, and the bound."""
    rows: list[list[str | int]] = []
    for mine, cycles in subsets().items():
        words = " + ".join(WORDS[name] for name in mine) or "none"
        rows.append([f"{words} (all)" if len(mine) == 3 else words, *cycles.values()])
    rows.append(["all, ours", *REFERENCE.values()])
    bounds = [bound_of(built(name, "your order")[0]) for name in kernels()]
    rows.append(["bound of your instructions", *bounds])
    return bill_of(rows, ["your pieces", *(f"{n} (cycles)" for n in kernels())])
