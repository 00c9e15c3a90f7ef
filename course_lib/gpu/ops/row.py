"""The table of instructions that compute: one function for each name, which says what it means.

    @op("add")
    def add(i): ...           # the instruction  ->  Meaning((s32, s32), s32, np.add)

A meaning is plain numpy on arrays of lanes x warps, so it is the same for one thread and for a
million. What touches memory, other lanes or control is in `../simt/`. Next room: `floats.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.gpu.ptx.parts import Instruction, PtxError
from course_lib.gpu.ptx.types import Type

Array = np.ndarray


@dataclass(frozen=True)
class Meaning:
    """How the operands are read, what the result is, and the function between them. A function with
    `second` gives a pair: the result, and a predicate."""

    sources: tuple[Type, ...]
    result: Type
    function: Callable[..., Any]
    second: bool = False


Build = Callable[[Instruction], Meaning]
OPS: dict[str, Build] = {}


def op(name: str) -> Callable[[Build], Build]:
    """Enter the function under the name of the instruction that it gives a meaning."""

    def enter(build: Build) -> Build:
        OPS[name] = build
        return build

    return enter


def refuse(instruction: Instruction, why: str = "") -> PtxError:
    """The error for what has no meaning here."""
    return PtxError(f"{instruction.opcode} is not supported", instruction.line, why)


def only(instruction: Instruction, *modifiers: str) -> None:
    """PtxError if it has others than these."""
    other = [m for m in instruction.modifiers if m not in modifiers]
    if other:
        raise refuse(instruction, f"no meaning is known for .{other[0]}")
