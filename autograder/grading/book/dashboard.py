"""term.html: the class over the term, on one page without scripts, for the teacher.

Who may need a word, and why; how the points run from assignment to assignment; where most people
are stuck and what they are told there; and a table of everybody. What one assignment looks like in
detail is on the page of statistics.py.

Next room: term.py, the facts; pages.py, the pieces of the page.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from autograder.edition.deliver import write
from autograder.grading.book.course import Course
from autograder.grading.book.entries import HANDED_IN, OTHER, UNKNOWN, UNREAD, Entry
from autograder.grading.book.pages import TERM, cards, code, page, share_bar, table, text
from autograder.grading.book.term import (
    RULES,
    Standing,
    Stuck,
    at_risk,
    in_order,
    quartiles,
    standings,
    stuck,
)

TITLE = "The class over the term"
MOST = 12  # exercises at the top of the page; the others are in the list of all
LEAD = (
    "For the teacher: names and points are those of the grade book. A share is of the core points "
    "that are known: explanations that nobody has read yet, bonus points and what a late hand-in "
    "lost are not in it."
)
STUCK = "Stuck means: tried, and not passed in what was handed in."
CARE = (
    "A reason is what the grade book says, and says nothing about why. It is there to begin a "
    "conversation."
)
CAME = (HANDED_IN, UNREAD, UNKNOWN)  # whoever is on no roster has handed something in, too
CORAL, BLUE = "#d55e00", "#0072b2"


def write_dashboard(lines: Iterable[Entry], course: Course, now: datetime, out: Path) -> Path:
    """Write the page for all assignments in `lines`, as things stand at `now`."""
    lines = [line for line in lines if line.status != OTHER]
    people = standings(lines, course, now)
    found = stuck(lines)
    parts = [text(course.name or TITLE, "h1"), text(LEAD, kind="quiet")]
    if not lines:
        parts.append(text("Nobody is on the roster, and nothing was handed in."))
    else:
        parts += [_figures(lines, people), *_risks(people)]
        parts += [*_points(lines, people, course), *_stuck(found, people)]
        parts += _everybody(lines, people, course)
    path = out / TERM
    write(path, page(course.name or TITLE, parts, TERM).encode("utf-8", "replace"))
    return path


def _figures(lines: list[Entry], people: dict[str, Standing]) -> str:
    handed = sum(line.status in CAME for line in lines)
    strangers = len({line.student for line in lines if line.status == UNKNOWN})
    who = "person" if len(people) == 1 else "people"
    return cards(
        [
            (str(len(people)), f"{who}, {strangers} not on the roster" if strangers else who),
            (str(len({line.assignment for line in lines})), "assignments"),
            (str(handed), "hand-ins"),
            (str(sum(line.waits for line in lines)), "wait for a person"),
            (str(len(at_risk(people))), "at risk"),
        ]
    )


def _risks(people: dict[str, Standing]) -> list[str]:
    there = at_risk(people)
    rules = "".join(f"<li>{html.escape(rule)}</li>" for rule in RULES)
    why = f"<details><summary>The rules</summary><ul>{rules}</ul></details>"
    parts = [text("At risk", "h2"), text(CARE, kind="quiet")]
    if not there:
        return [*parts, text("The rules name nobody."), why]
    rows = [
        [_who(person), "<br>".join(html.escape(reason) for reason in person.reasons)]
        for person in there
    ]
    caption = f"{len(there)} of {len(people)}, those with the most reasons first"
    return [*parts, table(["who", "reason"], rows, caption, "wt"), why]


def _points(lines: list[Entry], people: dict[str, Standing], course: Course) -> list[str]:
    """A row for each assignment, as the term goes: a quarter, a half, three quarters."""
    rows = []
    for name, due in in_order(lines, course).items():
        shares = [p.shares[name] for p in people.values() if name in p.shares]
        there = [line for line in lines if line.assignment == name]
        came = sum(line.status in CAME for line in there)
        when = due.strftime("%Y-%m-%d") if due else "–"
        late = sum(line.late is not None for line in there)
        numbers = [f"{came} of {len(there)}", str(late)]
        if not shares:
            rows.append([code(name), when, "", "–", "–", *numbers])
            continue
        low, middle, high = quartiles(shares)
        label = f"half of the class between {low:.0%} and {high:.0%}, middle {middle:.0%}"
        half = f"{100 * low:.0f}–{100 * high:.0f} %"
        drawn = _range_bar(low, middle, high, label)
        rows.append([code(name), when, drawn, f"{100 * middle:.0f} %", half, *numbers])
    head = ["assignment", "due", "0 to 100 % of the points", "middle", "half between", "handed in"]
    caption = "Of those who handed in: the middle half (bar), and the one in the middle (line)"
    return [
        text("Points over the term", "h2"),
        table([*head, "late"], rows, caption, "ttbnnnn", "told"),
    ]


def _stuck(found: list[Stuck], people: dict[str, Standing]) -> list[str]:
    parts = [text("Who is stuck where", "h2"), text(STUCK, kind="quiet")]
    most = sorted((s for s in found if s.people), key=lambda s: (-len(s.people), s.exercise))
    if not most:
        return [*parts, text("Nobody: whatever was tried has passed.")]
    caption = "Where most are stuck" + (f", the first {MOST}" if len(most) > MOST else "")
    parts.append(_stuck_table(most[:MOST], caption))
    by_name: dict[str, list[Stuck]] = defaultdict(list)
    for one in most:
        by_name[one.assignment].append(one)
    parts.append(text("By assignment, with names", "h3"))
    for name in dict.fromkeys(one.assignment for one in found if one.people):
        there = [one for one in found if one.assignment == name and one.people]
        who = {student for one in there for student in one.people}
        summary = f"{code(name)} · {_count(len(who))} stuck in {_exercises(len(there))}"
        items = "".join(_names(one, people) for one in there)
        parts.append(f"<details><summary>{summary}</summary>{items}</details>")
    return parts


def _stuck_table(found: list[Stuck], caption: str) -> str:
    rows = []
    for one in found:
        share = len(one.people) / one.tried
        label = f"{len(one.people)} of {one.tried} who tried it"
        bar = share_bar(share, CORAL, label)
        rows.append([code(one.exercise), bar, f"{len(one.people)} of {one.tried}", _message(one)])
    head = ["exercise", "of those who tried", "stuck", "what they are told most often"]
    return table(head, rows, caption, "tbnt", "told")


def _names(one: Stuck, people: dict[str, Standing]) -> str:
    who = ", ".join(_who(people[student]) for student in one.people)
    return (
        f"<h4>{code(one.exercise)}: {len(one.people)} of {one.tried} who tried it</h4>"
        f"<p>{_message(one)}</p><p>{who}</p>"
    )


def _message(one: Stuck) -> str:
    told = f"{one.told} of {len(one.people)}"
    return (
        f"{html.escape(one.message[:300])} <span class='quiet'>({code(one.check)}, {told})</span>"
    )


def _everybody(lines: list[Entry], people: dict[str, Standing], course: Course) -> list[str]:
    order = list(in_order(lines, course))
    status = {(line.student, line.assignment): line for line in lines}
    rows = []
    for person in people.values():
        cells = [_cell(person, name, status.get((person.student, name))) for name in order]
        rows.append([_who(person), *cells])
    caption = (
        "Share of the known points, in percent. ∅ nothing handed in, ? cannot be graded or "
        "undecided, … waits for a person"
    )
    keys = {line.assignment: line.key.replace("_", " ") for line in lines}
    head = ["who", *(keys[name] for name in order)]
    return [text("Everybody", "h2"), table(head, rows, caption, "w" + "n" * len(order))]


def _cell(person: Standing, name: str, line: Entry | None) -> str:
    if line is None:
        return ""
    late = " late" if name in person.late else ""
    if name in person.shares:
        waits = " …" if line.waits else ""
        share = person.shares[name]
        tint = f"color-mix(in srgb,{BLUE} {45 * share:.0f}%,Canvas)"
        number = f"{100 * share:.0f}"
        return f'<span class="tint" style="background:{tint}">{number}</span>{waits}{late}'
    if line.report is not None and not line.report.is_ungradable:
        return f"…{late}"
    return f"?{late}" if line.task or line.notes else "∅"


def _range_bar(low: float, middle: float, high: float, label: str) -> str:
    """From 0 to 1: the middle half as a bar, the middle as a line in it."""
    left, right = 100 * low, 100 * high
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" viewBox="0 0 100 12" '
        f'preserveAspectRatio="none" width="100%" height="12">'
        f'<rect width="100" height="12" fill="CanvasText" fill-opacity=".08"/>'
        f'<rect x="{left:.2f}" width="{max(right - left, 0.6):.2f}" height="12" fill="#56b4e9"/>'
        f'<rect x="{min(100 * middle, 99.2):.2f}" width=".8" height="12" fill="CanvasText"/></svg>'
    )


def _who(person: Standing) -> str:
    """Name and id, each kept from turning round what stands beside it."""
    own = f"<bdi>{html.escape(person.student)}</bdi>"
    if not person.name or person.name == person.student:
        return own
    return f'<bdi>{html.escape(person.name)}</bdi> <span class="quiet">{own}</span>'


def _count(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"


def _exercises(number: int) -> str:
    return "1 exercise" if number == 1 else f"{number} exercises"
