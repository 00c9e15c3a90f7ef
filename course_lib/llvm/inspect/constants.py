"""Which registers are constant, and which blocks never run? A dataflow analysis with a worklist.

    a: br 0, b, c      b: x = add 1, 1      c: y = phi (a, 7), (b, 8)
    ->  y is 7, and only a and c may run

It begins with the belief that nothing but the entry runs, and takes back what is wrong. So it sees
through a circle: a register is constant because a block never runs, which never runs because the
register is constant. `sccp` is what LLVM says, which also keeps ranges of numbers. Source: Wegman
and Zadeck, "Constant propagation with conditional branches", TOPLAS 1991. Next room: `work.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm

from course_lib.exercises import exercise
from course_lib.llvm.inspect.fixed import fixed_machine
from course_lib.llvm.inspect.fma import parse
from course_lib.llvm.inspect.rows import computed


@exercise("llvm.constants", unit=5, points=3, further=True)
def constants(blocks: Mapping[str, Sequence[tuple]]) -> tuple[dict[str, int], set[str]]:
    """Which registers are constant, and which blocks may run?

    blocks   by name, each a list of rows `(result, op, *operands)`; the first one is the entry
    returns  the constant registers with their numbers, and the set of the blocks that may run

    The entry may run, and so may each block to which a block that may run can go. `(None, "br",
    block)` goes to that block, and `(None, "br", condition, yes, no)` goes to `yes` if the
    condition is 1, to `no` if it is 0, and can go to both if it varies.

    An operand is a number or the name of a register. A name that no row assigns varies. A register
    of a block that may run is constant if all its operands are and `computed(op, *operands)` is not
    None. `(result, "phi", (block, operand), ...)` counts only the blocks that can go to its own
    block: it is constant if their operands are one and the same constant. Everything else varies.

    Of the results that agree with these rules, return the one with the fewest blocks, and in these
    the most constants. Look at a block again only when something that it depends on has changed.
    """
    values: dict[str, int | None] = {}  # None varies; what is not here is not known yet
    before: dict[str, set[str]] = {block: set() for block in blocks}  # which can go to it
    runs: set[str] = set()
    readers = _readers(blocks)
    work = [next(iter(blocks))]
    while work:
        block = work.pop()
        runs.add(block)
        for result, op, *operands in blocks[block]:
            if op == "br":
                for to in _ways(operands, values):
                    if block not in before[to]:
                        before[to].add(block)
                        work.append(to)
            elif result is not None:
                found = _found(op, operands, values, before[block])
                if result not in values or values[result] != found:
                    values[result] = found
                    work += readers.get(result, set()) & runs
    return {name: number for name, number in values.items() if number is not None}, runs


def _readers(blocks: Mapping[str, Sequence[tuple]]) -> dict[object, set[str]]:
    """The blocks in which a register is an operand."""
    readers: dict[object, set[str]] = {}
    for block, rows in blocks.items():
        for _, op, *operands in rows:
            for operand in operands:
                name = operand[1] if op == "phi" else operand
                readers.setdefault(name, set()).add(block)
    return readers


def _ways(operands: Sequence, values: Mapping[str, int | None]) -> Sequence[str]:
    """Where a branch may go."""
    if len(operands) == 1:
        return operands
    condition, yes, no = operands
    number = _number(condition, values)
    return [yes, no] if number is None else [yes] if number else [no]


def _found(
    op: str, operands: Sequence, values: Mapping[str, int | None], before: set[str]
) -> int | None:
    """What a row computes, if the blocks `before` can go to its block."""
    if op == "phi":
        numbers = {_number(operand, values) for block, operand in operands if block in before}
        return numbers.pop() if len(numbers) == 1 else None
    known: list[Any] = [_number(operand, values) for operand in operands]
    return None if None in known else computed(op, *known)


def _number(operand: int | str, values: Mapping[str, int | None]) -> int | None:
    return values.get(operand) if isinstance(operand, str) else operand


def sccp(text: str) -> str:
    """A module after LLVM's pass SCCP alone, from its first function on."""
    module = parse(text)
    manager = llvm.create_new_module_pass_manager()
    manager.add_sccp_pass()
    options = llvm.create_pipeline_tuning_options()
    manager.run(module, llvm.create_pass_builder(fixed_machine(), options))
    text = re.sub(r"\s*; preds = .*", "", str(module))
    return text[text.index("define ") :].strip()
