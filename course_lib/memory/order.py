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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest

from course_lib.exercises import exercise
from course_lib.ir.loops.program import Program
from course_lib.memory.liveness import Task, outside
from course_lib.memory.liveness import tasks as tasks_of


def reorder(program: Program) -> Program:
    """The program in the order that `order` chooses; the program itself, if that is its order.

    Raises ValueError if the answer of `order` is no order of the tasks, and if something is in
    place already: then the order is fixed.
    """
    if len(program.buffers) < len(program.steps):
        raise ValueError("reorder comes before in_place: results that share bytes fix the order")
    resolved = _resolved(program)
    chosen = list(order(resolved))
    check_order(resolved, chosen)
    if chosen == list(range(len(chosen))):
        return program
    return replace(program, steps=tuple(program.steps[k] for k in chosen))


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


_WORK = 4_000  # tasks times beginnings that the search follows at once


@exercise("schedule.order.order", unit=4, points=4, kind="budget", baseline=as_given, further=True)
def order(tasks: Sequence[Task]) -> list[int]:
    """Choose an order of the tasks in which few bytes are alive together.

    tasks    as they stand in the program, each after those whose values it reads. Every value is
             written by one task at most; there are no views among `reads`, but inputs and
             constants, which no task writes. A result of the program has size 0 here (`tasks` in
             liveness.py gives it its bytes): it is not in the arena
    returns  a list of the positions of the tasks in the new order: each once, and none before a
             task whose value it reads

    A value is alive from the task that writes it to the last one that reads it, both included; one
    that no task reads is alive while it is written. `peak(tasks, order)` is the largest sum of
    sizes alive at one task. It must never be higher than for the given order.

    >>> big, small = 4 * 64, 64
    >>> twice = [Task("a", ("x",), big), Task("b", ("x",), big)]
    >>> twice += [Task("c", ("a",), small), Task("d", ("b",), small), Task("y", ("c", "d"), 0)]
    >>> order(twice), peak(twice, range(5)), peak(twice, order(twice))
    ([0, 2, 1, 3, 4], 576, 384)
    """
    writer = {task.writes: k for k, task in enumerate(tasks)}
    needs = [{writer[v] for v in task.reads if v in writer} for task in tasks]
    readers = [{k for k, need in enumerate(needs) if w in need} for w in range(len(tasks))]
    beginnings: dict[frozenset[int], _Beginning] = {frozenset(): (0, 0, ())}
    for _ in tasks:
        longer = _one_task_more(tasks, needs, readers, beginnings)
        width = _WORK // len(tasks) + 1
        beginnings = dict(nsmallest(width, longer.items(), key=lambda item: item[1]))
    ((_, _, planned),) = beginnings.values()
    given = tuple(range(len(tasks)))
    return list(min(given, planned, key=lambda positions: peak(tasks, positions)))


_Beginning = tuple[int, int, tuple[int, ...]]  # (highest peak, alive after it, order)


def _one_task_more(
    tasks: Sequence[Task],
    needs: Sequence[set[int]],
    readers: Sequence[set[int]],
    beginnings: Mapping[frozenset[int], _Beginning],
) -> dict[frozenset[int], _Beginning]:
    """Every beginning, longer by each task that is ready, by the set of tasks that are done.

    What is alive depends on that set alone. So of two orders of it, the one with the lower peak is
    as good a beginning for every end.
    """
    longer: dict[frozenset[int], _Beginning] = {}
    for done, (highest, alive, before) in beginnings.items():
        for k in [k for k in range(len(tasks)) if k not in done and needs[k] <= done]:
            now, during = done | {k}, alive + tasks[k].size
            ended = [w for w in {k, *needs[k]} if readers[w] <= now]
            after = during - sum(tasks[w].size for w in ended)
            new = max(highest, during), after, (*before, k)
            longer[now] = min(new, longer.get(now, new))
    return longer
