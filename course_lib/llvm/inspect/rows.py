"""LLVM IR as rows: plain data for an analysis that needs no flags, no memory and no floats.

    loop:                                      {"loop": [
      %i = phi i64 [ 0, %a ], [ %j, %loop ]      ("i", "phi", ("a", 0), ("loop", "j")),
      %j = add i64 %i, 1                     ->  ("j", "add i64", "i", 1),
      br label %loop                             (None, "br", "loop")]}

    computed("add i64", 3, 4)   ->   7

A row is `(result, op, *operands)`. An operand is a number or the name of a register, in a phi a
pair `(block, operand)`; `(None, "br", condition, yes, no)` goes to `yes` if the condition is 1.
`run` says what all of this means. Next room: `constants.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from course_lib.llvm.inspect.control.numbers import RULES, holds, predicate, signed, width
from course_lib.llvm.inspect.control.view import (
    Argument,
    Instruction,
    Number,
    Operand,
    bits,
    functions,
)
from course_lib.llvm.inspect.fma import parse

Row = tuple[Any, ...]
Blocks = Mapping[str, Sequence[Row]]
SHOWN = 12  # blocks
_RESULT = re.compile(r'^\s*%("[^"]*"|\S+) = ')


def rows_of(text: str) -> dict[str, list[Row]]:
    """The blocks of the only function of a text, each as its rows."""
    (function,) = functions(parse(text))
    names = [block.name or str(k) for k, block in enumerate(function.blocks)]
    rows = {}
    for block in function.blocks:
        last, to = block.instructions[-1], [names[b] for b in block.successors]
        rows[names[last.block]] = [_row(i, names) for i in block.instructions[:-1]]
        if last.opcode not in ("br", "ret", "unreachable"):
            raise ValueError(f"a block ends with {last.opcode}, which no row is for")
        rows[names[last.block]].append((None, last.opcode, *map(_operand, last.operands), *to))
    return rows


def _row(i: Instruction, names: Sequence[str]) -> Row:
    result, operands = _named(i), tuple(map(_operand, i.operands))
    if i.opcode == "phi":
        ways = zip([names[b] for b in i.incoming], operands, strict=True)
        return result, "phi", *ways
    wide = width(i.operands) if i.operands else 0
    if i.opcode == "icmp" and wide:
        return result, f"icmp {predicate(i)} i{wide}", *operands
    if i.opcode in RULES and wide and i.bits:
        return result, f"{i.opcode} i{wide}" + f" to i{i.bits}" * (i.bits != wide), *operands
    return result, i.opcode, *operands


def _named(i: Instruction) -> str | None:
    found = _RESULT.match(str(i.value))
    return found[1] if found else None


def _operand(operand: Operand) -> int | str:
    match operand:
        case Number(number, wide):
            return _shown(number, wide)
        case Argument(name):
            return name
        case Instruction():
            return _named(operand) or "?"
    return "?"  # a float, a function: no register


def computed(op: str, *numbers: int) -> int | None:
    """What an instruction makes of constants, cut to its bits as LLVM does; None if that is not
    known before the program runs: loads, calls, floats, a division by 0."""
    name, *words = op.split()
    widths = [bits(word) for word in words if bits(word)]
    if not widths:
        return None
    first, last = widths[0], widths[-1]
    cut = [number % (1 << first) for number in numbers]
    if name == "icmp":
        return int(holds(words[0], cut[0], cut[1], first))
    result = RULES[name](*cut, first) if name in RULES else None
    return None if result is None else _shown(result % (1 << last), last)


def _shown(number: int, wide: int) -> int:
    """With its sign, as LLVM prints it; one bit is 0 or 1."""
    return signed(number, wide) if wide > 1 else number


def run(blocks: Blocks, argument: int, steps: int) -> tuple[dict[str, list[int]], list[str]]:
    """One run: the numbers that each register had, and the blocks. What no row assigns is the
    argument, and a call returns whatever comes next. The run ends at `ret`, at a row that computes
    nothing, and after so many rows."""
    seen: dict[str, list[int]] = {}
    now: dict[Any, int] = {}
    path = [next(iter(blocks))]

    def value(operand: Any, values: Mapping[Any, int]) -> int:
        return values.get(operand, argument) if isinstance(operand, str) else operand

    while True:
        before = dict(now)  # all phis of a block read at the same time
        for result, op, *operands in blocks[path[-1]]:
            steps -= 1
            if op == "br":
                *condition, yes, no = operands if len(operands) > 1 else operands * 2
                path.append(yes if not condition or value(condition[0], now) else no)
                break
            if op == "phi":
                number = value(dict(operands)[path[-2]], before)
            elif op == "call":
                number = steps % 7
            else:
                number = computed(op, *(value(operand, now) for operand in operands))
            if number is None or steps < 0:
                return seen, path
            now[result] = number
            seen.setdefault(result, []).append(number)


def as_python(blocks: Blocks) -> str:
    """The rows as a dict that Python reads, a row a line; the first ones of many blocks."""
    parts = []
    for name, rows in [*blocks.items()][:SHOWN]:
        pad = ",\n" + " " * len(f" {name!r}: [")
        parts.append(f"{name!r}: [" + pad.join(map(repr, rows)) + "]")
    more = f",\n ... {len(blocks)} blocks in all" * (len(blocks) > SHOWN)
    return "{" + ",\n ".join(parts) + more + "}"
