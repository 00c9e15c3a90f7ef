"""Unit 18, the benchmark: its exercises. Two are the library's, `fair.py` and `interval.py`.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u18/machines.py.
"""

from __future__ import annotations

import math

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.measure.interval import interval
from lessons.u18.bench import FULL, MODELS


@exercise("u18.faults", unit=18, points=3, kind="evidence")
def faults() -> dict[int, str]:
    """Which claims do the logs above support, and what is wrong with the others?

    returns  for each of the eight logs, its number and one word: {1: "rounds", 2: "mean", ...}

    The words are the keys of FAULTS, which says what each of them means. "none" means that the
    measurement supports the claim as it stands. For a claim with a fault, choose the one without
    which the claim would be supported, or would not have been made.
    """
    return {1: "none", 2: "cold", 3: "order", 4: "none", 5: "work", 6: "clock", 7: "mean",
            8: "rounds"}  # fmt: skip


@exercise("u18.claims", unit=18, points=3, kind="inverse", uses=("measure.interval",))
def claims() -> list[tuple]:
    """Make three claims about the recorded benchmark that a second run will confirm.

    returns  three tuples, one of each form, in this order:
             ("faster", model, system, other, by): a run of the model takes `other` at least `by`
             times as long as `system`
             ("overall", system, other, by): the same, for the geometric mean over all four models
             ("pays", model, system, other, runs): `system` takes longer to compile, but from that
             many runs on, compiling and running together take less time than with `other`

    The systems are among `FULL.repeated()`. `by` is a number of at least 1.1, and `runs` is a whole
    number. The recorded run must support each claim. "faster" counts as supported only if the
    interval of the recorded rounds, by your function, lies above `by`. Claims must not be weak
    either: `by` is at least 75 % of what was recorded, and `runs` is at most three times as many
    as the recorded run needs. The grader has a second recording of these systems, made on the same
    machine, which must support them in the medians.
    """
    systems = FULL.repeated()
    pairs = [(a, b) for a in systems for b in systems if a != b]
    fast, slow = max(pairs, key=lambda pair: FULL.overall(*pair))
    low, _ = interval(FULL.rounds("resnet18", slow), FULL.rounds("resnet18", fast))
    by = min(0.97 * low, 0.88 * FULL.ratio("resnet18", fast, slow))
    found = [
        ("faster", "resnet18", fast, slow, by),
        ("overall", fast, slow, 0.88 * FULL.overall(fast, slow)),
    ]
    paying = [(m, a, b) for m in MODELS for a, b in pairs if _pays(m, a, b)]
    model, a, b = max(paying, key=lambda one: FULL.ratio(*one))
    return [*found, ("pays", model, a, b, math.ceil(2 * FULL.pays_after(model, a, b)))]


def _pays(model: str, system: str, other: str) -> bool:
    """Does it compile longer, clearly, and run faster, clearly?"""
    longer = FULL.compiling(model, system) - FULL.compiling(model, other)
    return longer > 0.3 * FULL.compiling(model, system) and FULL.ratio(model, system, other) > 1.3


@exercise("u18.report", unit=18, points=3, kind="explain")
def report() -> Rubric:
    """Defend your three claims before a colleague who has to choose between these systems for a
    product. For each claim, name the figures that support it, and one thing that it does not say:
    about another machine, batch size, number of threads, the slowest calls, or whatever your
    colleague may wrongly read into it. Say why a second run may lie outside an interval of the
    first. Then answer the question at the top of this unit: who is right, and what should both have
    done? Write eight to twelve sentences.
    """
    return Rubric(
        criteria="1.5 points for the claims: for each, a quarter for the figures (the ratio and "
        "its interval, the four ratios of a mean, or compile time and gain per run) and a quarter "
        "for a limit that belongs to this claim (one machine, one thread, one input at a time; "
        "medians hide slow calls; a mean hides a model on which the other one wins; compile time "
        "was measured once). Half a point for the difference between two runs: rounds of one run "
        "share processes, memory layout and the day, so a second run may lie outside an interval. "
        "(The samples report another machine than the recording that you see: what counts is which "
        "figures are named, and that they are those of the student's claims.) "
        "1 point for the opening question: neither, or both, on what they measured: each engine "
        "ran by itself while the machine changed, so each ratio contains the change (half a "
        "point); taking turns, warming up, and an interval beside the ratio (half a point).",
        samples=(
            Sample(3, "On resnet18, my first system takes 1/1.8 of the time of eager torch; the "
                   "interval of the 30 ratios is 1.75 to 1.86, and I claimed 1.6 because another "
                   "run has other processes and can differ by more than its own rounds do. It says "
                   "nothing about two threads. Overall it is 1.5 times as fast, as the geometric "
                   "mean of 1.1, 1.4, 1.8 and 1.9; on the perceptron the gain is small, which the "
                   "mean hides. It pays after 400 runs: it compiles 4 s longer and gains 10 ms a "
                   "run. A service that restarts for each image should not use it, and the compile "
                   "time was measured once. At the top, both are wrong in the same way: each "
                   "measured one engine first and then the other, and the machine got slower in "
                   "between. They should have warmed up, taken turns and given an interval."),
            Sample(1.5, "My first system was the fastest on three models, 1.8 times on resnet18, "
                   "with an interval of 1.75 to 1.86, and it pays after 400 runs since it gains "
                   "10 ms in each. It might be different on other machines. The two people should "
                   "have measured in turns, because the machine got slower during the first "
                   "measurement."),
            Sample(0, "The first system is clearly the best, so use that one. The two people "
                   "probably had different machines; one should measure more often."),
        ),
    )  # fmt: skip


@exercise("u18.turns", unit=18, points=2, kind="inverse", further=True)
def turns(degree: int) -> str:
    """In which order should A and B run, so that no drift of this degree favours either?

    degree   from 0 to 6
    returns  a text of the letters A and B, equally many of each, at most 256 in all

    The machine becomes slower or faster as it runs: run number n, counted from 0, takes its true
    time plus p(n) more, where p is a polynomial of at most this degree. Nobody knows p. Whatever p
    is, it must add the same to the sum of all runs of A as to the sum of all runs of B. For degree
    0, "AB" is right; for degree 1, "AB" is wrong, because B always runs later.
    """
    return "".join("AB"[n.bit_count() % 2] for n in range(2 ** (degree + 1)))


@exercise("u18.pays", unit=18, points=2, kind="number", further=True)
def pays(compiling: dict[str, float], running: dict[str, float], runs: int) -> str:
    """Which system should a program use that runs its model `runs` times and then ends?

    compiling  seconds that each system needs until its first run can begin
    running    seconds that each system then needs for a run; the same names
    runs       how often the program runs the model: a whole number, 0 or more
    returns    exactly one name: that of the system that takes the least time in all

    If several take equally long, the one that comes first in `compiling` is the answer.
    """
    return min(compiling, key=lambda name: compiling[name] + runs * running[name])
