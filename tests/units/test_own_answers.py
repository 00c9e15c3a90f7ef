"""Each unit as its students have it: what its visible checks say to our answers, and what not.

Their library holds no answer to an exercise of the unit without a stand-in. A check that runs such
a function itself therefore needs what the student has plugged in, and only here does that show.

Where few answers are possible, the checks of the students must not know the right one: each part of
our answer is replaced by others, and no verdict may tell ours from them. Where a check does know
what a function gives for a few arguments, knowing these must earn nothing in the grader.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.check.exemplars import alternatives_of, mutants_of
from autograder.check.framework import checks_of
from autograder.check.judging import judge
from autograder.check.verdict import LATER, PASSED
from autograder.edition.contents import COURSE, contents, library, notebook_bytes
from autograder.edition.deliver import deliver
from autograder.edition.sources import Source, sources
from autograder.grading.program import read
from course_lib.exercises import slot

UNITS = sources(COURSE / "notebooks")
# One value is asked for, and the check computes from what the answer names whether it is right: who
# tries all of them does the experiment that the exercise is about.
EXPERIMENTS = {
    "u08.witnesses": "each pair of iterations is looked at, and the solver finds no pair or some",
    "u13.kept": "the program is run",
    "u13.mend": "the mended programs are run",
    "u17.laws": "both sides of a rule are computed with the values that are given",
}


def changed(value, others):
    """The answer with one part changed: which part, and the whole."""
    if isinstance(value, dict):
        for key, part in value.items():
            for path, new in changed(part, others):
                yield [key, *path], {**value, key: new}
    elif isinstance(value, (tuple, list)):
        for at, part in enumerate(value):
            for path, new in changed(part, others):
                yield [at, *path], type(value)([*value[:at], new, *value[at + 1 :]])
    elif isinstance(value, str):
        yield from (([], new) for new in others if new != value)
    else:
        yield from (([], value + step) for step in range(-40, 200) if step)


RUN = """
import json, sys
import course_lib
assert course_lib.__file__.startswith({here!r}), course_lib.__file__
from autograder import check, implements
from course_lib.exercises import slot
for cell in json.loads(sys.stdin.read()):
    exec(compile(cell, "<cell>", "exec"))
found = [(name, check(name)) for name in {names!r}]

{changed}

tried = {{}}
for name, verdict in found:
    if verdict.kind != "later":
        continue
    ours, tried[name] = slot(name).plugged, {{}}
    if slot(name).signature.parameters:
        answers = [([], lambda *at, k=k: ours(*at) + k * sum(at) + k) for k in range(1, 99)]
    else:
        answers = [(at, lambda new=new: new) for at, new in changed(ours(), {others!r}[name])]
    for at, answer in answers:
        implements(name)(answer)
        same, other = tried[name].setdefault(json.dumps(at), [0, []])
        said = check(name)
        if said.to_json() == verdict.to_json():
            tried[name][json.dumps(at)][0] += 1
        else:
            other.append(said.kind)
print("\\n" + json.dumps([[[n, v.kind, v.earned, v.points, repr(v)] for n, v in found], tried]))
"""


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_our_answers_pass_in_the_students_edition(source: Source, tmp_path: Path):
    """Or nothing is said of them that is not said of others."""
    deliver(contents("student", source.key), tmp_path)
    cells = [cell.source for cell in read(notebook_bytes(source, solutions=True)).cells]
    names = [name for name in source.exercises() if slot(name).kind != "explain"]
    asked = {name for name in names if has_one_value(name)} - EXPERIMENTS.keys()
    text = RUN.format(here=str(tmp_path), names=names, changed=inspect.getsource(changed),
                      others={name: texts_for(name) for name in asked})  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=tmp_path, input=json.dumps(cells), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, tried = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(names) > 0
    lost = [text for _, kind, earned, points, text in found
            if (kind, earned) not in ((PASSED, points), (LATER, None))]  # fmt: skip
    assert lost == []
    later = {name for name, kind, *_ in found if kind == LATER}
    assert later >= asked, "the visible checks know an answer to which few others are possible"
    for name, parts in tried.items():
        for part, (same, other) in parts.items():
            assert same, f"{name}: every other value of {part} has another verdict than ours"
            assert set(other) <= {"wrong"}, f"{name}, {part}: {set(other)}"


def has_one_value(name: str) -> bool:
    entry = slot(name)
    return entry.kind in ("evidence", "number") and not entry.signature.parameters


def texts_for(name: str) -> list[str]:
    """What may stand where our answer has a text: what any answer of the unit has there."""
    answers = [slot(name).reference, *mutants_of(name).values(), *alternatives_of(name).values()]
    found = {chr(n) for n in range(ord("A"), ord("V"))} | {f"%{n}" for n in range(16)}
    queue = [answer() for answer in answers]
    while queue:
        value = queue.pop()
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, dict):
            queue += value.values()
        elif isinstance(value, (tuple, list)):
            queue += value
    return sorted(found)


def test_no_file_of_the_students_holds_a_digest_of_an_answer():
    files = {n: t.decode() for n, t in library(0).items() if re.match(r"autograder/.*\.py", n)}
    digest = re.compile(r"""["'][0-9a-f]{12,}["']""")
    assert [n for n, text in files.items() if digest.search(text)] == []


def test_no_function_beside_a_visible_check_answers_what_it_is_asked():
    """Of all that students have, these are the likeliest; `make validate` tries every function."""
    tried = []
    for name in (name for source in UNITS for name in source.exercises()):
        asked = [*slot(name).signature.parameters]
        for module in {check.function.__module__ for check in checks_of(name)} if asked else ():
            for function in filter(inspect.isfunction, vars(sys.modules[module]).values()):
                takes = [*inspect.signature(function).parameters]
                if function.__module__ == module and takes == asked:
                    tried.append(function.__name__)
                    assert judge(name, function, with_hidden=True).earned == 0, function
    assert tried


KNOWN = ("u00.intensity", "u00.claims", "u04.lines", "u06.tile", "u12.which")


@pytest.mark.parametrize("name", KNOWN)
def test_values_that_stand_in_a_visible_check_earn_nothing(name):
    """Learned by heart, with the nearest of them for other arguments, or a line through them."""
    ours, known = slot(name).reference, {}

    def watched(*given):
        known[given] = ours(*given)
        return known[given]

    def nearest(*given):
        return known[min(known, key=lambda k: np.abs(np.subtract(k, given)).sum())]

    assert judge(name, watched).kind == PASSED and known
    assert judge(name, nearest).kind == PASSED, "the visible checks are passed by heart"
    assert judge(name, nearest, with_hidden=True).earned == 0
    if all(isinstance(value, (int, float)) for value in known.values()):
        rows, wanted = [[*given, 1] for given in known], list(known.values())
        line, *_ = np.linalg.lstsq(np.array(rows, float), np.array(wanted, float), rcond=None)
        assert judge(name, lambda *given: [*given, 1] @ line, with_hidden=True).earned == 0
