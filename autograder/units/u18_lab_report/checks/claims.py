"""Visible checks of what a report supports. Next room: advice.py."""

from __future__ import annotations

from typing import Any

from autograder.check.cases import for_each
from autograder.check.framework import background, checks
from autograder.units.u18_lab_report.checks import (
    CRASHED,
    WRONG,
    as_report,
    as_table,
    entry,
    keyed,
    middle,
    nothing,
    reports,
    same,
    times,
    widest,
)
from course_lib.peers.contest import Entry

A, B, C = "course, Winograd", "onnxruntime", "openvino"
# ── claims ──

SUPPORT = "What does a report support"
JSON = "what `bench --json` writes, of any model"
INTERVAL = (
    "is the lowest and the highest ratio first / second that the seconds of two lists of rounds"
)
ALL = "all claims of these forms that hold, each once, in any order"
SAME = "Only systems on the same number of threads are compared"
PROBLEM = "Whoever has a problem, or no rounds, takes part in nothing"
LOWEST = '`by` of "faster" is the lowest ratio of the interval, and above 1.02'
MARGIN = "two processes of one program can differ by 2 %"
FASTEST = '"fastest" needs "faster" against each of the others, and at least one other'
SMALLER = '`by` of "smaller" is the ratio of the peaks, and at least 1.1'
PEAKS = "since a peak is measured once; some are unknown"
FORMS = '("faster", threads, system, other, by)'
WORDS = {"faster": 5, "fastest": 3, "smaller": 5}
UP_AND_DOWN = (1.0, 3.0, 2.0, 0.5, 2.5, 1.5, 1.0)  # what the machine did
SPREAD = (1.0, 1.3, 1.0, 1.2, 0.9, 1.1, 0.95)


def form(one: tuple) -> bool:
    return bool(one) and WORDS.get(one[0]) == len(one)


def _f(system: str, other: str, by: float, threads: int = 1) -> tuple:
    return ("faster", threads, system, other, by)


CLAIMS = [
    ([entry(A, times(2), peak=100), entry(B, times(3), peak=100)],
     [_f(A, B, 1.5), ("fastest", 1, A)], LOWEST),
    ([entry(A, times(2))], [], FASTEST),
    ([entry(A, times(2, UP_AND_DOWN)), entry(B, times(3, UP_AND_DOWN))],
     [_f(A, B, 1.5), ("fastest", 1, A)], INTERVAL),
    ([entry(A, times(2)), entry(B, times(2.2, SPREAD))], [], LOWEST),
    ([entry(A, times(2)), entry(B, times(3, [1, 1, 1, 1, 1, 1, 0.8]))],
     [_f(A, B, 3 * 0.8 / 1.96), ("fastest", 1, A)], LOWEST),
    ([entry(A, times(2)), entry(B, times(2.03))], [], MARGIN),
    ([entry(A, times(2)), entry(B, times(2.08))], [_f(A, B, 1.04), ("fastest", 1, A)], MARGIN),
    ([entry(A, times(2)[:5]), entry(B, times(9)[:5])], [], INTERVAL),
    ([entry(A, times(2)), entry(B, times(3), threads=2)], [], SAME),
    ([entry(A, times(2)), entry(B, times(3)), entry(B, times(1), threads=2),
      entry(A, times(4), threads=2)],
     [_f(A, B, 1.5), ("fastest", 1, A), _f(B, A, 4, 2), ("fastest", 2, B)], SAME),
    ([entry(A, times(1), problem=WRONG, peak=10), entry(B, times(3), peak=100)], [], PROBLEM),
    ([entry(A, times(2)), entry(B, times(1)[:3], problem=CRASHED), entry(C, times(3))],
     [_f(A, C, 1.5), ("fastest", 1, A)], PROBLEM),
    ([entry(A, []), entry(B, times(3)), entry(C, times(6))],
     [_f(B, C, 2), ("fastest", 1, B)], PROBLEM),
    ([entry(A, times(2)), entry(B, times(2.01)), entry(C, times(6))],
     [_f(A, C, 3), _f(B, C, 6 / 2.01)], FASTEST),
    ([entry(A, times(2), peak=100), entry(B, times(2), peak=250)],
     [("smaller", 1, A, B, 2.5)], SMALLER),
    ([entry(A, times(2), peak=100), entry(B, times(2), peak=108)], [], SMALLER),
    ([entry(A, times(2), peak=100), entry(B, times(2), peak=112)],
     [("smaller", 1, A, B, 1.12)], SMALLER),
    ([entry(A, times(2)), entry(B, times(2), peak=250)], [], PEAKS),
    ([], [], ALL),
]  # fmt: skip


def answered(claims: Any, entries: list[Entry], interval: Any, spec: str) -> tuple[dict, str]:
    report = as_report(entries)
    table = as_table(report)
    return keyed(claims(report, interval), form, table, spec), table


@for_each("u18_lab_report.claims", CLAIMS, "{} reports", spec=[SUPPORT, JSON, FORMS])
def each_report_has_its_claims(claims, entries, right, spec):
    """Reports of which one thing was changed."""
    got, table = answered(claims, entries, widest, spec)
    same(got, keyed(right, form, table, spec), table, spec)


@checks("u18_lab_report.claims", spec=[INTERVAL])
def the_interval_is_the_one_that_is_given(claims):
    """The same rounds, with an interval that is narrow and one that is infinite."""
    rows = [entry(A, [2.0, 2.2]), entry(B, [3.0, 2.9])]
    got, table = answered(claims, rows, middle, INTERVAL)
    ratio = (3.0 / 2.0 + 2.9 / 2.2) / 2
    same(got, {("faster", 1, A, B): 0.98 * ratio, ("fastest", 1, A): 1.0}, table, INTERVAL)
    rows = [entry(A, times(2)), entry(B, times(9))]
    got, table = answered(claims, rows, nothing, INTERVAL)
    same(got, {}, table, INTERVAL)


@checks("u18_lab_report.claims", given=reports(), examples=40, what="random reports",
        spec=[ALL, SAME])  # fmt: skip
def what_all_systems_share_changes_nothing(claims, entries):
    """Each round of all systems takes longer by the same factor; the rows come in another order."""
    before, _ = answered(claims, entries, widest, ALL)
    slower = [1.0, 2.0, 0.25, 4.0, 8.0, 0.5, 2.0, 1.0] * 4  # powers of two: nothing is rounded
    changed = [
        Entry(**{**vars(one), "rounds": [a * b for a, b in zip(one.rounds, slower, strict=False)]})
        for one in reversed(entries)
    ]
    got, table = answered(claims, changed, widest, SAME)
    same(got, before, table, SAME)


background("u18_lab_report.claims", "`other` takes at least `by` times as long",
           because="the reports show it")  # fmt: skip

# ── more threads ──

GAIN = "Which systems gain more from more threads than others do"
TUPLES = "all tuples (system, other, fewer, more, by) that the rounds support, each once"
MEANS = "from `fewer` threads to `more`, `system` becomes at least `by` times as much faster as"
FACTOR = "No result may depend on this factor"
LARGEST = "`by` is the largest number that follows from intervals of rounds that took turns"
ABOVE = "and must be above 1.02"
ANY = "`fewer` and `more` are any two numbers of threads on which both systems ran"
TURNS = "Systems take turns on one number of threads"
SLOWER = "by then the machine may have become slower or faster, by the same factor for all systems"


def five(one: tuple) -> bool:
    return len(one) == 5


def both(one: tuple[float, ...], other: tuple[float, ...], counts: tuple[int, ...] = (1, 2),
         machine: tuple[float, ...] = (1.0, 1.0, 1.0)) -> list[Entry]:  # fmt: skip
    """Two systems on these numbers of threads; the machine is so slow on each."""
    return [
        entry(name, times(slow * speed), threads)
        for name, speeds in ((A, one), (B, other))
        for threads, speed, slow in zip(counts, speeds, machine, strict=False)
    ]


SPREADS = [*both((4, 2), (4, 4))[:3], entry(B, times(4, (1, 1, 1, 1, 1, 1, 0.7)), 2)]
SCALES = [
    (both((4, 2), (4, 4)), [(A, B, 1, 2, 2.0)], MEANS),
    (both((4, 2), (8, 4)), [], GAIN),
    (both((4, 4), (4, 4.04)), [], ABOVE),
    (both((4, 4), (4, 4.2)), [(A, B, 1, 2, 1.05)], ABOVE),
    (both((1, 2), (1, 6)), [(A, B, 1, 2, 3.0)], MEANS),
    (both((4, 2), (4, 4), machine=(1, 3)), [(A, B, 1, 2, 2.0)], FACTOR),
    (both((4, 2), (8, 4), machine=(1, 0.25)), [], FACTOR),
    (SPREADS, [(A, B, 1, 2, 2 * 0.7 / 0.98)], LARGEST),
    (both((8, 4, 1), (8, 8, 4), (1, 2, 8)),
     [(A, B, 1, 2, 2.0), (A, B, 1, 8, 4.0), (A, B, 2, 8, 2.0)], ANY),
    (both((1, 2, 8), (4, 4, 8), (8, 4, 2))[::-1],
     [(A, B, 2, 4, 2.0), (A, B, 2, 8, 4.0), (A, B, 4, 8, 2.0)], ANY),
    ([*both((4, 2), (4, 4)), entry(C, times(9), 1)], [(A, B, 1, 2, 2.0)], ANY),
    ([*both((4, 2), (4, 4)), entry(C, times(9), 1, problem=CRASHED), entry(C, times(1), 2)],
     [(A, B, 1, 2, 2.0)], ANY),
    ([entry(A, times(4)), entry(B, times(2))], [], ANY),
    ([entry(A, times(4)[:5]), entry(B, times(4)[:5]), entry(A, times(2), 2),
      entry(B, times(4), 2)], [], LARGEST),
]  # fmt: skip


def gains(scales: Any, entries: list[Entry], interval: Any, spec: str) -> tuple[dict, str]:
    report = as_report(entries)
    table = as_table(report)
    return keyed(scales(report, interval), five, table, spec), table


@for_each("u18_lab_report.scales", SCALES, "{} reports", spec=[GAIN, TUPLES, TURNS])
def each_report_has_its_gains(scales, entries, right, spec):
    """Reports of which one thing was changed."""
    got, table = gains(scales, entries, widest, spec)
    same(got, keyed(right, five, table, spec), table, spec)


@checks("u18_lab_report.scales", spec=["as for `claims`", LARGEST])
def the_interval_is_given_here_too(scales):
    """Another interval, and one that tells nothing."""
    rows = [*both((4, 2), (4, 4)), entry(C, [], 1), entry(C, [], 2)]
    got, table = gains(scales, rows, middle, LARGEST)
    same(got, {(A, B, 1, 2): 2 * 0.98 / 1.02}, table, LARGEST)
    got, table = gains(scales, both((4, 2), (4, 4)), nothing, LARGEST)
    same(got, {}, table, LARGEST)


@checks("u18_lab_report.scales", given=reports(), examples=40, what="random reports",
        spec=[FACTOR, SLOWER, TUPLES])  # fmt: skip
def a_slower_machine_changes_nothing(scales, entries):
    """On each number of threads, the machine is slower by another factor."""
    before, _ = gains(scales, entries, widest, TUPLES)
    slow = dict(zip((1, 2, 3, 8), (4.0, 0.5, 16.0, 1.0), strict=True))
    changed = [
        Entry(**{**vars(one), "rounds": [slow[one.threads] * time for time in one.rounds]})
        for one in reversed(entries)
    ]
    got, table = gains(scales, changed, widest, FACTOR)
    same(got, before, table, FACTOR)


background("u18_lab_report.scales", "what `bench --json` writes, with any numbers of threads",
           because="an argument")  # fmt: skip
