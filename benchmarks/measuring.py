"""What the benchmarks have in common: their options, rows of contests, and the table of these rows.

    found = contest(model, systems, [1, 2], asked.rounds, asked.seconds)     each in its own process
    rows = rows_of(found, "model")
    ->  [{"model": "mlp", "threads": 1, "ms": {"course": 0.11, "openvino": 0.10}, ...}, ...]
    print(table(rows, "model"))

How engines are compared stands in `course_lib/peers/contest.py`. Only ratios mean anything on
another machine, and only those that are larger than their spread are printed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median

import numpy as np
from results import arguments, keep
from tqdm import tqdm

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import bars
from course_lib.llvm.host import host_machine
from course_lib.measure.turns import in_spells
from course_lib.peers.around import machine
from course_lib.peers.contest import Contest, Tell, claim_of, told_apart
from course_lib.peers.report import short

Engine = Callable[[], Sequence[np.ndarray]]
OURS = "course"


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


def measure(calls: dict[str, Engine], rounds: int, seconds: float) -> dict[str, float]:
    """Median milliseconds of calls in this process, in turns."""
    spells = in_spells(list(calls.values()), seconds, rounds)
    return {name: 1e3 * median(times) for name, times in zip(calls, spells, strict=True)}


@contextmanager
def progress(jobs: Sequence[str]) -> Iterator[Callable[[str], Tell]]:
    """A bar for all jobs, which shows what the present one does."""
    with tqdm(total=len(jobs), disable=not sys.stderr.isatty()) as bar:

        def at(job: str) -> Tell:
            bar.update(jobs.index(job) - bar.n)
            return lambda words: bar.set_postfix_str(f"{job}: {words}")

        yield at


def rows_of(found: Contest, what: str) -> list[dict]:
    """A row for each number of threads. `beside` are times relative to ours, as far as they may be
    told; `fastest` are the fastest of the others, more than one where they cannot be told apart."""
    rows = []
    for count in found.thread_counts:
        timed = found.timed(count)
        ours = [entry for entry in timed if entry.system == OURS]
        peers = [entry for entry in timed if not entry.system.startswith(OURS)]
        claims = {e.system: claim_of(ours[0], e) for e in timed if ours and e is not ours[0]}
        rows.append({
            what: found.model,
            "threads": count,
            "ms": {e.system: 1e3 * e.seconds for e in found.entries if e in timed and e.seconds},
            "beside": {name: one.ratio if one.told else None for name, one in claims.items()},
            "order": {name: one.order for name, one in claims.items()},
            "fastest": [entry.system for entry in told_apart(peers)],
        })  # fmt: skip
    return rows


def left_out_of(contests: Sequence[Contest]) -> dict[str, str]:
    """The systems that have no times, why, and in which models."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for found in contests:
        for entry in found.entries:
            if entry.problem:
                names = reasons.setdefault(entry.system, {}).setdefault(short(entry.problem), [])
                names += [found.model] if found.model not in names else []
    return {name: "; ".join(f"{why} ({', '.join(models)})" for why, models in found.items())
            for name, found in reasons.items()}  # fmt: skip


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
    figures = {"machine": str(host_machine()), **machine(), "rows": rows, "left_out": left_out}
    keep(figures, asked, picture(rows, what))


def table(rows: list[dict], what: str) -> str:
    """Milliseconds, and how long each other engine takes relative to the course's compiler: ≈ where
    the two cannot be told apart, > or < where one is slower and the rounds do not say by how much.
    ▸ marks the fastest of the others."""
    names = list(dict.fromkeys(name for row in rows for name in row["ms"]))
    head = f"| {what} | threads | " + " | ".join(names) + " |"
    lines = [head, "|---|--:|" + "--:|" * len(names)]
    for row in rows:
        cells = " | ".join(_cell(row, name) for name in names)
        lines.append(f"| {row[what]} | {row['threads']} | {cells} |")
    return "\n".join(lines)


def _cell(row: dict, name: str) -> str:
    ms = row["ms"].get(name)
    if ms is None:
        return "–"
    mark = "▸ " if name in row.get("fastest", ()) else ""
    if name == OURS or OURS not in row["ms"]:
        return f"{mark}{ms:.3g}"
    ratio = row["beside"][name] if "beside" in row else ms / row["ms"][OURS]
    words = "≈><"[row["order"][name]] if ratio is None else f"{ratio:.2f}×"
    return f"{mark}{ms:.3g} ({words})"


def picture(rows: list[dict], what: str) -> Picture | None:
    """A bar for each other engine and row: its time relative to ours."""
    ratios = [
        (f"{row[what]}, {row['threads']} thr., {name}", ms / row["ms"][OURS])
        for row in rows
        for name, ms in row["ms"].items()
        if name != OURS and OURS in row["ms"]
    ]
    title = "How long others take, relative to the course's compiler"
    return bars(ratios, "times", title) if ratios else None
