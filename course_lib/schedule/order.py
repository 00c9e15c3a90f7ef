"""The order of the steps: the same work, with less alive at the busiest moment.

    a1 = big(x)     b1 = big(x)                        4 + 4 + ... alive together
    a2 = small(a1)  b2 = small(b1)                ==>  a1, a2, b1, b2: one big value at a time

Any order in which a step comes after the steps whose results it reads computes the same. Next room:
`in_place.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.exercises import exercise
from course_lib.schedule.memory import Task
from course_lib.schedule.program import Program


def as_given(tasks: Sequence[Task]) -> list[int]:
    """The baseline: the order of the graph."""
    return list(range(len(tasks)))


@exercise("schedule.order.order", unit=4, points=4, baseline=as_given)
def order(tasks: Sequence[Task]) -> list[int]:
    """Choose an order of the tasks in which few bytes are alive together.

    tasks    as they stand in the program: each after those whose values it reads. Every value is
             written by one task at most, and there are no views. A result of the program has
             size 0: it has memory of its own, and is not counted
    returns  the positions of the tasks in the new order: each once, and none before a task whose
             value it reads
    """
    return list(range(len(tasks)))


def reorder(program: Program) -> Program:
    """The program with its steps in the order that `order` chooses, if the arena gets smaller."""
    return program
