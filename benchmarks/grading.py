"""Grading a class: this autograder beside stock nbgrader, same submissions and same checks.

    make bench            (or: python benchmarks/grading.py --unit 2 --ours 24 --stock 6)

What a teacher would do without us: the checks stand in the notebook's test cells, and `nbgrader
autograde` runs each submission in a Jupyter kernel of its own, where the library lies. It runs what
was handed in, the lesson's own cells among it ("whole"); the other column is for notebooks that
hold the answers and the tests alone ("tests"). Nobody is hostile here, and it protects nothing.
Both find the examples with one seed; nbgrader in each kernel, we once for a class.

A figure is submissions for each second of wall-clock time, preparation included. Both run in turns
on the same machine. Only the ratio means anything elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from results import arguments, keep

from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.sources import Source, sources
from autograder.grading import pool
from autograder.grading.assignment import Assignment
from autograder.grading.grade import grade
from autograder.grading.people import people
from autograder.grading.program import read
from autograder.grading.rehearsal import Desk
from autograder.grading.report import Report
from autograder.grading.sandbox import Worker
from autograder.grading.tasks import Task

KINDS = ("right", "alternative", "wrong", "unfinished", "right", "late")
SEED = 1
TEST = """
from autograder.check.judging import judge
from course_lib import exercises
_answer = exercises.slot({name!r}).plugged
assert _answer is not None, "not attempted"
with exercises.using({{}}):
    _verdict = judge({name!r}, _answer, with_hidden=True, seed={seed})
assert _verdict.kind == "passed", _verdict
"""
HEAD = """submissions per second (and ours relative to it)

| workers | ours | nbgrader, whole | nbgrader, tests |
|--:|--:|--:|--:|"""
CONFIG = """c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "bench"
c.ExecutePreprocessor.timeout = 600
c.Autograde.log_level = c.GenerateAssignment.log_level = 40
"""


def submissions(source: Source, count: int) -> list[bytes]:
    """A class without trouble: right, alternative, wrong and unfinished notebooks in turn."""
    chance = random.Random(0)
    other = next(s for s in sources(COURSE / "notebooks") if s.unit != source.unit)
    desk = Desk(source, other, chance)
    return [
        desk.hand_in(student, KINDS[k % len(KINDS)]).data
        for k, student in enumerate(people(count, chance))
    ]


def ours(source: Source, handed: list[bytes], jobs: int, folder: Path) -> float:
    """Submissions for each second, in a pool of `jobs` processes that a fresh Python prepares."""
    code = (
        "import sys, time; begin = time.perf_counter(); from pathlib import Path\n"
        "sys.path.insert(0, 'benchmarks')  # xdsl brings a package of that name\n"
        "from grading import tasks_of; from autograder.grading import pool\n"
        "todo = tasks_of(int(sys.argv[1]), [Path(p).read_bytes() for p in sys.argv[4:]], "
        "Path(sys.argv[3]))\n"
        "done = list(pool.graded(todo, int(sys.argv[2])))\n"
        "assert len(done) == len(todo); print(time.perf_counter() - begin)"
    )
    paths = []
    for number, data in enumerate(handed):
        paths.append(folder / f"{number}.ipynb")
        paths[-1].write_bytes(data)
    command = [sys.executable, "-c", code, str(source.unit), str(jobs), str(folder)]
    done = subprocess.run(
        [*command, *map(str, paths)], cwd=COURSE, check=True, capture_output=True, text=True
    )
    return len(handed) / float(done.stdout.split()[-1])


def tasks_of(unit: int, handed: list[bytes], folder: Path) -> list[Task]:
    (source,) = sources(COURSE / "notebooks", unit)
    assignment = Assignment.of(source, folder / "editions")
    programs = [read(data, assignment.explanations) for data in handed]
    return [Task(f"s{k}", assignment, "", p, seed=SEED) for k, p in enumerate(programs)]


def stock(source: Source, handed: list[bytes], jobs: int, folder: Path, whole: bool) -> float:
    """Submissions for each second of `nbgrader autograde`, in `jobs` courses side by side."""
    courses = []
    for number in range(jobs):
        course = folder / f"course{jobs}-{number}-{'whole' if whole else 'tests'}"
        _course(course, source, handed[number::jobs], whole)
        courses.append(course)
    command = [sys.executable, "-m", "nbgrader", "autograde", source.name]
    begin = time.perf_counter()
    running = [subprocess.Popen(command, cwd=c, **_quiet()) for c in courses]
    statuses = [process.wait() for process in running]
    seconds = time.perf_counter() - begin
    graded = sum(1 for c in courses for _ in (c / "autograded").rglob("*.ipynb"))
    if any(statuses) or graded != len(handed):
        raise SystemExit(f"nbgrader graded {graded} of {len(handed)}: no figures")
    return len(handed) / seconds


def _course(course: Path, source: Source, handed: list[bytes], whole: bool) -> None:
    """An nbgrader course with a released assignment, and what was handed in."""
    files = {course / "source" / source.name: notebook_bytes(source, solutions=True)}
    files |= {course / "submitted" / f"s{k}" / source.name: data for k, data in enumerate(handed)}
    for place, data in files.items():
        place.mkdir(parents=True)
        (place / f"{source.name}.ipynb").write_text(json.dumps(_with_tests(source, data, whole)))
    (course / "nbgrader_config.py").write_text(CONFIG)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", source.name, "--create"]
    subprocess.run(command, cwd=course, check=True, **_quiet())


def _with_tests(source: Source, data: bytes, whole: bool) -> dict[str, Any]:
    """The notebook with its answers, and our checks as its test cells; `whole`: and the lesson."""
    notebook = json.loads(data)
    names = {name.replace(".", "-"): name for name in source.exercises()}
    start = {"cell_type": "code", "id": "start", "metadata": {}, "outputs": []}
    cells = [{**start, "execution_count": None, "source": "from autograder import implements"}]
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader")
        if not about:
            cells += [cell] if whole else []
            continue
        if about["grade"] and not about["solution"]:
            name = names[about["grade_id"].removesuffix("-check")]
            cell["source"] = TEST.format(name=name, seed=SEED)
        cells.append(cell)
    return {**notebook, "cells": cells}


def _quiet() -> dict[str, Any]:
    paths = os.pathsep.join(filter(None, [str(COURSE), os.environ.get("PYTHONPATH", "")]))
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": programs, "PYTHONPATH": paths, "JUPYTER_PLATFORM_DIRS": "1"}
    return {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def processor_seconds(source: Source, folder: Path, rounds: int) -> tuple[float, float]:
    """(grader, worker): least processor seconds of a right submission, in a class that is ready."""
    (task,) = tasks_of(source.unit, [_right(source)], folder)
    pool.make_ready(task.assignment, SEED)
    spent = []
    for _ in range(rounds):
        report, *seconds = spent_on(task)
        spent.append(seconds)
        if any(v.earned not in (None, v.points) for v in report.verdicts):
            raise SystemExit("our own answers do not earn all points: no figures")
    grader, worker = min(spent, key=sum)
    return grader, worker


def spent_on(task: Task) -> tuple[Report, float, float]:
    """The report, and the processor seconds of the grader and of the student's processes. Of
    what never ends, the seconds that it sleeps count as well: as long it holds a seat."""
    used, counts, close = {}, [0.0], Worker.close

    def counted(self: Worker) -> None:
        close(self)
        used[self.child] = self.child.seconds()  # what was seen last, at its end
        counts[0] = self.budget.seconds

    Worker.close = counted
    try:
        begin = time.process_time()
        report = grade(task.assignment, task.program, task.seed)
        grader = time.process_time() - begin
        return report, grader, max(sum(used.values()), counts[0])
    finally:
        Worker.close = close


def _right(source: Source) -> bytes:
    return notebook_bytes(source, solutions=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--unit", type=int, default=2)
    parser.add_argument("--ours", type=int, default=30, help="submissions for us")
    parser.add_argument("--stock", type=int, default=6, help="the first so many, for nbgrader")
    parser.add_argument("--workers", type=int, action="append", help="default: 1 and 2")
    parser.add_argument("--rounds", type=int, default=5, help="of the processor's seconds")
    arguments(parser)
    options = parser.parse_args()
    (source,) = sources(COURSE / "notebooks", options.unit)
    handed = submissions(source, options.ours)
    rows = []
    with tempfile.TemporaryDirectory(prefix="course-bench-") as place:
        folder = Path(place)
        folder.chmod(0o755)
        grader, worker = processor_seconds(source, folder, options.rounds)
        print(
            f"a right submission of {source.name}: {grader + worker:.2f} processor seconds "
            f"(grader {grader:.2f}, worker {worker:.2f})\n"
        )
        print(HEAD)
        for workers in options.workers or [1, 2]:
            few = handed[: options.stock]
            whole, tests = (stock(source, few, workers, folder, w) for w in (True, False))
            mine = ours(source, handed, workers, folder)
            rows.append({"workers": workers, "ours": mine, "whole": whole, "tests": tests})
            ratios = f"{whole:.4f} ({mine / whole:.1f}×) | {tests:.4f} ({mine / tests:.1f}×)"
            print(f"| {workers} | {mine:.3f} | {ratios} |", flush=True)
    keep({"unit": options.unit, "seconds": [grader, worker], "rows": rows}, options)


if __name__ == "__main__":
    main()
