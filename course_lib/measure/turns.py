"""Calls take turns: seconds of one run of each, round after round, all of them warm.

    in_turns([old, new], rounds=3)   ->   [[0.0012, 0.0011, 0.0012], [0.0009, 0.0010, 0.0009]]
    1e3 * warm_median(run, 20)       ->   0.41                          milliseconds of a call

Clocks: `perf_counter` is what a user waits for; `process_time` counts the work of this process and
of its threads, whatever else the machine does. Next room: `fair.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

Call = Callable[[], object]
Clock = Callable[[], float]
Timer = Callable[[int], float]  # so many runs, timed together  ->  seconds of one


def in_turns(
    calls: Sequence[Call],
    rounds: int,
    number: int = 1,
    clock: Clock = perf_counter,
    seconds: float = 0.0,
) -> list[list[float]]:
    """Seconds of one run of each call in each round, warm. In a round, `number` runs of a call are
    timed together. There are more rounds, until so many seconds have passed."""
    for call in calls:
        call()
    timers = [timer(call, clock) for call in calls]
    return rounds_of(timers, [number] * len(timers), rounds, seconds)


def for_seconds(
    calls: Sequence[Call], seconds: float, rounds: int = 15, clock: Clock = perf_counter
) -> list[list[float]]:
    """The same in so many rounds, with as many runs in each as fill `seconds`, roughly."""
    timers = [timer(call, clock) for call in calls]
    numbers = [filling(one, seconds / rounds / len(timers)) for one in timers]
    return rounds_of(timers, numbers, rounds)


def in_spells(calls: Sequence[Call], seconds: float, rounds: int = 1) -> list[list[float]]:
    """Seconds of every single run, warm. A round runs each call again and again for the same short
    time, all rounds together for `seconds`."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for call, seconds_of in zip(calls, times, strict=True):
            stop = perf_counter() + seconds / rounds
            while True:
                start = perf_counter()
                call()
                end = perf_counter()
                seconds_of.append(end - start)
                if end > stop:
                    break
    return times


def warm_median(call: Call, rounds: int) -> float:
    """Median seconds of a call, after one that warms up."""
    return median(in_turns([call], rounds)[0])


def least(times: Sequence[Sequence[float]]) -> list[float]:
    """The shortest round of each call."""
    return [min(rounds) for rounds in times]


def timer(call: Call, clock: Clock = perf_counter) -> Timer:
    """How long one run takes, if so many are timed together."""

    def timed(number: int) -> float:
        start = clock()
        for _ in range(number):
            call()
        return (clock() - start) / number

    return timed


def filling(one: Timer, seconds: float) -> int:
    """How many runs take so many seconds: at least one. It warms up, too."""
    return max(int(seconds / max(min(one(1), one(1)), 1e-7)), 1)


def rounds_of(
    timers: Sequence[Timer], numbers: Sequence[int], rounds: int, seconds: float = 0.0
) -> list[list[float]]:
    """What each timer says of so many runs, round after round; more rounds, until so many seconds
    have passed."""
    times: list[list[float]] = [[] for _ in timers]
    start, done = perf_counter(), 0
    while done < rounds or perf_counter() - start < seconds:
        done += 1
        for measured, number, runs in zip(timers, numbers, times, strict=True):
            runs.append(measured(number))
    return times
