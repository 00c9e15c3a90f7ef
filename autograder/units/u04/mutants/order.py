"""Mutants and alternatives of unit 4 for the order of steps. Next room: layout.py."""

from __future__ import annotations

import heapq

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.memory.order import peak


def _needs(tasks):
    at = {task.writes: k for k, task in enumerate(tasks)}
    return [{at[v] for v in task.reads if v in at} for task in tasks]


def _greedy(tasks, cost):
    """Always the ready task with the least cost."""
    needs, done = _needs(tasks), []
    while len(done) < len(tasks):
        ready = [k for k in range(len(tasks)) if k not in done and needs[k] <= set(done)]
        done.append(min(ready, key=lambda k: (cost(k, done, needs), k)))
    return done


def _growth(tasks):
    def cost(k, done, needs):
        others = [needs[j] for j in range(len(tasks)) if j not in done and j != k]
        freed = [j for j in needs[k] if not any(j in other for other in others)]
        return tasks[k].size - sum(tasks[j].size for j in freed)

    return cost


@mutant("schedule.order.order")
def as_they_came(tasks):
    return list(range(len(tasks)))


@mutant("schedule.order.order")
def small_ones_first(tasks):
    return sorted(range(len(tasks)), key=lambda k: tasks[k].size)


@mutant("schedule.order.order")
def backwards(tasks):
    return list(reversed(range(len(tasks))))


@mutant("schedule.order.order")
def names_instead_of_positions(tasks):
    return [tasks[k].writes for k in _greedy(tasks, _growth(tasks))]


@mutant("schedule.order.order")
def without_the_last(tasks):
    return _greedy(tasks, _growth(tasks))[:-1]


@mutant("schedule.order.order")
def big_ones_first(tasks):
    """Legal, and often worse than the order as given."""
    return _greedy(tasks, lambda k, done, needs: -tasks[k].size)


@mutant("schedule.order.order")
def worse_where_greed_fails(tasks):
    return _greedy(tasks, _growth(tasks))


@alternative("schedule.order.order")
def least_growth_first(tasks):
    """Correct, for a part of the points."""
    found, given = _greedy(tasks, _growth(tasks)), range(len(tasks))
    return tuple(found if peak(tasks, found) <= peak(tasks, given) else given)


@alternative("schedule.order.order")
def the_best_of_all(tasks):
    """From no task on to sets of tasks that can be done, always from the one with the lowest peak;
    of two, from the larger one."""
    needs, everything = _needs(tasks), frozenset(range(len(tasks)))
    readers = [{k for k in everything if j in needs[k]} for j in range(len(tasks))]
    found, least = [(0, 0, ())], {}
    while len((way := heapq.heappop(found))[2]) < len(tasks):
        highest, _, way = way
        done = frozenset(way)
        alive = sum(tasks[j].size for j in done if readers[j] - done)
        for k in everything - done:
            if needs[k] <= done:
                peak, after = max(highest, alive + tasks[k].size), done | {k}
                if peak < least.get(after, peak + 1):
                    least[after] = peak
                    heapq.heappush(found, (peak, -len(after), (*way, k)))
    return list(way[2])


@mutant("schedule.order.order")
def where_each_task_goes(tasks):
    """For each task its place, and not for each place its task."""
    found = _greedy(tasks, _growth(tasks))
    return [found.index(k) for k in range(len(tasks))]


@mutant("schedule.order.order")
def one_branch_after_the_other(tasks):
    """Each result's operands right before it: often good, and sometimes worse than as given."""
    needs, found = _needs(tasks), []

    def visit(k):
        if k not in found:
            for operand in sorted(needs[k], key=lambda j: -tasks[j].size):
                visit(operand)
            found.append(k)

    for k in reversed(range(len(tasks))):
        visit(k)
    return found


@alternative("schedule.order.order")
def a_few_hundred_beginnings(tasks):
    """As a dict, whose keys have an order: the positions that were chosen, and the bytes alive."""
    needs = _needs(tasks)
    readers = [{k for k, need in enumerate(needs) if w in need} for w in range(len(tasks))]
    states = {frozenset(): (0, ())}
    for _ in tasks:
        longer = {}
        for done, (highest, way) in states.items():
            alive = sum(tasks[j].size for j in done if readers[j] - done)
            for k in set(range(len(tasks))) - done:
                if needs[k] <= done:
                    entry = (max(highest, alive + tasks[k].size), (*way, k))
                    longer[done | {k}] = min(entry, longer.get(done | {k}, entry))
        states = dict(sorted(longer.items(), key=lambda item: item[1])[:300])
    ((_, found),) = states.values()
    return dict.fromkeys(min(range(len(tasks)), found, key=lambda way: peak(tasks, way)))


_SCORE = "an order that is legal, no worse and as good earns all points: how it is found is free"
for _old, _new in [
    *(("_WORK = 4000", "_WORK = "), ("width = _WORK // len(tasks)", "width = _WORK // len(tasks)")),
    *(
        ("dict(nsmallest(", "dict(nsmallest("),
        ("frozenset(): (0, 0, ())", "frozenset(): ("),
    ),
    *(("in beginnings.items()", "reversed(list(beginnings"), ("for k in", "reversed(list(")),
    *(("ended = [w for w in", "ended = [w for w in"), ("width = _WORK", "width = _WORK + 1")),
    *(
        ("longer[now] = min(", "longer.setdefault("),
        ("enumerate(needs)", "list(enumerate(needs))[1:]"),
    ),
]:
    equivalent("schedule.order.order", _old, _new, because=_SCORE)
equivalent("schedule.order.order", "enumerate(tasks)", "list(enumerate(tasks))[:-1]",
           because="nobody reads what the last task writes")  # fmt: skip
