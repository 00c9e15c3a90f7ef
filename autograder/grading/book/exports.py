"""The grade book as files: for the teacher, for Canvas, for Moodle.

    grades.csv     every line, with raw points, penalty and final points
    canvas.csv     Student, ID, SIS User ID, SIS Login ID, Section, one column for each assignment
    moodle.csv     Email address, ID number, Username, Full name; points and feedback for each

Points are exported as the final points. Where a person still has to look, because an explanation is
not read yet or because the grader failed, there is nothing: a blank, never a 0. So it is where
nothing was handed in, unless course.toml says `nothing_handed_in = "zero"`. With a bonus, somebody
may have more points than the assignment is worth.

Canvas ("How do I import grades in the Gradebook?", community.canvaslms.com; its
lib/gradebook_importer.rb): the columns Student and ID come first, up to Section; a student is found
by ID, else SIS User ID, else SIS Login ID, else the name; a line whose Student holds "Points
Possible" sets the points; an assignment is "Title (id)" or else a title, and a new one is made
where none has it; a blank where there is a grade takes the grade away; more
points than possible are taken as they are.

Moodle ("Grade import", docs.moodle.org): any columns, mapped by hand while importing; people are
found by email address (upper and lower case matter), ID number or username; points and feedback of
an activity have to be mapped together. The offline grading worksheet ("Assignment settings", "Using
assignment", docs.moodle.org; mod/assign/feedback/offline/importgradeslib.php) is filled in as it
was downloaded: Identifier, Grade and Last modified (grade) have to stay, and lines are found by
Email address, ID number or Full name. More than the maximum is cut off in the gradebook, unless the
site allows "unlimited grades", and a line of the worksheet with more is skipped (locallib.php,
"Out of range"): both get at most what the assignment is worth, and what goes beyond has a column
of its own in moodle.csv, for an item of extra credit.

Next room: changes.py, what another run would change.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autograder.grading.book.course import Course, Unit
from autograder.grading.book.entries import HANDED_IN, NOTHING, UNDECIDED, UNREAD, Entry
from autograder.grading.book.roster import Matcher, Person
from autograder.grading.book.tables import read_table, write_table

CANNOT = "cannot be graded (the notes in grades.csv say why)"
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
MOODLE = ["Email address", "ID number", "Username", "Full name"]
HEAD = [
    "student", "name", "assignment", "status", "earned", "bonus", "penalty", "final", "possible",
    "to_grade", "submitted", "late", "seed", "notes", "file",
]  # fmt: skip


def write_grades(lines: Iterable[Entry], out: Path) -> Path:
    """grades.csv, with a column for each exercise."""
    lines = list(lines)
    verdicts = [v for line in lines if line.report for v in line.report.verdicts]
    names = list(dict.fromkeys(v.exercise for v in verdicts))
    rows = [[*_cells(line), *_exercises(line, names)] for line in lines]
    return write_table(out / "grades.csv", [*HEAD, *names], rows, mark=False)


def write_canvas(lines: Iterable[Entry], people: list[Person], course: Course, out: Path) -> Path:
    """canvas.csv: one line for each person of the roster."""
    points, units = _by_person(lines, course), _units(lines)
    titles = [course.units.get(key, Unit()).canvas or name for key, (name, _) in units.items()]
    possible = [f"{most:g}" for _, most in units.values()]
    rows = [["    Points Possible", "", "", "", "", *possible]]
    for person in people:
        login = person.login or ("" if person.canvas or person.sis else person.id)
        own = [person.name or person.id, person.canvas, person.sis, login]
        grades = [_number(points.get((person.id, key))) for key in units]
        rows.append([*own, person.section, *grades])
    return write_table(out / "canvas.csv", [*CANVAS, *titles], rows, mark=False)


def write_moodle(lines: Iterable[Entry], people: list[Person], course: Course, out: Path) -> Path:
    """moodle.csv: points, and a sentence of feedback for each, because Moodle wants both mapped."""
    lines = list(lines)
    points, units = _by_person(lines, course), _units(lines)
    titles = [course.units.get(key, Unit()).moodle or name for key, (name, _) in units.items()]
    beyond = {e.key for e in lines if e.bonus}
    head = [*MOODLE]
    for key, title in zip(units, titles, strict=True):
        head += [title, f"{title} (feedback)"]
        head += [f"{title} (beyond the maximum)"] if key in beyond else []
    feedback = {(e.student, e.key): _sentence(e) for e in lines if e.person}
    rows = []
    for person in people:
        row = [person.email, person.sis or person.id, person.login, person.name]
        for key, (_, most) in units.items():
            grade, more = _at_most(points.get((person.id, key)), most)
            row += [grade, feedback.get((person.id, key), "") if grade else ""]
            row += [more] if key in beyond else []
        rows.append(row)
    return write_table(out / "moodle.csv", head, rows, mark=False)


def fill_worksheet(
    worksheet: Path, lines: Iterable[Entry], people: list[Person], course: Course, key: str
) -> tuple[Path, int]:
    """Moodle's offline grading worksheet of one assignment with Grade and Feedback comments filled
    in, beside the original as NAME.filled.csv, and how many lines were. Other cells stay."""
    rows, lines = read_table(worksheet, ["identifier", "grade"]), list(lines)
    matcher, points = Matcher(people, {}), _by_person(lines, course)
    most = {one: points for one, (_, points) in _units(lines).items()}.get(key, 0.0)
    feedback = {e.student: _sentence(e) for e in lines if e.key == key and e.person}
    filled = 0
    for row in rows:
        person = matcher.of_row(row)
        grade, _ = _at_most(points.get((person.id, key)) if person else None, most)
        if person and grade:
            row["grade"] = grade
            filled += 1
            if "feedback comments" in row:
                row["feedback comments"] = feedback.get(person.id, "")
    path = worksheet.with_suffix(".filled.csv")
    head = list(rows[0].head) if rows else []
    return write_table(path, head, [row.values() for row in rows], mark=True), filled


def summary(lines: Iterable[Entry]) -> list[str]:
    """What a teacher has to know before the files go anywhere, one sentence each."""
    lines = list(lines)
    sentences = []
    for status, words in (
        (NOTHING, "handed in nothing"),
        (UNDECIDED, "undecided, several hand-ins are theirs"),
        ("not on the roster", "handed in, and not on the roster"),
    ):
        there = [e for e in lines if e.status == status]
        if there:
            sentences.append(f"{len(there)} {words}: {_named(there)}")
    faults = [e.student for e in lines if e.is_fault]
    if faults:
        sentences.append(
            f"The grader itself failed for {', '.join(faults)}: no points lost, blank in every "
            "export; see by-hand.csv and the reports."
        )
    unread = [e for e in lines if e.waits and e.report and e.report.is_ungradable]
    if unread:
        sentences.append(f"{len(unread)} handed in what {CANNOT}: {_named(unread)}")
    waiting = sum(e.waits and not e.is_fault for e in lines)
    if waiting:
        wait = "wait" if waiting > 1 else "waits"
        blank = "until then the final points are blank"
        sentences.append(f"{waiting} {wait} for a person (by-hand.csv); {blank}.")
    return sentences


def _named(lines: Iterable[Entry]) -> str:
    names = [f"{e.student} ({e.assignment})" for e in lines]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{', '.join(names[:8])}{more}"


def _cells(line: Entry) -> list[str]:
    name = line.person.name if line.person else ""
    when = line.submitted.isoformat(" ", "minutes") if line.submitted else ""
    late = line.late.words if line.late else ""
    seed = str(line.report.seed) if line.report else ""
    known = line.report is not None and line.earned is not None
    bonus, penalty = (line.report.bonus, line.penalty) if line.report and known else (None, None)
    numbers = (line.earned, bonus, penalty, line.final, line.possible)
    plain = [_number(n) for n in (*numbers, line.to_grade)]
    notes = " | ".join([*(line.report.notes if line.report else ()), *line.notes])
    file = line.task.file if line.task else ""
    return [line.student, name, line.assignment, line.status, *plain, when, late, seed, notes, file]


def _exercises(line: Entry, names: list[str]) -> list[str]:
    verdicts = line.report.verdicts if line.report else ()
    earned = {v.exercise: "" if v.earned is None else f"{v.earned:g}" for v in verdicts}
    return [earned.get(name, "") for name in names]


def _by_person(lines: Iterable[Entry], course: Course) -> dict[tuple[str, str], float]:
    """The points that are exported, of everybody on the roster of whom they are known."""
    exported = {}
    for line in lines:
        if line.person is None:
            continue
        if line.status in (HANDED_IN, UNREAD) and line.final is not None:
            exported[line.student, line.key] = line.final
        elif line.status == NOTHING and course.zero:
            exported[line.student, line.key] = 0.0
    return exported


def _number(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _at_most(points: float | None, most: float) -> tuple[str, str]:
    """Points as text, up to `most` and beyond it."""
    if points is None:
        return "", ""
    return _number(min(points, most)), _number(round(max(0.0, points - most), 2))


def _units(lines: Iterable[Entry]) -> dict[str, tuple[str, float]]:
    """Each unit and lab, by its key: its name, and what it is worth."""
    return {
        key: (name, most)
        for key, name, most in sorted({(e.key, e.assignment, e.possible) for e in lines})
    }


def _sentence(line: Entry) -> str:
    if line.report is None or line.earned is None:
        return line.status
    text = f"{line.report.earned:g} of {line.possible:g} points"
    text += f", {line.report.bonus:g} of them a bonus" if line.report.bonus else ""
    return f"{text}; {line.late.words}, {line.penalty:g} points" if line.late else text
