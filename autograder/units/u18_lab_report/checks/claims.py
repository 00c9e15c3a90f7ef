"""Visible checks of what a report supports. Next room: advice.py."""

from __future__ import annotations

from autograder.check.cases import for_each
from autograder.check.framework import background
from autograder.units.u18_lab_report.checks import (
    CRASHED,
    WRONG,
    agrees,
    entry,
    middle,
    times,
    widest,
)
from course_lib.peers.contest import Entry

A, B, C = "course+winograd", "onnxruntime", "openvino"
# ── claims ──

SUPPORT = "What does a report support"
JSON = "what `bench --json` writes, of any model"
INTERVAL = "is the lowest and the highest ratio first / second that the seconds of two lists"
ALL = "all claims of these forms that hold, each once, in any order"
SAME = "Only systems on the same number of threads are compared"
PROBLEM = "A row with a problem, or without rounds, takes part in no claim"
LOWEST = '`by` of "faster" is the lowest ratio `other` / `system` of the interval, and must be'
MARGIN = "two processes of one program can differ by 2 %"
FASTEST = '"fastest" needs "faster" against each of the others, and at least one other'
SMALLER = '`by` of "smaller" is the ratio of the peaks, and must be at least 1.1'
PEAKS = "since a peak is measured once; some peaks are unknown"
FORMS = '("faster", threads, system, other, by)'
CLAIM = (("faster", 5), ("fastest", 3), ("smaller", 5))
UNEVEN = (1.0, 3.0, 2.0, 0.5, 2.5, 1.5, 1.0)  # what the machine did
SPREAD = (1.0, 1.3, 1.0, 1.2, 0.9, 1.1, 0.95)


def _ab(a: float, b: float, *peaks: int | None) -> list[Entry]:
    """Two systems on one thread, on a quiet machine, which take so long."""
    each = peaks or (None, None)
    return [entry(A, times(a), peak=each[0]), entry(B, times(b), peak=each[1])]


def _f(system: str, other: str, by: float, threads: int = 1) -> tuple:
    return ("faster", threads, system, other, by)


BEST = ("fastest", 1, A)
CLAIMS = [
    (_ab(2, 3, 100, 100), widest, [_f(A, B, 1.5), BEST], LOWEST),
    ([entry(A, times(2))], widest, [], FASTEST),
    ([entry(A, times(2, UNEVEN)), entry(B, times(3, UNEVEN))], widest,
     [_f(A, B, 1.5), BEST], INTERVAL),
    ([entry(A, times(2, UNEVEN)), entry(B, times(3, UNEVEN[::-1]))], widest, [], INTERVAL),
    ([entry(A, times(2)), entry(B, times(2.2, SPREAD))], widest, [], LOWEST),
    ([entry(A, times(2)), entry(B, times(3, [1, 1, 1, 1, 1, 1, 0.8]))], widest,
     [_f(A, B, 3 * 0.8 / 1.96), BEST], LOWEST),
    (_ab(2, 2.038), widest, [], MARGIN),
    (_ab(2, 2.042), widest, [_f(A, B, 1.021), BEST], MARGIN),
    ([entry(A, times(2)[:5]), entry(B, times(9)[:5])], widest, [], INTERVAL),
    ([entry(A, [2.0, 2.0]), entry(B, [3.0, 3.0])], middle, [_f(A, B, 1.5 / 1.02), BEST], INTERVAL),
    ([entry(A, times(2)), entry(B, times(3), 2)], widest, [], SAME),
    ([*_ab(2, 3), entry(A, times(4), 4), entry(B, times(1), 4)], widest,
     [_f(A, B, 1.5), BEST, _f(B, A, 4, 4), ("fastest", 4, B)], SAME),
    ([entry(A, times(1), peak=10, problem=WRONG), entry(B, times(3), peak=100)], widest, [],
     PROBLEM),
    ([entry(A, times(2)), entry(B, times(1)[:3], problem=CRASHED), entry(C, times(3))], widest,
     [_f(A, C, 1.5), BEST], PROBLEM),
    ([entry(C, []), *_ab(2, 3)], middle, [_f(A, B, 1.5 / 1.02), BEST], PROBLEM),
    ([*_ab(2, 2.01), entry(C, times(6))], widest, [_f(A, C, 3), _f(B, C, 6 / 2.01)], FASTEST),
    ([*_ab(2, 2.2), entry(C, times(3, [1, 1, 1, 1, 1, 1, 0.6]))], widest, [_f(A, B, 1.1)], FASTEST),
    (_ab(2, 2, 100, 250), widest, [("smaller", 1, A, B, 2.5)], SMALLER),
    (_ab(2, 2, 100, 109), widest, [], SMALLER),
    (_ab(2, 2, 111, 100), widest, [("smaller", 1, B, A, 1.11)], SMALLER),
    (_ab(2, 2, None, 250), widest, [], PEAKS),
    ([], widest, [], ALL),
]  # fmt: skip


@for_each("u18_lab_report.claims", CLAIMS, "{} reports", spec=[SUPPORT, JSON, FORMS])
def each_report_has_its_claims(claims, entries, interval, right, spec):
    """Reports of which one thing was changed."""
    agrees(claims, entries, interval, right, CLAIM, spec)


background("u18_lab_report.claims", "`other` takes at least `by` times as long",
           because="the reports show it")  # fmt: skip

# ── more threads ──

GAIN = "Which systems gain more from more threads than others do"
TUPLES = "all tuples (system, other, fewer, more, by) that the rounds support, each once"
MEANS = "from `fewer` threads to `more`, `system` becomes at least `by` times as much faster as"
SLOWER = "by then the machine may have become slower or faster, by the same factor for all systems"
FACTOR = "No result may depend on this factor"
LARGEST = "`by` is the largest number that follows from intervals of rounds that took turns"
ABOVE = "and must be above 1.02"
ANY = "`fewer` and `more` are any two numbers of threads on which both systems ran"
TURNS = "Systems take turns on one number of threads"
TUPLE = ((None, 5),)


def both(one: tuple[float, ...], other: tuple[float, ...], counts: tuple[int, ...] = (1, 2),
         machine: tuple[float, ...] = (1.0, 1.0, 1.0)) -> list[Entry]:  # fmt: skip
    """Two systems on these numbers of threads; the machine is so slow on each."""
    return [
        entry(name, times(slow * speed), threads)
        for name, speeds in ((A, one), (B, other))
        for threads, speed, slow in zip(counts, speeds, machine, strict=False)
    ]


LATE = [*both((4, 2), (4, 4))[:3], entry(B, times(4, (1, 1, 1, 1, 1, 1, 0.7)), 2)]
FEW = [entry(one.system, [1e3 * s for s in one.rounds[:5]], one.threads)
       for one in both((4, 2), (4, 4))]  # fmt: skip
TWICE = [(A, B, 1, 2, 2.0)]
SCALES = [
    (both((4, 2), (4, 4)), widest, TWICE, MEANS),
    (both((4, 2), (8, 4)), widest, [], GAIN),
    (both((4, 4), (4, 4.07)), widest, [], ABOVE),
    (both((4, 4), (4, 4.09)), widest, [(A, B, 1, 2, 4.09 / 4)], ABOVE),
    (both((1, 2), (1, 6)), widest, [(A, B, 1, 2, 3.0)], MEANS),
    (both((4, 2.5), (8, 3)), widest, [(B, A, 1, 2, 5 / 3)], MEANS),
    (both((4, 2), (4, 4), machine=(1, 3)), widest, TWICE, SLOWER),
    ([*(entry(name, times(4, (*UNEVEN, 1))) for name in (A, B)), *both((4, 2), (4, 4))[1::2]],
     widest, TWICE, TURNS),
    (both((4, 2), (8, 4), machine=(1, 0.25)), widest, [], FACTOR),
    (LATE, widest, [(A, B, 1, 2, 2 * 0.7 / 0.98)], LARGEST),
    (FEW, widest, [], LARGEST),
    ([*FEW, entry(C, [], 1), entry(C, [], 2)], middle, [(A, B, 1, 2, 2 / 1.02**2)],
     "gives the lowest and the highest ratio first / second of two lists"),
    (both((8, 4, 1), (8, 8, 4), (2, 3, 8)), widest,
     [(A, B, 2, 3, 2.0), (A, B, 2, 8, 4.0), (A, B, 3, 8, 2.0)], ANY),
    (both((1, 2, 8), (4, 4, 8), (8, 4, 2))[::-1], widest,
     [(A, B, 2, 4, 2.0), (A, B, 2, 8, 4.0), (A, B, 4, 8, 2.0)], ANY),
    ([*both((4, 2), (4, 4)), entry(C, times(9), 1), entry(C, times(1), 4)], widest, TWICE, ANY),
    ([entry(A, times(4), 1, problem=CRASHED), *both((4, 2, 1), (4, 4, 4), (1, 2, 4))[1:]], widest,
     [(A, B, 2, 4, 2.0)], ANY),
    (_ab(4, 2), widest, [], ANY),
]  # fmt: skip


@for_each("u18_lab_report.scales", SCALES, "{} reports", spec=[GAIN, TUPLES, TURNS])
def each_report_has_its_gains(scales, entries, interval, right, spec):
    """Reports of which one thing was changed."""
    agrees(scales, entries, interval, right, TUPLE, spec)


background("u18_lab_report.scales", "what `bench --json` writes, with any numbers of threads",
           because="an argument")  # fmt: skip
