"""From which instruction to which a register's value is needed.

    0  ld   v0, x[0]            v0  0..2      v0 is read for the last time by instruction 2, which
    1  ld   v1, y[0]            v1  1..2      writes v2: an instruction reads all its operands
    2  mul  v2, v0, v1          v2  2..3      before it writes, so v2 may have the register of v0
    3  st   out[0], v2

Next room: `linear_scan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.machine.core import Instr


@dataclass(frozen=True)
class Live:
    """The life of a value: written by instruction `start`, read last by instruction `end`.

    `end` is larger than `start`: a value that nobody reads has a life of one instruction. Two lives
    meet if they have an instruction in common other than the one that ends one and starts the
    other.
    """

    name: str
    start: int
    end: int

    def meets(self, other: Live) -> bool:
        return self.start < other.end and other.start < self.end


def lives_of(code: Sequence[Instr]) -> list[Live]:
    """The life of each register that straight-line code writes, by their starts."""
    start: dict[str, int] = {}
    end: dict[str, int] = {}
    for n, instr in enumerate(code):
        for name in instr.reads:
            if name not in start:
                raise ValueError(f"instruction {n} ({instr}) reads {name} before it is written")
            end[name] = n
        if instr.into in start:
            raise ValueError(f"instruction {n} ({instr}) writes {instr.into} a second time")
        if instr.into:
            start[instr.into], end[instr.into] = n, n + 1
    return [Live(name, first, end[name]) for name, first in start.items()]


def pressure(lives: Sequence[Live]) -> int:
    """The most values that are alive together: with fewer registers, something must be spilled."""
    return max((sum(a.start <= b.start < a.end for a in lives) for b in lives), default=0)
