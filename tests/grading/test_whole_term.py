"""Several assignments in one command: each thing is done once, and where it is needed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.grading import cluster, pool
from autograder.grading.assignment import Assignment
from autograder.grading.book.course import Course, Unit
from autograder.grading.grade_class import Job, _that_the_class_does
from autograder.grading.program import Notebook, Program
from autograder.grading.submissions import Handed
from autograder.grading.tasks import Task, tasks

UNIT = Assignment(1, "u01_one", ("u99.sweep",), Path("/tmp"), "d")
NEXT = replace(UNIT, unit=2, name="u02_two")
LAB = replace(UNIT, name="u01_lab_toy")
TODO = [Task(f"s{k}", one, "", Program()) for k in range(3) for one in (UNIT, NEXT)]


class FakeSeat(pool.Seat):
    """A seat that has every report at once, and remembers for whom."""

    made: list[FakeSeat]

    def __init__(self) -> None:
        self.pipe, theirs = Pipe()
        theirs.send("a report")
        self.served: list[str] = []
        self.task, self.turns = None, 0
        self.process = SimpleNamespace(is_alive=lambda: True)  # type: ignore[assignment]
        self.made.append(self)

    def start(self, task: Task) -> None:
        self.task = task
        self.served.append(task.assignment.name)

    def result(self):
        done, self.task = (self.task, None), None
        return done

    def close(self) -> None:
        self.pipe.close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_seat_serves_one_assignment_for_which_all_is_ready(jobs, monkeypatch):
    """As students come, one has all units before the next: then each answer would need another
    process from which it branches off."""
    ready: list[set[str]] = []
    FakeSeat.made = []

    def prepare(todo: list[Task]) -> None:
        ready.append({task.assignment.name for task in todo})

    monkeypatch.setattr(pool, "Seat", FakeSeat)
    monkeypatch.setattr(pool, "ready_for", prepare)
    done = [task for task, _ in pool.graded(TODO, jobs)]
    assert ready == [{"u01_one"}, {"u02_two"}]
    served = [seat.served for seat in FakeSeat.made]
    assert all(len(set(names)) == 1 for names in served) and len(served) <= 2 * jobs
    assert sorted(t.student for t in done) == sorted(t.student for t in TODO)
    assert [t.assignment.name for t in done] == ["u01_one"] * 3 + ["u02_two"] * 3


def test_a_cluster_gets_them_in_that_order_and_few_at_a_time(monkeypatch):
    pytest.importorskip("distributed")
    there: list[int] = []
    sent: list[str] = []

    class Future:
        status = "error"

        def exception(self) -> Exception:
            return ValueError("there is no worker")

    class Client:
        def submit(self, function, name, *given, key):
            sent.append(name)
            return Future()

    class Connected:
        def __enter__(self):
            return Client()

        def __exit__(self, *_):
            pass

    class Completed(list):
        def __iter__(self):
            while self:
                there.append(len(self))
                yield self.pop(0)

        add = list.append

    monkeypatch.setattr(cluster, "connected", lambda *_: Connected())
    monkeypatch.setattr("distributed.as_completed", Completed)
    monkeypatch.setattr(cluster, "WINDOW", 2)
    done = [report for _, report in cluster.graded(TODO, "")]
    assert sent == ["u01_one"] * 3 + ["u02_two"] * 3
    assert len(done) == len(TODO) and max(there) == 2


def test_an_edition_is_written_when_somebody_needs_it(tmp_path):
    first, second = sources(COURSE / "notebooks")[:2]
    one, other = (Assignment.of(source, tmp_path / "editions") for source in (first, second))
    assert not (tmp_path / "editions").exists()
    assert (one.edition / "course_lib" / "__init__.py").exists()
    assert [path.name for path in (tmp_path / "editions").iterdir()] == ["u00"]
    assert one.edition == one.edition and other.digest != one.digest


def test_a_notebook_is_opened_once_however_many_assignments_there_are(notebook, monkeypatch):
    opened: list[bytes] = []
    real = Notebook.of
    monkeypatch.setattr(Notebook, "of", lambda data: opened.append(data) or real(data))
    data = notebook('@implements("u99.sweep")\ndef f(graph): return graph')
    found = tasks([Handed("ada", "ada.ipynb", data)], [UNIT, NEXT, LAB])
    assert len(found) == 3 and opened == [data]
    broken = tasks([Handed("bob", "bob.ipynb", b"{")], [UNIT, NEXT])
    assert ["cannot be read" in task.reason for task in broken] == [True, True]


DUE = Unit(due=datetime(2026, 10, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("units", "handed_in", "meant"),
    [
        ({}, [], [UNIT, NEXT]),
        ({"u01": DUE}, [], [UNIT]),
        ({"u01": DUE}, [NEXT], [UNIT, NEXT]),
        ({"u01_lab_toy": DUE}, [], [UNIT, LAB, NEXT]),
        ({"u01": DUE, "u01_lab_toy": DUE}, [], [UNIT, LAB]),
    ],
)
def test_a_unit_that_the_class_has_not_come_to_has_no_line(units, handed_in, meant, tmp_path):
    found = [Task("ada", one, f"{one.name}.ipynb", Program()) for one in handed_in]
    course, job = Course(units=units), Job(tmp_path, tmp_path)
    assert _that_the_class_does([UNIT, LAB, NEXT], found, course, job) == meant


def test_what_is_asked_for_is_graded_whatever_course_toml_says(tmp_path):
    course, job = Course(units={"u01": DUE}), Job(tmp_path, tmp_path, 2)
    assert _that_the_class_does([NEXT], [], course, job) == [NEXT]
