"""No release holds an answer: not under another name, and not as what something else stands on."""

from __future__ import annotations

import sys
import types

import pytest

from autograder.__main__ import main
from autograder.check import exemplars
from autograder.edition import contents as making
from autograder.edition.contents import COURSE, answers_left
from autograder.edition.deliver import deliver
from autograder.edition.leaks import leaked
from autograder.edition.release import release
from autograder.edition.solutions import without_answers
from autograder.edition.sources import sources
from autograder.grading.nbgrader_course import add_library
from autograder.soundness import borrowed as borrowing
from course_lib.exercises import slot

# As it once was: the stand-in calls what the answer calls, so that it stays.
SCAN = '''"""Registers."""
from course_lib.exercises import exercise


def short_lives(lives, registers):
    return _scan([live for live in lives if live.end - live.start <= 3], registers)


@exercise("machine.linear_scan", unit=6, points=4, baseline=short_lives)
def linear_scan(lives, registers: int) -> dict[str, int]:
    """Give registers to values."""
    return _scan(lives, registers)


def _scan(lives, registers):
    free, active, found = list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            free.append(found[old.name])
        if free:
            found[live.name] = free.pop(0)
            active.append(live)
    return found
'''
# The same, by somebody who likes other names, documents everything and writes methods.
ELSEWHERE = '''
class Allocator:
    @staticmethod
    def run(values: list, count: int) -> dict:
        """One walk."""
        unused, alive, registers = list(range(count)), [], {}
        for value in sorted(values, key=lambda it: it.start):
            for ended in [it for it in alive if it.end <= value.start]:
                alive.remove(ended)
                unused.append(registers[ended.name])
            if unused:
                registers[value.name] = unused.pop(0)
                alive.append(value)
        return registers
'''


def held(*texts: str, unit: int) -> list[str]:
    """What students of a unit would get of these files."""
    files = {f"file{n}.py": (text, without_answers(text, unit)) for n, text in enumerate(texts)}
    return leaked(files, lambda path: unit)


@pytest.mark.parametrize("unit", [0, 6])
def test_what_a_stand_in_shares_with_the_answer_is_said(unit):
    (problem,) = held(SCAN, unit=unit)
    assert problem == "machine.linear_scan: at least half of it is in file0.py (_scan)"
    assert held(SCAN, unit=7) == [], "a later release has the answer by design"


def test_the_answer_in_other_words_somewhere_else_is_said():
    alone = SCAN.replace("_scan([live for live in lives if live.end - live.start <= 3]", "dict(")
    alone = alone.replace("dict(, registers)", "{}")
    assert held(alone, unit=6) == []
    (problem,) = held(alone, ELSEWHERE, unit=6)
    assert problem.endswith("is in file1.py (run)")
    assert held(alone, ELSEWHERE.replace("append(value)", "insert(0, value)"), unit=6) == []


def test_no_release_of_the_course_holds_an_answer_of_its_unit_or_a_later_one():
    for source in sources(COURSE / "notebooks"):
        assert answers_left(source.unit) == [], source.name


@pytest.fixture()
def an_answer_left(monkeypatch):
    monkeypatch.setattr(making, "answers_left", lambda unit: [f"u{unit:02d}.x: stands in y"])


def test_an_edition_that_would_give_an_answer_away_is_not_written(tmp_path, an_answer_left):
    with pytest.raises(ValueError, match=r"u00_tour would give answers away. u00.x: stands in y"):
        release(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []
    assert main(["build", "--unit", "0", "--edition", "student", "--into", str(tmp_path)]) != 0
    assert list(tmp_path.iterdir()) == []
    assert release(tmp_path, 0, edition="instructor"), "that edition is for the teacher"


def test_nbgrader_releases_no_answer_either(tmp_path, an_answer_left):
    notebook = tmp_path / "release" / "u00_tour" / "u00_tour.ipynb"
    deliver({"u00_tour.ipynb": b"{}"}, notebook.parent)
    with pytest.raises(SystemExit, match=r"u00_tour was not released: .*u00.x: stands in y"):
        add_library(
            "u00_tour", ".", [str(tmp_path / "source" / "u00_tour" / "." / "u00_tour.ipynb")]
        )
    assert not notebook.parent.exists()


PLANTED = '''
import os, itertools
import numpy as np

def hand_out(count: int, values: list, order=None) -> dict:
    """The answer, under another name and with its arguments in another order."""
    free, active, found = list(range(count)), [], {}
    for live in sorted(values, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            free.append(found[old.name])
        if free:
            found[live.name] = free.pop(0)
            active.append(live)
            continue
        last = max(active, key=lambda one: one.end)
        if last.end > live.end:
            active.remove(last)
            found[live.name] = found.pop(last.name)
            active.append(live)
    return found

def ends(values, count):
    os._exit(0)

def hangs(values, count):
    return {x: 0 for x in itertools.count()}

def refuses(values, count):
    raise ValueError("no")

def tidies(values, count) -> dict:
    os.remove(os.environ["OF_A_STUDENT"])
    return hand_out(count, values)

def overwrites(values, count) -> dict:
    open(os.environ["OF_A_STUDENT"], "w").close()
    return hand_out(count, values)

def starts(values, count) -> dict:
    os.system("rm " + os.environ["OF_A_STUDENT"])
    return hand_out(count, values)

def kills(values, count) -> dict:
    os.kill(os.getppid(), 9)

def spills_all(values, count) -> dict:
    return {}

def leaves_a_plug(values, count) -> dict:
    from course_lib import exercises
    exercises.slot("passes.dce").plug(np.zeros(3))
    return {}

def asks_the_library(values, count):
    from course_lib.machine.linear_scan import linear_scan
    return linear_scan(values, count)
'''


@pytest.fixture
def planted(monkeypatch, tmp_path):
    """Functions that students of unit 6 would have, and a file of theirs."""
    (tmp_path / "notes.txt").write_text("what I have to ask")
    monkeypatch.setenv("OF_A_STUDENT", str(tmp_path / "notes.txt"))
    module = types.ModuleType("planted")
    exec(PLANTED, module.__dict__)
    monkeypatch.setitem(sys.modules, "planted", module)
    names = ("ends", "hangs", "refuses", "leaves_a_plug", "hand_out", "spills_all",
             "asks_the_library", "tidies", "overwrites", "starts", "kills")  # fmt: skip
    monkeypatch.setattr(borrowing, "_callable", lambda unit: tuple(f"planted.{n}" for n in names))
    borrowing.borrowed.cache_clear()
    yield
    borrowing.borrowed.cache_clear()


def test_a_function_that_answers_is_found_whatever_it_is_called(planted, monkeypatch, tmp_path):
    """The others end, hang, refuse, are wrong, ask for what students have to write, leave something
    plugged in, or would change a file or end the grader."""
    entry = slot("machine.linear_scan")
    (problem,) = borrowing.borrowed_problems(entry, jobs=1)
    assert problem == "planted.hand_out(registers, lives) earns 4 points, and students have it"
    assert (tmp_path / "notes.txt").read_text() == "what I have to ask"

    monkeypatch.setattr(exemplars, "_in_the_library", {})
    exemplars.in_the_library(entry.name, "planted.hand_out", because="a test says so")
    assert borrowing.borrowed_problems(entry, jobs=1) == []
    exemplars.in_the_library(entry.name, "planted.ends", because="it is stale")
    (problem,) = borrowing.borrowed_problems(entry, jobs=1)
    assert problem.startswith("planted.ends earns no points any more")
    with pytest.raises(ValueError, match="a reason"):
        exemplars.in_the_library(entry.name, "planted.ends", because=" ")


def test_nothing_that_students_have_answers_an_exercise():
    """One of them; `make validate` asks about all."""
    assert borrowing.borrowed_problems(slot("machine.linear_scan"), jobs=1) == []


def test_all_that_students_have_is_tried_but_the_exercises_and_what_plugs_them_in():
    names = set(borrowing._callable(6))
    machine = "course_lib.machine"
    assert {f"{machine}.linear_scan.short_lives", f"{machine}.lives.pressure"} <= names
    assert not {"course_lib.machine.linear_scan.linear_scan", "course_lib.exercises.unplug"} & names
    assert "course_lib.measure.apart.end_after" not in names, "it would end a later trial"
    assert {"course_lib.files.write", "course_lib.bridges.gxx.build"} <= names, "what reaches out"
    assert "course_lib.recorded.recorded" in names, "what keeps its results"
