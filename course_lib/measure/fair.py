"""Rounds that can be trusted: warm, long enough for the clock, and in turns.

    fair_rounds([timer(old), timer(new)], seconds=2.0)  ->  [[0.0012, 0.0011, ...], [0.0009, ...]]

Next room: `interval.py`, what such rounds tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.exercises import exercise

_ROUNDS = 30


def once_each(
    timers: Sequence[Callable[[int], float]], seconds: float
) -> list[list[float]]:  # what stands here until there is an answer
    """A run of each in turn, fifteen times."""
    for timer in timers:
        timer(1)
    rounds = [[timer(1) for timer in timers] for _ in range(15)]
    return [[*times] for times in zip(*rounds, strict=True)]


@exercise("measure.fair_rounds", unit=18, points=4, baseline=once_each)
def fair_rounds(timers: Sequence[Callable[[int], float]], seconds: float) -> list[list[float]]:
    """Measure engines so that the ratios of their times can be trusted.

    timers   one function for each engine: timer(n) runs it n times in a row, n >= 1, and returns
             the mean time of a run, in seconds, by a clock that moves in steps
    seconds  how long everything may take together; up to a tenth more is allowed
    returns  for each engine, the seconds of one run in each round: 15 rounds or more, equally many
             for all engines

    In a round, every timer is called, once or more often, before the next round begins. An engine's
    seconds in a round are what its timer returned then, or the mean of that. From the first round
    that counts on, no round is left out.

    After timer(n), n times as many seconds have passed as it returned; no other clock knows of
    them. The clock's steps are at most a 10,000th of `seconds`. Between 1,000 and 2,000,000 runs of
    an engine take as long as `seconds`. At first, until it has run for up to a 50th of `seconds`,
    an engine is slow; no such run may count. The machine's speed may drift by a third, or jump.
    Another program may disturb up to an eighth of the time, and pauses may stop everything.

    The median of the rounds' ratios between the first engine and any other must be within 4 % of
    the true one, on at least five of six machines that have the same troubles.
    """
    numbers = []
    for timer in timers:
        number = 1
        while number * timer(number) < seconds / 50:  # until it is warm, and long for the clock
            number *= 2
        numbers.append(int(1 + 0.4 * seconds / _ROUNDS / len(timers) / timer(number)))
    rounds = [[timer(n) for timer, n in zip(timers, numbers, strict=True)] for _ in range(_ROUNDS)]
    return [[*times] for times in zip(*rounds, strict=True)]
