"""Instructions as words: the fields of an instruction, and the exercises that make bits of them.

    values, fields = spelled(assemble("preload weights=0 k=4 n=4 pitch=4")[0])
    ->   [3, 0, 0, 0, 4, 4, 4],  [("opcode", 4, False), ("wait", 3, False), ...]

Next room: roofline.py.
"""

from __future__ import annotations

import struct

from course_lib.accelerator.isa.instruction import ENGINES, Instruction
from course_lib.accelerator.isa.instructions import ROWS
from course_lib.accelerator.isa.word import OPCODE, TOKENS
from course_lib.exercises import exercise

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


@exercise("u13.encode", unit=13, points=2, kind="implement")
def encode(values: list[int], fields: list[tuple[str, int, bool]]) -> int:
    """The word that holds these values.

    fields   (name, width, signed) for each value

    The first field takes the lowest `width` bits, and each field follows directly after the one
    before it. An unsigned field holds 0 to 2**width - 1. A signed field holds -2**(width - 1) to
    2**(width - 1) - 1, and stores a negative value as value + 2**width (two's complement). A value
    that its field cannot hold raises a ValueError, whose text names the field and no other one.
    Bits after the last field are 0.

    >>> hex(encode([5, -1], [("opcode", 4, False), ("fill", 8, True)]))
    '0xff5'
    """
    word = at = 0
    for value, (name, width, signed) in zip(values, fields, strict=True):
        low = -(1 << (width - 1)) if signed else 0
        if not low <= value < low + (1 << width):
            raise ValueError(f"{name} holds {low} to {low + (1 << width) - 1}, not {value}")
        word |= (value & ((1 << width) - 1)) << at
        at += width
    return word


@exercise("u13.decode", unit=13, points=1, kind="implement", further=True)
def decode(word: int, fields: list[tuple[str, int, bool]]) -> list[int]:
    """The values that stand in a word: the inverse of `encode`.

    fields   (name, width, signed) for each value

    The first field has the lowest `width` bits, and each field follows directly after the one
    before it. Return the value of each field, in order. In a signed field, a number from
    2**(width - 1) on stands for a negative value. A word with a bit set after its last field raises
    a ValueError: it was not made by `encode`.

    >>> decode(0xFF5, [("opcode", 4, False), ("fill", 8, True)])
    [5, -1]
    """
    values = []
    for _, width, signed in fields:
        value = word % (1 << width)
        word >>= width
        values.append(value - (1 << width) if signed and value >> (width - 1) else value)
    if word:
        raise ValueError(f"bits are set after the last field: {word:#x}")
    return values
