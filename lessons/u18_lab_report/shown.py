"""Tables of the lab of unit 18, made with the student's own functions.

    counts_text(graph)            how far a model is from what is asked for
    conditions(report)            machine, date, versions, and how busy it was
    claims_table(found)           what a report supports, form by form

Next room: autograder/units/u18_lab_report/exercises.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.registry import flops
from lessons.u18_lab_report.facts import DEVICES, FACTS, FORMATS, READ, SAYS, SOURCES, needs

Claims = Callable[[Mapping[str, Any], Any], Sequence[Sequence[Any]]]
EQUAL, REPORTS = 9, 200  # systems that are equally fast, and how often they are measured


def counts_text(graph: Graph) -> str:
    """What a model consists of."""
    kinds = Counter(node.op for node in graph.ops)
    work = sum(map(flops, graph.ops)) / 1e6
    size = sum(node.type.nbytes for node in graph.constants) / 1e6
    return (f"{len(graph.ops)} operations of {len(kinds)} kinds, {kinds['conv'] + kinds['matmul']} "
            f"products, {work:.3g} million floating-point operations, {size:.2g} MB of "
            f"constants\n{dict(kinds)}")  # fmt: skip


def conditions(report: Mapping[str, Any]) -> str:
    """Under which conditions a report was measured."""
    machine, others = report["machine"], report["others"]
    versions = dict.fromkeys(v for row in report["rows"] for v in row["version"].split(", ") if v)
    busy = ", ".join(f"{share:.0%} of the time on {count} thread{'s' * (count != '1')}"
                     for count, share in others.items() if share is not None)  # fmt: skip
    where = f"{machine['processor']}, {machine['processors']} processors"
    return "\n".join([
        f"{report['model']}, {machine['date']}, {where}",
        f"other processes had {busy or 'an unknown share'}",
        fill(", ".join(versions), 110),
    ])  # fmt: skip


def report_table(report: Mapping[str, Any]) -> Picture:
    """The rows of a report: medians, rounds, peaks, problems."""
    rows = [
        [row["system"], row["threads"], row["ms"], len(row["rounds"]) or None,
         None if row["peak_bytes"] is None else round(row["peak_bytes"] / 1e6),
         row["problem"].split("\n")[0][:100]]
        for row in report["rows"]
    ]  # fmt: skip
    return table(rows, ["system", "threads", "median (ms)", "rounds", "peak (MB)", "problem"])


def pairs_told(report: Mapping[str, Any], claims: Claims, interval: Any, threads: int = 1) -> int:
    """For how many pairs the report says which system is faster."""
    return sum(one[:2] == ("faster", threads) for one in map(tuple, claims(report, interval)))


def by_chance(claims: Claims, interval: Any) -> float:
    """How many claims "faster" a report of nine systems supports that are equally fast, on the
    average: the rounds differ by 10 % or so, and nothing else does."""
    rng, total = np.random.default_rng(18), 0
    for _ in range(REPORTS):
        rounds = np.exp(0.1 * rng.standard_normal((EQUAL, 7)))
        rows = [{"system": f"system {k}", "threads": 1, "problem": "", "rounds": mine.tolist(),
                 "peak_bytes": None} for k, mine in enumerate(rounds)]  # fmt: skip
        total += pairs_told({"rows": rows}, claims, interval)
    return total / REPORTS


def claims_table(found: Sequence[Sequence[Any]], system: str = "") -> Picture:
    """Claims in rows, those of one system alone if one is named; the largest first."""
    rows = ([*one, *[None] * (5 - len(one))] for one in found)
    mine = [row for row in rows if not system or row[2] == system]
    mine.sort(key=lambda row: (str(row[0]), row[1], -(row[4] or 0)))
    heads = ["claim", "threads", "system", "other", "at least (times)"]
    return table(mine, heads) if mine else table([["none", None, None, None, None]], heads)


def gains_table(found: Sequence[Sequence[Any]]) -> Picture:
    """What more threads bring."""
    heads = ["system", "gains more than", "from", "to (threads)", "at least (times)"]
    rows = sorted(([*row] for row in found), key=lambda row: -row[4])
    return table(rows or [["none", None, None, None, None]], heads)


# ── facts ──


def facts_text() -> str:
    """The facts, each with its source, and what their words mean."""
    words = [f"{says:>12}  {meaning}" for says, meaning in SAYS.items()]
    lines = [fill(f"{n:>2}  {about} | {says} | {_value(value)}  [{SOURCES[n]}]", 92,
                  subsequent_indent="    ") for n, about, says, value in FACTS]  # fmt: skip
    return "\n".join([*words, "", *lines, "", f"read on {READ}"])


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{value[0]}: {' '.join(value[1])}"
    return f"{value:,} bytes" if isinstance(value, int) else value


def advice_table(advice: Callable[..., Any], graph: Graph) -> Picture:
    """What the answer says for each device, and each compiler that targets it or ever did."""
    rows = []
    for device in DEVICES:
        kinds = [value for _, about, says, value in FACTS if (about, says) == (device, "is")]
        for compiler in (who for _, who, says, v in FACTS if says == "targets" and v in kinds):
            found = [advice(needs(graph, name), device, compiler, FACTS) for name in FORMATS]
            rows.append([device, compiler, *map(_said, found)])
    return table(rows, ["device", "compiler", *FORMATS])


def _said(found: Any) -> str:
    return f"missing: {found}" if isinstance(found, str) else f"facts {', '.join(map(str, found))}"
