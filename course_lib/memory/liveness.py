"""Lives: from which step to which each value between the inputs and the results is needed.

    step 0: a = exp(x)                     a   steps 0 to 2: step 2 reads its bytes through a view
    step 1: b = neg(a)            ==>      b   steps 1 to 2
    step 2: y = add(b, view of a)          x and y have memory of their own

A value is alive from the step that writes it to the last step that reads it (or a view of it). Two
values that are never alive together may have the same address. Next room: `offsets.py`, which
chooses the addresses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from course_lib.exercises import exercise
from course_lib.ir.arrays import ALIGNMENT
from course_lib.ir.loops.program import Program, owner


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


@exercise("schedule.memory.liveness", unit=4, points=3, baseline=to_the_end)
def liveness(
    tasks: Sequence[Task], views: Mapping[str, str], outside: Collection[str]
) -> list[Interval]:
    """When is each value alive? One `Interval` for each value that needs bytes in the arena.

    tasks    the steps of a program in order; their positions 0, 1, 2 ... are the time
    views    {view: value whose bytes it shows}; that value may be a view, too
    outside  values with memory of their own: inputs, constants, results
    returns  a list of the intervals, in any order

    A value is alive from the task that writes it to the last task that reads it, both included. One
    that no task reads is alive while it is written. A view has no bytes: to read or write it is to
    read or write its owner (`owner(value, views)`), so the owner lives as long as any view of it is
    used. (A task that stores its result over an old value writes a view.) A value is left out if no
    task writes it, if it is in `outside`, or if a view of it is. `size` is that of the task that
    writes the owner itself; a value of 0 bytes has an interval, too.

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


def lifetimes(program: Program) -> list[Interval]:
    """`liveness` of a program."""
    return list(liveness(tasks(program), program.views, outside(program)))


def tasks(program: Program) -> list[Task]:
    """The steps of a program as tasks. They name values as the program does, so also views."""
    return [
        Task(step.writes, step.reads, aligned(program.types[step.writes].nbytes))
        for step in program.steps
    ]


def outside(program: Program) -> set[str]:
    """The values with memory of their own: inputs, constants and results."""
    return {*program.inputs, *program.constants, *program.outputs}


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
