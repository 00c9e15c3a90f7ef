"""An instruction as a word of 256 bits, and back.

    encode([Halt()])   ->   32 bytes;   decode(encode(program)) == program

From the lowest bit: 4 bits for the instruction (its place in the table), 3 bits `wait`, 3 bits
`signal` (load, execute, store), then its fields in the order of its class. `layout` prints them.
Words of 128 bits, as in VTA, would not hold the strides of an image. Next room: `manual.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import ENGINES, Field, Instruction
from course_lib.accelerator.isa.instructions import ROWS

WORD = 32  # bytes
OPCODE, TOKENS = 4, 3  # bits
OPCODES = {cls: number for number, cls in enumerate(ROWS)}


def encode(program: Iterable[Instruction]) -> bytes:
    """32 bytes for each instruction, the lowest byte first. `origin` is not in them."""
    return b"".join(_word(i).to_bytes(WORD, "little") for i in program)


def decode(data: bytes) -> list[Instruction]:
    """The instructions of a program's bytes; a Fault if they are none."""
    if len(data) % WORD:
        look = "where the bytes come from"
        raise Fault("program", f"words have {WORD} bytes, got {len(data)} bytes", look)
    words = [data[at : at + WORD] for at in range(0, len(data), WORD)]
    return [_instruction(int.from_bytes(w, "little"), n) for n, w in enumerate(words)]


def layout(cls: type[Instruction]) -> list[tuple[str, int, int]]:
    """Name, lowest bit and width of all parts of the instruction's word."""
    parts = [("opcode", OPCODE), ("wait", TOKENS), ("signal", TOKENS)]
    parts += [(f.name, f.width) for f in cls.fields]
    starts = [sum(width for _, width in parts[:n]) for n in range(len(parts))]
    return [(name, low, width) for (name, width), low in zip(parts, starts, strict=True)]


def _word(i: Instruction) -> int:
    values = [OPCODES[type(i)], _mask(i.wait), _mask(i.signal)]
    values += [_bits(f, getattr(i, f.name)) for f in i.fields]
    places = layout(type(i))
    return sum(value << low for value, (_, low, _) in zip(values, places, strict=True))


def _instruction(word: int, number: int) -> Instruction:
    opcode = word % (1 << OPCODE)
    if opcode >= len(ROWS):
        what = f"word {number} begins with {opcode}; instructions have 0 to {len(ROWS) - 1}"
        raise Fault("program", what, "where the bytes come from")
    cls = ROWS[opcode]
    places = layout(cls)
    parts = [word >> low & (1 << width) - 1 for _, low, width in places]
    used = places[-1][1] + places[-1][2]
    if word >> used:
        what = f"word {number} ({cls.name}) has a bit set behind its {used} bits"
        raise Fault("program", what, "where the bytes come from")
    fields = {f.name: _value(f, v) for f, v in zip(cls.fields, parts[3:], strict=True)}
    try:
        return cls(wait=_names(parts[1]), signal=_names(parts[2]), **fields)
    except Fault as fault:
        raise fault.at(f"  word {number}") from None


def _bits(f: Field, value: Any) -> int:
    if f.real:
        return int.from_bytes(struct.pack("<f", value), "little")
    return value & (1 << f.width) - 1


def _value(f: Field, value: int) -> Any:
    if f.real:
        return struct.unpack("<f", value.to_bytes(4, "little"))[0]
    return value - (1 << f.width) if f.signed and value >> (f.width - 1) else value


def _mask(engines: tuple[str, ...]) -> int:
    return sum(1 << ENGINES.index(e) for e in engines)


def _names(mask: int) -> tuple[str, ...]:
    return tuple(e for n, e in enumerate(ENGINES) if mask >> n & 1)
