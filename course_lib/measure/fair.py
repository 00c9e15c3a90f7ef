"""Rounds that can be trusted: warm, long enough for the clock, and in turns.

    fair_rounds([timer(old), timer(new)], seconds=2.0)  ->  [[0.0012, 0.0011, ...], [0.0009, ...]]

Next room: `interval.py`, what such rounds tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.exercises import exercise

ROUNDS = 40


def once_each(
    timers: Sequence[Callable[[int], float]], seconds: float
) -> list[list[float]]:  # what stands here until there is an answer
    """A run of each in turn, fifteen times."""
    for timer in timers:
        timer(1)
    rounds = [[timer(1) for timer in timers] for _ in range(15)]
    return [[*times] for times in zip(*rounds, strict=True)]


@exercise("measure.fair_rounds", unit=18, points=4, baseline=once_each)
def fair_rounds(
    timers: Sequence[Callable[[int], float]], seconds: float
) -> list[list[float]]:
    """Measure engines so that the ratios of their times can be trusted.

    timers   one function for each engine: timer(n) runs it n times in a row, n >= 1, and returns
             the mean time of a run, in seconds, by a clock that moves in steps
    seconds  how long everything may take together; up to a tenth more is allowed
    returns  for each engine, the seconds of one run in each round: 15 rounds or more, equally many
             for all engines

    The clock's steps are at most a 10,000th of `seconds`. Between 1,000 and 2,000,000 runs of an
    engine take as long as `seconds`. At first, an engine is slow for up to a 50th of `seconds`.
    The machine's speed may drift by a third, or jump. Another program may disturb up to an
    eighth of the time, and pauses may stop everything.

    On each machine tried, the median of the rounds' ratios between the first engine and any other
    must be within 4 % of the true one.
    """
    spent = 0.0

    def timed(timer: Callable[[int], float], number: int) -> float:
        nonlocal spent
        one = timer(number)
        spent += number * one
        return one

    numbers = []
    for timer in timers:
        number = 1
        while number * timed(timer, number) < seconds / 50:  # until it is warm
            number *= 2
        part = 0.6 * seconds / ROUNDS / len(timers)
        numbers.append(max(1, int(part / timed(timer, number))))
    times: list[list[float]] = [[] for _ in timers]
    while len(times[0]) < 15 or (len(times[0]) < ROUNDS and spent < 0.9 * seconds):
        for timer, number, seconds_of in zip(timers, numbers, times, strict=True):
            seconds_of.append(timed(timer, number))
    return times
