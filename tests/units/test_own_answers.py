"""Each unit as its students have it: our answers, run cell by cell, pass every visible check.

Their library holds no answer to an exercise of the unit without a stand-in. A check that runs such
a function itself therefore needs what the student has plugged in, and only here does that show.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.check.verdict import PASSED
from autograder.edition.contents import COURSE, contents, notebook_bytes
from autograder.edition.deliver import deliver
from autograder.edition.sources import Source, sources
from autograder.grading.program import read
from course_lib.exercises import slot

UNITS = sources(COURSE / "notebooks")
RUN = """
import json, sys
import course_lib
assert course_lib.__file__.startswith({here!r}), course_lib.__file__
from autograder import check, implements
for cell in json.loads(sys.stdin.read()):
    exec(compile(cell, "<cell>", "exec"))
verdicts = [check(name) for name in {names!r}]
print("\\n" + json.dumps([[v.kind, v.earned, v.points, repr(v)] for v in verdicts]))
"""


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_our_answers_pass_in_the_students_edition(source: Source, tmp_path: Path):
    deliver(contents("student", source.unit), tmp_path)
    cells = [cell.source for cell in read(notebook_bytes(source, solutions=True)).cells]
    names = [name for name in source.exercises() if slot(name).kind != "explain"]
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(here=str(tmp_path), names=names)],
        cwd=tmp_path, input=json.dumps(cells), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(names) > 0
    lost = [text for kind, earned, points, text in found if (kind, earned) != (PASSED, points)]
    assert lost == []
