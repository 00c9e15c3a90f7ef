"""The memory plan: when each step runs, what lies over what, and at which address.

    step 0: a = big(x)                      step 0: a = big(x)             a    offset 0
    step 1: b = big(x)                      step 1: c = small(a)           c    offset 4096
    step 2: c = small(a)           ==>      step 2: b = big(x)             b    offset 0
    step 3: d = small(b)                    step 3: d = small(b)           d    offset 4160
    step 4: y = add(c, d)                   step 4: y = add(c, d)

The runtime takes the plan as it is: it makes one arena of `size` bytes, and every value has its
offset in it. Next room: `course_lib/llvm/parts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.arguments import takes
from course_lib.ir.loops.program import Program
from course_lib.memory.in_place import in_place
from course_lib.memory.liveness import Interval, lifetimes
from course_lib.memory.offsets import arena_size, assign_offsets, check_plan, lower_bound
from course_lib.memory.order import reorder


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


@takes
def plan(program: Program) -> tuple[Program, MemoryPlan]:
    """The program as it will run, and where its values live.

    The steps come in the order that `reorder` chooses, if the arena is smaller that way; results
    are written over operands wherever `in_place` finds that legal. Raises ValueError if the answer
    of an exercise is no order, or if two values that are alive together would share a byte.
    """
    candidates = [program]
    moved = reorder(program)
    if moved is not program:
        candidates.append(moved)
    placed = [(each, place(each)) for each in map(in_place, candidates)]
    return min(placed, key=lambda pair: pair[1].size)


def place(program: Program) -> MemoryPlan:
    """An address for every value between the inputs and the results, the steps as they stand."""
    intervals = lifetimes(program)
    offsets = assign_offsets(intervals)
    check_plan(intervals, offsets)
    size = arena_size(intervals, offsets)
    over = len(program.steps) - len(program.buffers)
    return MemoryPlan(tuple(intervals), offsets, size, lower_bound(intervals), over)
