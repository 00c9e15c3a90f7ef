"""Other people's timers on our simulated machines: Python's timeit and torch.utils.benchmark.

    by_timeit(machine)      ->   1.31       the ratio that they find, one engine after the other

Both take a clock, so they can be given that of a simulated machine. Next room:
autograder/units/u18/checks.
"""

from __future__ import annotations

import timeit
from functools import partial

from lessons.u18.machines import Machine


def by_timeit(machine: Machine) -> float:
    """As its documentation says: `autorange`, then the least of five repetitions."""
    times = []
    for engine in range(2):
        timer = timeit.Timer(partial(machine.run, engine), timer=_Clock(machine))
        number, _ = timer.autorange()
        times.append(min(timer.repeat(repeat=5, number=number)) / number)
    return times[0] / times[1]


def by_torch(machine: Machine) -> float:
    """`blocked_autorange`, and the median of what it measured."""
    from torch.utils.benchmark import Timer  # torch is heavy

    medians = []
    for engine in range(2):
        timer = Timer("run()", globals={"run": partial(machine.run, engine)}, timer=_Clock(machine))
        medians.append(timer.blocked_autorange().median)
    return medians[0] / medians[1]


class _Clock:
    """The clock of a machine, as a function without arguments."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def __call__(self) -> float:
        return self.machine.clock()
