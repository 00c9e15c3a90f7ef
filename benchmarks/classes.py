"""A whole class, graded: time and memory, in the pool of processes and on Dask.

    python benchmarks/classes.py --students 300 --units all
    python benchmarks/classes.py --units u02 u07_lab_matmul --students 14

    | assignment | graded | pool: s | MB | dask: s | MB |

The class is that of `make-class`, whose KINDS say how many of a hundred are right, wrong, blank,
late, copied, unreadable, hostile or never end. `python -m autograder grade` grades it twice, each
time from an empty folder: in a pool of `--jobs` processes, and on a Dask cluster of as many workers
on this machine, which talks TLS with a key of its own. Both have to write the same grades and
reports; otherwise there are no figures. 300 students of all units take hours: a bar on the screen
says how many are graded and how long the rest will take at this pace, and what is measured is in
the file of `--out` after each assignment. benchmarks/answers.py estimates the same in minutes.

Seconds are of the wall, all that the command does included. Memory is the sum, over the command and
all that it started, of the proportional set size (PSS, /proc/PID/smaps_rollup: a page that several
share counts once), looked at twice a second: in the middle over the first quarter of the answers,
in the middle over the last one, and the most. Where the first two are the same, memory does not
grow with the class. Hostile answers take up to the 3 GB that the sandbox leaves them, for as long
as they run. What another user's processes have is counted where the benchmark may read it, so root
should run it. Linux only.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from results import arguments, keep
from tqdm import tqdm

from autograder.check.keys import key_of
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.grading.book.tables import read_table
from autograder.grading.rehearsal import make_class

ENGINES = ("pool", "dask")
ALL = "all"
HEAD = """seconds (and Dask's relative to the pool's), and megabytes in the middle over the
first quarter of the answers → over the last one, and the most

| assignment | graded | pool: s | MB | dask: s | MB |
|---|--:|--:|--:|--:|--:|"""


def graded(
    place: Path, unit: str, engine: str, options: argparse.Namespace, bar: tqdm
) -> tuple[float, list[float]]:
    """(seconds, megabytes) of one run of the command on this folder's class: in the middle over the
    first quarter of the answers, over the last one, and the most."""
    command = [
        sys.executable, "-m", "autograder", "grade", "--submissions", place / "submissions",
        "--course", place / "course.toml", "--unit", unit, "--out", place / engine,
        "--engine", engine, "--jobs", str(options.jobs),
    ]  # fmt: skip
    log = place / f"{engine}.log"
    bar.set_description(f"{unit} {engine}")
    begin, looks, before = time.perf_counter(), [], bar.n
    with log.open("wb") as said:
        running = subprocess.Popen(command, cwd=COURSE, stdout=said, stderr=said)
        while running.poll() is None:
            done = sum(1 for _ in (place / engine / "reports").rglob("*.json"))
            bar.update(before + done - bar.n)
            looks.append((done, sum(_memory(pid) for pid in _family(running.pid)) / 1e6))
            time.sleep(0.5)
    seconds = time.perf_counter() - begin
    if running.returncode:
        raise SystemExit(f"{unit} on {engine}: no figures\n{log.read_text()[-3000:]}")
    bar.update(before + options.students - bar.n)
    return seconds, over_time(looks)


def over_time(looks: list[tuple[int, float]]) -> list[float]:
    """Megabytes in the middle over the first and the last quarter of the answers, and the most.
    `looks` are (answers so far, megabytes); until the first answer there is only preparation."""
    last = looks[-1][0]
    first_quarter = [size for done, size in looks if 0 < done <= last / 4]
    last_quarter = [size for done, size in looks if done > last * 3 / 4]
    sizes = [size for _, size in looks]
    quarters = [statistics.median(quarter or sizes) for quarter in (first_quarter, last_quarter)]
    return [*quarters, max(sizes)]


def results(out: Path) -> dict[str, bytes]:
    """What a run decided: grades and reports, by name."""
    files = [out / "grades.csv", *sorted((out / "reports").rglob("*.json"))]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def _family(pid: int) -> list[int]:
    """This process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def _memory(pid: int) -> int:
    """Bytes that are this process's share of memory; 0 where it has ended or may not be read."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(x.split()[1]) << 10 for x in text.splitlines() if x.startswith("Pss:")), 0)


def row_of(unit: str, options: argparse.Namespace, place: Path, bar: tqdm) -> dict[str, Any]:
    """Grade one assignment's class with each engine."""
    make_class(options.students, unit, place, options.seed)
    place.chmod(0o755)
    engines = options.engine or ENGINES
    found = {engine: graded(place, unit, engine, options, bar) for engine in engines}
    here, *others = (results(place / engine) for engine in engines)
    for there in others:
        if differ := sorted(name for name in {*here, *there} if here.get(name) != there.get(name)):
            raise SystemExit(f"{unit}: the engines differ in {differ[:5]}: no figures")
    count = sum(bool(row["file"]) for row in read_table(place / engines[0] / "grades.csv"))
    return {
        "assignment": unit,
        "graded": count,
        "seconds": {engine: seconds for engine, (seconds, _) in found.items()},
        "megabytes": {engine: most for engine, (_, most) in found.items()},
    }


def line(row: dict[str, Any]) -> str:
    cells = []
    for engine in ENGINES:
        seconds, sizes = row["seconds"].get(engine), row["megabytes"].get(engine)
        if not seconds:
            cells += ["–", "–"]
            continue
        base = row["seconds"].get("pool") if engine != "pool" else None
        ratio = f" ({seconds / base:.2f}×)" if base else ""
        first, last, most = sizes
        cells += [f"{seconds:.1f}{ratio}", f"{first:.0f}→{last:.0f}, {most:.0f}"]
    return f"| {row['assignment']} | {row['graded']} | {' | '.join(cells)} |"


def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All assignments: the seconds together, the memory of the one that took most."""
    return {
        "assignment": "all",
        "graded": sum(row["graded"] for row in rows),
        "seconds": {e: sum(row["seconds"][e] for row in rows) for e in rows[0]["seconds"]},
        "megabytes": {e: max((row["megabytes"][e] for row in rows), key=max)
                      for e in rows[0]["megabytes"]},
    }  # fmt: skip


def keys_of(units: list[str]) -> list[str]:
    """The assignments that are meant: those named, or all units and labs."""
    known = [source.key for source in sources(COURSE / "notebooks")]
    wanted = known if ALL in units else [key_of(unit) for unit in units]
    if unknown := sorted(set(wanted) - set(known)):
        raise SystemExit(f"no notebook source for {', '.join(unknown)}")
    return wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--units", nargs="+", default=[ALL], help="default: all, and all labs")
    parser.add_argument("--jobs", type=int, default=2, help="processes, and workers of Dask")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="default: both")
    parser.add_argument("--seed", type=int, default=0, help="another class")
    arguments(parser)
    options = parser.parse_args()
    shown, options.json = options.json, False  # on the last line only, not after each assignment
    units, rows = keys_of(options.units), []
    count = options.students * len(units) * len(options.engine or ENGINES)
    print(f"{options.students} students, {options.jobs} processes or workers: {HEAD}")
    with tqdm(total=count, unit="answer", mininterval=5, smoothing=0.02) as bar:
        for unit in units:
            with tempfile.TemporaryDirectory(prefix="course-bench-") as place:
                rows.append(row_of(unit, options, Path(place), bar))
            with bar.external_write_mode():
                print(line(rows[-1]), flush=True)
            found = {"students": options.students, "jobs": options.jobs, "rows": rows}
            keep(found, options)
    if len(rows) > 1:
        print(line(total(rows)))
    options.json = shown
    keep(found, options)


if __name__ == "__main__":
    main()
