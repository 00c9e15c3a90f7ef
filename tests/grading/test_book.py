"""The grade book: people, dates, points by hand and the files that leave it. Nothing is graded."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.check.verdict import BY_HAND, CRASHED, GRADER, PASSED, WRONG, Verdict
from autograder.grading.assignment import Assignment
from autograder.grading.book.by_hand import Given, read_points, with_points, write_worklist
from autograder.grading.book.changes import changes, read_reports, told
from autograder.grading.book.course import Course, Late, Unit
from autograder.grading.book.course_file import read_course
from autograder.grading.book.entries import Entry, entries
from autograder.grading.book.exports import (
    fill_worksheet,
    summary,
    write_canvas,
    write_grades,
    write_moodle,
)
from autograder.grading.book.lateness import download_warning, lateness, moment
from autograder.grading.book.roster import Matcher, Person, read_roster
from autograder.grading.book.tables import read_table
from autograder.grading.grade_class import write_report
from autograder.grading.program import Program
from autograder.grading.report import Report
from autograder.grading.tasks import Task

BERLIN = ZoneInfo("Europe/Berlin")
UNITS = ("u01", "u02")
U2 = Assignment(2, "u02_rewrites", ("u99.sweep", "u99.why"), Path("/tmp"), "course-1")
ADA = Person("ada", "Ada Lovelace", "ada@example.org", "alovelace", "4711", "A")
BOB = Person("bob", 'Bob, the "Builder"', "Bob@example.org")
DUE = datetime(2026, 10, 19, 18, tzinfo=BERLIN)


def toml(tmp_path: Path, text: str) -> Course:
    path = tmp_path / "course.toml"
    path.write_text(text)
    return read_course(path, UNITS)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


# --- course.toml ---------------------------------------------------------------------------------


def test_the_example_in_the_docstring_is_read(tmp_path):
    import autograder.grading.book.course as room

    lines = [line[4:] for line in (room.__doc__ or "").splitlines() if line.startswith("    ")]
    course = toml(tmp_path, "\n".join(lines))
    assert course.zone == BERLIN and course.roster == tmp_path / "roster.csv"
    assert course.units["u02"].due == datetime(2026, 10, 19, 23, 59, 59, tzinfo=BERLIN)
    assert course.units["u02"].release == datetime(2026, 10, 5, tzinfo=BERLIN)
    assert course.units["u02"].late == Late(15, 10, 50, 0)
    assert course.due("u02", "ada") == datetime(2026, 10, 26, 23, 59, 59, tzinfo=BERLIN)
    assert course.due("u02", "bob") == course.units["u02"].due and course.due("u01", "bob") is None


@pytest.mark.parametrize(
    "text, said",
    [
        ("x = = 3", "line 1, column 5"),
        ("\n[late]\npercent_per_dya = 5", "line 3, late.percent_per_dya: .* percent_per_day?"),
        ("[late]\npercent_per_day = -1", "line 2, late.percent_per_day: -1 is no number"),
        ("[late]\npercent_per_day = 200", "line 2, late.percent_per_day: 200 is more than"),
        ("[late]\ngrace_minutes = true", "late.grace_minutes: True is no number"),
        ("[u02]\ndue = 'soon'", "line 2, u02.due: 'soon' is no date"),
        ("[u02]\ndue = 18:00:00", "line 2, u02.due"),
        ("[u07]\ndue = 2026-10-19", "line 1, u07: there is no unit u07; there are u01, u02"),
        ("[u02]\nlate = 3", "line 2, u02.late: 3 is no table"),
        ("[u02]\nlate = { per_day = 3 }", "line 2, u02.late.per_day"),
        ("time_zone = 'Berlin'", "line 1, time_zone: no zone is called 'Berlin'"),
        ("seeds = 'all'", "line 1, seeds: it is one of class, student"),
        ("secret = 7", "line 1, secret: 7 is no text"),
        ("[u02]\nrelease = 2026-10-20\ndue = 2026-10-19", "line 3, u02.due: it is due before"),
        ("[u02]\ndue = 2026-10-19\nsolutions = 2026-10-18", "line 3, u02.solutions"),
        ("[extensions.ada]\nu09 = 2026-10-19", "line 2, extensions.ada.u09: there is no unit"),
        ("[extensions]\nada = 3", "line 2, extensions.ada: 3 is no table"),
    ],
)
def test_mistake_in_the_course_file_is_named(text, said, tmp_path):
    with pytest.raises(ValueError, match=said) as error:
        toml(tmp_path, text)
    assert str(error.value).startswith("course.toml")


def test_seed_comes_from_the_secret_and_the_student(tmp_path):
    assert Course().seed("ada") == 0
    one = toml(tmp_path, "secret = 'a'")
    assert one.seed("ada") == one.seed("bob") != toml(tmp_path, "secret = 'b'").seed("ada")
    own = toml(tmp_path, "secret = 'a'\nseeds = 'student'")
    assert len({own.seed("ada"), own.seed("bob"), one.seed("ada")}) == 3
    assert own.seed("ada") == toml(tmp_path, "secret = 'a'\nseeds = 'student'").seed("ada")
    assert 0 <= own.seed("\udc80") < 2**31


# --- the roster ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        "id,name,email\n007,Zoë,z@x.org\n",
        "\ufeffID;Name;E-Mail\r\n007;Zoë;z@x.org\r\n;;\r\n",
        'sep=;\nid;name;email\n="007";Zoë ;z@x.org\xa0\n',
        "id\tname\temail\n\n007\tZoë\tz@x.org",
        "First name,Last name,ID number,Email address\nZoë,,007,z@x.org",
    ],
)
def test_roster_in_what_a_spreadsheet_makes_of_it(data, tmp_path):
    path = tmp_path / "roster.csv"
    for encoding in ("utf-8", "utf-16", "cp1252"):
        try:
            path.write_bytes(data.encode(encoding))
        except UnicodeEncodeError:
            continue
        (person,) = read_roster(path)
        assert (person.id, person.name, person.email) == ("007", "Zoë", "z@x.org")


@pytest.mark.parametrize(
    "data, said",
    [
        ("", "lists nobody"),
        ("name\nAda", "no column 'id'"),
        ("id,name\nada,Ada\n\nada,Ida", "line 4: ada is in line 2 already"),
        ("id,name\n,Ada", "line 2: id is empty"),
        ("id\n1.23457E+11", "rounded"),
        ("PK\x03\x04", "save it as CSV"),
    ],
)
def test_mistake_in_the_roster_is_named(data, said, tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(data)
    with pytest.raises(ValueError, match=said):
        read_roster(path)


def test_canvas_own_export_is_a_roster(tmp_path):
    path = tmp_path / "canvas.csv"
    path.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Essay (12)\n"
        '"    Points Possible",,,,,10\n'
        '"Lovelace, Ada",88,S4711,alovelace,Tuesday,\n'
    )
    (ada,) = read_roster(path)
    assert ada == Person("88", "Lovelace, Ada", "", "alovelace", "S4711", "Tuesday", "88")
    found, _ = Matcher([ada], {}).find("lovelaceada_LATE_88_5091_u02-1.zip", "lovelaceada_LATE_88")
    assert found == ada


@pytest.mark.parametrize(
    "outer, short, student",
    [
        ("ada.ipynb", "ada", "ada"),
        ("ADA.ipynb", "ADA", "ada"),
        ("ada@example.org", "ada@example.org", "ada"),
        ("4711.zip", "4711", "ada"),
        ("Ada Lovelace_99_assignsubmission_file_", "Ada Lovelace_99", "ada"),
        ("lovelaceada.ipynb", "lovelaceada", None),
        ("homework.ipynb", "homework", "bob"),
        ("adam.ipynb", "adam", None),
        ("", "", None),
    ],
)
def test_whose_a_submission_is(outer, short, student):
    matcher = Matcher([ADA, BOB], {"homework.ipynb": "bob"})
    found, _ = matcher.find(outer, short)
    assert (found.id if found else None) == student


def test_what_fits_two_people_fits_nobody():
    twins = [Person("1", "Kim Lee"), Person("2", "Lee, Kim"), Person("3", "Kim  lee")]
    assert Matcher(twins, {}).find("Kim Lee.ipynb", "Kim Lee")[0] is None
    with pytest.raises(ValueError, match=r"zoe .* is not on the roster"):
        Matcher(twins, {"x.ipynb": "zoe"})


# --- lines ---------------------------------------------------------------------------------------


def task(outer: str, reason: str = "", time: datetime | None = None) -> Task:
    stem = outer.split(".")[0]
    return Task(stem, U2, outer, Program(), reason, outer=outer, short=stem, time=time)


def test_everybody_has_a_line_and_so_has_every_file(tmp_path):
    found = [task("ada.ipynb"), task("eve.ipynb")]
    lines = entries(found, [U2], Course(), [ADA, BOB], tmp_path)
    assert {e.student: e.status for e in lines} == {
        "ada": "handed in", "bob": "nothing handed in", "eve": "not on the roster",
    }  # fmt: skip
    said = " ".join(summary(lines))
    assert "1 handed in nothing: bob" in said and "not on the roster: eve" in said


def test_two_files_of_one_person_are_two_lines(tmp_path):
    found = [task("ada.ipynb"), task("ADA.ipynb"), task("4711.ipynb", "no notebook")]
    lines = entries(found, [U2], Course(), [ADA], tmp_path)
    assert [(e.student, e.status, e.task.file if e.task else "") for e in lines] == [
        ("4711", "another file counts", "4711.ipynb"),
        ("ADA", "another file counts", "ADA.ipynb"),
        ("ada", "handed in", "ada.ipynb"),
    ]
    assert lines[0].notes == ("ada: ada counts",)


def test_two_files_that_fit_alike_are_the_teachers_choice(tmp_path):
    found = [task("alovelace.ipynb"), task("4711.ipynb")]
    lines = entries(found, [U2], Course(), [ADA], tmp_path)
    ada = next(e for e in lines if e.student == "ada")
    assert ada.status == "undecided" and ada.final is None and len(lines) == 3
    assert "which one counts?" in ada.notes[0] and "4711" in ada.notes[0]
    decided = Course(hand_ins={"4711.ipynb": "ada"})
    lines = entries(found, [U2], decided, [ADA], tmp_path)
    (ada,) = (e for e in lines if e.student == "ada")
    assert ada.task and ada.task.file == "4711.ipynb"


def test_nobody_takes_the_line_of_somebody_else(tmp_path):
    ignored = Course(hand_ins={"ada.ipynb": ""})
    lines = entries([task("ada.ipynb")], [U2], ignored, [ADA], tmp_path)
    assert [(e.student, e.status) for e in lines] == [
        ("ada", "nothing handed in"), ("ada (file)", "not on the roster"),
    ]  # fmt: skip


def test_each_line_knows_its_seed(tmp_path):
    own = Course(secret="s", seeds="student")
    lines = entries([task("ada.ipynb"), task("bob.ipynb")], [U2], own, [ADA, BOB], tmp_path)
    seeds = [e.task.seed for e in lines if e.task]
    assert seeds == [own.seed("ada"), own.seed("bob")]
    assert len({e.task.cache_name for e in lines if e.task}) == 2, "another seed, another report"
    lines = entries([task("ada.ipynb")], [U2], own, [ADA], tmp_path, seed=7)
    assert [e.task.seed for e in lines if e.task] == [7]


# --- lateness ------------------------------------------------------------------------------------

RULE = Late(grace_minutes=15, percent_per_day=10, at_most_percent=25, cut_off_days=7)


@pytest.mark.parametrize(
    "after, days, share",
    [
        (timedelta(0), None, 0),
        (timedelta(minutes=15), None, 0),
        (timedelta(minutes=15, seconds=1), 1, 0.1),
        (timedelta(days=1), 1, 0.1),
        (timedelta(days=1, seconds=1), 2, 0.2),
        (timedelta(days=3), 3, 0.25),
        (timedelta(days=7), 7, 0.25),
        (timedelta(days=7, seconds=1), 8, 1.0),
    ],
)
def test_what_being_late_costs(after, days, share):
    found = lateness(DUE + after, DUE, RULE, BERLIN)
    assert (found and found.days, found.share if found else 0) == (days, share)


def test_a_day_ends_by_the_clock_where_the_night_is_longer():
    due = datetime(2026, 10, 24, 18, tzinfo=BERLIN)  # the clocks go back in this night
    same_time_next_day = datetime(2026, 10, 25, 18, tzinfo=BERLIN).astimezone(UTC)
    assert same_time_next_day - due.astimezone(UTC) == timedelta(hours=25)
    late = lateness(same_time_next_day, due, RULE, BERLIN)
    assert late and late.days == 1


@given(st.timedeltas(timedelta(days=-9), timedelta(days=99)), st.floats(0, 50), st.floats(0, 100))
def test_points_are_never_negative_and_never_grow(after, points, percent):
    rule = Late(percent_per_day=percent, cut_off_days=9)
    late = lateness(DUE + after, DUE, rule, BERLIN)
    line = replace(graded(points), late=late)
    assert line.final is not None and 0 <= line.final <= round(points, 2)
    if late:
        assert abs(line.final + line.penalty - points) < 0.011


@pytest.mark.parametrize(
    "text, hour",
    [
        ("2026-10-19 18:00", 18), ("2026-10-19T18:00:00", 18),
        ("2026-10-19 16:00:00.123456 UTC", 18),
        ("2026-10-19T16:00:00Z", 18), ("Monday, 19 October 2026, 6:00 PM", 18),
        ("19.10.2026 18:00", 18), ("2026-10-19 18:00:00+02:00", 18),
    ],
)  # fmt: skip
def test_times_as_systems_write_them(text, hour):
    found = moment(text, BERLIN)
    assert found and found.astimezone(BERLIN).hour == hour and found.astimezone(BERLIN).day == 19


def test_time_that_nobody_can_read_is_said(tmp_path):
    (tmp_path / "times.csv").write_text("student,time\nada,yesterday\n")
    course = Course(times="times.csv", folder=tmp_path)
    with pytest.raises(ValueError, match=r"times.csv, line 2: 'yesterday' is no time"):
        entries([task("ada.ipynb")], [U2], course, [ADA], tmp_path)


def test_where_the_time_is_from(tmp_path):
    units = {"u02": Unit(due=DUE, late=RULE)}
    file_time = DUE + timedelta(days=2)
    one = [task("ada.ipynb", time=file_time.astimezone(UTC))]
    (line,) = entries(one, [U2], Course(units=units, zone=BERLIN), [ADA], tmp_path)
    assert line.late and line.late.days == 2 and line.source == "the file's time"

    naive = [task("ada.ipynb", time=datetime(2026, 10, 19, 18, 30))]  # out of a zip
    (line,) = entries(naive, [U2], Course(units=units, zone=BERLIN), [ADA], tmp_path)
    assert line.late and line.late.days == 1 and line.submitted == DUE + timedelta(minutes=30)

    (tmp_path / "times.csv").write_text(
        "Email address;Last modified (submission)\n"
        "ADA@example.org;Monday, 19 October 2026, 5:59 PM\n"
    )
    course = Course(units=units, zone=BERLIN, times="times.csv", folder=tmp_path)
    (line,) = entries(one, [U2], course, [ADA], tmp_path)
    assert line.late is None and line.source == "times.csv"

    stamp = tmp_path / "ada" / "u02_rewrites" / "timestamp.txt"
    stamp.parent.mkdir(parents=True)
    stamp.write_text("2026-10-20 17:00:00.000000 UTC")
    there = [replace(one[0], outer="ada")]
    course = Course(units=units, zone=BERLIN, times="nbgrader")
    (line,) = entries(there, [U2], course, [ADA], tmp_path)
    assert line.late and line.late.days == 2 and line.source == "timestamp.txt"


def test_files_that_were_just_downloaded_are_noticed():
    assert "download" in download_warning([DUE + timedelta(seconds=n) for n in range(30)])
    assert not download_warning([DUE + timedelta(hours=n) for n in range(30)])


# --- points by hand ------------------------------------------------------------------------------

OPEN = (
    Verdict("u99.sweep", GRADER, 3, None, problem="The grader could not grade this."),
    Verdict("u99.why", BY_HAND, 2, None),
)


def report(*verdicts: Verdict, text: str = "Because.", digest: str = "course-1") -> Report:
    return Report("u02_rewrites", 2, digest, "s", 0, "", verdicts, {"u99.why": text})


def graded(points: float, student: str = "ada") -> Entry:
    verdict = Verdict("u99.sweep", PASSED, 99, points)
    person = {"ada": ADA, "bob": BOB}[student]
    return Entry(student, "u02_rewrites", "u02", 99, "handed in", person, None, report(verdict))


POSSIBLE = {"u99.sweep": 3.0, "u99.why": 2.0}


def test_worklist_goes_out_and_comes_back(tmp_path):
    path = tmp_path / "by-hand.csv"
    line = replace(graded(0), report=report(*OPEN, text='=HYPERLINK("x")\nsecond line'))
    assert write_worklist(path, [line], {}) == 2
    rows = read_table(path)
    assert [(r["exercise"], r["what"]) for r in rows] == [
        ("u99.sweep", "the grader failed"), ("u99.why", "explanation"),
    ]  # fmt: skip
    assert "'=HYPERLINK" in path.read_text(encoding="utf-8-sig")
    # The teacher's spreadsheet writes semicolons, a comma in the number, and no mark.
    filled = (
        "student;assignment;exercise;points;comment\nada;u02_rewrites;u99.why;1,5;Nice – but why?\n"
    )
    path.write_bytes(filled.encode("cp1252"))
    mine = read_points(path, POSSIBLE)
    done = with_points(line, mine)
    assert done.report and done.earned == 1.5 and done.to_grade == 3 and done.final is None
    assert done.notes == ("u99.why: 1.5 of 2 points by hand: Nice – but why?",)
    assert write_worklist(path, [line], mine) == 1
    again = read_points(path, POSSIBLE)
    assert again["ada", "u02_rewrites", "u99.why"].points == 1.5
    assert again["ada", "u02_rewrites", "u99.why"].comment == "Nice – but why?"


def test_points_stay_when_the_text_changes_or_the_student_is_gone(tmp_path):
    path = tmp_path / "by-hand.csv"
    line = replace(graded(0), report=report(*OPEN))
    write_worklist(path, [line], {("ada", "u02_rewrites", "u99.why"): Given(2, "good")})
    mine = read_points(path, POSSIBLE)
    other = replace(line, report=report(*OPEN, text="I changed my mind."))
    done = with_points(other, mine)
    assert done.earned == 2 and "the text has changed since" in done.notes[0]
    write_worklist(path, [], mine)
    assert read_points(path, POSSIBLE)["ada", "u02_rewrites", "u99.why"].points == 2


def test_a_fault_of_the_grader_is_settled_by_hand(tmp_path):
    line = replace(graded(0), report=report(*OPEN))
    mine = {
        ("ada", "u02_rewrites", "u99.sweep"): Given(3, "I looked: it is right."),
        ("ada", "u02_rewrites", "u99.why"): Given(0),
    }
    done = with_points(line, mine)
    assert line.is_fault and not done.is_fault and done.final == 3
    assert done.report and done.report.verdicts[0].problem == "I looked: it is right."


def test_excels_missing_zeros_and_strange_points(tmp_path):
    path = tmp_path / "by-hand.csv"
    path.write_text("student,assignment,exercise,points\n7,u02_rewrites,u99.why,1\n")
    assert list(read_points(path, POSSIBLE, ["007"])) == [("007", "u02_rewrites", "u99.why")]
    for points, said in (
        ("3", "0 to 2 points"),
        ("-1", "0 to 2"),
        ("nan", "number"),
        ("x", "number"),
    ):
        path.write_text(f"student,assignment,exercise,points\nada,u02_rewrites,u99.why,{points}\n")
        with pytest.raises(ValueError, match=f"by-hand.csv, line 2: .*{said}"):
            read_points(path, POSSIBLE)
    path.write_text("student,assignment,exercise,points\nada,u2,u99.wy,1\n")
    with pytest.raises(ValueError, match=r"line 2: there is no exercise 'u99.wy'"):
        read_points(path, POSSIBLE)
    path.write_text("student,exercise\nada,u99.wy\n")
    with pytest.raises(ValueError, match="no column 'assignment'"):
        read_points(path, POSSIBLE)


# --- exports -------------------------------------------------------------------------------------


@pytest.fixture
def lines() -> list[Entry]:
    """Ada has points and came late; Bob's grader failed; Cyd handed nothing in."""
    late = lateness(DUE + timedelta(days=1), DUE, RULE, BERLIN)
    cyd = Person("cyd", "=cmd()")
    return [
        replace(graded(8), late=late, possible=10),
        replace(graded(0, "bob"), report=report(*OPEN), possible=10),
        Entry("cyd", "u02_rewrites", "u02", 10, "nothing handed in", cyd),
    ]


PEOPLE = [ADA, BOB, Person("cyd", "=cmd()")]


def test_grades_show_raw_penalty_and_final(lines, tmp_path):
    rows = {row["student"]: row for row in rows_of(write_grades(lines, tmp_path))}
    ada, bob, cyd = rows["ada"], rows["bob"], rows["cyd"]
    assert (ada["earned"], ada["penalty"], ada["final"]) == ("8", "0.8", "7.2")
    assert "1 day late: 10 % of the points" in ada["late"]
    assert (bob["final"], bob["to_grade"], bob["u99.sweep"]) == ("", "5", "")
    assert (cyd["status"], cyd["earned"], cyd["name"]) == ("nothing handed in", "", "'=cmd()")


def test_canvas_gets_the_columns_that_it_reads(lines, tmp_path):
    course = Course(units={"u02": Unit(canvas="Rewrites (1234)")})
    path = write_canvas(lines, PEOPLE, course, tmp_path)
    head, *rows = list(csv.reader(path.read_text().splitlines()))
    assert head == [
        "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Rewrites (1234)",
    ]  # fmt: skip
    assert rows[0] == ["    Points Possible", "", "", "", "", "10"]
    assert rows[1] == ["Ada Lovelace", "", "4711", "alovelace", "A", "7.2"]
    assert rows[2] == ['Bob, the "Builder"', "", "", "bob", "", ""], "our fault is no 0"
    assert rows[3][0] == "'=cmd()" and rows[3][-1] == ""
    zero = write_canvas(lines, PEOPLE, Course(zero=True), tmp_path).read_text().splitlines()
    assert zero[-1].endswith(",0") and zero[-2].endswith(","), "zero is for what is missing only"


def test_moodle_gets_people_points_and_feedback(lines, tmp_path):
    path = write_moodle(lines, PEOPLE, Course(), tmp_path)
    head, *rows = list(csv.reader(path.read_text().splitlines()))
    assert head == [
        "Email address", "ID number", "Username", "Full name",
        "u02_rewrites", "u02_rewrites (feedback)",
    ]  # fmt: skip
    assert rows[0][:5] == ["ada@example.org", "4711", "alovelace", "Ada Lovelace", "7.2"]
    assert "8 of 10 points; 1 day late" in rows[0][5]
    assert rows[1][0] == "Bob@example.org" and rows[1][4:] == ["", ""]


def test_moodles_worksheet_is_filled_in(lines, tmp_path):
    path = tmp_path / "Grades.csv"
    path.write_text(
        "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum grade,"
        "Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments\n"
        "Participant 12,Ada Lovelace,ada@example.org,Submitted,-,10.00,Yes,-,-,\n"
        "Participant 13,Bob,Bob@example.org,Submitted,5.00,10.00,Yes,-,-,old\n"
    )
    filled, count = fill_worksheet(path, lines, PEOPLE, Course(), "u02")
    head, ada, bob = list(csv.reader(filled.read_text(encoding="utf-8-sig").splitlines()))
    assert head[:2] == ["Identifier", "Full name"] and head[-1] == "Feedback comments"
    assert count == 1 and ada[:5] == [
        "Participant 12", "Ada Lovelace", "ada@example.org", "Submitted", "7.2",
    ]  # fmt: skip
    assert bob[4] == "5.00" and bob[-1] == "old", "what is not known is not touched"


@pytest.fixture
def with_bonus() -> list[Entry]:
    """Ada has everything, and 2 bonus points; Bob has the bonus and 7 of 10."""
    core, extra = Verdict("u99.sweep", PASSED, 10, 10), Verdict("u99.live", PASSED, 2, 2)
    some = Verdict("u99.sweep", PASSED, 10, 7)
    lines = []
    for student, verdict in (("ada", core), ("bob", some)):
        mine = report(verdict, replace(extra, further=True))
        lines.append(replace(graded(0, student), report=mine, possible=10, bonus=2))
    return lines


def test_a_bonus_counts_and_adds_nothing_to_what_the_assignment_is_worth(with_bonus, tmp_path):
    ada, bob = rows_of(write_grades(with_bonus, tmp_path))
    keys = ("earned", "bonus", "final", "possible")
    assert [[row[k] for k in keys] for row in (ada, bob)] == [
        ["12", "2", "12", "10"],
        ["9", "2", "9", "10"],
    ]
    unit = Assignment(99, "u99_example", ("u99.sweep", "u99.live"), Path("/tmp"), "d")
    assert (unit.points, unit.bonus) == (3, 2)
    late = replace(with_bonus[0], late=lateness(DUE + timedelta(days=1), DUE, RULE, BERLIN))
    assert (late.penalty, late.final) == (1.2, 10.8), "a share of all that was earned"


def test_canvas_gets_more_than_possible_and_moodle_what_it_takes(with_bonus, tmp_path):
    path = write_canvas(with_bonus, PEOPLE, Course(), tmp_path)
    canvas = list(csv.reader(path.read_text().splitlines()))
    assert [row[-1] for row in canvas] == ["u02_rewrites", "10", "12", "9", ""]
    moodle = rows_of(write_moodle(with_bonus, PEOPLE, Course(), tmp_path))
    more = "u02_rewrites (beyond the maximum)"
    assert [(r["u02_rewrites"], r[more]) for r in moodle] == [("10", "2"), ("9", "0"), ("", "")]
    assert moodle[0]["u02_rewrites (feedback)"] == "12 of 10 points, 2 of them a bonus"

    sheet = tmp_path / "Grades.csv"
    sheet.write_text("Identifier,Email address,Grade\nParticipant 12,ada@example.org,-\n")
    filled, count = fill_worksheet(sheet, with_bonus, PEOPLE, Course(), "u02")
    assert count == 1 and rows_of(filled)[0]["Grade"] == "10", "Moodle skips a line with more"


# --- changes -------------------------------------------------------------------------------------


def test_who_changes_and_why(tmp_path):
    wrong = Verdict("u99.sweep", WRONG, 3, 0, check="leaves_nothing_dead")
    before = replace(graded(0), report=report(wrong))
    write_report(before, tmp_path)
    old = read_reports(tmp_path)
    assert changes(old, [before]) == []
    assert told([]) == ["No one's points change."]

    passed = Verdict("u99.sweep", PASSED, 3, 3)
    after = replace(before, report=report(passed, digest="course-2"))
    assert changes(old, [after]) == [[
        "ada", "u02_rewrites", "u99.sweep", "0", "3",
        "the check or the course changed: not yet right (leaves_nothing_dead) -> passed",
    ]]  # fmt: skip
    by_hand = with_points(before, {("ada", "u02_rewrites", "u99.sweep"): Given(1)})
    assert changes(old, [by_hand])[0][-1] == "points given by hand"
    late = replace(after, late=lateness(DUE + timedelta(days=1), DUE, RULE, BERLIN))
    assert [row[2] for row in changes(old, [late])] == ["penalty", "u99.sweep"]
    crashed = replace(before, report=replace(report(replace(wrong, kind=CRASHED)), seed=7))
    assert changes(old, [crashed]) == [], "the same points are no change"
    assert changes(old, [])[0][-1] == "not handed in any more"
    assert "Points change for 1: ada" in told(changes(old, [after]))[0]
