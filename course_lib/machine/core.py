"""The small processor: seventeen instructions, a few vector registers, one instruction a cycle.

    ld    f0, x[0]              f0 = eight numbers of x, from number 0 on
    bc    f1, w[3]              f1 = number 3 of w, in all lanes
    fma   f2, f0, f1, f2        f2 = f0 * f1 + f2
    addm  f2, f2, b[8]          f2 = f2 + eight numbers of b
    st    out[0], f2

An instruction takes its operands from registers; some take one from memory, or a number that is
written in the instruction. It starts in the order of the program, at most `width` of them in a
cycle, as soon as its registers are ready: there is no other order at run time. `INSTRUCTIONS` is
the whole machine language, a row for each. Folding a memory operand into arithmetic is what x86
does, writing a number into the instruction is what AMD's and NVIDIA's GPUs do. One instruction in a
cycle means that each load and store of a spilled value costs a cycle, however well it is placed.
Next room: `block.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LOAD, ARITHMETIC, NUMBER, STORE, DIVIDE = 4, 4, 1, 1, 12  # cycles until a result is ready
STACK = "stack"  # the memory that spilled registers go to

# A pattern is a tree: "_" stands for a register, and a leaf that is no register has its kind alone.
Pattern = Any


@dataclass(frozen=True)
class Row:
    """One instruction of the machine.

    pattern  the tree that it computes; None for a store, which computes nothing
    latency  cycles from its start until its result can be read
    numpy    its meaning, on the leaves of the pattern from left to right
    """

    name: str
    pattern: Pattern
    latency: int
    doc: str
    numpy: Callable[..., Any] = lambda value: value


def _fused(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


_ROWS = (
    Row("ld", ("load",), LOAD, "a vector from memory"),
    Row("bc", ("broadcast",), LOAD, "one number from memory, in all lanes"),
    Row("li", ("const",), NUMBER, "a number that is written in the instruction, in all lanes"),
    Row("st", None, STORE, "a vector to memory"),
    Row("add", ("add", "_", "_"), ARITHMETIC, "a + b", np.add),
    Row("sub", ("sub", "_", "_"), ARITHMETIC, "a - b", np.subtract),
    Row("mul", ("mul", "_", "_"), ARITHMETIC, "a * b", np.multiply),
    Row("div", ("div", "_", "_"), DIVIDE, "a / b", np.divide),
    Row("max", ("max", "_", "_"), ARITHMETIC, "the larger of a and b", np.maximum),
    Row("relu", ("relu", "_"), ARITHMETIC, "the larger of a and 0", lambda a: np.maximum(a, 0)),
    Row("addi", ("add", "_", ("const",)), ARITHMETIC, "a + a number", np.add),
    Row("muli", ("mul", "_", ("const",)), ARITHMETIC, "a * a number", np.multiply),
    Row("addm", ("add", "_", ("load",)), LOAD + ARITHMETIC, "a + a vector from memory", np.add),
    Row("mulm", ("mul", "_", ("load",)), LOAD + ARITHMETIC, "a * a vector from memory",
        np.multiply),
    Row("fma", ("add", ("mul", "_", "_"), "_"), ARITHMETIC, "a * b + c, rounded once", _fused),
    Row("fnma", ("sub", "_", ("mul", "_", "_")), ARITHMETIC, "a - b * c, rounded once",
        lambda a, b, c: _fused(-b, c, a)),
    Row("fmam", ("add", ("mul", "_", ("load",)), "_"), LOAD + ARITHMETIC,
        "a * a vector from memory + c, rounded once", _fused),
)  # fmt: skip
INSTRUCTIONS = {row.name: row for row in _ROWS}
SCALARS = ("add", "sub", "mul", "div", "max", "relu")  # the functions of loop text that it has


@dataclass(frozen=True)
class Core:
    """The processor: `registers` of `lanes` float32 each, `width` instructions start in a cycle."""

    registers: int = 16
    lanes: int = 8
    width: int = 1

    def __post_init__(self) -> None:
        if self.registers < 4 or self.lanes < 1 or self.width < 1:
            raise ValueError(
                "a core has at least 4 registers (an instruction reads up to three), one lane, and "
                f"starts one instruction a cycle, got {self}"
            )


@dataclass(frozen=True)
class Instr:
    """One instruction: the register that it writes ("" for a store), and its operands.

    reads   the registers that it reads, in the order of the pattern
    at      (buffer, number of the first element) that it reads from memory, or writes to
    number  what is written in the instruction
    """

    op: str
    into: str
    reads: tuple[str, ...] = ()
    at: tuple[str, int] | None = None
    number: float | None = None

    @property
    def row(self) -> Row:
        return INSTRUCTIONS[self.op]

    @property
    def writes_memory(self) -> bool:
        return self.op == "st"

    def __str__(self) -> str:
        where = "" if self.at is None else f"{self.at[0]}[{self.at[1]}]"
        if self.writes_memory:
            return f"{self.op:<5} {where}, {self.reads[0]}"
        registers = iter(self.reads)
        words = [self.into]
        for leaf in leaves(self.row.pattern):
            words.append(next(registers) if leaf == "_" else where or f"{self.number:g}")
        return f"{self.op:<5} {', '.join(words)}"


def leaves(pattern: Pattern) -> list[str]:
    """What a pattern takes, from left to right: "_" for a register, else "load" and its like."""
    if pattern == "_" or len(pattern) == 1:
        return ["_" if pattern == "_" else pattern[0]]
    return [leaf for part in pattern[1:] for leaf in leaves(part)]


def listing(code: list[Instr]) -> str:
    """A program as text, one instruction in a line with its number."""
    return "\n".join(f"{n:>3}  {instr}" for n, instr in enumerate(code))
