"""Visible checks of the lab of unit 18: reports with one thing changed at a time, as `bench` writes
them. Next room: model.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from autograder.check.framework import Wrong
from autograder.check.shown import returned
from autograder.wire.named import both_have
from course_lib.measure.interval import all_of_them
from course_lib.peers.contest import Contest, Entry
from course_lib.peers.report import Report

MACHINE = {"date": "2026-11-29 00:00 UTC", "processor": "a processor", "processors": 8,
           "code_for": "", "system": "Linux", "python": "3.11", "governor": "",
           "load": 0.1}  # fmt: skip
WRONG = "its result is wrong: 3.0e-01 of the largest value away from PyTorch in float64"
CRASHED = "crashed: SIGSEGV"
QUIET = (1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 0.98)


def entry(
    system: str, rounds: Sequence[float], threads: int = 1, peak: int | None = None,
    problem: str = "",
) -> Entry:  # fmt: skip
    """A row of a report. Times are in milliseconds, a peak in MB."""
    return Entry(system, threads, "1.0", problem, 1e-7, 0.1, 0.2, peak and peak * 10**6, 9,
                 [1e-3 * time for time in rounds], 10 * len(rounds))  # fmt: skip


def as_report(entries: Sequence[Entry]) -> dict[str, Any]:
    """What `bench --json` writes of these."""
    others = {one.threads: 0.01 for one in entries}
    found = Contest("model", "PyTorch in float64", [*entries], {**others})
    return Report(found, MACHINE, "python -m course_lib bench model.onnx").data


def times(factor: float, rounds: Sequence[float] = QUIET) -> list[float]:
    return [factor * time for time in rounds]


@both_have
def widest(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """From the least ratio to the largest, if there are six."""
    return all_of_them(first, second)


@both_have
def middle(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """2 % to both sides of the median, for any number of rounds."""
    ratio = median(a / b for a, b in zip(first, second, strict=True))
    return ratio / 1.02, ratio * 1.02


def as_table(report: Mapping[str, Any]) -> str:
    """The rows of a report as a learner sees them."""
    lines = []
    for row in report["rows"]:
        rounds = " ".join(f"{1e3 * seconds:.4g}" for seconds in row["rounds"])
        peak = "unknown" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 1e6:.0f} MB"
        problem = f"; PROBLEM {row['problem']}" if row["problem"] else ""
        who = f"{row['threads']} threads, {row['system']}"
        lines.append(f"{who}: ms {rounds or 'none'}; peak {peak}{problem}")
    return "\n".join(lines) or "no rows"


def keyed(got: Any, forms: Sequence[tuple[Any, int]], program: str, spec: str) -> dict[Any, float]:
    """The tuples of an answer without their last number, which is the value; 1 if there is none.
    `forms`: how each of them may begin, and its length; None for any beginning."""
    if not isinstance(got, (list, tuple)) or not all(isinstance(x, (list, tuple)) for x in got):
        raise Wrong("The answer must be a list of tuples.", program=program, got=returned(got),
                    spec=spec)  # fmt: skip
    found: dict[Any, float] = {}
    for one in map(tuple, got):
        if not any(len(one) == size and word in (None, one[0]) for word, size in forms):
            raise Wrong("This tuple has none of the forms.", program=program, got=returned(one),
                        spec=spec)  # fmt: skip
        key, value = (one, 1.0) if one[0] == "fastest" else (one[:-1], float(one[-1]))
        if key in found:
            raise Wrong("No tuple may come twice.", program=program, got=returned(one), spec=spec)
        found[key] = value
    return found


def agrees(
    answer: Any, entries: Sequence[Entry], interval: Any, right: Any,
    forms: Sequence[tuple[Any, int]], spec: str,
) -> None:  # fmt: skip
    """The same tuples with the same numbers. `right`: the tuples, or whoever finds them."""
    report = as_report(entries)
    table = as_table(report)
    wanted = right(report, interval) if callable(right) else right
    mine, ours = (keyed(one, forms, table, spec) for one in (answer(report, interval), wanted))
    for key in [*ours, *mine]:
        if key not in mine:
            raise Wrong("This is supported, and must be in the answer.", program=table,
                        expected=_shown(key, ours[key]), got=returned(mine), spec=spec)  # fmt: skip
        if key not in ours:
            raise Wrong("This is not supported.", program=table, got=_shown(key, mine[key]),
                        spec=spec)  # fmt: skip
        if not math.isclose(mine[key], ours[key], rel_tol=1e-6):
            raise Wrong("The number is not right.", program=table, got=_shown(key, mine[key]),
                        expected=_shown(key, ours[key]), spec=spec)  # fmt: skip


def _shown(key: tuple, value: float) -> str:
    return repr(key) if key[0] == "fastest" else repr((*key, float(f"{value:.5g}")))
