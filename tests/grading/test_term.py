"""The class over the term: shares, reasons, where people are stuck, and the page about it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    NOT_ATTEMPTED,
    PASSED,
    UNGRADABLE,
    WRONG,
    Verdict,
)
from autograder.grading.book.course import Course, Extension, Unit
from autograder.grading.book.dashboard import write_dashboard
from autograder.grading.book.entries import HANDED_IN, NOTHING, UNKNOWN, UNREAD, Entry
from autograder.grading.book.lateness import Lateness
from autograder.grading.book.roster import Person
from autograder.grading.book.term import at_risk, in_order, quartiles, share_of, standings, stuck
from autograder.grading.report import Report

NAMES = ("u01_one", "u02_two", "u03_three", "u04_four")
DUE = datetime(2026, 10, 5, tzinfo=UTC)
COURSE = Course(
    units={name[:3]: Unit(due=DUE + timedelta(weeks=k)) for k, name in enumerate(NAMES)}
)
NOW = DUE + timedelta(weeks=10)


def line(student: str, name: str, *verdicts: Verdict, status: str = HANDED_IN, late=None) -> Entry:
    report = Report(name, 1, "d", "s", 0, "", verdicts) if verdicts else None
    person = Person(student, student.title())
    return Entry(student, name, name[:3], 10, status, person, report=report, late=late)


def points(student: str, name: str, earned: float) -> Entry:
    return line(student, name, Verdict("x", PASSED if earned else WRONG, 10, earned))


def reasons(*lines: Entry, course: Course = COURSE, now: datetime = NOW) -> tuple[str, ...]:
    return standings(lines, course, now)["ada"].reasons


def test_a_share_is_of_the_core_points_that_are_known():
    known = Verdict("a", PASSED, 3, 3), Verdict("b", WRONG, 1, 0)
    waits, bonus = Verdict("c", BY_HAND, 5, None), Verdict("d", PASSED, 9, 9, further=True)
    assert share_of(line("ada", "u01_one", *known, waits, bonus)) == 0.75
    assert share_of(line("ada", "u01_one", waits)) is None
    assert share_of(line("ada", "u01_one", status=NOTHING)) is None
    assert share_of(line("ada", "u01_one", Verdict("a", UNGRADABLE, 3, None))) is None


def test_nothing_handed_in_is_a_reason_when_it_was_due_for_them():
    absent = [line("ada", name, status=NOTHING) for name in NAMES[:2]]
    assert reasons(*absent) == ("handed nothing in for u01_one and u02_two",)
    assert reasons(absent[0]) == ()
    assert reasons(*absent, now=DUE) == (), "only the first is due"
    more_time = Course(units=COURSE.units, extensions={"ada": Extension(days=100)})
    assert reasons(*absent, course=more_time) == ()


def test_without_dates_an_assignment_counts_that_half_of_the_class_handed_in():
    absent = [line("ada", name, status=NOTHING) for name in NAMES[:2]]
    others = [points("bob", name, 9) for name in NAMES[:2]]
    assert reasons(*absent, *others, course=Course())
    more = [line("cyd", name, status=NOTHING) for name in NAMES[:2]]
    assert not reasons(*absent, *others, *more, course=Course())


@pytest.mark.parametrize(
    ("earned", "said"),
    [
        ((4, 4), ("40 % in u01_one and 40 % in u02_two of the points known",)),
        ((4, 5), ()),
        ((0, 0, 5), ()),
        ((9, 7, 5), ("50 % in u03_three, after 80 % on average before",)),
        ((9, 7, 5.1), ()),
        ((9, 5), ()),
    ],
)
def test_low_or_falling_points_are_a_reason(earned, said):
    lines = [points("ada", name, most) for name, most in zip(NAMES, earned, strict=False)]
    assert reasons(*lines) == said


def test_a_file_that_cannot_be_graded_is_a_reason_until_a_better_one_comes():
    bad = line("ada", "u02_two", Verdict("x", UNGRADABLE, 10, None), status=UNREAD)
    assert reasons(points("ada", "u01_one", 9), bad) == ("the file for u02_two cannot be graded",)
    assert reasons(bad, points("ada", "u03_three", 9)) == ()


def test_assignments_are_in_the_order_of_their_dates():
    swapped = {"u01": Unit(due=DUE + timedelta(days=9)), "u02": Unit(due=DUE), "u03": Unit()}
    lines = [points("ada", name, 5) for name in NAMES[:3]]
    assert list(in_order(lines, Course(units=swapped))) == ["u02_two", "u03_three", "u01_one"]
    assert list(in_order(lines, Course())) == list(NAMES[:3])


def test_who_is_stuck_and_what_most_of_them_are_told():
    def ends(student: str, kind: str, **details) -> Entry:
        return line(student, "u01_one", Verdict("x", kind, 3, 0, **details))

    lines = [
        ends("ada", WRONG, check="keeps_order", problem="in another order"),
        ends("bob", WRONG, check="keeps_order", problem="in another order"),
        ends("cyd", WRONG, check="keeps_order", problem="the order is lost"),
        ends("dan", CRASHED, error="TypeError: no len", problem="Your code raised an error."),
        ends("eve", NOT_ATTEMPTED),
        ends("fay", PASSED),
    ]
    (found,) = stuck(lines)
    assert (found.people, found.tried) == (("ada", "bob", "cyd", "dan"), 5)
    assert (found.check, found.message, found.told) == ("keeps_order", "in another order", 3)
    (found,) = stuck(lines[3:])
    assert (found.check, found.message) == ("TypeError", "TypeError: no len")
    (found,) = stuck(lines[5:])
    assert found.people == () and found.message == ""


def test_whoever_is_on_no_roster_is_counted_and_said(tmp_path):
    lines = [points("ada", "u01_one", 9), line("bob", "u01_one", status=NOTHING)]
    lines.append(replace(points("eve", "u01_one", 5), status=UNKNOWN, person=None))
    text = write_dashboard(lines, COURSE, NOW, tmp_path).read_text()
    assert "<strong>3</strong>people, 1 not on the roster" in text
    assert "<strong>2</strong>hand-ins" in text and "2 of 3" in text


def test_quartiles_of_one_are_that_one():
    assert quartiles([0.5]) == (0.5, 0.5, 0.5)
    assert quartiles([0, 0.5, 1]) == (0.25, 0.5, 0.75)


HOSTILE = (
    "<script>x</script>",
    "\u202eevil",
    "山" * 80,
    "a\ud800b",
    '"><img src=x>',
    "O'Brien & co",
)


def class_of(students: list[str]) -> list[Entry]:
    """Everybody in four assignments: one absent, one late, one that nobody has read yet."""
    lines = []
    for k, student in enumerate(students):
        lines.append(points(student, "u01_one", k % 11))
        lines.append(line(student, "u02_two", status=NOTHING))
        wrong = Verdict("u03.x", WRONG, 3, 0, check="<b>", problem="</td><script>")
        lines.append(line(student, "u03_three", wrong, late=Lateness(2, 0.2)))
        lines.append(line(student, "u04_four", Verdict("u04.why", BY_HAND, 2, None)))
    return lines


def page(tmp_path: Path, students: list[str]) -> str:
    return write_dashboard(class_of(students), COURSE, NOW, tmp_path).read_text()


def test_the_page_of_nobody_and_of_one(tmp_path):
    assert "Nobody is on the roster" in write_dashboard([], COURSE, NOW, tmp_path).read_text()
    one = page(tmp_path, ["ada"])
    assert "<strong>1</strong>person" in one and "the middle half (bar)" in one


def test_the_page_of_three_hundred_names_those_whom_the_rules_name(tmp_path):
    students = [f"s{k:03}" for k in range(300)]
    text = page(tmp_path, students)
    named = at_risk(standings(class_of(students), COURSE, NOW))
    assert f"<strong>{len(named)}</strong>at risk" in text and 0 < len(named) < 300
    assert text.count("<tr>") > 300 + len(named) and "300 of 300" in text and len(text) < 1_000_000
    assert "<code>u01_<wbr>one</code> · 28 people stuck in 1 exercise" in text
    assert "<code>u03_<wbr>three</code> · 300 people stuck in 1 exercise" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_names_are_text_and_the_page_fits(scheme, tmp_path, browser):
    text = page(tmp_path, list(HOSTILE))
    assert not re.search(r"<script|<img|<b>", text)
    for width in (390, 1200):
        view = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        asked: list[str] = []
        view.on("request", lambda request, asked=asked: asked.append(request.url))
        view.goto((tmp_path / "term.html").as_uri())
        assert len(asked) == 1 and view.locator("h1").count() == 1
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        assert view.locator("svg:not([aria-label])").count() == 0
        assert view.locator(".wide:not([tabindex])").count() == 0, "the keyboard scrolls, too"
        view.close()
