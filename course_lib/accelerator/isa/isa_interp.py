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
from course_lib.accelerator.isa.check import check, where
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.state import State


def interpret(program: Sequence[Instruction], dram: np.ndarray, chip: Chip) -> State:
    """Run a program in its own order on a flat int8 `dram`, which it changes. Raises a Fault with
    the instruction if an address or a tile does not fit the chip."""
    check(program, chip)
    state = State(chip, dram)
    for number, instruction in enumerate(program):
        try:
            instruction.run(state)
        except Fault as fault:
            raise fault.at(*where(number, instruction)) from None
    return state
