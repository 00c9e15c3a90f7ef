"""Dispatch formation: which operations of a program IREE runs as one piece.

    EVIDENCE          twelve small programs, and what IREE made of each
    RECORDED          these and 69 random ones
    kinds_of(groups, program)      ["product", "sum"]: what stands in the groups of an answer

A program's row has "op", which is "input", "product" (of two matrices), "sum" (along the rows) or
"each" (element by element), and "operands". Next room: `hardware.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.recorded import Recording, recorded

BY_IREE = recorded(__file__, "iree.txt")
Program = dict[str, dict[str, Any]]
SMALL = 12


class Case(NamedTuple):
    """A program, and the kinds of its dispatches, sorted."""

    program: Program
    kinds: list[str]


def cases(recording: Recording) -> list[Case]:
    """The programs of a recording."""
    lines = [json.loads(line) for line in recording["programs"].splitlines()]
    return [Case({name: {"op": op, "operands": operands} for name, op, operands in rows}, kinds)
            for rows, kinds in lines]  # fmt: skip


RECORDED = cases(BY_IREE)
EVIDENCE = RECORDED[:SMALL]


def kinds_of(groups: Sequence[Sequence[str]], program: Mapping[str, Any]) -> list[str]:
    """What each group is, sorted: "product" or "sum" if it has one, else "each"."""
    found = []
    for group in groups:
        ops = {program[name]["op"] for name in group}
        found.append("product" if "product" in ops else "sum" if "sum" in ops else "each")
    return sorted(found)


def shown(program: Program) -> str:
    """The operations of a program in one line."""
    return "   ".join(f"{name} = {row['op']}({', '.join(row['operands'])})"
                      for name, row in program.items() if row["op"] != "input")  # fmt: skip


def evidence_table() -> Picture:
    """The small programs, and what IREE made of them."""
    rows = [[shown(case.program), len(case.kinds), ", ".join(case.kinds)] for case in EVIDENCE]
    return table(rows, ["program", "dispatches", "they are"], exact=["dispatches"])
