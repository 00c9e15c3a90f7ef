"""Answers of unit 18, wrong and right: fair rounds. Next room: intervals.py."""

from __future__ import annotations

from statistics import median

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
    """A round of an engine is the middle one of three."""
    numbers = [max(1, int(n * 0.4 / 60 / len(timers) * 50)) for n in _warm(timers, seconds)]
    rounds = []
    for _ in range(18):
        parts = _rounds(timers, numbers, 3)
        rounds.append([median(part) for part in zip(*parts, strict=True)])
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
