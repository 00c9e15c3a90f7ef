"""What can be said of a program without running it: its end, and tiles that fit the array.

    array: k is 5, but the array has 4 x 4 cells
      instruction 0: preload weights=0 k=5 n=4 pitch=4
      ...

Addresses are checked where they are used, tokens by running the engines. Next
room: `isa_interp.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.execute import Matmul, Preload
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction, columns
from course_lib.accelerator.isa.instructions import Halt

Kinds = list[tuple[list[int], Instruction]]


def check(program: Sequence[Instruction], chip: Chip) -> Kinds:
    """A Fault unless a program ends with `halt`, its tiles fit the array, and weights are in the
    cells before they are used. Returns its instructions by kind: their numbers, and `columns`."""
    halts = [n for n, i in enumerate(program) if isinstance(i, Halt)]
    if halts != [len(program) - 1]:
        what = f"halt is the last instruction, once; here: {halts or 'nowhere'}"
        raise Fault("program", what, f"the end of the program ({len(program)} instructions)")
    kinds: dict[type[Instruction], list[int]] = {}
    for number, i in enumerate(program[:-1]):
        kinds.setdefault(type(i), []).append(number)
    if Matmul in kinds and kinds[Matmul][0] < kinds.get(Preload, [len(program)])[0]:
        first, look = kinds[Matmul][0], "a preload is missing before it"
        at = where(first, program[first])
        raise Fault("array", "there are no weights in the cells yet", look, *at)
    tables = [(numbers, columns([program[n] for n in numbers])) for numbers in kinds.values()]
    for numbers, table in tables:
        _check_tiles(program, numbers, table, chip)
    return tables


def where(number: int, instruction: Instruction) -> tuple[str, ...]:
    """The lines of a fault that say where it happened; instructions count from 0."""
    line = f"  instruction {number}: {instruction}"
    return (line, f"  from: {', '.join(instruction.origin)}") if instruction.origin else (line,)


def _check_tiles(
    program: Sequence[Instruction], numbers: Sequence[int], table: Instruction, chip: Chip
) -> None:
    for name, limit in table.most(chip).items():
        values = getattr(table, name)
        if (values > limit).any():
            worst = int(np.argmax(values > limit))
            message = (
                f"{name} is {values[worst]}, but the array has {chip.rows} x {chip.cols} cells"
            )
            at = where(numbers[worst], program[numbers[worst]])
            raise Fault("array", message, f"the tile: {name} is at most {limit}", *at)
