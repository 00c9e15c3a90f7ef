"""What has been declared and read between two braces.

    .reg .b32 %r<31>;      a family of thirty-one registers: %r0 to %r30

Next room: `read.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from course_lib.gpu.ptx.parts import Instruction, PtxError, Register, Symbol, Variable
from course_lib.gpu.ptx.types import Type


@dataclass
class Scope:
    """The registers and variables that are declared between two braces."""

    registers: dict[str, Register] = field(default_factory=dict)
    families: dict[str, tuple[int, Type, str]] = field(default_factory=dict)  # .reg .b32 %r<9>

    def register(self, name: str) -> Register | None:
        if name in self.registers:
            return self.registers[name]
        stem = name.rstrip("0123456789")
        if stem in self.families and name != stem:
            count, type, suffix = self.families[stem]
            if int(name[len(stem) :]) < count:
                self.registers[name] = Register(name + suffix, type)
                return self.registers[name]
        return None


@dataclass
class Body:
    """What has been read of an entry."""

    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)

    def check_branches(self) -> None:
        """PtxError unless each goes to a label of the entry."""
        for i in self.instructions:
            if i.name == "bra":
                if len(i.operands) != 1 or not isinstance(i.operands[0], Symbol):
                    raise PtxError(f"{i.opcode} goes to one label", i.line)
                if i.operands[0].name not in self.labels:
                    raise PtxError(f"no label {i.operands[0]}", i.line)
