"""Who is in the class, and whose a submission is.

    id,name,email                       Canvas' gradebook export and Moodle's list of participants
    ada,Ada Lovelace,ada@example.org    are rosters as they are

| column | also called | what for |
|---|---|---|
| id | id number, username, login, email | needed: how the student is called in every report |
| name | student; or first name and last name | for people, and to match Moodle's folders |
| email | email address, e-mail | matching; Moodle's import |
| login | sis login id, username | matching; Canvas' import |
| sis id | sis user id, id number | matching; Canvas' and Moodle's imports |
| canvas id | id, in Canvas' own export | matching Canvas' file names; Canvas' import |
| section | | Canvas' import |
| group | group name | who hands in together; see groups.py |

A submission belongs to a person if its outermost name is their id, login, email or sis id, or holds
Canvas' id of them, or Moodle's number of them (which its grading worksheet tells), or is that but
for case, or is their full name, or their group's; in this order, and only if nobody else fits as
well. [hand_ins] in course.toml decides what names do not.

Next room: entries.py, a line for each person and assignment.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.book.tables import Row, is_rounded, read_table

CANVAS_FILE = re.compile(r"[^_]+_(?:LATE_)?(?P<id>\d+)_\d+(_.*|$)", re.IGNORECASE)
MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<id>\d+)(_assignsubmission_.*)?", re.DOTALL)
PLUGIN = "_assignsubmission_"
ALSO = {
    "name": ("name", "student", "full name", "student name"),
    "email": ("email", "email address", "e-mail", "e-mail address"),
    "login": ("login", "sis login id", "username", "user name"),
    "sis": ("sis id", "sis user id", "id number", "idnumber"),
    "section": ("section",),
    "canvas": ("canvas id", "canvas_id", "canvas_user_id"),
    "group": ("group", "group name", "group_name"),
}
IDS = ("id", "student id", "id number", "username", "login", "email", "email address")


FIRST = ("first name", "firstname", "given name")
LAST = ("last name", "lastname", "surname", "family name")


@dataclass(frozen=True)
class Person:
    """One line of the roster."""

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    sis: str = ""
    section: str = ""
    canvas: str = ""  # Canvas' own number of the person
    first: str = ""  # the parts of the name, if the roster has them apart
    last: str = ""
    group: str = ""

    @property
    def parts(self) -> tuple[str, str]:
        """(first name, last name): as the roster says; else "Lovelace, Ada" at the comma, and of
        "Ada Lovelace" the last word is the last name."""
        if self.first or self.last:
            return self.first, self.last
        last, comma, first = self.name.partition(",")
        if not comma:
            first, _, last = self.name.rpartition(" ")
        return first.strip(), last.strip() or self.id


def read_roster(path: Path) -> list[Person]:
    """Everybody in the file, in its order. Raises ValueError with the line of what is wrong."""
    rows = [row for row in read_table(path) if not _is_canvas_own(row)]
    if not rows:
        raise ValueError(f"{path.name} lists nobody")
    column = next((name for name in IDS if name in rows[0]), None)
    if column is None:
        there = ", ".join(rows[0])
        raise ValueError(f"{path.name} has no column 'id'; its columns are: {there}")
    people = []
    lines: dict[str, int] = {}
    for row in rows:
        own = row.get(column, "")
        where = f"{path.name}, line {row.line}"
        if not own:
            raise ValueError(f"{where}: {column} is empty")
        if is_rounded(own):
            raise ValueError(f"{where}: a spreadsheet has rounded the id to {own}")
        if own in lines:
            raise ValueError(f"{where}: {own} is in line {lines[own]} already")
        lines[own] = row.line
        known = {key: _first(row, names) for key, names in ALSO.items()}
        if "sis login id" in row:  # Canvas' own export: its id is Canvas' number
            known["canvas"] = known["canvas"] or own
        first, last = _first(row, FIRST), _first(row, LAST)
        whole = " ".join(filter(None, [first, last]))
        people.append(Person(own, known.pop("name") or whole, **known, first=first, last=last))
    return people


class Matcher:
    """Finds the person whose a hand-in is."""

    def __init__(
        self,
        people: Iterable[Person],
        hand_ins: dict[str, str],
        participants: dict[str, str] | None = None,
    ):
        self.people = list(people)
        self.by_id = {person.id: person for person in self.people}
        for outer, student in hand_ins.items():
            if self.people and student and student not in self.by_id:
                raise ValueError(f"course.toml, hand_ins: {student} ({outer}) is not on the roster")
        self.hand_ins = hand_ins
        known = participants or {}
        self.participants = {n: self.by_id[id_] for n, id_ in known.items() if id_ in self.by_id}
        self.groups: dict[str, Person] = {}  # by name: the first of them stands for all
        for person in self.people:
            self.groups.setdefault(_letters(person.group), person)
        self.steps = [
            _unique((key, p) for p in self.people for key in _keys(p)),
            _unique((key.casefold(), p) for p in self.people for key in _keys(p)),
            _unique((_letters(p.name), p) for p in self.people),
        ]

    def of_row(self, row: Row) -> Person | None:
        """Whose a line of a worksheet of Moodle's is."""
        keys = [row.get(k, "") for k in ("id number", "username", "email address", "full name")]
        return next((p for key in keys if key for p in [self.find(key, key)[0]] if p), None)

    def find(self, outer: str, short: str) -> tuple[Person | None, int]:
        """(the person, how surely: 0 is surest) or (None, 9). `short` is `outer` without what the
        assignment and an LMS add."""
        for name in (outer, Path(outer).stem, short):
            if name in self.hand_ins:
                return self.by_id.get(self.hand_ins[name]), 0
        exact, folded, names = self.steps
        plain = unicodedata.normalize("NFC", short)
        canvas = CANVAS_FILE.fullmatch(outer)
        moodle = MOODLE_FOLDER.fullmatch(short)
        tries = [
            (exact, plain, 1),
            (exact, canvas["id"] if canvas else "", 1),
            (self.participants, moodle["id"] if moodle and PLUGIN in outer else "", 1),
            (folded, plain.casefold(), 2),
            (names, _letters(plain), 3),
            (names, _letters(moodle["name"]) if moodle else "", 3),
            (self.groups, _letters(moodle["name"]) if moodle else "", 4),
        ]
        for table, key, level in tries:
            if key and key in table:
                return table[key], level
        return None, 9


def participants(worksheet: Path, people: Iterable[Person]) -> dict[str, str]:
    """Moodle's numbers of people, {"4711": "ada"}, from its grading worksheet: in the worksheet it
    is "Participant 4711", and of two people of one name the folders differ in it alone."""
    matcher, found = Matcher(people, {}), {}
    for row in read_table(worksheet, ["identifier"]):
        number, person = re.search(r"\d+$", row["identifier"]), matcher.of_row(row)
        if number and person:
            found[number[0]] = person.id
    return found


def _unique(pairs: Iterable[tuple[str, Person]]) -> dict[str, Person]:
    """The keys that are one person's; what two share tells nobody apart."""
    distinct = dict.fromkeys(pair for pair in pairs if pair[0])
    counts = Counter(key for key, _ in distinct)
    return {key: person for key, person in distinct if counts[key] == 1}


def _keys(person: Person) -> list[str]:
    known = (person.id, person.login, person.email, person.sis, person.canvas)
    return [unicodedata.normalize("NFC", key) for key in known if key]


def _letters(name: str) -> str:
    """A name without case, accents and whatever stands between its letters."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(c for c in plain if c.isalnum())


def _first(row: Row, names: Iterable[str]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _is_canvas_own(row: Row) -> bool:
    """Canvas' line of points, and the one that says which columns are hidden."""
    student = row.get("student", "")
    return "points possible" in student.lower() or (
        not row.get("id") and not student and "student" in row
    )
