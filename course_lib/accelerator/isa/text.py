"""Assembler and disassembler.

    preload weights=0 k=4 n=4 pitch=4 wait=load    ; layer1.0.conv1
    halt

One instruction in a line: its name, its fields in any order, the engines whose token it waits for
and those it signals, and behind `;` where in the model it comes from (several: with commas). A
field that has its default may be left out; a number may be written as 0x40. A line that is empty
or begins with `#` is a remark. `assemble(disassemble(program)) == program`. Next room: `word.py`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Field, Instruction
from course_lib.accelerator.isa.instructions import INSTRUCTIONS

TOKENS = ("wait", "signal")


def assemble(text: str) -> list[Instruction]:
    """The instructions of a text; a Fault names the line and the field that are wrong."""
    program = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            program.append(_line(line, number))
    return program


def disassemble(program: Iterable[Instruction]) -> str:
    """The text of a program, a line for each instruction."""
    rows = [(str(i), ", ".join(i.origin)) for i in program]
    return "".join(f"{text}  ; {origin}\n" if origin else f"{text}\n" for text, origin in rows)


def _line(line: str, number: int) -> Instruction:
    words, _, remark = line.partition(";")
    origin = tuple(part.strip() for part in remark.split(",") if part.strip())
    where = f"  line {number}: {line.strip()}"
    try:
        return _instruction(words.split(), origin)
    except Fault as fault:
        raise fault.at(where) from None


def _instruction(words: list[str], origin: tuple[str, ...]) -> Instruction:
    name, *parts = words or [""]
    if name not in INSTRUCTIONS:
        raise Fault("program", f"there is no instruction {name!r}", _similar(name, INSTRUCTIONS))
    cls = INSTRUCTIONS[name]
    known = {f.name: f for f in cls.fields}
    values: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in (*known, *TOKENS):
            raise Fault("field", f"{name} has no field {part!r}", _similar(key, (*known, *TOKENS)))
        if key in values:
            raise Fault("field", f"{name}: {key} stands here twice", "which of them is meant")
        values[key] = value.split(",") if key in TOKENS else _number(name, known[key], value)
    missing = [f.name for f in cls.fields if f.name not in values and not f.optional]
    if missing:
        raise Fault("field", f"{name}: {', '.join(missing)} missing", f"{name} {_form(cls)}")
    return cls(origin=origin, **values)


def _number(name: str, f: Field, text: str) -> int | float:
    try:
        value = float(text) if f.real else int(text, 0)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    raise Fault("field", f"{name}: {f.name}={text} is no number", "such as 64, 0x40 or -1")


def _form(cls: type[Instruction]) -> str:
    return " ".join(f"{f.name}={'.' * (not f.optional) or f.default}" for f in cls.fields)


def _similar(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean {near[0]}?" if near else f"one of {', '.join(names)}"
