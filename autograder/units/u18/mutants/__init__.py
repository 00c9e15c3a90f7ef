"""Answers of unit 18, wrong and right: fair rounds. Next room: intervals.py."""

from __future__ import annotations

from statistics import median

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants

WARM = "while number * timed(timer, number) < seconds / 50:\n            number *= 2"
TAKE = "seconds_of.append(timed(timer, number))"
ROUND = "for timer, number, seconds_of in zip(timers, numbers, times, strict=True):"

mutants(
    "measure.fair_rounds",
    one_run_in_a_round=("max(1, int(part / timed(timer, number)))", "1"),
    a_hundred_runs_in_a_round=("max(1, int(part / timed(timer, number)))", "100"),
    never_warm=("seconds / 50", "0"),
    warm_for_one_run=("seconds / 50", "0", "number = 1", "number = 1\n        timed(timer, 1)"),
    spends_it_twice=("0.6 * seconds", "1.4 * seconds", "spent < 0.9 * seconds", "True"),
    ten_rounds=("len(times[0]) < 15", "len(times[0]) < 10", "ROUNDS and", "10 and"),
    seconds_of_all_runs=("seconds_of.append(timed(timer, number))",
                         "seconds_of.append(number * timed(timer, number))"),
    divides_again=(TAKE, "seconds_of.append(timed(timer, number) / number)"),
    a_sum_for_each_engine=("return times", "return [[sum(t) for t in times]]"),
    rounds_instead_of_engines=("return times", "return [[*r] for r in zip(*times)]"),
    another_number_of_rounds=("return times", "return [times[0], *[t[1:] for t in times[1:]]]"),
    the_least_only=("return times", "return [[min(t)] for t in times]"),
    the_means_again_and_again=("return times", "return [[sum(t) / len(t)] * 15 for t in times]"),
    each_against_the_next_round=("return times", "return [t[k:] + t[:k] for k, t in enumerate(times)]"),
    plans_half_of_it_for_each=("seconds / ROUNDS / len(timers)", "seconds / ROUNDS"),
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
def warm_once_for_all(timers, seconds):
    """Only the first engine is warmed; the others are taken to be as fast."""
    (number,) = _warm(timers[:1], seconds)
    return _columns(_rounds(timers, [max(1, int(number / 2))] * len(timers), 20))


@mutant("measure.fair_rounds")
def as_many_as_timeit(timers, seconds):
    """A million runs in each of 15 rounds, as Python's timeit does."""
    return _columns(_rounds(timers, [1_000_000] * len(timers), 15))


@mutant("measure.fair_rounds")
def the_first_run_says_how_many(timers, seconds):
    """A single cold run, by a coarse clock, decides."""
    numbers = [max(1, int(seconds / 60 / max(timer(1), 1e-9) / len(timers))) for timer in timers]
    return _columns(_rounds(timers, numbers, 20))


@alternative("measure.fair_rounds")
def there_and_back(timers, seconds):
    """ABBA: every other round runs backwards."""
    numbers = [max(1, int(n)) for n in _warm(timers, seconds)]
    share = 0.6 / 20 / len(timers) * 50
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
    """A round of an engine is the middle one of three."""
    numbers = [max(1, int(n * 0.6 / 60 / len(timers) * 50)) for n in _warm(timers, seconds)]
    rounds = []
    for _ in range(18):
        parts = _rounds(timers, numbers, 3)
        rounds.append([median(part) for part in zip(*parts, strict=True)])
    return _columns(rounds)
