"""How engines are compared: in one process, in turns, and never without agreement.

    rows = [{"model": "mlp", "threads": 1, "ms": {"course": 0.11, "onnxruntime": 0.11}}, ...]
    print(table(rows, "model"))

Noise disturbs all engines alike, because they take turns; a figure is the median over all calls.
Only ratios mean anything on another machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
from results import arguments, keep

import course_lib
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import bars
from course_lib.llvm.host import host_machine
from course_lib.measure.turns import in_spells
from course_lib.passes.pipeline import WINOGRAD

Engine = Callable[[], Sequence[np.ndarray]]


def options(doc: str) -> argparse.ArgumentParser:
    """The arguments that all benchmarks have."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each engine and row")
    arguments(parser)
    return parser


def thread_counts(given: Sequence[int] | None) -> list[int]:
    """What was asked for, or one thread and all of this machine's."""
    return list(given or sorted({1, host_machine().threads}))


def ours(model: object, arrays: Sequence[np.ndarray], threads: int) -> dict[str, Engine]:
    """The course's compiler as it is; and with 3x3 convolutions by Winograd's F(2x2,3x3), where
    there are some for which that pays (`run --winograd`)."""
    plain = course_lib.compile(model, arrays, threads=threads)
    other = course_lib.compile(model, arrays, threads=threads, passes=WINOGRAD)
    calls: dict[str, Engine] = {"course": lambda: plain.run(arrays)}
    if any(node.op == "winograd_tiles" for node in other.stage("winograd").form.nodes):
        calls["course, Winograd"] = lambda: other.run(arrays)
    return calls


def measure(calls: dict[str, Engine], rounds: int, seconds: float) -> dict[str, float]:
    """Median milliseconds of each engine. A round calls each one for the same short time."""
    spells = in_spells(list(calls.values()), seconds, rounds)
    return {name: 1e3 * median(times) for name, times in zip(calls, spells, strict=True)}


def check(calls: dict[str, Engine], reference: str, tolerance: float = 1e-4) -> None:
    """No figure without agreement: a fast wrong answer is worth nothing."""
    want = np.asarray(calls[reference]()[0], np.float64)
    for name, call in calls.items():
        error = np.abs(np.asarray(call()[0], np.float64) - want).max() / np.abs(want).max()
        if not error < tolerance:
            raise SystemExit(f"{name} differs from {reference} by {error:.1e}: no figures")


def finish(
    rows: list[dict], what: str, left_out: dict[str, str], asked: argparse.Namespace
) -> None:
    """Print the rows as a table; keep them and a picture of the ratios where that was asked for.

    what      the key of a row that says what was run
    left_out  engines that are not there, and what they lack
    """
    print(table(rows, what))
    for name, why in left_out.items():
        print(f"\nleft out: {name}, {why}")
    figures = {"machine": str(host_machine()), "rows": rows, "left_out": left_out}
    keep(figures, asked, picture(rows, what))


def table(rows: list[dict], what: str) -> str:
    """Milliseconds, and how long each other engine takes relative to the course's compiler."""
    names = list(dict.fromkeys(name for row in rows for name in row["ms"]))
    head = f"| {what} | threads | " + " | ".join(names) + " |"
    lines = [head, "|---|--:|" + "--:|" * len(names)]
    for row in rows:
        ours = row["ms"]["course"]
        cells = [_cell(row["ms"].get(name), ours, name == "course") for name in names]
        lines.append(f"| {row[what]} | {row['threads']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(ms: float | None, ours: float, mine: bool) -> str:
    if ms is None:
        return "–"
    return f"{ms:.3g}" if mine else f"{ms:.3g} ({ms / ours:.2f}×)"


def picture(rows: list[dict], what: str) -> Picture:
    """A bar for each other engine and row: its time relative to ours."""
    ratios = [
        (f"{row[what]}, {row['threads']} thr., {name}", ms / row["ms"]["course"])
        for row in rows
        for name, ms in row["ms"].items()
        if name != "course"
    ]
    return bars(ratios, "times", "How long others take, relative to the course's compiler")
