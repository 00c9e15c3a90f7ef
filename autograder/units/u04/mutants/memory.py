"""Answers to unit 4 on lives and addresses: liveness, assign_offsets. Next room: steps.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.exemplars import in_the_library
from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.loops.program import owner
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size
from course_lib.memory.planners import best_fit, first_fit

# ── schedule.memory.liveness ──


def _lives(tasks, views, outside, *, of=owner, writes=True, longer=0):
    own = {of(v, views) for v in outside}
    first, last, size = {}, {}, {}
    for step, task in enumerate(tasks):
        written = of(task.writes, views)
        first.setdefault(written, step)
        size.setdefault(written, task.size)
        for value in ([task.writes] if writes else []) + list(task.reads):
            last[of(value, views)] = step + longer
    return [Interval(v, size[v], first[v], last.get(v, first[v])) for v in first if v not in own]


@mutant("schedule.memory.liveness")
def forgets_views(tasks, views, outside):
    return _lives(tasks, views, outside, of=lambda value, views: value)


@mutant("schedule.memory.liveness")
def one_step_of_a_chain_of_views(tasks, views, outside):
    return _lives(tasks, views, outside, of=lambda value, views: views.get(value, value))


@mutant("schedule.memory.liveness")
def dies_before_the_last_reader(tasks, views, outside):
    """The end of a life is not included, as in a slice."""
    found = _lives(tasks, views, outside)
    return [Interval(i.name, i.size, i.first, max(i.first, i.last - 1)) for i in found]


@mutant("schedule.memory.liveness")
def one_step_too_long(tasks, views, outside):
    return _lives(tasks, views, outside, longer=1)


@mutant("schedule.memory.liveness")
def to_the_last_step(tasks, views, outside):
    found = _lives(tasks, views, outside)
    return [Interval(i.name, i.size, i.first, len(tasks) - 1) for i in found]


@mutant("schedule.memory.liveness")
def plans_results_too(tasks, views, outside):
    return _lives(tasks, views, set())


@mutant("schedule.memory.liveness")
def a_view_of_a_result_is_planned(tasks, views, outside):
    return [i for i in _lives(tasks, views, set()) if i.name not in outside]


@mutant("schedule.memory.liveness")
def only_what_is_read(tasks, views, outside):
    read = {owner(v, views) for task in tasks for v in task.reads}
    return [i for i in _lives(tasks, views, outside) if i.name in read]


@mutant("schedule.memory.liveness")
def only_readers_count(tasks, views, outside):
    """A task that writes over a value without reading it uses its bytes, too."""
    return _lives(tasks, views, outside, writes=False)


@mutant("schedule.memory.liveness")
def as_large_as_what_was_written_last(tasks, views, outside):
    """A result in place may have fewer bytes than the value that it is written over."""
    size = {owner(task.writes, views): task.size for task in tasks}
    return [replace(i, size=size[i.name]) for i in _lives(tasks, views, outside)]


@mutant("schedule.memory.liveness")
def born_when_written_last(tasks, views, outside):
    born = {owner(task.writes, views): step for step, task in enumerate(tasks)}
    found = _lives(tasks, views, outside)
    return [Interval(i.name, i.size, born[i.name], max(i.last, born[i.name])) for i in found]


@alternative("schedule.memory.liveness")
def from_the_uses(tasks, views, outside):
    """All uses of each owner first, then the least and the greatest of them."""
    uses: dict[str, list[int]] = {}
    for step, task in enumerate(tasks):
        for value in (task.writes, *task.reads):
            uses.setdefault(owner(value, views), []).append(step)
    own = {owner(v, views) for v in outside}
    return [
        Interval(t.writes, t.size, uses[t.writes][0], uses[t.writes][-1])
        for t in tasks
        if t.writes not in views and t.writes not in own
    ]


@alternative("schedule.memory.liveness")
def backwards_and_as_a_tuple(tasks, views, outside):
    last: dict[str, int] = {}
    for step in range(len(tasks) - 1, -1, -1):
        for value in (*tasks[step].reads, tasks[step].writes):
            last.setdefault(owner(value, views), step)
    own = {owner(v, views) for v in outside}
    found = [
        Interval(task.writes, np.int64(task.size), step, last[task.writes])
        for step, task in enumerate(tasks)
        if task.writes not in views and task.writes not in own
    ]
    return tuple(reversed(found))


@mutant("schedule.memory.liveness")
def what_has_no_bytes_has_no_life(tasks, views, outside):
    return [i for i in _lives(tasks, views, outside) if i.size]


@alternative("schedule.memory.liveness")
def one_after_another(tasks, views, outside):
    """A generator that looks ahead for each value."""
    own = {owner(v, views) for v in outside}
    for step, task in enumerate(tasks):
        if task.writes in views or task.writes in own:
            continue
        later = [
            n
            for n, other in enumerate(tasks)
            if task.writes in {owner(v, views) for v in (other.writes, *other.reads)}
        ]
        yield Interval(task.writes, task.size, step, max(later))


_LIVES = "the order of the intervals, and of the names within one task, says nothing"
equivalent("schedule.memory.liveness", "for value in", "reversed(list(", because=_LIVES)
equivalent("schedule.memory.liveness", "task.writes", "(*task.reads, task.writes)", because=_LIVES)
equivalent("schedule.memory.liveness", "for v in first", "reversed(list(first))", because=_LIVES)


# ── schedule.memory.assign_offsets ──

# Any plan in which nothing is overwritten earns something, and a small peak earns more.
for _planner in ("offsets.one_after_another", "planners.first_fit", "planners.best_fit"):
    in_the_library("schedule.memory.assign_offsets", f"course_lib.memory.{_planner}",
                   because="a planner that the unit shows, to be beaten")  # fmt: skip


def _placed(
    intervals,
    order,
    *,
    overlaps=Interval.overlaps,
    fits=lambda gap, size: gap >= size,
    beyond=max,
):
    offsets: dict[str, int] = {}
    done: list[Interval] = []
    for interval in sorted(intervals, key=order):
        offset = 0
        for other in sorted(done, key=lambda o: offsets[o.name]):
            if overlaps(other, interval):
                if fits(offsets[other.name] - offset, interval.size):
                    break
                offset = beyond(offset, offsets[other.name] + other.size)
        offsets[interval.name] = offset
        done.append(interval)
    return offsets


def _by_size(interval):
    return (-interval.size, interval.first)


def _by_area(interval):
    return -interval.size * (interval.last - interval.first + 1)


@mutant("schedule.memory.assign_offsets")
def the_last_step_is_free(intervals):
    """What is read last in a step shares bytes with what the step writes."""
    apart = lambda a, b: a.first < b.last and b.first < a.last  # noqa: E731
    return _placed(intervals, _by_size, overlaps=apart)


@mutant("schedule.memory.assign_offsets")
def any_gap_will_do(intervals):
    return _placed(intervals, _by_size, fits=lambda gap, size: gap > 0)


@mutant("schedule.memory.assign_offsets")
def back_to_the_end_of_a_nested_neighbour(intervals):
    """A neighbour may lie in the addresses of the one before, and end below it."""
    return _placed(intervals, _by_size, beyond=lambda at, end: end)


@mutant("schedule.memory.assign_offsets")
def the_same_by_area(intervals):
    return _placed(intervals, _by_area, beyond=lambda at, end: end)


@mutant("schedule.memory.assign_offsets")
def on_top_of_the_last_placed(intervals):
    """The last neighbour that was placed need not be the highest."""
    offsets: dict[str, int] = {}
    ordered = sorted(intervals, key=_by_size)
    for k, interval in enumerate(ordered):
        offset = 0
        for other in ordered[:k]:
            if other.overlaps(interval):
                offset = offsets[other.name] + other.size
        offsets[interval.name] = offset
    return offsets


@mutant("schedule.memory.assign_offsets")
def only_the_big_ones(intervals):
    offsets = _placed(intervals, _by_size)
    return {i.name: offsets[i.name] for i in intervals if i.size > 64}


@mutant("schedule.memory.assign_offsets")
def packed_without_alignment(intervals):
    return {name: offset + 32 for name, offset in _placed(intervals, _by_size).items()}


@mutant("schedule.memory.assign_offsets")
def its_own_bytes_for_each(intervals):
    """Correct, and not worth all points."""
    offsets, end = {}, 0
    for i in intervals:
        offsets[i.name] = end
        end += i.size
    return offsets


@alternative("schedule.memory.assign_offsets")
def largest_first(intervals):
    return _placed(intervals, _by_size)


@alternative("schedule.memory.assign_offsets")
def the_best_of_several(intervals):
    orders = (_by_size, _by_area, lambda i: i.first, lambda i: (-i.size, -i.first))
    plans = [_placed(intervals, order) for order in orders]
    plans += [first_fit(intervals), best_fit(intervals)]
    return min(plans, key=lambda plan: arena_size(intervals, plan))


@mutant("schedule.memory.assign_offsets")
def needs_a_value(intervals):
    """Believes that every program has a value to place."""
    assert max(i.last for i in intervals) >= 0
    return _placed(intervals, _by_size)


@alternative("schedule.memory.assign_offsets")
def in_order_of_time(intervals):
    """Correct, for a part of the points."""
    return {name: np.int64(offset) for name, offset in first_fit(intervals).items()}


@alternative("schedule.memory.assign_offsets")
def by_area(intervals):
    return _placed(intervals, _by_area)


@mutant("schedule.memory.assign_offsets")
def as_if_sorted_by_first_steps(intervals):
    """A heap: what ended before this value begins is free again, also for those before it."""
    offsets: dict[str, int] = {}
    living: list[Interval] = []
    for interval in intervals:
        living = [other for other in living if other.last >= interval.first]
        offset = 0
        for other in sorted(living, key=lambda o: offsets[o.name]):
            if offsets[other.name] - offset >= interval.size:
                break
            offset = max(offset, offsets[other.name] + other.size)
        offsets[interval.name] = offset
        living.append(interval)
    return offsets


@mutant("schedule.memory.assign_offsets")
def alive_when_it_begins(intervals):
    """Looks only at what is alive when the value begins, not at what begins during its life."""
    begins = lambda other, new: other.first <= new.first <= other.last  # noqa: E731
    return _placed(intervals, _by_size, overlaps=begins)


equivalent("schedule.memory.assign_offsets", "offsets[", "offsets.setdefault(",
           because="each value is placed once")  # fmt: skip
_PLAN = "any plan that is sound and as small earns all points: the text leaves the way free"
for _old, _new in [
    *(("_ROUNDS = 30", "_ROUNDS = 31"), ("_ROUNDS = 30", "_ROUNDS = 29")),
    *(("order = sorted(intervals, key=", "order = "), ("break", "continue")),
    *(("ends = {i.name: offsets[i.name] + i.size", "ends = {i.name: offsets[i.name]"),),
    *(("if size >= interval.size", "if size > interval.size"),),
]:
    equivalent("schedule.memory.assign_offsets", _old, _new, because=_PLAN)
