"""A whole class, graded: time and memory, in the pool of processes and on Dask.

    python benchmarks/classes.py                              # 300 students, all units and labs
    python benchmarks/classes.py --unit 2 --students 12

    | assignment | graded | pool: s | MB | dask: s | MB |

The class is that of `make-class`: right, wrong, unfinished and late answers, broken files, hostile
code. `python -m autograder grade` grades it twice, each time from an empty folder: in a pool of
`--jobs` processes, and on a Dask cluster of as many workers on this machine, which talks TLS with a
key of its own. Both have to write the same grades and reports; otherwise there are no figures.

Seconds are of the wall, all that the command does included. Memory is the highest sum, over the
command and all that it started, of the proportional set size (PSS, /proc/PID/smaps_rollup: a page
that several share counts once), looked at twice a second; what another user's processes have is
counted where the benchmark may read it, so root should run it. Linux only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from results import arguments, keep

from autograder.check.keys import key_of
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.grading.book.tables import read_table
from autograder.grading.rehearsal import make_class

ENGINES = ("pool", "dask")
HEAD = """seconds and most megabytes (and Dask's relative to the pool's)

| assignment | graded | pool: s | MB | dask: s | MB |
|---|--:|--:|--:|--:|--:|"""


def graded(place: Path, unit: str, engine: str, jobs: int) -> tuple[float, float]:
    """(seconds, megabytes) of one run of the command on the class in this folder."""
    command = [
        sys.executable, "-m", "autograder", "grade", "--submissions", place / "submissions",
        "--course", place / "course.toml", "--unit", unit, "--out", place / engine,
        "--engine", engine, "--jobs", str(jobs),
    ]  # fmt: skip
    log = place / f"{engine}.log"
    begin, most = time.perf_counter(), 0
    with log.open("wb") as said:
        running = subprocess.Popen(command, cwd=COURSE, stdout=said, stderr=said)
        while running.poll() is None:
            most = max(most, sum(_memory(pid) for pid in _family(running.pid)))
            time.sleep(0.5)
    if running.returncode:
        raise SystemExit(f"{unit} on {engine}: no figures\n{log.read_text()[-3000:]}")
    return time.perf_counter() - begin, most / 1e6


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


def row_of(unit: str, options: argparse.Namespace, place: Path) -> dict[str, Any]:
    """Grade one assignment's class with each engine."""
    make_class(options.students, unit, place, options.seed)
    place.chmod(0o755)
    engines = options.engine or ENGINES
    found = {engine: graded(place, unit, engine, options.jobs) for engine in engines}
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
        for what, form in (("seconds", ".1f"), ("megabytes", ".0f")):
            value, base = row[what].get(engine), row[what].get("pool")
            ratio = f" ({value / base:.2f}×)" if value and base and engine != "pool" else ""
            cells.append(f"{value:{form}}{ratio}" if value else "–")
    return f"| {row['assignment']} | {row['graded']} | {' | '.join(cells)} |"


def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All assignments: the seconds together, the memory of the one that took most."""
    return {
        "assignment": "all",
        "graded": sum(row["graded"] for row in rows),
        "seconds": {e: sum(row["seconds"][e] for row in rows) for e in rows[0]["seconds"]},
        "megabytes": {e: max(row["megabytes"][e] for row in rows) for e in rows[0]["megabytes"]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--unit", type=key_of, action="append", help="default: all, and all labs")
    parser.add_argument("--jobs", type=int, default=2, help="processes, and workers of Dask")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="default: both")
    parser.add_argument("--seed", type=int, default=0, help="another class")
    arguments(parser)
    options = parser.parse_args()
    units = options.unit or [source.key for source in sources(COURSE / "notebooks")]
    rows = []
    print(f"{options.students} students, {options.jobs} processes or workers: {HEAD}")
    for unit in units:
        with tempfile.TemporaryDirectory(prefix="course-bench-") as place:
            rows.append(row_of(unit, options, Path(place)))
        print(line(rows[-1]), flush=True)
    if len(rows) > 1:
        print(line(total(rows)))
    keep({"students": options.students, "jobs": options.jobs, "rows": rows}, options)


if __name__ == "__main__":
    main()
