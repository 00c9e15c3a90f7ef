"""statistics.html: what the class can do and where it fails, on one page without scripts.

For each assignment: points, verdicts for each exercise, the checks that fail and for how many, the
commonest counterexamples (the smallest program of each), wrong answers that several people gave in
the same shape, and the hints that the outputs show.

Next room: shapes.py, when two answers are the same; originality.py, the other page.
"""

from __future__ import annotations

import html
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    GRADER,
    NOT_ATTEMPTED,
    PASSED,
    TIMED_OUT,
    UNGRADABLE,
    WRONG,
    Verdict,
)
from autograder.edition.deliver import write
from autograder.grading.book.entries import NOTHING, OTHER, Entry
from autograder.grading.book.pages import (
    COLOURS,
    STATISTICS,
    cards,
    code,
    histogram,
    legend,
    page,
    share_bar,
    stacked,
    table,
    text,
)
from autograder.grading.book.shapes import shape_of
from autograder.grading.book.term import told_by

KINDS = {
    PASSED: "passed",
    WRONG: "not yet right",
    CRASHED: "raised an error",
    TIMED_OUT: "timed out",
    NOT_ATTEMPTED: "not attempted",
    BY_HAND: "by hand",
    UNGRADABLE: "cannot be graded",
    GRADER: "grader failed",
}
FAILED = (WRONG, CRASHED, TIMED_OUT)
PROGRAMS = 3  # counterexamples shown for an exercise
CLUSTERS = 12
FEW = 3  # people: measured minutes of fewer are shown to nobody
SHOWN = 3000  # characters of a program or an answer


def write_statistics(
    lines: Iterable[Entry], out: Path, estimates: Mapping[str, tuple[float, float]] | None = None
) -> Path:
    """Write the page for all assignments in `lines`. `estimates` are minutes for the core and for
    what goes further, by assignment; beside them stands what the class measured."""
    lines, estimates = [line for line in lines if line.status != OTHER], estimates or {}
    names = list(dict.fromkeys(e.assignment for e in sorted(lines, key=lambda e: e.key)))
    parts = [text("The class in figures", "h1")]
    parts.append(
        text(
            "For the teacher: answers are shown as they were handed in, with names. "
            "Where a figure counts people, it counts those who handed something in.",
            kind="quiet",
        )
    )
    if len(names) > 1:
        links = "".join(f'<a href="#{html.escape(n)}">{html.escape(n)}</a>' for n in names)
        parts.append(f'<nav aria-label="Assignments">{links}</nav>')
    for name in names:
        mine = [e for e in lines if e.assignment == name]
        parts += _assignment(name, mine)
        parts += _minutes(mine, *estimates[name]) if name in estimates else []
    path = out / STATISTICS
    write(path, page("The class in figures", parts, STATISTICS).encode("utf-8", "replace"))
    return path


def _assignment(name: str, lines: list[Entry]) -> list[str]:
    there = [e for e in lines if e.report is not None]
    parts = [f'<h2 id="{html.escape(name)}">{html.escape(name)}</h2>']
    if not there:
        return [*parts, text("Nobody has handed anything in.")]
    points = [e.earned - _bonus(e) for e in there if e.earned is not None]
    most = there[0].possible
    bonus = sum(_bonus(e) > 0 for e in there)
    absent = sum(e.status == NOTHING for e in lines)
    waiting = sum(e.to_grade > 0 for e in there)
    figures = [
        (str(len(there)), "handed in"),
        (str(absent), "handed nothing in"),
        (f"{statistics.median(points or [0]):g} of {most:g}", "points of the core in the middle"),
        *([(str(bonus), "with a bonus")] if there[0].bonus else []),
        (str(sum(e.late is not None for e in there)), "late"),
        (str(waiting), "wait for a person"),
    ]
    parts += [cards(figures), text("Points", "h3")]
    parts.append(histogram(points, most, "People by points of the core"))
    axis = "How many people (above) earned how many points of the core (below), bonus and lateness "
    axis += "aside"
    rest = "; those that a person still gives are not in." if waiting else "."
    parts.append(text(axis + rest, kind="quiet"))
    parts += _exercises(there)
    parts += _checks(there)
    parts += _counterexamples(there)
    return parts + _clusters(there)


def _bonus(entry: Entry) -> float:
    return entry.report.bonus if entry.report is not None else 0.0


def _exercises(there: list[Entry]) -> list[str]:
    rows, used = [], set()
    hints: dict[str, list[int]] = defaultdict(list)
    for entry in there:
        for exercise, count in entry.task.hints if entry.task else ():
            hints[exercise].append(count)
    for exercise, verdicts in _by_exercise(there).items():
        counts = Counter(KINDS[v.kind] for v in verdicts)
        used |= set(counts)
        earned = [v.earned for v in verdicts if v.earned is not None]
        unread = any(v.kind == BY_HAND and v.earned is None for v in verdicts)
        mean = f"{statistics.mean(earned):.2g}" if earned and not unread else "–"
        asked = f"{len(hints[exercise])}" if exercise in hints else "0"
        ordered = {name: counts[name] for name in KINDS.values()}
        bar = stacked(ordered)
        by_hand = KINDS[BY_HAND] in counts
        solved = "–" if by_hand else f"{counts['passed']} of {len(verdicts)}"
        rows.append([code(exercise), bar, solved, f"{mean} of {verdicts[0].points:g}", asked])
    head = ["exercise", "verdicts", "passed", "points, mean", "hints seen"]
    words = (
        "No mean where an explanation still waits for its points. Hints: how many people's outputs "
        "show one. Who clears the outputs is not counted, and nobody is graded by it."
    )
    shown = [name for name in KINDS.values() if name in used]
    return [
        text("Exercises", "h3"),
        legend(shown),
        table(head, rows, "Verdicts for each exercise", "tbnnn"),
        text(words, kind="quiet"),
    ]


def _checks(there: list[Entry]) -> list[str]:
    rows = []
    for exercise, verdicts in _by_exercise(there).items():
        tried = sum(v.kind not in (NOT_ATTEMPTED, BY_HAND, UNGRADABLE) for v in verdicts)
        counts = Counter((v.check or KINDS[v.kind], v.hidden) for v in verdicts if v.kind in FAILED)
        for (check, hidden), count in counts.items():
            share = count / tried
            bar = share_bar(share, COLOURS["not yet right"], f"{share:.0%} of {tried}")
            kind = "hidden" if hidden else "visible"
            rows.append(
                (-share, [code(exercise), code(check), kind, bar, f"{share:.0%}", str(count)])
            )
    if not rows:
        return []
    head = ["exercise", "check", "kind", "of those who tried", "share", "people"]
    body = [row for _, row in sorted(rows, key=lambda row: (row[0], row[1][0], row[1][1]))]
    caption = "The check at which an answer ended; where there is none, how it ended"
    return [text("Where answers fail", "h3"), table(head, body, caption, "tttbnn", "told")]


def _counterexamples(there: list[Entry]) -> list[str]:
    parts = []
    for exercise, verdicts in _by_exercise(there).items():
        by_problem: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in verdicts:
            if verdict.kind in FAILED and verdict.program:
                by_problem[f"{verdict.check}: {told_by(verdict)[:300]}"].append(verdict)
        ranked = sorted(by_problem.items(), key=lambda item: (-len(item[1]), item[0]))
        for problem, group in ranked[:PROGRAMS]:
            counts = Counter(v.program for v in group)
            program = min(counts, key=lambda p: (len(p), -counts[p], p))
            people = "1 person" if len(group) == 1 else f"{len(group)} people"
            parts.append(
                f"<details><summary>{code(exercise)} · {people} · {html.escape(problem)}</summary>"
                f"<pre>{html.escape(program[:SHOWN])}</pre></details>"
            )
    if not parts:
        return []
    lead = "For each the smallest program on which one of these answers failed."
    return [text("Commonest counterexamples", "h3"), text(lead, kind="quiet"), *parts]


def _clusters(there: list[Entry]) -> list[str]:
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[Entry, str]]] = defaultdict(list)
    for entry in there:
        assert entry.report is not None
        for verdict in entry.report.verdicts:
            if verdict.kind in FAILED and entry.task:
                shape = shape_of(entry.task.program, verdict.exercise)
                if shape:
                    groups[verdict.exercise, shape.key].append((entry, shape.source))
    several = sorted(
        ((key[0], group) for key, group in groups.items() if len(group) > 1),
        key=lambda item: (-len(item[1]), item[0], item[1][0][0].student),
    )
    if not several:
        return []
    lead = "Answers that are equal once names, layout and comments are taken away."
    parts = [text("The same wrong answer", "h3"), text(lead, kind="quiet")]
    for exercise, group in several[:CLUSTERS]:
        people = ", ".join(sorted(entry.student for entry, _ in group))
        source = min((source for _, source in group), key=len)
        parts.append(
            f"<details><summary>{code(exercise)} · {len(group)} people</summary>"
            f"{text(people)}<pre>{html.escape(source[:SHOWN])}</pre></details>"
        )
    return parts


def _minutes(lines: list[Entry], core: float, further: float) -> list[str]:
    """The measured minutes beside the estimates; no figure that fewer than `FEW` people made."""
    spent = [e.task.minutes for e in lines if e.task and e.task.minutes is not None]
    rows = [["estimated", f"{core:.0f} for the core, {further:.0f} for what goes further", ""]]
    if len(spent) >= FEW:
        low, middle, high = statistics.quantiles(spent, n=4, method="inclusive")
        what = f"{middle:.0f} in the middle; half of the people {low:.0f} to {high:.0f}"
        rows.append(["measured", what, f"{len(spent)}"])
    words = (
        "Measured by the students on their machines, and handed in by those who wanted to. Gaps of "
        "more than five minutes between two cells are not in it, so it is less than they spent. "
        f"It is shown from {FEW} people on."
    )
    return [
        text("Minutes", "h3"),
        table(["how", "minutes", "people"], rows, "Minutes, estimated and measured", "ttn"),
        text(words, kind="quiet"),
    ]


def _by_exercise(there: list[Entry]) -> dict[str, list[Verdict]]:
    by_name: dict[str, list[Verdict]] = {}
    for entry in there:
        for verdict in entry.report.verdicts if entry.report else ():
            by_name.setdefault(verdict.exercise, []).append(verdict)
    return by_name
