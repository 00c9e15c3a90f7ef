"""Dispatch formation: which operations of a program IREE runs as one piece.

    EVIDENCE          twelve small programs, and what IREE made of each
    RECORDED          these and 69 random ones
    written(program)  a program as StableHLO, as IREE was given it
    in_order(groups, program)      the groups of an answer, as those of a case are written

A program's row has "op", which is "input", "product" (of two matrices), "sum" (along the rows) or
"each" (element by element), and "operands". Next room: `hardware.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.recorded import Recording, recorded

BY_IREE = recorded(__file__, "iree.txt")
Program = dict[str, dict[str, Any]]
SMALL = 12
UNARY = ("tanh", "exponential", "negate", "logistic", "sine", "cosine", "abs", "sqrt")
BINARY = ("add", "subtract", "maximum", "minimum")


class Case(NamedTuple):
    """A program, and its dispatches: the names of the values in each, in order of the program."""

    program: Program
    groups: list[list[str]]


def cases(recording: Recording) -> list[Case]:
    """The programs of a recording."""
    lines = [json.loads(line) for line in recording["programs"].splitlines()]
    return [Case({name: {"op": op, "operands": operands} for name, op, operands in rows}, groups)
            for rows, groups in lines]  # fmt: skip


RECORDED = cases(BY_IREE)
EVIDENCE = RECORDED[:SMALL]


def in_order(groups: Iterable[Iterable[str]], program: Mapping[str, Any]) -> list[list[str]]:
    """The names in each group and the groups, in the order of the program."""
    place = {name: k for k, name in enumerate(program)}
    inside = [sorted(group, key=place.__getitem__) for group in groups]
    return sorted(inside, key=lambda names: place[names[0]])


def shown(program: Program) -> str:
    """The operations of a program in one line."""
    return "; ".join(f"{name} = {row['op']}({', '.join(row['operands'])})"
                     for name, row in program.items() if row["op"] != "input")  # fmt: skip


def braces(groups: Sequence[Sequence[str]]) -> str:
    """{p, y}, {q}"""
    return ", ".join(f"{{{', '.join(names)}}}" for names in groups)


def evidence_table() -> Picture:
    """The small programs, and what IREE made of them."""
    rows = [[shown(case.program), len(case.groups), braces(case.groups)] for case in EVIDENCE]
    return table(rows, ["program", "dispatches", "they are"], exact=["dispatches"])


def written(program: Program) -> str:
    """The program in StableHLO, on squares of 64 numbers. No two values are computed alike, and no
    sum is that of a `multiply`, which would be a product in disguise. The location of an operation
    is the name of its value, so that IREE keeps it."""
    rank: dict[str, int] = {}
    lines, used, read = [], set(), {x for row in program.values() for x in row["operands"]}
    for name, row in program.items():
        op, operands = row["op"], row["operands"]
        rank[name] = {"sum": 1, "each": max((rank[x] for x in operands), default=2)}.get(op, 2)
        given = [_spread(x, rank[name], rank, lines) if op == "each" else f"%{x}" for x in operands]
        types = ", ".join(_type(rank[x]) for x in operands)
        if op == "product":
            words = f"dot_general {', '.join(given)}, contracting_dims = [1] x [0] : ({types}) -> "
        elif op == "sum":
            lines.append(f"%zero_{name} = stablehlo.constant dense<0.0> : tensor<f32>")
            words = f"reduce({given[0]} init: %zero_{name}) applies stablehlo.add across "
            words += f"dimensions = [1] : ({types}, tensor<f32>) -> "
        elif op == "each":
            kinds = UNARY if len(operands) == 1 else BINARY
            kind = next(k for k in kinds if (k, *sorted(operands)) not in used)
            used.add((kind, *sorted(operands)))
            words = f"{kind} {', '.join(given)} : "
        else:
            continue
        lines.append(f'%{name} = stablehlo.{words}{_type(rank[name])} loc("{name}")')
    inputs = ", ".join(f"%{n}: {_type(2)}" for n, row in program.items() if row["op"] == "input")
    results = [n for n, row in program.items() if n not in read and row["op"] != "input"]
    kinds_ = ", ".join(_type(rank[n]) for n in results)
    lines.append(f"return {', '.join(f'%{n}' for n in results)} : {kinds_}")
    body = "\n  ".join(lines)
    return f"func.func public @main({inputs}) -> ({kinds_}) {{\n  {body}\n}}\n"


def _type(rank: int) -> str:
    return f"tensor<{'64x' * rank}f32>"


def _spread(name: str, rank_: int, rank: dict[str, int], lines: list[str]) -> str:
    """A value as an operand of so many axes: one number for each row is repeated along it."""
    if rank[name] == rank_:
        return f"%{name}"
    wide = f"%wide_{len(lines)}"
    lines.append(f"{wide} = stablehlo.broadcast_in_dim %{name}, dims = [0] : "
                 f"({_type(1)}) -> {_type(2)}")  # fmt: skip
    return wide
