"""The order of the steps: the same work, with less alive at the busiest moment.

    a = big(x)                                           a = big(x)
    b = big(x)          2 big values are alive           c = small(a)       1 big value is alive
    c = small(a)                               ==>       b = big(x)         and a small one
    d = small(b)                                         d = small(b)

Any order in which a step comes after the steps whose results it reads computes the same. To find
the one with the lowest peak is hard: with values of one size it is already the question of how few
registers a program needs, which is NP-complete (Sethi, "Complete Register Allocation Problems",
1975). Next room: `in_place.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest

from course_lib.exercises import exercise
from course_lib.schedule.in_place import in_place
from course_lib.schedule.memory import Task, outside, plan_memory
from course_lib.schedule.memory import tasks as tasks_of
from course_lib.schedule.program import Program

_WORK = 4_000  # tasks times beginnings that the search follows at once


def reorder(program: Program) -> Program:
    """The program in the order that `order` chooses, if that makes its arena smaller.

    The arena is the one that results after `in_place`, which comes next: what an order saves,
    writing in place may have saved already. Raises ValueError if the answer of `order` is no order
    of the tasks, and if something is in place already: then the order is fixed.
    """
    if len(program.buffers) < len(program.steps):
        raise ValueError("reorder comes before in_place: results that share bytes fix the order")
    resolved = _resolved(program)
    chosen = list(order(resolved))
    check_order(resolved, chosen)
    if chosen == list(range(len(chosen))):
        return program
    other = replace(program, steps=tuple(program.steps[k] for k in chosen))
    sizes = [plan_memory(in_place(p)).size for p in (other, program)]
    return other if sizes[0] < sizes[1] else program


def _resolved(program: Program) -> list[Task]:
    """Tasks for `order`: every name is an owner's, and a result of the program has size 0."""
    apart = {program.owner(v) for v in outside(program)}
    return [
        Task(
            writes=task.writes,
            reads=tuple(program.owner(v) for v in task.reads),
            size=0 if task.writes in apart else task.size,
        )
        for task in tasks_of(program)
    ]


def check_order(tasks: Sequence[Task], chosen: Sequence[int]) -> None:
    """Raise ValueError if some task is missing or comes before one whose value it reads."""
    if sorted(chosen) != list(range(len(tasks))):
        raise ValueError(
            f"order: expected each of the positions 0 to {len(tasks) - 1} once, got {chosen}"
        )
    writer = {task.writes: k for k, task in enumerate(tasks)}
    done: set[int] = set()
    for k in chosen:
        late = [v for v in tasks[k].reads if v in writer and writer[v] not in done]
        if late:
            raise ValueError(
                f"order: task {k} writes {tasks[k].writes} and reads {late[0]}, which task "
                f"{writer[late[0]]} writes later"
            )
        done.add(k)


def peak(tasks: Sequence[Task], chosen: Sequence[int]) -> int:
    """The most bytes alive at once if the tasks run in this order (see `order`)."""
    last = {v: n for n, k in enumerate(chosen) for v in (tasks[k].writes, *tasks[k].reads)}
    size = {task.writes: task.size for task in tasks}
    alive = most = 0
    for n, k in enumerate(chosen):
        alive += tasks[k].size
        most = max(most, alive)
        ended = {tasks[k].writes, *tasks[k].reads}
        alive -= sum(size.get(v, 0) for v in ended if last[v] == n)
    return most


def as_given(tasks: Sequence[Task]) -> list[int]:
    """The baseline: the order of the graph."""
    return list(range(len(tasks)))


@exercise(
    "schedule.order.order",
    unit=4,
    points=4,
    kind="budget",
    baseline=as_given,
    hints=(
        "Which of the tasks that could run now leaves the fewest bytes alive?",
        "Keep a list of what is done. Of the tasks that are ready, take the one with the smallest "
        "(bytes written - bytes that die with it). If that is not enough, follow several "
        "beginnings at once and keep the best few.",
        "While something is left: ready = tasks not done whose reads are all written. For each, "
        "dying = values that it reads and no other task left reads. Take the task with the least "
        "size - sum of the sizes of dying. Return the given order if its peak is not higher.",
    ),
)
def order(tasks: Sequence[Task]) -> list[int]:
    """Choose an order of the tasks in which few bytes are alive together.

    tasks    as they stand in the program, each after those whose values it reads. Every value is
             written by one task at most; there are no views among `reads`, but inputs and
             constants, which no task writes. A result of the program has size 0: it is not in the
             arena
    returns  the positions of the tasks in the new order: each once, and none before a task whose
             value it reads

    A value is alive from the task that writes it to the last one that reads it, both included; one
    that nobody reads is alive while it is written. `peak(tasks, order)` is the largest sum of sizes
    alive at one task. It must never be higher than for the given order.

    >>> big, small = 4 * 64, 64
    >>> twice = [Task("a", ("x",), big), Task("b", ("x",), big)]
    >>> twice += [Task("c", ("a",), small), Task("d", ("b",), small), Task("y", ("c", "d"), 0)]
    >>> order(twice), peak(twice, range(5)), peak(twice, order(twice))
    ([0, 2, 1, 3, 4], 576, 384)
    """
    found = _beam(tasks)
    given = list(range(len(tasks)))
    return found if peak(tasks, found) < peak(tasks, given) else given


@dataclass(frozen=True)
class _Beginning:
    """Some tasks in an order. `done` has a bit for each of them."""

    done: int = 0
    alive: int = 0
    peak: int = 0
    ready: tuple[int, ...] = ()
    order: tuple[int, ...] = ()


def _beam(tasks: Sequence[Task]) -> list[int]:
    """Follow the best few beginnings. What is alive depends only on what is done: so of two
    beginnings with the same tasks the one with the higher peak is dropped."""
    edges = _Edges(tasks)
    width = max(1, _WORK // max(1, len(tasks)))
    best = [_Beginning(ready=tuple(k for k, needs in enumerate(edges.needs) if not needs))]
    for _ in tasks:
        longer: dict[int, _Beginning] = {}
        for beginning in best:
            for new in edges.longer(beginning):
                if new.done not in longer or new.peak < longer[new.done].peak:
                    longer[new.done] = new
        best = nsmallest(width, longer.values(), key=lambda b: (b.peak, b.alive))
    return list(best[0].order)


class _Edges:
    """Who needs whom, as sets of bits."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        writer = {task.writes: k for k, task in enumerate(tasks)}
        self.reads = [{writer[v] for v in task.reads if v in writer} for task in tasks]
        self.needs = [sum(1 << w for w in reads) for reads in self.reads]
        self.readers: list[list[int]] = [[] for _ in tasks]
        for k, reads in enumerate(self.reads):
            for w in reads:
                self.readers[w].append(k)
        self.read_by = [sum(1 << k for k in readers) for readers in self.readers]

    def longer(self, beginning: _Beginning) -> list[_Beginning]:
        """One task more, in every way. A task that frees what it takes, without a new peak, can
        wait for nothing: then it is the only way."""
        found = []
        for k in beginning.ready:
            new = self.after(beginning, k)
            if new.alive <= beginning.alive and new.peak == beginning.peak:
                return [new]
            found.append(new)
        return found

    def after(self, beginning: _Beginning, k: int) -> _Beginning:
        done = beginning.done | 1 << k
        during = beginning.alive + self.tasks[k].size
        ended = (w for w in (k, *self.reads[k]) if not self.read_by[w] & ~done)
        free = [r for r in self.readers[k] if not self.needs[r] & ~done]
        return _Beginning(
            done=done,
            alive=during - sum(self.tasks[w].size for w in ended),
            peak=max(beginning.peak, during),
            ready=tuple(sorted({*beginning.ready, *free} - {k})),
            order=(*beginning.order, k),
        )
