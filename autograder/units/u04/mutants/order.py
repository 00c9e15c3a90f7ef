"""Answers to unit 4 on the order of steps. Next room: steps.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from autograder.units.u04.hidden import the_best_of_all
from course_lib.memory.order import peak

ORDER = "schedule.order.order"
_BEST = "min(given, planned, key=lambda positions: peak(tasks, positions))"


def _greedy(cost):
    """An edit: the ready task with the least cost, one after another. A beginning is there as
    (tasks done, (peak, bytes alive, order))."""
    return "nsmallest(width", "nsmallest(1", "lambda item: item[1]", f"lambda item: {cost}"


_LEAST_GROWTH = _greedy("item[1][1]")

mutants(
    ORDER,
    as_they_came=lambda tasks: list(range(len(tasks))),
    small_ones_first=lambda tasks: sorted(range(len(tasks)), key=lambda k: tasks[k].size),
    backwards=lambda tasks: list(reversed(range(len(tasks)))),
    names_instead_of_positions=(f"list({_BEST})", f"[tasks[k].writes for k in {_BEST}]"),
    gives_up_on_many_tasks=("for _ in tasks:", "if len(tasks) > 12:\n        return list(range(len("
                            "tasks)))\n    for _ in tasks:"),
    without_the_last=(_BEST, f"{_BEST}[:-1]"),
    # Legal, and often worse than the order as given.
    big_ones_first=(*_greedy("-tasks[item[1][2][-1]].size"), _BEST, "planned"),
    worse_where_greed_fails=(*_LEAST_GROWTH, _BEST, "planned"),
    # Its own order, without a look at the given one, where there are many.
    greed_where_there_are_many_tasks=(
        *_LEAST_GROWTH, _BEST, f"({_BEST} if len(tasks) < 20 else planned)"),
    # What has no bytes is a result, and nobody reads it.
    results_at_the_end=(_BEST, f"sorted({_BEST}, key=lambda k: tasks[k].size == 0)"),
    # A task that reads nothing is left out.
    only_what_reads=(_BEST, f"[k for k in {_BEST} if tasks[k].reads]"),
    # For each task its place, and not for each place its task.
    where_each_task_goes=(_BEST, "(planned.index(k) for k in given)"),
)  # fmt: skip
# Right, for a part of the points; and what the hidden checks compare an order with.
alternatives(ORDER, least_growth_first=_LEAST_GROWTH, the_best_of_all=the_best_of_all)


def _needs(tasks):
    at = {task.writes: k for k, task in enumerate(tasks)}
    return [{at[v] for v in task.reads if v in at} for task in tasks]


@mutant(ORDER)
def one_branch_after_the_other(tasks):
    """Each result's operands right before it: often good, and sometimes worse than as given."""
    needs, order = _needs(tasks), []

    def visit(k):
        if k not in order:
            for operand in sorted(needs[k], key=lambda j: -tasks[j].size):
                visit(operand)
            order.append(k)

    for k in reversed(range(len(tasks))):
        visit(k)
    return order


@alternative(ORDER)
def a_few_hundred_beginnings(tasks):
    """As a dict, whose keys have an order: the positions that were chosen, and the bytes alive."""
    needs = _needs(tasks)
    readers = [{k for k, need in enumerate(needs) if w in need} for w in range(len(tasks))]
    states = {frozenset(): (0, ())}
    for _ in tasks:
        longer = {}
        for done, (highest, order) in states.items():
            alive = sum(tasks[j].size for j in done if readers[j] - done)
            for k in (k for k in range(len(tasks)) if k not in done and needs[k] <= done):
                entry = (max(highest, alive + tasks[k].size), (*order, k))
                longer[done | {k}] = min(entry, longer.get(done | {k}, entry))
        states = dict(sorted(longer.items(), key=lambda item: item[1])[:300])
    ((_, best),) = states.values()
    return dict.fromkeys(min(range(len(tasks)), best, key=lambda order: peak(tasks, order)))


equivalent(ORDER, "_WORK = 4000", "_WORK = ", *["width = _WORK // len(tasks)"] * 2,
           *["dict(nsmallest("] * 2, "frozenset(): (0, 0, ())", "frozenset(): (",
           "in beginnings.items()", "reversed(list(beginnings", "for k in", "reversed(list(",
           *["ended = [w for w in"] * 2, "width = _WORK", "width = _WORK + 1",
           "longer[now] = min(", "longer.setdefault(", "enumerate(needs)",
           "list(enumerate(needs))[1:]", because="an order that is legal, no worse and as good "
           "earns all points: how it is found is free")  # fmt: skip
equivalent(ORDER, "enumerate(tasks)", "list(enumerate(tasks))[:-1]",
           because="nobody reads what the last task writes")  # fmt: skip
