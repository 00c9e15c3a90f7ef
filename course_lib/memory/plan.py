"""The memory plan: at which address each intermediate value lives, and which ones share it.

    step     0    1    2                 offset
    a        |====|                      0      a is written by step 0, read last by step 1
    b             |====|                 64     alive together with a: another address
    c                  |===              0      a is dead: its bytes are free again

A value is alive from the step that writes it to the last step that reads it (or a view of it). Two
values that are never alive together may have the same address. Results, inputs and constants have
memory of their own; the plan is about what lies between. Next room: `planners.py`, other ways to
choose the addresses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from course_lib.exercises import exercise
from course_lib.ir.loops.program import Program

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


@dataclass(frozen=True)
class Task:
    """What memory has to know about one step: the value that it writes, the values that it reads.

    `size` is how many bytes `writes` takes, as a multiple of 64. Inputs and constants may be among
    `reads`; no task writes them.
    """

    writes: str
    reads: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Interval:
    """A value's life: `first` and `last` are steps, both included. `size` is in bytes, aligned."""

    name: str
    size: int
    first: int
    last: int

    def overlaps(self, other: Interval) -> bool:
        return self.first <= other.last and other.first <= self.last


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


def lifetimes(program: Program) -> list[Interval]:
    """`liveness` of a program."""
    return liveness(tasks(program), program.views, outside(program))


def tasks(program: Program) -> list[Task]:
    """The steps of a program as tasks. They name values as the program does, so also views."""
    return [
        Task(step.writes, step.reads, aligned(program.types[step.writes].nbytes))
        for step in program.steps
    ]


def outside(program: Program) -> set[str]:
    """The values with memory of their own: inputs, constants and results."""
    return {*program.inputs, *program.constants, *program.outputs}


def to_the_end(
    tasks: Sequence[Task], views: Mapping[str, str], outside: Collection[str]
) -> list[Interval]:
    """The baseline: every value lives from the step that writes it to the last step of all."""
    own = {owner(value, views) for value in outside}
    last = len(tasks) - 1
    return [
        Interval(task.writes, task.size, step, last)
        for step, task in enumerate(tasks)
        if task.writes not in own and task.writes not in views
    ]


def owner(value: str, views: Mapping[str, str]) -> str:
    """The value whose bytes these are: the end of a chain of views."""
    while value in views:
        value = views[value]
    return value


@exercise(
    "schedule.memory.liveness",
    unit=4,
    points=3,
    baseline=to_the_end,
    hints=(
        "In the six lines, step 4 reads a reshape of what step 0 wrote. Until when are those bytes "
        "needed?",
        "Replace every name by its owner first. Then a value's life begins with the first task "
        "that names it as what it writes, and ends with the last task that names it at all.",
        "for step, task in enumerate(tasks): for the owner of task.writes set first (once) and "
        "last; for the owner of each of task.reads set last. Then one Interval for each key of "
        "first that is not the owner of a value in outside.",
    ),
)
def liveness(
    tasks: Sequence[Task], views: Mapping[str, str], outside: Collection[str]
) -> list[Interval]:
    """When is each value alive? One `Interval` for each value that needs bytes in the arena.

    tasks    the steps of a program in order; their positions 0, 1, 2 ... are the time
    views    {view: value whose bytes it shows}; that value may be a view, too
    outside  values with memory of their own: inputs, constants, results
    returns  the intervals, in any order

    A value is alive from the task that writes it to the last task that reads it, both included. One
    that nobody reads is alive while it is written. A view has no bytes: to read or write it is to
    read or write its owner (`owner(value, views)`), so the owner lives as long as any view of it is
    used. (A task writes a view if its result is stored over an operand: section 3.) A value is left
    out if no task writes it, if it is in `outside`, or if a view of it is: then its bytes are those
    of a result. `size` is that of the task that writes the owner itself.

    >>> run = [Task("a", ("x",), 64), Task("b", ("v",), 128), Task("y", ("b", "v"), 64)]
    >>> for life in liveness(run, {"v": "a"}, {"x", "y"}):
    ...     print(life)
    Interval(name='a', size=64, first=0, last=2)
    Interval(name='b', size=128, first=1, last=2)
    """
    own = {owner(value, views) for value in outside}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    size: dict[str, int] = {}
    for step, task in enumerate(tasks):
        written = owner(task.writes, views)
        first.setdefault(written, step)
        size.setdefault(written, task.size)
        for value in (task.writes, *task.reads):
            last[owner(value, views)] = step
    return [Interval(v, size[v], first[v], last[v]) for v in first if v not in own]


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def lower_bound(intervals: Sequence[Interval]) -> int:
    """No plan can be smaller than the bytes alive together at the busiest step."""
    steps = {i.first for i in intervals}
    return max((sum(i.size for i in intervals if i.first <= s <= i.last) for s in steps), default=0)


def one_after_another(intervals: Sequence[Interval]) -> dict[str, int]:
    """The baseline: every value has bytes of its own."""
    offsets, end = {}, 0
    for interval in intervals:
        offsets[interval.name] = end
        end += interval.size
    return offsets


def arena_size(intervals: Sequence[Interval], offsets: Mapping[str, int]) -> int:
    """Bytes from offset 0 to the end of the value that lies highest."""
    return max((offsets[i.name] + i.size for i in intervals), default=0)


def gaps(
    interval: Interval, intervals: Sequence[Interval], offsets: Mapping[str, int]
) -> list[tuple[int, float]]:
    """(offset, size) of what is free all through a life, upward. The last gap has no end.

    Free is what no value of `intervals` takes that is alive together with `interval` and has an
    offset already. No gap is empty; the last one has the size `inf`.
    """
    found: list[tuple[int, float]] = []
    end = 0
    placed = [i for i in intervals if i.name in offsets and i.overlaps(interval)]
    for other in sorted(placed, key=lambda i: offsets[i.name]):
        if offsets[other.name] > end:
            found.append((end, offsets[other.name] - end))
        end = max(end, offsets[other.name] + other.size)
    return [*found, (end, float("inf"))]


_ROUNDS = 30


@exercise(
    "schedule.memory.assign_offsets",
    unit=4,
    points=4,
    kind="budget",
    baseline=one_after_another,
    hints=(
        "In which order do you place the values, if small ones can fill what large ones leave?",
        "Place big values first, each into the lowest gap that is large enough. Then look at the "
        "value that ends up on top: it was harder to place than its size says. What if it had "
        "come earlier?",
        "order = sorted by size, largest first. For each interval of it: the first (offset, size) "
        "of gaps(interval, order, offsets) with size >= interval.size. For the last points: move "
        "the value that ends highest to the front of order, place all again, up to thirty times, "
        "and return the plan with the smallest arena. (If you look for gaps yourself: move past "
        "the end of a neighbour only if you are not past it yet.)",
    ),
)
def assign_offsets(intervals: Sequence[Interval]) -> dict[str, int]:
    """Choose an offset in bytes for every interval, so that the arena is small.

    intervals  lives of values; `size` in bytes is a multiple of 64
    returns    {name: offset}; every offset is at least 0 and a multiple of 64, and no two values
               that are alive together share a byte

    The order in which values are placed decides how small the arena gets. Large ones first is a
    good order: small ones fit into the gaps that large ones leave (Pisarchyk and Lee, "Efficient
    Memory Management for Deep Neural Net Inference", 2020; TensorFlow Lite plans this way). No
    single rule for the order is best everywhere.

    >>> one = [Interval("a", 64, 0, 1), Interval("b", 128, 1, 2), Interval("c", 64, 2, 3)]
    >>> offsets = assign_offsets(one)
    >>> arena_size(one, offsets), lower_bound(one)
    (192, 192)
    """
    order = sorted(intervals, key=lambda i: (-i.size, i.first, i.name))
    best = offsets = _lowest_gaps(order)
    for _ in range(_ROUNDS):
        if arena_size(order, best) == lower_bound(order):
            break
        ends = {i.name: offsets[i.name] + i.size for i in order}
        highest = max(order, key=lambda i: ends[i.name])  # hard to place: it goes first
        order = [highest, *(i for i in order if i is not highest)]
        offsets = _lowest_gaps(order)
        best = min(best, offsets, key=lambda plan: arena_size(intervals, plan))
    return best


def _lowest_gaps(order: Sequence[Interval]) -> dict[str, int]:
    """One value after another, each in the lowest gap that is large enough."""
    offsets: dict[str, int] = {}
    for interval in order:
        free = gaps(interval, order, offsets)
        offsets[interval.name] = next(at for at, size in free if size >= interval.size)
    return offsets


def check_plan(intervals: Sequence[Interval], offsets: Mapping[str, int]) -> None:
    """Raise ValueError if a value has no proper address or two living values share a byte."""
    for interval in intervals:
        offset = offsets.get(interval.name)
        whole = hasattr(offset, "__index__")  # an int of Python or numpy
        if offset is None or not whole or offset < 0 or offset % ALIGNMENT:
            raise ValueError(
                f"memory plan: {interval.name} needs an offset >= 0 that is a multiple of "
                f"{ALIGNMENT}, got {offset!r}"
            )
    by_start = sorted(intervals, key=lambda i: i.first)
    for position, a in enumerate(by_start):
        for b in by_start[position + 1 :]:
            if b.first > a.last:
                break
            start = max(offsets[a.name], offsets[b.name])
            if start < min(offsets[a.name] + a.size, offsets[b.name] + b.size):
                raise ValueError(
                    f"memory plan: {a.name} and {b.name} are both alive at step {b.first} and "
                    f"share bytes (offsets {offsets[a.name]} and {offsets[b.name]})"
                )
