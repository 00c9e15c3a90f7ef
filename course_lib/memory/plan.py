"""The memory plan: at which address each intermediate value lives, and which ones share it.

Next room: `order.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.ir.loops.program import Program
from course_lib.memory.liveness import Interval, lifetimes
from course_lib.memory.offsets import arena_size, assign_offsets, check_plan, lower_bound


@dataclass(frozen=True)
class MemoryPlan:
    """Offsets in one arena. `size` is the arena's, `lower_bound` the most bytes alive at once.

    `in_place` counts the results that are written over an operand and need no bytes of their own.
    """

    intervals: tuple[Interval, ...]
    offsets: Mapping[str, int]
    size: int
    lower_bound: int
    in_place: int = 0

    @property
    def without_reuse(self) -> int:
        """Bytes if every buffer had its own."""
        return sum(i.size for i in self.intervals)

    def __str__(self) -> str:
        ratio = self.size / self.lower_bound if self.lower_bound else 1.0
        return (
            f"{len(self.intervals)} buffers in {self.size:,} bytes "
            f"({ratio:.2f} of the lower bound {self.lower_bound:,}; "
            f"{self.without_reuse:,} without reuse), {self.in_place} results in place"
        )


def plan_memory(program: Program) -> MemoryPlan:
    """Decide an address for every value between the inputs and the results."""
    intervals = lifetimes(program)
    offsets = assign_offsets(intervals)
    check_plan(intervals, offsets)
    size = arena_size(intervals, offsets)
    in_place = len(program.steps) - len(program.buffers)
    return MemoryPlan(tuple(intervals), offsets, size, lower_bound(intervals), in_place)
