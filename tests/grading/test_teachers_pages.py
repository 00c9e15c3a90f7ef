"""What a teacher looks at, in a browser: axe-core, the keyboard, a phone, links between pages.

Three pages about a class and a student's feedback, with what makes them hard: long names, names of
other scripts, wide programs and drawings, everything that a verdict may be.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    NOT_ATTEMPTED,
    PASSED,
    TIMED_OUT,
    UNGRADABLE,
    WRONG,
    Verdict,
)
from autograder.edition.sources import Source
from autograder.grading.assignment import Assignment
from autograder.grading.book.course import Course, Unit
from autograder.grading.book.dashboard import write_dashboard
from autograder.grading.book.entries import HANDED_IN, NOTHING, UNREAD, Entry
from autograder.grading.book.lateness import Lateness
from autograder.grading.book.originality import write_originality
from autograder.grading.book.pages import PAGES
from autograder.grading.book.roster import Person
from autograder.grading.book.statistics import write_statistics
from autograder.grading.page import feedback_page
from autograder.grading.program import Cell, Program
from autograder.grading.report import Report
from autograder.grading.tasks import Task

UNITS = ("u99_example", "u99_lab_averylongname")
DUE = datetime(2026, 10, 5, tzinfo=UTC)
COURSE = Course(units={"u99": Unit(due=DUE), "u99_lab_averylongname": Unit(due=DUE)})
NAMES = ("Ada Lovelace", "Wolfeschlegelsteinhausenbergerdorff " * 3, "שרה الحسن", "山" * 40)
STEP = "    for node in reversed({{0}}[{0}:]):\n        kept.append(node.inputs[{0}])\n"
LOOP = '@implements("u99.sweep")\ndef sweep(graph):\n    kept, {0} = [], graph.nodes[:]\n'
LOOP += "".join(STEP.format(k) for k in range(6))
PROGRAM = "graph f(%x: f32[2, 3]) { " + "; ".join(f"%{k} = relu %x" for k in range(40)) + " }"
DRAWING = '<svg width="1500" height="20" role="img" aria-label="a graph"><rect width="9"/></svg>'
WORDS = {"u99.why": "Because nothing reads it. " * 40}
ENDS = {
    PASSED: {"tried": ("60 random programs",)},
    WRONG: {"check": "leaves_nothing_dead", "problem": "Something dead is left.", "got": "%9",
            "program": PROGRAM, "pictures": (("program", DRAWING),)},
    CRASHED: {"problem": "Your code raised an error.", "error": "KeyError: 7", "program": PROGRAM},
    TIMED_OUT: {"check": "ends", "problem": "It did not end within 10 seconds."},
    NOT_ATTEMPTED: {"problem": ""},
}  # fmt: skip


def report_of(unit: str, kind: str) -> Report:
    earned = 3.0 if kind == PASSED else 0.0
    verdicts = [Verdict("u99.sweep", kind, 3, earned, **ENDS[kind])]
    verdicts.append(Verdict("u99.until_it_is_stable", PASSED, 4, 4, tried=("3 programs",)))
    verdicts.append(Verdict("u99.live", kind, 2, min(earned, 2), further=True, **ENDS[kind]))
    verdicts.append(Verdict("u99.why", BY_HAND, 2, None))
    return Report(unit, 99, "d", kind, 0, "", tuple(verdicts), WORDS)


def lines_of(unit: str) -> list[Entry]:
    assignment = Assignment(99, unit, ("u99.sweep", "u99.why"), Path("/tmp"), "d")
    lines = []
    for k, name in enumerate(NAMES * 4):
        person, kind = Person(f"s{k:02}", name), list(ENDS)[k % len(ENDS)]
        blank = Entry(person.id, unit, assignment.key, 9, NOTHING, person, bonus=2)
        if k % 7 == 6:
            lines.append(blank)
            continue
        code = LOOP.format("todo" if k in (1, 11) else f"todo.a{k}.b{k}.c{k % 3}")
        program = Program((Cell(code, ("u99.sweep",), 1),), {"u99.why": f"Words of {k}"})
        task = Task(person.id, assignment, f"{person.id}.ipynb", program, minutes=50.0 + k)
        report, status = report_of(unit, kind), HANDED_IN
        if k == 5:
            lost = Verdict("u99.sweep", UNGRADABLE, 3, None, problem="It ends in the middle.")
            report, status = replace(report, verdicts=(lost,), notes=("It is cut off.",)), UNREAD
        late = Lateness(2, 0.2) if k % 4 == 0 else None
        entry = replace(blank, status=status, task=task, report=report, late=late)
        lines.append(entry)
    return lines


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, source: Source) -> Path:
    """The folder with the three pages and a student's."""
    folder = tmp_path_factory.mktemp("pages")
    lines = [line for unit in UNITS for line in lines_of(unit)]
    lab = Source(Path(shutil.copy(source.path, folder / f"{UNITS[1]}.md")))
    last_year = [line.task for line in lines_of(UNITS[0]) if line.task]
    write_dashboard(lines, COURSE, DUE + timedelta(days=9), folder)
    write_statistics(lines, folder, dict.fromkeys(UNITS, (119.4, 24.0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.grading.book.originality._skeleton", lambda _: (set(), set()))
        write_originality(lines, [source, lab], folder, last_year)
    failed = next(line.report for line in lines if line.report and line.report.verdicts[0].program)
    page = feedback_page(failed, NAMES[1], ["2 days late: 20 % of the points; 1.4 are taken off."])
    (folder / "feedback.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def shown(pages: Path, browser: Any) -> Iterator[Callable[..., Any]]:
    opened = []

    def show(name: str, scheme: str = "light", width: int = 1200) -> Any:
        view = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        view.goto((pages / name).as_uri())
        opened.append(view)
        return view

    yield show
    for view in opened:
        view.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1200)])
def test_axe_finds_nothing_wrong_and_nothing_scrolls_sideways(shown, missing, scheme, width):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python")
        raise
    for name in (*PAGES, "feedback.html"):
        view = shown(name, scheme, width)
        assert view.evaluate("document.documentElement.scrollWidth") <= width, name
        found = Axe().run(view).response["violations"]
        assert not [(name, v["id"], v["nodes"][0]["html"][:200]) for v in found]


WHERE = """() => {const e = document.activeElement, all = [...document.querySelectorAll('*')];
return [all.indexOf(e), e.tagName, getComputedStyle(e).outlineStyle]}"""


def test_the_keyboard_reaches_everything_and_opens_it(shown):
    for name in PAGES:
        view = shown(name, width=390)
        wanted = view.locator("a[href], summary, [tabindex='0']").count()
        seen, is_open = set(), False
        for _ in range(wanted):
            view.keyboard.press("Tab")
            number, tag, outline = view.evaluate(WHERE)
            assert outline != "none", "one sees where one is"
            seen.add(number)
            if tag == "SUMMARY" and not is_open:
                view.keyboard.press("Enter")
                is_open = view.evaluate("document.activeElement.parentElement.open")
        assert len(seen) == wanted > 5, f"{name}: each is reached, by Tab alone"
        assert is_open == (name != "originality.html"), "there, nothing is folded"


def test_each_page_leads_to_the_others_and_a_phone_shows_what_they_are_told(shown):
    view = shown("term.html", width=390)
    told = view.get_by_role("cell").filter(has_text="KeyError: 7").first.bounding_box()
    assert told and told["x"] + told["width"] <= 390
    for name, words in list(PAGES.items())[::-1]:
        view.get_by_role("link", name=words, exact=True).click()
        assert view.url.endswith(name)
        assert view.locator("nav [aria-current=page]").inner_text() == words
