"""Instructions as words: the fields of an instruction, and the exercises that make bits of them.

    values, fields = spelled(assemble("preload weights=0 k=4 n=4 pitch=4")[0])
    ->   [3, 0, 0, 0, 4, 4, 4],  [("opcode", 4, False), ("wait", 3, False), ...]

Next room: tables.py.
"""

from __future__ import annotations

import struct

from course_lib.accelerator.isa.instruction import ENGINES, Instruction
from course_lib.accelerator.isa.instructions import ROWS
from course_lib.accelerator.isa.word import OPCODE, TOKENS

Fields = list[tuple[str, int, bool]]


def fields_of(cls: type[Instruction]) -> Fields:
    """(name, width, signed) of all fields, from the lowest bit; a float32 is its 32 bits."""
    head = [("opcode", OPCODE, False), ("wait", TOKENS, False), ("signal", TOKENS, False)]
    return [*head, *((f.name, f.width, f.signed) for f in cls.fields)]


def spelled(instruction: Instruction) -> tuple[list[int], Fields]:
    """The values of these fields as whole numbers: each engine of a token is a bit."""
    values = [ROWS.index(type(instruction))]
    for engines in (instruction.wait, instruction.signal):
        values.append(sum(1 << ENGINES.index(engine) for engine in engines))
    for f in instruction.fields:
        value = getattr(instruction, f.name)
        values.append(struct.unpack("<I", struct.pack("<f", value))[0] if f.real else value)
    return values, fields_of(type(instruction))
