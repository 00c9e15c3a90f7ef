"""One hand-in, graded in Gradescope's container: `run_autograder` calls this.

    /autograder/submission/u02_rewrites.ipynb   ->   /autograder/results/results.json

Format and folders: "Autograder Specifications", gradescope-autograders.readthedocs.io/en/latest/specs
(read in November 2026). Points that a person gives have no score there: give them with Gradescope's
own rubric. A bonus has a score and no maximum, so that it adds nothing to what the unit is worth.
Where the grader itself fails, there is no results.json, so that Gradescope says so and gives no 0.

A container is no sandbox against the hand-in that runs in it: it could read the hidden checks and
write the results. So it runs in bubblewrap, or, where the container does not allow that, as a user
that nobody else is, to whom the folders of the grader are closed. Where neither works, nothing is
graded.

Next room: autograder/grading/grade_class.py, which grades; bundle.py, how all this gets there.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.check.verdict import ADVICE, BY_HAND, GRADER, UNGRADABLE, Verdict, as_text
from autograder.deploy.bundle import SETTINGS
from autograder.edition.contents import COURSE
from autograder.edition.deliver import write
from autograder.grading.grade_class import Job, grade_class
from autograder.grading.report import Report
from autograder.process.start import AS_NOBODY, SETTING, NoSandbox, mode

STUDENT = "submission"
READ_LATER = "A person reads this and gives up to {points:g} points."
CLOSED = ("source", "results", "submission")  # what a hand-in could read or forge
OPEN = (
    "There is neither bubblewrap here nor a way to become another user, so a submission could read "
    "the hidden checks and write its own results. Nothing was graded."
)


def main(root: Path) -> int:
    """Grade what lies in root/submission; 1, and no results, if the grader failed."""
    settings = json.loads((COURSE / SETTINGS).read_text(encoding="utf-8"))
    confine(root)
    report = graded(root / "submission", settings["assignment"], settings["seed"])
    faults = [v for v in report.verdicts if v.kind == GRADER]
    if faults:
        print(*(f"{v.exercise}: {v.problem}\n{v.error}" for v in faults), sep="\n")
        return 1
    text = json.dumps(results(report, settings["show"]), indent=1)
    write(root / "results" / "results.json", text.encode())
    return 0


def confine(root: Path) -> None:
    """Choose how the hand-in runs; NoSandbox if nothing would keep it from the grader's files."""
    try:
        mode()
    except NoSandbox:
        os.environ[SETTING] = "none"
        if not mode().endswith(AS_NOBODY):
            raise NoSandbox(OPEN) from None
        for name in CLOSED:
            (root / name).chmod(0o700)


def graded(submission: Path, unit: str, seed: int) -> Report:
    """The report on the files of one student."""
    with tempfile.TemporaryDirectory(prefix="course-gradescope-") as scratch:  # ours alone: 0700
        handed, out = Path(scratch) / "handed", Path(scratch) / "out"
        shutil.copytree(submission, handed / STUDENT, symlinks=True)
        grade_class(Job(handed, out, unit, seed, jobs=1))
        (path,) = (out / "reports").rglob("*.json")
        return Report.from_json(json.loads(path.read_text(encoding="utf-8")))


def results(report: Report, show: str) -> dict[str, Any]:
    """results.json: a test for each exercise."""
    about = {"assignment": report.assignment_digest, "submission": report.submission_digest}
    common = {"output_format": "text", "stdout_visibility": "hidden", "extra_data": about}
    if report.is_ungradable:
        said = _text("\n".join([*report.notes, ADVICE[UNGRADABLE]]))
        return {"score": 0, "output": said, **common}
    tests = [_test(number, v) for number, v in enumerate(report.verdicts, 1)]
    return {
        "visibility": show,
        "output": _text("\n".join([*report.notes, f"Graded with {report.sandbox}."])),
        "test_output_format": "text",
        "tests": tests,
        **common,
    }


def _test(number: int, verdict: Verdict) -> dict[str, Any]:
    test: dict[str, Any] = {"name": verdict.exercise, "number": str(number)}
    if verdict.kind == BY_HAND or verdict.earned is None:
        return {**test, "output": READ_LATER.format(points=verdict.points)}
    test |= {"score": verdict.earned, "output": _text(as_text(verdict))}
    return test if verdict.further else {**test, "max_score": verdict.points}


def _text(words: str) -> str:
    """What a student printed may be no text: half a character becomes a question mark."""
    return words.encode("utf-8", "replace").decode()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
