r"""A class that does not exist, to rehearse with: what its students could hand in.

    python -m autograder make-class --students 300 --unit 2 --into rehearsal
    python -m autograder grade --submissions rehearsal/submissions --course rehearsal/course.toml \
        --unit 2 --out build/rehearsal

    rehearsal/
      submissions/...      files, folders and zips with the names that an LMS gives them
      roster.csv           id, name, email, canvas id
      course.toml          when each unit was due; what lateness costs
      expected.csv         what each student is in each unit, which exercises are answered wrongly,
                           and from whom the answers are

Right answers are our own and the alternatives of the unit, wrong ones its mutants, explanations the
graded samples. No two students write the same text, as in a class that exists; but there are only
so many right answers, so that more of them resemble each other than would there. Some hand in the
minutes that they measured. The same seed makes the same files, and a class of 14 has one of each
kind. Several units are a term: a week lies between two, and who is absent often stays so.

Next room: people.py, who they are; docs/instructors.md, a class from beginning to end.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.check.framework import alternatives_of, mutants_of
from autograder.check.keys import key_of
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.deliver import private, write
from autograder.edition.minutes import core, estimate
from autograder.edition.sources import BEGIN, END, Source, sources
from autograder.grading.as_cell import cell_of
from autograder.grading.copied import copied
from autograder.grading.people import Student, people
from autograder.progress.clock import MIME
from course_lib.exercises import slot

DUE = datetime(2026, 10, 19, 18, tzinfo=UTC)
KINDS = {  # how many of a hundred; the first fourteen students are one of each
    "right": 27, "alternative": 13, "wrong": 18, "unfinished": 12, "late": 8, "untouched": 3,
    "renamed": 3, "truncated": 2, "another unit": 2, "no notebook": 1, "hostile": 2, "absent": 2,
    "looping": 2, "copied": 5,
}  # fmt: skip
LENT = ("right", "alternative", "wrong")  # who lets others copy
STAYS_AWAY = 0.6  # of those who were absent, the next time
MEASURE = 0.6  # of those who answer something hand in their minutes
LAYOUTS = ("file", "folder", "nbgrader", "zip", "moodle", "canvas")
COURSE_FILE = """time_zone = "UTC"
roster = "roster.csv"
secret = "rehearsal"
minutes = true
[late]
percent_per_day = 10
"""
DATE = """[{key}]
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
LOOPS = (
    "import time\nwhile True:\n    time.sleep(0.1)",
    "while True: pass",
    "todo = [0]\nwhile todo:\n    todo.append(todo.pop())",
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
    whose: str = ""  # the student who wrote it, if another one did


@dataclass(frozen=True)
class Answers:
    """Somebody's code by exercise, and words by cell."""

    code: dict[str, str]
    wrong: tuple[str, ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    whose: str = ""


def make_class(
    students: int,
    units: int | str | Iterable[int | str],
    into: Path,
    seed: int = 0,
    notebooks: Path = COURSE / "notebooks",
) -> None:
    """Write the class, for one unit or lab or for several. ValueError if there is something in the
    folder already."""
    if students < 1:
        raise ValueError(f"a class has a student or more, not {students}")
    if (into / "submissions").exists():
        raise ValueError(f"{into / 'submissions'} exists already: name a new folder")
    wanted = [units] if isinstance(units, int | str) else list(units)
    term = [_source(notebooks, unit) for unit in wanted]
    private(into)
    class_list: list[Student] = []
    kinds: list[str] = []
    expected: list[list[str]] = []
    dates = ""
    for week, source in enumerate(term):
        chance = random.Random(f"{seed} {source.key if week else source.unit}")
        class_list = class_list or people(students, chance)
        kinds = _next(kinds, chance) if kinds else _kinds(students, chance)
        due = DUE + timedelta(weeks=week)
        desk = Desk(source, _another(source), chance, due)
        hand_ins = [desk.hand_in(s, kind) for s, kind in zip(class_list, kinds, strict=True)]
        for hand_in in hand_ins:
            if hand_in.kind != "absent":
                layout = chance.choice(LAYOUTS)
                _put(hand_in, source, layout, into / "submissions", alone=len(term) == 1)
        dates += DATE.format(key=source.key, due=due)
        expected += [
            [h.student.id, source.key, h.kind, " ".join(h.wrong), h.whose] for h in hand_ins
        ]
    write(into / "course.toml", (COURSE_FILE + dates).encode())
    rows = [[s.id, s.name, s.email, s.number] for s in class_list]
    write(into / "roster.csv", _table(["id", "name", "email", "canvas id"], rows))
    head = ["id", "assignment", "kind", "wrong", "copied from"]
    write(into / "expected.csv", _table(head, expected))


class Desk:
    """Where hand-ins are made: the notebook as students get it, and answers for its cells."""

    def __init__(self, source: Source, other: Source, chance: random.Random, due: datetime = DUE):
        self.chance = chance
        self.source = source
        self.due = due
        self.blank = json.loads(notebook_bytes(source, solutions=False, minutes=True))
        self.other = notebook_bytes(other, solutions=False)
        solved = json.loads(notebook_bytes(source, solutions=True))
        self.exercises = [n for n in source.exercises() if slot(n).kind != "explain"]
        self.ours = {_grade_id(c): _plain("".join(c["source"])) for c in solved["cells"]}
        self.minutes = core(estimate(source.cells()))
        self.counts = {"hostile": 0, "looping": 0}
        self.lent: list[Answers] = []

    def hand_in(self, student: Student, kind: str) -> HandIn:
        before = timedelta(minutes=self.chance.randrange(5, 4 * 24 * 60))
        time = self.due + before if kind == "late" else self.due - before
        name = "homework final.ipynb" if kind == "renamed" else f"{self.source.name}.ipynb"
        if kind == "absent":
            return HandIn(student, kind, b"", time, name)
        if kind == "no notebook":
            return HandIn(student, kind, b"PK\x03\x04 a text document", time, "my answers.docx")
        if kind == "another unit":
            return HandIn(student, kind, self.other, time, name)
        answers = self._answers(kind)
        data = self._notebook(student, answers, renamed=kind == "renamed")
        data = data[: 2 * len(data) // 3] if kind == "truncated" else data
        if kind in LENT:
            self.lent.append(Answers(answers.code, answers.wrong, answers.words, student.id))
        return HandIn(student, kind, data, time, name, answers.wrong, answers.whose)

    def _answers(self, kind: str) -> Answers:
        """The answers as code, by exercise, and which of them are wrong."""
        if kind == "untouched":
            return Answers({})
        if kind == "copied" and self.lent:
            theirs = self.chance.choice(self.lent)
            code = {name: copied(cell) for name, cell in theirs.code.items()}
            words = {known: f"I think that: {text}" for known, text in theirs.words.items()}
            return Answers(code, theirs.wrong, words, theirs.whose)
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
            wrong.append(self._instead(cells, self.exercises[0], kind, HOSTILE))
        if kind == "looping":
            wrong.append(self._instead(cells, self.chance.choice(self.exercises), kind, LOOPS))
        return Answers(cells, tuple(wrong))

    def _instead(self, cells: dict[str, str], name: str, kind: str, codes: tuple[str, ...]) -> str:
        """Answer an exercise by the next of these codes. Returns the exercise."""
        code = codes[self.counts[kind] % len(codes)]
        cells[name] = f'@implements("{name}")\ndef answer(*given):\n{_indented(code)}'
        self.counts[kind] += 1
        return name

    def _some(self, most: int) -> list[str]:
        count = self.chance.randint(1, max(1, most))
        return sorted(self.chance.sample(self.exercises, min(count, len(self.exercises))))

    def _one_of(self, name: str, answers: dict[str, Callable[..., Any]]) -> str:
        return cell_of(name, *self.chance.choice(list(answers.items()))) if answers else ""

    def _notebook(self, student: Student, answers: Answers, renamed: bool) -> bytes:
        """The students' notebook with these answers in it, and words where it asks for words."""
        notebook = json.loads(json.dumps(self.blank))
        code = {_id(name): source for name, source in answers.code.items()}
        for cell in notebook["cells"]:
            known = _grade_id(cell)
            if cell["cell_type"] == "markdown" and known and answers.code:
                if known not in answers.words:
                    answers.words[known] = self._words(known)
                cell["source"] = answers.words[known]
            elif known in code:  # nobody writes what somebody else writes, letter for letter
                cell["source"] = f"{code[known]}\n# {student.id}"
            if renamed and cell["cell_type"] == "code":  # copied into a notebook of their own
                cell["metadata"], cell["id"] = {}, f"mine-{cell['id']}"
        if answers.code and self.chance.random() < MEASURE:
            spent = self.minutes * self.chance.lognormvariate(0, 0.3)
            notebook["cells"][-1]["outputs"] = [_minutes(self.source.key, spent)]
        return json.dumps(notebook, ensure_ascii=False, indent=1).encode()

    def _words(self, grade_id: str) -> str:
        name = next(n for n in self.source.exercises() if _id(n) == grade_id)
        text = self.chance.choice(slot(name).reference().samples).text
        return SCRIPT + text if self.chance.random() < 0.05 else text


def _put(hand_in: HandIn, source: Source, layout: str, folder: Path, alone: bool) -> None:
    """Write it as that layout has it, with its time. Where there are several units, a file that
    would say nothing of its own says it."""
    student, name, assignment = hand_in.student, hand_in.name, source.name
    if not alone and name == "homework final.ipynb":
        name = f"homework {source.key}.ipynb"
    stem = student.id if alone else f"{student.id}_{assignment}"
    late = "LATE_" if hand_in.kind == "late" else ""
    outer = {
        "file": f"{stem}{Path(name).suffix}",
        "folder": f"{student.id}/{name}",
        "nbgrader": f"{student.id}/{assignment}/{name}",
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


def _next(kinds: list[str], chance: random.Random) -> list[str]:
    """What the same students are in the next unit."""
    drawn = chance.choices(list(KINDS), list(KINDS.values()), k=len(kinds))
    stays = [kind == "absent" and chance.random() < STAYS_AWAY for kind in kinds]
    return ["absent" if away else new for away, new in zip(stays, drawn, strict=True)]


def _source(notebooks: Path, unit: int | str) -> Source:
    for source in sources(notebooks, unit):
        return source
    raise ValueError(f"no notebook source for {key_of(unit)}")


def _another(source: Source) -> Source:
    return next(s for s in sources(COURSE / "notebooks") if s.unit != source.unit)


def _minutes(key: str, spent: float) -> dict[str, Any]:
    """The output of a notebook's last cell, for those who measured."""
    data = {MIME: {"key": key, "minutes": round(spent)}, "text/plain": f"{spent:.0f} minutes"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


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
