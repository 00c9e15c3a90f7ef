"""An invented class, graded: every kind of student gets what is due, however the run goes."""

from __future__ import annotations

import csv
import inspect
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from tqdm import tqdm

from autograder.check.framework import alternatives_of, mutants_of
from autograder.grading import pool
from autograder.grading.as_cell import cell_of
from autograder.grading.copied import copied
from autograder.grading.grade import grade
from autograder.grading.grade_class import Job, grade_class
from autograder.grading.limits import Limits
from autograder.grading.rehearsal import HOSTILE, KINDS, LOOPS, make_class
from autograder.progress.clock import handed_in
from course_lib.ir.graph.build import neg, relu, trace

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory, example_unit) -> Path:
    folder = tmp_path_factory.mktemp("rehearsal")
    make_class(len(KINDS), 99, folder, seed=2, notebooks=EXAMPLE)
    return folder


def job(folder: Path, out: Path, **options) -> Job:
    return Job(
        folder / "submissions", out, 99, 1, course=folder / "course.toml", notebooks=EXAMPLE,
        **options,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_seed_makes_the_same_class(rehearsal, tmp_path):
    make_class(len(KINDS), 99, tmp_path, seed=2, notebooks=EXAMPLE)
    assert contents(tmp_path) == contents(rehearsal)
    with pytest.raises(ValueError, match="exists already"):
        make_class(2, 99, tmp_path, notebooks=EXAMPLE)
    with pytest.raises(ValueError, match="no notebook source for u98"):
        make_class(2, 98, tmp_path / "other", notebooks=EXAMPLE)


def test_a_mutant_as_a_cell_is_an_answer_to_its_exercise():
    """One of a table, one with a decorator, and our answer with a few words replaced."""
    for name, mutant in mutants_of("u99.sweep").items():
        cell = cell_of("u99.sweep", name, mutant)
        head = "sweep" if name == "sweeps_inputs_too" else name
        assert f"@implements('u99.sweep')\ndef {head}(" in cell
        assert "mutant(" not in cell and "mutants(" not in cell
        given = {"implements": lambda exercise: lambda function: function}
        exec(cell, given)
        graph = trace(lambda x: [neg(x), relu(x)], "f32[2]")
        assert str(given[head](graph)) == str(mutant(graph))
    for code in (*HOSTILE, *LOOPS):
        compile(code, "<hostile>", "exec")


def test_what_a_unit_says_about_its_own_answer_is_in_no_cell():
    named = alternatives_of("passes.fixpoint").items()
    name, answer = next(one for one in named if not hasattr(one[1], "text"))
    cell = cell_of("passes.fixpoint", name, answer)
    module = inspect.getmodule(answer)
    assert module is not None and "equivalent(" in inspect.getsource(module)
    assert "equivalent(" not in cell


COPY = """
import math

def total(values):  # of the numbers
    limit, found = 2, 0
    for value in values:
        try:
            found += min(math.floor(value), limit)
        except ValueError as error:
            raise error
    def of(limit): return limit
    return found + of(0)
"""


def test_a_copy_has_other_names_and_computes_the_same():
    copy, names = copied(COPY), [{}, {}]
    assert "# of" not in copy and "my_found" in copy and "my_value in values" in copy
    assert "my_limit" not in copy and "my_error" not in copy and "my_min" not in copy
    for text, own in zip((COPY, copy), names, strict=True):
        exec(text, own)
    assert [own["total"]([1.5, 9.0]) for own in names] == [3, 3]
    assert copied("def f(:") == "def f(:", "what is no Python stays"
    inner = "def f():\n    class A:\n        b = 1\n    return A.b"
    assert "my_" not in copied(inner), "a variable there may be an attribute"


def test_a_term_has_the_same_people_and_some_stay_away(example_unit, tmp_path):
    make_class(60, [0, 1], tmp_path)
    rows = _rows(tmp_path / "expected.csv")
    kinds = {(row["id"], row["assignment"]): row["kind"] for row in rows}
    assert len(kinds) == 120 == len(rows) and len(_rows(tmp_path / "roster.csv")) == 60
    away = [student for (student, unit), kind in kinds.items() if (unit, kind) == ("u00", "absent")]
    assert any(kinds[student, "u01"] == "absent" for student in away)
    course = (tmp_path / "course.toml").read_text()
    assert "[u00]\ndue = 2026-10-19" in course and "[u01]\ndue = 2026-10-26" in course
    found = list((tmp_path / "submissions").rglob("*.ipynb"))
    spent = [spent for path in found for spent in handed_in(path.read_bytes()).values()]
    assert len(found) / 4 < len(spent) < len(found) and all(20 < one < 600 for one in spent)
    copies = [row for row in rows if row["kind"] == "copied"]
    assert copies and all(kinds[row["copied from"], row["assignment"]] in
                          ("right", "alternative", "wrong") for row in copies)  # fmt: skip


def test_no_two_of_a_class_hand_in_the_same_letters(rehearsal):
    found = [path.read_bytes() for path in (rehearsal / "submissions").rglob("*.ipynb")]
    assert len(found) == len(set(found)) > 5


@pytest.fixture
def soon(monkeypatch):
    """What never ends is stopped after a second of its own: seats branch off from this process."""
    limits = Limits(start=300, cell=1, call=1, ahead=0.5, exercise=600, cells=600)
    monkeypatch.setattr(pool, "grade", lambda *given: grade(*given, limits=limits))


@pytest.fixture
def own_lock(monkeypatch):
    """tqdm locks its output by a semaphore that it shares with every copy of this process: one that
    is killed while it holds it stops all others for ever. Here each copy gets a lock of its own."""
    if tqdm.monitor is not None:
        tqdm.monitor.exit()
    monkeypatch.setattr(tqdm, "monitor_interval", 0)
    monkeypatch.setattr(tqdm, "_lock", threading.RLock(), raising=False)


def test_everybody_gets_what_is_due_however_the_run_goes(rehearsal, tmp_path, own_lock, soon):
    """Two processes at a time; one process; killed in the middle and run again: the same files."""
    one, two, again = (tmp_path / name for name in ("one", "two", "again"))
    assert grade_class(job(rehearsal, two, jobs=2)) == 0
    _check_rows(rehearsal, two)

    killed = multiprocessing.get_context("fork").Process(
        target=grade_class, args=(job(rehearsal, again, jobs=2),)
    )
    killed.start()
    while killed.is_alive() and len(list((again / "cache").glob("*.json"))) < 2:
        time.sleep(0.01)
    assert killed.is_alive() and killed.pid, "the class was graded before it could be killed"
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    assert grade_class(job(rehearsal, again, jobs=2)) == 0
    assert contents(again) == contents(two)

    assert grade_class(job(rehearsal, one, jobs=1)) == 0
    assert contents(one) == contents(two)


def _check_rows(rehearsal: Path, out: Path) -> None:
    kinds = {row["id"]: row for row in _rows(rehearsal / "expected.csv")}
    numbers = {row["canvas id"]: row["id"] for row in _rows(rehearsal / "roster.csv")}
    seen = {}
    for row in _rows(out / "grades.csv"):  # a name that two have is nobody's: the number says whose
        number = next((n for n in numbers if n in row["student"]), "")
        if row["status"] != "nothing handed in":
            seen[numbers.get(number, row["student"])] = row
    for student, row in seen.items():
        kind, earned = kinds[student]["kind"], float(row["earned"] or 0)
        if kind in ("right", "alternative", "late", "renamed"):
            assert earned == 10 and row["to_grade"] == "2", (kind, row)
        if kind in ("untouched", "truncated", "another unit", "no notebook"):
            assert earned == 0, (kind, row)
        if kind in ("truncated", "another unit", "no notebook"):
            assert row["notes"] and not row["earned"] and not row["final"], (kind, row)
            assert float(row["to_grade"]) > 0, (kind, row)
        if kind in ("wrong", "unfinished", "hostile", "looping"):
            assert earned < 10, (kind, row)
        for name in kinds[student]["wrong"].split():
            assert float(row.get(name) or 0) == 0 or name == "u99.until", (kind, name, row)
        assert bool(row["late"]) == (kind == "late"), row
        if kind == "copied":
            assert row["earned"] == seen[kinds[student]["copied from"]]["earned"], row
    assert {kinds[s]["kind"] for s in seen} == set(KINDS) - {"absent"}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
