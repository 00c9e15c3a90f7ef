"""What a PTX text consists of, as it stands there: modules, entries, instructions, operands.

    mul.wide.s32 %rd4, %r31, 4;
    Instruction("mul.wide.s32", (Register("%rd4", b64), Register("%r31", b32), 4), line=36)

Nothing here says what an instruction means: that is `ops/`. Next room: `tokens.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from course_lib.gpu.ptx.types import TYPES, Type


class PtxError(ValueError):
    """What is wrong with a text, with its line, and where to look."""

    def __init__(self, problem: str, line: int = 0, look: str = "") -> None:
        self.problem, self.line, self.look = problem, line, look
        where = f"line {line}: " if line else ""
        super().__init__(f"{where}{problem}{f'; {look}' if look else ''}")


@dataclass(frozen=True)
class Register:
    """A register of one thread. `negated` where a predicate is read the other way round."""

    name: str
    type: Type
    negated: bool = False

    def __str__(self) -> str:
        return f"{'!' if self.negated else ''}{self.name}"


@dataclass(frozen=True)
class Special:
    """What a thread knows of itself, such as %tid.x."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Symbol:
    """A variable in shared, local, const or param memory, or a label."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Address:
    """[base+offset], in bytes."""

    base: Register | Symbol | None
    offset: int = 0

    def __str__(self) -> str:
        base = "" if self.base is None else str(self.base)
        if self.base is not None and not self.offset:
            return f"[{base}]"
        return f"[{base}{'+' if base and self.offset >= 0 else ''}{self.offset}]"


@dataclass(frozen=True)
class Vector:
    """{%f1, %f2}: several registers that are loaded, stored or packed together."""

    parts: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.parts))}}}"


@dataclass(frozen=True)
class Pair:
    """%r1|%p1: a result, and a predicate that comes with it."""

    first: Operand
    second: Operand

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


Operand = Register | Special | Symbol | Address | Vector | Pair | int | float


@dataclass(frozen=True)
class Instruction:
    """One instruction. Its opcode is a name, modifiers and types, as in `mul.wide.s32`."""

    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Register | None = None
    line: int = 0

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(self.opcode.split("."))

    @property
    def name(self) -> str:
        return self.words[0]

    @cached_property
    def modifiers(self) -> tuple[str, ...]:
        return tuple(word for word in self.words[1:] if word not in TYPES)

    @cached_property
    def types(self) -> tuple[Type, ...]:
        return tuple(TYPES[word] for word in self.words[1:] if word in TYPES)

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    def one_of(self, *modifiers: str) -> str:
        """The modifier of these that it has; "" if none."""
        return next((m for m in self.modifiers if m in modifiers), "")

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(map(str, self.operands))}".rstrip()


@dataclass(frozen=True)
class Variable:
    """Memory that a module or an entry declares. `data` are its bytes where they are given;
    `nbytes` is None where whoever launches says how many (`.extern .shared`)."""

    name: str
    space: str
    align: int
    nbytes: int | None
    data: bytes = b""


@dataclass(frozen=True)
class Parameter:
    name: str
    type: Type
    nbytes: int


@dataclass(frozen=True)
class Entry:
    """A kernel. `labels` say before which instruction each one stands."""

    name: str
    parameters: tuple[Parameter, ...]
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    variables: tuple[Variable, ...] = ()
    threads: tuple[int, ...] = ()  # .reqntid: the block that it needs, if it says so
    text: tuple[str, ...] = field(default=(), repr=False)  # the lines of the module


@dataclass(frozen=True)
class Module:
    version: str
    target: str
    entries: Mapping[str, Entry]

    def entry(self, name: str | None = None) -> Entry:
        """The kernel of this name, or the only one. PtxError if there is none."""
        if name is None and len(self.entries) == 1:
            return next(iter(self.entries.values()))
        if name is None or name not in self.entries:
            there = ", ".join(self.entries) or "none"
            raise PtxError(f"no entry {name or 'was named'}", look=f"the module has: {there}")
        return self.entries[name]
