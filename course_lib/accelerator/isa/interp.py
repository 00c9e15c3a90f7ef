"""What a program means: one instruction after another, in the order of its text.

    state = interpret(program, dram, PRESETS["teaching"])     # dram is changed in place

Nothing of time, engines or tokens is in it. `core` runs the same instructions on three engines and
must leave the same bytes behind; that it may do so is what tokens are for. Next room:
`course_lib/accelerator/core`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.state import State


def interpret(program: Sequence[Instruction], dram: np.ndarray, chip: Chip) -> State:
    """Run a program in its own order on a flat int8 `dram`, which it changes. Raises a Fault with
    the instruction if an address or a tile does not fit the chip."""
    check_end(program)
    state = State(chip, dram)
    for number, instruction in enumerate(program):
        try:
            instruction.run(state)
        except Fault as fault:
            raise fault.at(*where(number, instruction)) from None
    return state


def check_end(program: Sequence[Instruction]) -> None:
    """A Fault unless `halt` is the last instruction, and there only."""
    halts = [n for n, i in enumerate(program) if isinstance(i, Halt)]
    if halts != [len(program) - 1]:
        what = f"halt is the last instruction, once; here: {halts or 'nowhere'}"
        raise Fault("program", what, f"the end of the program ({len(program)} instructions)")


def where(number: int, instruction: Instruction) -> tuple[str, ...]:
    """The lines of a fault that say where it happened; instructions count from 0."""
    origin = ", ".join(instruction.origin) or "unknown"
    return f"  instruction {number}: {instruction}", f"  from: {origin}"
