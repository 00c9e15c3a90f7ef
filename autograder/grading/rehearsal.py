r"""A class that does not exist, to rehearse with: what students of one unit or lab could hand in.

    python -m autograder make-class --students 300 --unit 2 --into rehearsal
    python -m autograder grade --submissions rehearsal/submissions --course rehearsal/course.toml \
        --unit 2 --out build/rehearsal

    rehearsal/
      submissions/...      files, folders and zips with the names that an LMS gives them
      roster.csv           id, name, email, canvas id
      course.toml          when the unit was due; what lateness costs
      expected.csv         what each student is, and which exercises are answered wrongly

Right answers are our own and the alternatives of the unit, wrong ones its mutants, explanations the
graded samples. The same seed makes the same files, and a class of 12 has one of each kind.

Next room: people.py, who they are; docs/instructors.md, a class from beginning to end.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.check.framework import alternatives_of, mutants_of
from autograder.check.keys import key_of
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.deliver import private, write
from autograder.edition.sources import BEGIN, END, Source, sources
from autograder.grading.as_cell import cell_of
from autograder.grading.people import Student, people
from course_lib.exercises import slot

DUE = datetime(2026, 10, 19, 18, tzinfo=UTC)
KINDS = {  # how many of a hundred; the first twelve students are one of each
    "right": 30, "alternative": 15, "wrong": 20, "unfinished": 12, "late": 8, "untouched": 3,
    "renamed": 3, "truncated": 2, "another unit": 2, "no notebook": 1, "hostile": 2, "absent": 2,
}  # fmt: skip
LAYOUTS = ("file", "folder", "nbgrader", "zip", "moodle", "canvas")
COURSE_FILE = """time_zone = "UTC"
roster = "roster.csv"
secret = "rehearsal"
[late]
percent_per_day = 10
[{key}]
due = {due:%Y-%m-%dT%H:%M:%S}
"""
HOSTILE = (
    "import os\nos.kill(os.getppid(), 9)",
    "raise SystemExit(0)",
    "import gc\nfor thing in gc.get_objects():\n    if type(thing) is dict: thing.clear()",
    "open('/etc/passwd').read()\nimport socket\nsocket.create_connection(('127.0.0.1', 22))",
    "big = [b'x' * (1 << 30) for _ in range(64)]",
    "print('x' * 30_000_000)\nraise ValueError('y' * 30_000_000)",
    "while True: pass",
)
SCRIPT = "<script>alert('formgrader')</script> <img src=x onerror=alert(1)>\n\n"


@dataclass(frozen=True)
class HandIn:
    """What one student hands in: a notebook, or bytes that are none; and what that is."""

    student: Student
    kind: str
    data: bytes
    time: datetime
    name: str  # of the file, without folders
    wrong: tuple[str, ...] = ()  # exercises with a wrong answer


def make_class(
    students: int,
    unit: int | str,
    into: Path,
    seed: int = 0,
    notebooks: Path = COURSE / "notebooks",
) -> None:
    """Write the class. ValueError if there is something in the folder already."""
    if students < 1:
        raise ValueError(f"a class has a student or more, not {students}")
    if (into / "submissions").exists():
        raise ValueError(f"{into / 'submissions'} exists already: name a new folder")
    source = next(iter(sources(notebooks, unit)), None)
    if source is None:
        raise ValueError(f"no notebook source for {key_of(unit)}")
    private(into)
    other = next(s for s in sources(COURSE / "notebooks") if s.unit != source.unit)
    chance = random.Random(f"{seed} {source.unit}")
    class_list = people(students, chance)
    desk = Desk(source, other, chance)
    hand_ins = [
        desk.hand_in(s, kind) for s, kind in zip(class_list, _kinds(students, chance), strict=True)
    ]
    for hand_in in hand_ins:
        if hand_in.kind != "absent":
            _put(hand_in, source.name, chance.choice(LAYOUTS), into / "submissions")
    write(into / "course.toml", COURSE_FILE.format(key=source.key, due=DUE).encode())
    rows = [[s.id, s.name, s.email, s.number] for s in class_list]
    write(into / "roster.csv", _table(["id", "name", "email", "canvas id"], rows))
    rows = [[h.student.id, h.kind, " ".join(h.wrong)] for h in hand_ins]
    write(into / "expected.csv", _table(["id", "kind", "wrong"], rows))


class Desk:
    """Where hand-ins are made: the notebook as students get it, and answers for its cells."""

    def __init__(self, source: Source, other: Source, chance: random.Random):
        self.chance = chance
        self.source = source
        self.blank = json.loads(notebook_bytes(source, solutions=False))
        self.other = notebook_bytes(other, solutions=False)
        solved = json.loads(notebook_bytes(source, solutions=True))
        self.exercises = [n for n in source.exercises() if slot(n).kind != "explain"]
        self.ours = {_grade_id(c): _plain("".join(c["source"])) for c in solved["cells"]}
        self.hostile = 0

    def hand_in(self, student: Student, kind: str) -> HandIn:
        before = timedelta(minutes=self.chance.randrange(5, 4 * 24 * 60))
        time = DUE + before if kind == "late" else DUE - before
        name = "homework final.ipynb" if kind == "renamed" else f"{self.source.name}.ipynb"
        if kind == "absent":
            return HandIn(student, kind, b"", time, name)
        if kind == "no notebook":
            return HandIn(student, kind, b"PK\x03\x04 a text document", time, "my answers.docx")
        if kind == "another unit":
            return HandIn(student, kind, self.other, time, name)
        cells, wrong = self._answers(kind)
        data = self._notebook(cells, renamed=kind == "renamed")
        data = data[: 2 * len(data) // 3] if kind == "truncated" else data
        return HandIn(student, kind, data, time, name, wrong)

    def _answers(self, kind: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """The answers as code, by exercise, and which of them are wrong."""
        if kind == "untouched":
            return {}, ()
        cells = {name: self.ours[_id(name)] for name in self.exercises}
        wrong: list[str] = []
        for name in self.exercises if kind in ("alternative", "late", "renamed") else ():
            cells[name] = self._one_of(name, alternatives_of(name)) or cells[name]
        for name in self._some(3) if kind == "wrong" else ():
            mutant = self._one_of(name, mutants_of(name))
            if mutant:
                cells[name] = mutant
                wrong.append(name)
        for name in self._some(len(cells) // 2) if kind == "unfinished" else ():
            del cells[name]
        if kind == "hostile":
            name = self.exercises[0]
            code = HOSTILE[self.hostile % len(HOSTILE)]
            cells[name] = f'@implements("{name}")\ndef answer(*given):\n{_indented(code)}'
            wrong.append(name)
            self.hostile += 1
        return cells, tuple(wrong)

    def _some(self, most: int) -> list[str]:
        count = self.chance.randint(1, max(1, most))
        return sorted(self.chance.sample(self.exercises, min(count, len(self.exercises))))

    def _one_of(self, name: str, answers: dict[str, Callable[..., Any]]) -> str:
        return cell_of(name, *self.chance.choice(list(answers.items()))) if answers else ""

    def _notebook(self, cells: dict[str, str], renamed: bool) -> bytes:
        """The students' notebook with these answers in it, and words where it asks for words."""
        notebook = json.loads(json.dumps(self.blank))
        code = {_id(name): source for name, source in cells.items()}
        for cell in notebook["cells"]:
            known = _grade_id(cell)
            if cell["cell_type"] == "markdown" and known and cells:
                cell["source"] = self._words(known)
            elif known in code:
                cell["source"] = code[known]
            if renamed and cell["cell_type"] == "code":  # copied into a notebook of their own
                cell["metadata"], cell["id"] = {}, f"mine-{cell['id']}"
        return json.dumps(notebook, ensure_ascii=False, indent=1).encode()

    def _words(self, grade_id: str) -> str:
        name = next(n for n in self.source.exercises() if _id(n) == grade_id)
        text = self.chance.choice(slot(name).reference().samples).text
        return SCRIPT + text if self.chance.random() < 0.05 else text


def _put(hand_in: HandIn, assignment: str, layout: str, folder: Path) -> None:
    """Write it as that layout has it, with its time."""
    student, name, stem = hand_in.student, hand_in.name, hand_in.student.id
    late = "LATE_" if hand_in.kind == "late" else ""
    outer = {
        "file": f"{stem}{Path(name).suffix}",
        "folder": f"{stem}/{name}",
        "nbgrader": f"{stem}/{assignment}/{name}",
        "zip": f"{stem}.zip",
        "moodle": f"{student.short}_{student.number}_assignsubmission_file_/{name}",
        "canvas": f"{student.login}_{late}{student.number}_{student.number + 7}_{name}",
    }[layout]
    data = _zipped(f"{assignment}/{name}", hand_in) if layout == "zip" else hand_in.data
    path = folder / outer
    write(path, data)
    when = hand_in.time.timestamp()
    for entry in [path, *path.parents]:
        if entry == folder:
            break
        os.utime(entry, (when, when))


def _zipped(name: str, hand_in: HandIn) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        about = zipfile.ZipInfo(name, hand_in.time.timetuple()[:6])
        archive.writestr(about, hand_in.data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _kinds(count: int, chance: random.Random) -> list[str]:
    names = list(KINDS)
    more = chance.choices(names, list(KINDS.values()), k=max(0, count - len(names)))
    return [*names[:count], *more]


def _table(head: list[str], rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue().encode()


def _grade_id(cell: dict[str, Any]) -> str:
    about = cell["metadata"].get("nbgrader", {})
    return about["grade_id"] if about.get("solution") else ""


def _id(exercise: str) -> str:
    return exercise.replace(".", "-")


def _plain(source: str) -> str:
    return "\n".join(line for line in source.split("\n") if line.strip() not in (BEGIN, END))


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.split("\n"))
