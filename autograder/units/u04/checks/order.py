"""Visible checks of unit 4 for the order of steps: order.

An order must be one: each task once, and after those whose values it reads. Its points depend on
how near its peak is to the smallest, which an exhaustive search found. Next room: layout.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from autograder.units.u04.checks.shared import compiled, told_run, whole
from course_lib.memory.liveness import Task
from course_lib.memory.order import peak
from lessons.u04.lives import random_tasks

# Seeds of random tasks, and the smallest peak of any order of them, in units of 64 bytes. An
# exhaustive search found it; tests/units/test_u04.py repeats the search.
SMALLEST = {
    0: 53, 1: 29, 2: 34, 3: 44, 6: 21, 10: 43, 11: 55, 12: 32, 17: 21, 18: 24, 21: 37, 22: 16,
    25: 18, 26: 51, 29: 31,
}  # fmt: skip


ENOUGH = 1.05  # mean of peak / smallest peak from which an answer earns all points
ALWAYS = "It must never be higher than for the given order"

SLOT = "schedule.order.order"
background(SLOT, "Every value is written by one task at most ... it is not in the arena",
           because="what is given")  # fmt: skip
FEW = "in which few bytes are alive together"
LEGAL = (ALWAYS, "a list of the positions of the tasks in the new order: each once",
         "none before a task whose value it reads", "tasks    as they stand in the program",
         FEW, "`peak(tasks, order)` is the largest sum",
         "A value is alive from the task that writes it")  # fmt: skip


@checks(SLOT, spec=LEGAL)
def every_task_once_and_after_what_it_reads(order):
    """The order has every task once, none before one that it depends on, and no higher peak."""
    for count in (1, 2, 6, 12):
        for seed in range(12):
            tasks = random_tasks(seed, count)
            ordered(varied(tasks, seed) if seed % 2 else tasks, order)
    return "48 random sets of tasks"


def varied(tasks: Sequence[Task], seed: int) -> list[Task]:
    """The tasks with what a program may have, too: values that nobody reads, and results that
    somebody reads; tasks that read nothing, or one value twice; sizes of gigabytes."""
    rng = random.Random(seed)
    unit = rng.choice((1, 64, 1 << 26))
    *others, last = tasks
    others = [
        Task(t.writes, rng.choice((t.reads,) * 8 + (t.reads * 2, ())), rng.choice(
            (t.size * unit,) * 6 + (0,))) for t in others
    ]  # fmt: skip
    return [*others, Task(last.writes, last.reads[::2], 0)]


@checks(SLOT, spec=LEGAL)
def patience_pays(order):
    """The best beginning looks bad at first: what is cheap now stays alive. And no tasks at all."""
    big, small = 64 * 100, 64
    cheap = [Task(f"s{k}", ("x",), small) for k in range(16)]
    ends = [Task("y", ("c", *(task.writes for task in cheap)), 0)]
    tasks = [Task("a", ("x",), big), Task("c", ("a",), small), *cheap, *ends]
    unread = [Task("u", ("x",), 640), Task("a", ("x",), 576), Task("b", ("a",), 64)]
    for given in ([], tasks, tuple(tasks[:2]), [*unread, Task("y", ("b",), 0)]):
        ordered(given, order)
    return "one large task before sixteen small ones"


@checks(SLOT, spec=LEGAL)
def many_branches_run_one_after_another(order):
    """Branches of a large task and a small one: the large ones need not be alive together."""
    for count in (2, 5, 8):
        large = [Task(f"a{k}", ("x",), 64 * (100 + k)) for k in range(count)]
        small = [Task(f"b{k}", (f"a{k}",), 64) for k in range(count)]
        tasks = [*large, *small, Task("y", tuple(task.writes for task in small), 0)]
        positions, before, after = ordered(tasks, order)
        if 2 * after > before and count > 2:
            problem = f"One branch after another needs less than half of the {before} bytes of the "
            raise _wrong(f"{problem}given order; yours needs {after}.", tasks, positions, FEW)
    return "2, 5 and 8 branches"


@checks(SLOT, spec=LEGAL)
def orders_work_in_the_compiler(order):
    """Compiled in this order: branches, views, other types, a program that does nothing."""
    return compiled(SLOT, order, "programs compiled in your order")


@checks(SLOT, spec=LEGAL)
def the_peak_is_low(order):
    """The peak is near the smallest that any order has."""
    return near_the_smallest(order, [(random_tasks(s), 64 * n) for s, n in SMALLEST.items()])


def near_the_smallest(order: Any, smallest: Iterable[tuple[list[Task], int]]) -> Score:
    """The score of an answer on sets of tasks, each with the smallest peak in bytes."""
    given, reached = [], []
    for tasks, least in smallest:
        _, before, after = ordered(tasks, order)
        given.append(before / least)
        reached.append(after / least)
    start, mean = sum(given) / len(given), sum(reached) / len(reached)
    if mean >= start:
        raise Wrong(f"Your order must be better than the given one on {len(given)} sets of tasks: "
                    f"the given peak is {start:.2f} times the smallest on average, and so is "
                    "yours.", spec=FEW)  # fmt: skip
    return Score(min(1.0, 1.0 - (mean - ENOUGH)), f"peak / smallest peak: {mean:.2f} on average "
                 f"over {len(reached)} sets; {start:.2f} as given, all points from {ENOUGH:.2f}, "
                 "the bound is 1.00")  # fmt: skip


def ordered(tasks: Sequence[Task], order: Any) -> tuple[list[int], int, int]:
    """The answer's order, and the peaks of the given order and of this one, which is not higher."""
    positions = legal(tasks, order(tasks))
    before, after = peak(tasks, range(len(tasks))), peak(tasks, positions)
    if after > before:
        problem = f"The peak must be at most the {before} bytes of the given order, but it is "
        raise _wrong(f"{problem}{after} bytes.", tasks, positions, ALWAYS)
    return positions, before, after


def legal(tasks: Sequence[Task], answer: Any) -> list[int]:
    """`answer` is an order of these tasks in which each comes after those whose values it reads."""
    forms = (list, tuple, np.ndarray, Mapping)  # of a dict its keys, which have an order
    if not isinstance(answer, forms) or not all(whole(n) for n in answer):
        problem = "The function must return a list of positions."
        raise Wrong(problem, program=told_run(tasks, {}, ()), got=returned(answer))
    positions = [int(n) for n in answer]
    if sorted(positions) != list(range(len(tasks))):
        problem = f"Each of the positions 0 to {len(tasks) - 1} must occur once."
        raise _wrong(problem, tasks, positions, LEGAL[1])
    written, done = {task.writes for task in tasks}, set()
    for number in positions:
        early = [v for v in tasks[number].reads if v in written and v not in done]
        if early:
            problem = f"Task {number} reads {early[0]}, so it must come after the task that writes "
            raise _wrong(f"{problem}it, but it comes before.", tasks, positions, LEGAL[2])
        done.add(tasks[number].writes)
    return positions


def _wrong(problem: str, tasks: Sequence[Task], positions: list[int], spec: str) -> Wrong:
    return Wrong(problem, program=told_run(tasks, {}, ()), got=repr(positions), spec=spec)
