"""Answers of unit 18, wrong and right: fair rounds. Next room: intervals.py."""

from __future__ import annotations

import time
from itertools import pairwise
from statistics import median

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant, mutants

RUNS = "int(1 + 0.4 * seconds / _ROUNDS / len(timers) / timer(number))"
ANSWER = "return [[*times] for times in zip(*rounds, strict=True)]"

mutants(
    "measure.fair_rounds",
    one_run_in_a_round=(RUNS, "1"),
    a_hundred_runs_in_a_round=(RUNS, "100"),
    never_warm=("seconds / 50", "0"),
    by_the_first_run=("seconds / 50", "0", "/ timer(number)", "/ max(timer(1), 1e-9)"),
    spends_it_twice=("0.4 *", "1.7 *"),
    the_share_of_all_for_each=("/ _ROUNDS / len(timers)", "/ _ROUNDS", "0.4", "0.9"),
    ten_rounds=("for _ in range(_ROUNDS)", "for _ in range(10)"),
    seconds_of_all_runs=("[timer(n) for", "[n * timer(n) for"),
    divides_again=("[timer(n) for", "[timer(n) / n for"),
    a_sum_for_each_engine=(ANSWER, "return [[sum(times)] for times in zip(*rounds)]"),
    rounds_instead_of_engines=(ANSWER, "return rounds"),
    another_number_of_rounds=(ANSWER, "return [[*t][k:] for k, t in enumerate(zip(*rounds))]"),
    the_least_only=(ANSWER, "return [[min(times)] for times in zip(*rounds)]"),
    means_of_all_rounds=(ANSWER, "return [[sum(times) / _ROUNDS] * 15 for times in zip(*rounds)]"),
    warm_for_the_whole_time=("seconds / 50", "seconds / 2"),
)  # fmt: skip


def _rounds(timers, numbers, count):
    return [[timer(n) for timer, n in zip(timers, numbers, strict=True)] for _ in range(count)]


def _columns(rounds):
    return [[*column] for column in zip(*rounds, strict=True)]


def _warm(timers, seconds):
    """How many runs take a 50th of the time, each engine for so long."""
    numbers = []
    for timer in timers:
        number = 1
        while (took := number * timer(number)) < seconds / 50:
            number *= 2
        numbers.append(number / took * seconds / 50)
    return numbers


@mutant("measure.fair_rounds")
def one_after_the_other(timers, seconds):
    """Each engine has all of its rounds before the next one begins."""
    numbers = [max(1, int(n / 2)) for n in _warm(timers, seconds)]
    count = 60 // len(timers)
    return [[timer(n) for _ in range(count)] for timer, n in zip(timers, numbers, strict=True)]


@mutant("measure.fair_rounds")
def as_many_as_timeit(timers, seconds):
    """A million runs in each of 15 rounds, as Python's timeit does."""
    return _columns(_rounds(timers, [1_000_000] * len(timers), 15))


@mutant("measure.fair_rounds")
def the_first_run_says_how_many(timers, seconds):
    """A single cold run, by a coarse clock, decides."""
    numbers = [max(1, int(seconds / 60 / max(timer(1), 1e-9) / len(timers))) for timer in timers]
    return _columns(_rounds(timers, numbers, 20))


def _numbers(timers, seconds, share):
    """So many runs of each engine take that share of the time; it is warm then."""
    return [max(1, int(n * 50 * share / len(timers))) for n in _warm(timers, seconds)]


def _changed(change):
    """Rounds that were measured as they should be, and then are changed."""

    def fair_rounds(timers, seconds):
        numbers = _numbers(timers, seconds, 0.4 / 20)
        return change(_columns(_rounds(timers, numbers, 20)))

    return fair_rounds


def _by_ratio(times):
    """The 15 rounds in the middle, by the ratio of the first two engines."""
    order = sorted(range(len(times[0])), key=lambda r: times[0][r] / times[1][r])[3:18]
    return [[row[r] for r in sorted(order)] for row in times]


def _of_the_ratios(times):
    """One time for the first engine, and for each other one what the ratios say."""
    base = median(times[0])
    return [[base / median(a / b for a, b in zip(times[0], row, strict=True))] * 15
            for row in times]  # fmt: skip


mutants(
    "measure.fair_rounds",
    the_least_fifteen_times=_changed(lambda times: [[min(row)] * 15 for row in times]),
    the_median_fifteen_times=_changed(lambda times: [[median(row)] * 15 for row in times]),
    made_of_the_ratios=_changed(_of_the_ratios),
    sorted_rounds=_changed(lambda times: [sorted(row) for row in times]),
    the_best_of_each_engine=_changed(lambda times: [sorted(row)[:15] for row in times]),
    the_rounds_in_the_middle=_changed(_by_ratio),
    rounded=_changed(lambda times: [[float(f"{x:.3g}") for x in row] for row in times]),
    running_means=_changed(
        lambda times: [[(a + b) / 2 for a, b in pairwise(row)] for row in times]
    ),
    the_others_backwards=_changed(lambda times: [times[0], *(row[::-1] for row in times[1:])]),
    each_round_twice=_changed(lambda times: [[x for x in row for _ in "ab"] for row in times]),
    in_milliseconds=_changed(lambda times: [[1e3 * x for x in row] for row in times]),
    every_other_round=_changed(lambda times: [(row * 2)[::2] for row in times]),
)


@mutant("measure.fair_rounds")
def not_warm_enough(timers, seconds):
    """Batches that double until one takes a 200th of the time, and then rounds."""
    numbers = []
    for timer in timers:
        number = 1
        while number * timer(number) < seconds / 200:
            number *= 2
        numbers.append(number)
    return _columns(_rounds(timers, numbers, 20))


@mutant("measure.fair_rounds")
def warm_together(timers, seconds):
    """All engines together are warmed for a 50th of the time."""
    numbers = []
    for timer in timers:
        number, left = 1, seconds / 50 / len(timers)
        while left > 0:
            took = number * timer(number)
            left, number = left - took, number * 2
        numbers.append(number)
    return _columns(_rounds(timers, [max(1, n // 2) for n in numbers], 15))


@mutant("measure.fair_rounds")
def five_of_each_in_turn(timers, seconds):
    """Five rounds of an engine before the next engine has its five."""
    numbers = _numbers(timers, seconds, 0.4 / 20)
    times = [[] for _ in timers]
    for _ in range(4):
        for row, timer, number in zip(times, timers, numbers, strict=True):
            row += [timer(number) for _ in range(5)]
    return times


@mutant("measure.fair_rounds")
def until_another_clock_says_so(timers, seconds):
    """By the clock of the computer on which the machine is simulated."""
    end = time.perf_counter() + min(seconds, 0.02)
    times = [[] for _ in timers]
    while time.perf_counter() < end or len(times[0]) < 15:
        for row, timer in zip(times, timers, strict=True):
            row.append(timer(1000))
    return times


@mutant("measure.fair_rounds")
def looks_inside(timers, seconds):
    """What the machine says that it costs, where a timer shows it."""
    try:
        costs = [timer.func.__self__.costs[k] for k, timer in enumerate(timers)]
    except AttributeError:
        costs = [timer(1000) for timer in timers]
    return [[cost] * 15 for cost in costs]


@alternative("measure.fair_rounds")
def one_run_before_each_batch(timers, seconds):
    """A run that fills the caches again precedes each batch, and does not count."""
    numbers = _numbers(timers, seconds, 0.3 / 20)
    rounds = []
    for _ in range(20):
        for timer in timers:
            timer(1)
            rounds.append(timer(max(8, numbers[len(rounds) % len(timers)])))
    return [rounds[k :: len(timers)] for k in range(len(timers))]


@alternative("measure.fair_rounds")
def for_an_equal_time_each(timers, seconds):
    """In a round, an engine runs in small batches until its time is over; all runs count alike."""
    numbers = _numbers(timers, seconds, 0.4 / 100)
    part, times = 0.4 * seconds / 18 / len(timers), [[] for _ in timers]
    for _ in range(18):
        for row, timer, number in zip(times, timers, numbers, strict=True):
            spent = runs = 0.0
            while spent < part:
                spent, runs = spent + number * timer(number), runs + number
            row.append(spent / runs)
    return np.array(times)


@alternative("measure.fair_rounds")
def there_and_back(timers, seconds):
    """ABBA: every other round runs backwards."""
    numbers = [max(1, int(n)) for n in _warm(timers, seconds)]
    share = 0.4 / 20 / len(timers) * 50
    numbers = [max(1, int(n * share)) for n in numbers]
    times = [[] for _ in timers]
    for turn in range(20):
        order = range(len(timers)) if turn % 2 else reversed(range(len(timers)))
        for k in order:
            times[k].append(timers[k](numbers[k]))
    return times


@alternative("measure.fair_rounds")
def until_the_time_is_over(timers, seconds):
    """Short rounds, as many as fit."""
    left = 0.93 * seconds
    numbers = []
    for timer in timers:
        number = 1
        while (took := number * timer(number)) < seconds / 50:
            left -= took
            number *= 2
        left -= took
        numbers.append(max(1, round(number * seconds / 160 / len(timers) / took)))
    rounds = []
    while left > 0 or len(rounds) < 15:
        rounds.append([timer(n) for timer, n in zip(timers, numbers, strict=True)])
        left -= sum(n * t for n, t in zip(numbers, rounds[-1], strict=True))
    return _columns(rounds)


@alternative("measure.fair_rounds")
def three_in_a_round(timers, seconds):
    """A round of an engine is the mean of three."""
    numbers = [max(1, int(n * 0.4 / 60 / len(timers) * 50)) for n in _warm(timers, seconds)]
    rounds = []
    for _ in range(18):
        parts = _rounds(timers, numbers, 3)
        rounds.append([sum(part) / 3 for part in zip(*parts, strict=True)])
    return _columns(rounds)


for _old, _new, _why in [
    ("_ROUNDS = 30", "_ROUNDS = ", "a round more or less is as good"),
    ("number = 1", "number = 2", "the first batch is a little longer"),
    ("number *= 2", "number *= 3", "the batches grow faster"),
    ("< seconds / 50", "<= seconds", "no batch takes exactly that long"),
    ("seconds / 50", "seconds / 51", "it is warm a little earlier"),
    ("seconds / 50", "seconds / 49", "it is warmed a little longer"),
    ("int(1 + 0.4", "int(", "a part of a round is longer than a run, and a run more is as good"),
    ("for _ in range(_ROUNDS)", "for _ in ", "a round less, or in another order, is as good"),
]:
    equivalent("measure.fair_rounds", _old, _new, because=_why)
