"""What grading one submission costs, by assignment and kind, and what a class would: an estimate.

    python benchmarks/answers.py --students 300 --units all
    python benchmarks/answers.py --units u02 --each 4

    | assignment | prepare | right | alternative | wrong | unfinished | copied | 300 students |

A few submissions of each kind are graded here one by one, in a class that is ready, and the
processor time of the grader and of the student's processes is added. `prepare` is what a run does
once for an assignment: the edition, the examples of the checks and the calls that these make. What
never ends costs the limits of its calls, whichever exercise it answers: `endless` is that of the
first assignment, less a right submission, and is taken for all; so is `hostile`, the mean of all
hostile answers. The last column is what a class of `--students` would take, in minutes of one
processor: `prepare`, and for each kind of `make-class` its share of the class times its mean.

That last column is computed, not measured. What a whole class takes is measured by classes.py, in
hours; there, two processes share this work, and starting, reading and writing come to it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from classes import ALL, keys_of
from grading import SEED, spent_on
from results import arguments, keep
from tqdm import tqdm

from autograder.edition.contents import COURSE
from autograder.edition.sources import Source, sources
from autograder.grading import pool
from autograder.grading.assignment import Assignment
from autograder.grading.people import people
from autograder.grading.program import read
from autograder.grading.rehearsal import HOSTILE, KINDS, LOOPS, Desk
from autograder.grading.tasks import Task

MEASURED = ("right", "alternative", "wrong", "unfinished", "untouched", "copied")
ALIKE = {"late": "alternative", "renamed": "alternative"}  # they hand in the same answers
NOTHING = ("truncated", "another unit", "no notebook", "absent")  # nothing of them is run
ONCE = {"looping": len(LOOPS), "hostile": len(HOSTILE)}  # one of each, in the first assignment
HEAD = """processor seconds of one submission; the last column is an estimate, in processor minutes

| assignment | prepare | right | alternative | wrong | unfinished | copied | {} students |
|---|--:|--:|--:|--:|--:|--:|--:|"""


def costs_of(source: Source, each: int, kinds: dict[str, int], folder: Path) -> dict[str, Any]:
    """Seconds to prepare, and the mean for each of these kinds with so many beyond `each`."""
    chance = random.Random(source.key)
    other = next(s for s in sources(COURSE / "notebooks") if s.unit != source.unit)
    desk = Desk(source, other, chance)
    begin = time.process_time()
    assignment = Assignment.of(source, folder)
    pool.make_ready(assignment, SEED)
    ready = time.process_time() - begin
    wanted = [kind for kind in MEASURED for _ in range(each)]
    wanted += [kind for kind, count in kinds.items() for _ in range(count)]
    spent: dict[str, list[float]] = {}
    for student, kind in zip(people(len(wanted), chance), wanted, strict=True):
        program = read(desk.hand_in(student, kind).data, assignment.explanations, assignment.prose)
        if not spent:  # the process from which others branch off is there then
            spent_on(Task(student.id, assignment, "", program, seed=SEED))
        _, grader, worker = spent_on(Task(student.id, assignment, "", program, seed=SEED))
        spent.setdefault(kind, []).append(grader + worker)
    means = {kind: statistics.mean(seconds) for kind, seconds in spent.items()}
    return {"assignment": source.key, "prepare": ready, "seconds": means}


def estimate(row: dict[str, Any], more: dict[str, float], students: int) -> float:
    """Processor minutes of a class. `more` is what a kind costs beyond a right submission."""
    seconds = row["seconds"]
    class_of = 0.0
    for kind, percent in KINDS.items():
        if kind in more:
            cost = seconds["right"] + more[kind]
        else:
            cost = 0.0 if kind in NOTHING else seconds[ALIKE.get(kind, kind)]
        class_of += students * percent / 100 * cost
    return (row["prepare"] + class_of) / 60


def line(row: dict[str, Any]) -> str:
    shown = ("right", "alternative", "wrong", "unfinished", "copied")
    cells = " | ".join(f"{row['seconds'][kind]:.2f}" for kind in shown)
    return f"| {row['assignment']} | {row['prepare']:.1f} | {cells} | {row['minutes']:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=300, help="to estimate for")
    parser.add_argument("--units", nargs="+", default=[ALL], help="default: all, and all labs")
    parser.add_argument("--each", type=int, default=2, help="submissions of each kind")
    arguments(parser)
    options = parser.parse_args()
    shown, options.json = options.json, False
    keys, rows, more = keys_of(options.units), [], {}
    print(HEAD.format(options.students))
    with tempfile.TemporaryDirectory(prefix="course-bench-") as place:
        Path(place).chmod(0o755)
        for source in tqdm(
            [s for s in sources(COURSE / "notebooks") if s.key in keys], unit="unit"
        ):
            row = costs_of(source, options.each, {} if more else ONCE, Path(place))
            for kind in () if more else ONCE:
                more[kind] = row["seconds"][kind] - row["seconds"]["right"]
            row["minutes"] = estimate(row, more, options.students)
            rows.append(row)
            print(line(row), flush=True)
            found = {"students": options.students, "beyond_right": more, "rows": rows}
            keep(found, options)
    print(
        f"\nendless: {more['looping']:.1f} s and hostile: {more['hostile']:.1f} s more than right"
    )
    print(f"all: {sum(row['minutes'] for row in rows):.0f} processor minutes, estimated")
    options.json = shown
    keep(found, options)


if __name__ == "__main__":
    main()
