"""originality.html: answers that share more than the task explains, side by side, for the teacher.

Each answer becomes a row of tokens (shapes.py), and the row its shingles: every eight in sequence.
What the notebook gives everybody is taken away, and what more than a fifth of the class wrote. An
inverted index, from a shingle to the people who have it, finds the pairs that share any; nobody is
compared with everybody. The idea is that of winnowing and MOSS (Schleimer, Wilkerson and Aiken,
2003), without the sampling, because answers are short.

A pair counts if at least half of the smaller answer's own shingles are in the other, and these are
at least ten. Pairs that hang together are one group (clusters.py). With `--against DIR`, what
another class handed in is compared with this one's, too; those answers only with this class's, not
with each other. Similarity is no proof: the page says so first.

Next room: clusters.py, the groups; shapes.py, the tokens.
"""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from autograder.edition.contents import notebook_bytes
from autograder.edition.deliver import write
from autograder.edition.sources import Source
from autograder.grading.book.clusters import (
    ELSEWHERE,
    Group,
    Pair,
    Shingle,
    groups,
    lines_of,
    often,
    shingles,
)
from autograder.grading.book.entries import OTHER, Entry
from autograder.grading.book.pages import ORIGINALITY, code, page, share_bar, table, text
from autograder.grading.book.shapes import Shape, code_shape, helpers_of, shape_of, text_shape
from autograder.grading.program import Program
from autograder.grading.tasks import Task

COMMON = 0.2  # of the class: what so many wrote is how one writes it
FEW = 5  # people: fewer are never too many
LEAST = 10  # shared shingles
SHARE = 0.5  # of the smaller answer
SHOWN = 60  # groups on the page
NAMED = 30  # people of a group
HELPERS = "code outside the answers"
WORDS = (
    "This page is for the teacher's eyes. It lists answers that share more than the task explains. "
    "Similarity is no proof of anything: two people who worked together as they were allowed to, "
    "who read the same page, or who both found the natural answer look like this as well. Read "
    "both answers, and talk with both people, before you decide anything."
)


def write_originality(
    lines: Iterable[Entry], sources: Iterable[Source], out: Path, against: Iterable[Task] = ()
) -> Path:
    """Write the page for all assignments in `lines`; `sources` are their notebooks, and `against`
    is what another class handed in."""
    by_name = {source.name: source for source in sources}
    others: dict[str, dict[str, Program]] = defaultdict(dict)
    for task in against:
        if not task.reason:
            others[task.assignment.name][f"{ELSEWHERE}{task.student}"] = task.program
    pairs: list[Pair] = []
    graded = [e for e in lines if e.task and e.report and e.status != OTHER and not e.by]
    for name in dict.fromkeys(e.assignment for e in graded):
        there = [e for e in graded if e.assignment == name]
        pairs += similar_in(there, by_name[name], others[name])
    path = out / ORIGINALITY
    count = sum(len(programs) for programs in others.values())
    names = {e.student: f"{e.person.name} ({e.student})" for e in graded if e.person}
    found = [_with_names(group, names) for group in groups(pairs)]
    write(path, _page(found, len(graded), count).encode("utf-8", "replace"))
    return path


def similar_in(
    there: list[Entry], source: Source, others: dict[str, Program] | None = None
) -> list[Pair]:
    """The pairs of one assignment, most similar first. `others` are of another class, by name."""
    code_given, text_given = _skeleton(source)
    mine = {entry.student: entry.task.program for entry in there if entry.task}
    pairs: list[Pair] = []
    for exercise in [*source.exercises(), HELPERS]:
        shapes, theirs = _shapes(mine, exercise), _shapes(others or {}, exercise)
        is_text = any(exercise in program.texts for program in mine.values())
        pairs += similar(exercise, shapes, text_given if is_text else code_given, theirs)
    return sorted(pairs, key=lambda p: (-p.weight, p.exercise, p.students))


def similar(
    exercise: str,
    shapes: dict[str, Shape],
    skeleton: set[Shingle],
    others: dict[str, Shape] | None = None,
) -> list[Pair]:
    """The pairs among these answers (by student), and of one with one of `others`, that share
    enough. What many wrote in either class does not count."""
    everyone = {**shapes, **(others or {})}
    own = {student: shingles(shape) - skeleton for student, shape in everyone.items()}
    index, common = _index(own, shapes)
    theirs, common_there = _index(own, others or {})
    common |= common_there
    shared: Counter[tuple[str, str]] = Counter()
    for shingle, people in index.items():
        if shingle not in common:
            shared.update(combinations(people, 2))
            shared.update((one, other) for other in theirs.get(shingle, ()) for one in people)
    pairs = []
    for (one, other), count in shared.items():
        share = count / min(len(own[one] - common), len(own[other] - common))
        if count >= LEAST and share >= SHARE:
            both = (own[one] & own[other]) - common
            lines = (lines_of(everyone[one], both), lines_of(everyone[other], both))
            sources = (everyone[one].source, everyone[other].source)
            pairs.append(Pair(exercise, (one, other), sources, lines, count, share))
    return pairs


def _index(
    own: dict[str, set[Shingle]], of_class: Iterable[str]
) -> tuple[dict[Shingle, list[str]], set[Shingle]]:
    """Who of a class has each shingle, and which of them too many have."""
    students = sorted(of_class)
    index: dict[Shingle, list[str]] = defaultdict(list)
    for student in students:
        for shingle in own[student]:
            index[shingle].append(student)
    many = max(FEW, COMMON * len(students))
    return index, {shingle for shingle, people in index.items() if len(people) > many}


def _shapes(programs: dict[str, Program], exercise: str) -> dict[str, Shape]:
    """Everybody's answer to an exercise, as far as there is one that can be read."""
    found = {
        student: helpers_of(program) if exercise == HELPERS else shape_of(program, exercise)
        for student, program in programs.items()
    }
    return {student: shape for student, shape in found.items() if shape}


def _skeleton(source: Source) -> tuple[set[Shingle], set[Shingle]]:
    """What everybody was given: the shingles of the released notebook's code and of its text."""
    cells = json.loads(notebook_bytes(source, solutions=False))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    codes = [t for cell, t in zip(cells, texts, strict=True) if cell["cell_type"] == "code"]
    shapes = [shape for t in codes if (shape := code_shape(t))]
    given = {shingle for shape in shapes for shingle in shingles(shape)}
    return given, {shingle for t in texts for shingle in shingles(text_shape(t))}


def _with_names(group: Group, names: dict[str, str]) -> Group:
    """The group with the people's names, where the roster has them, beside their ids."""
    one, other = (names.get(student, student) for student in group.closest.students)
    everybody = tuple(names.get(student, student) for student in group.students)
    return replace(group, students=everybody, closest=replace(group.closest, students=(one, other)))


def _page(found: list[Group], count: int, others: int) -> str:
    title = "Answers that resemble each other"
    parts = [text(title, "h1"), text(WORDS)]
    elsewhere = f", also with {others} of another class" if others else ""
    parts.append(
        text(
            f"{count} hand-ins were compared{elsewhere}. Names, layout and comments do not count, "
            "nor does what the notebook gives everybody or what a fifth of the class wrote alike.",
            kind="quiet",
        )
    )
    if not found:
        parts.append(text("No two answers share enough to be shown."))
        return page(title, parts, ORIGINALITY)
    shown = found[:SHOWN]
    rows = [_row(n, group) for n, group in enumerate(shown, 1)]
    caption = ("1 group" if len(found) == 1 else f"{len(found)} groups") + (
        f", the first {SHOWN}" if len(found) > SHOWN else ""
    )
    head = ["who", "exercise", "of the smaller answer, closest pair", "share", "shared pieces"]
    parts.append(table(head, rows, caption, "ttbnn", "told"))
    parts += _often(found)
    for n, group in enumerate(shown, 1):
        parts.append(_side_by_side(n, group))
    return page(title, parts, ORIGINALITY)


def _row(number: int, group: Group) -> list[str]:
    pair = group.closest
    return [
        f'<a href="#group-{number}">{html.escape(_called(group))}</a>',
        code(pair.exercise),
        share_bar(pair.share, "#e69f00", f"{pair.share:.0%} of the smaller answer"),
        f"{pair.share:.0%}",
        str(pair.shared),
    ]


def _often(found: list[Group]) -> list[str]:
    """Who is the closest pair of more than one exercise: that says more than any one of them."""
    rows = [
        [html.escape(" and ".join(students)), str(count)]
        for students, count in often(found)[:SHOWN]
    ]
    caption = "The same two people are the closest pair in several exercises"
    return [table(["who", "exercises"], rows, caption, "tn")] if rows else []


def _called(group: Group) -> str:
    """Two by name; of more the closest two, and how many there are besides."""
    more = len(group.students) - 2
    names = " and ".join(group.closest.students)
    return f"{names}, with {more} more" if more else names


def _side_by_side(number: int, group: Group) -> str:
    pair = group.closest
    columns = "".join(
        f"<div><h3>{html.escape(student)}</h3><pre>{_marked(source, lines)}</pre></div>"
        for student, source, lines in zip(pair.students, pair.sources, pair.lines, strict=True)
    )
    lead = f"{pair.share:.0%} of the smaller answer; marked lines are shared."
    everybody = ", ".join(group.students[:NAMED])
    more = len(group.students) - NAMED
    everybody += f" and {more} more" if more > 0 else ""
    people = f"{len(group.students)} people, {group.pairs} pairs: {everybody}"
    return (
        f'<section id="group-{number}"><h2>{html.escape(f"{_called(group)}: {pair.exercise}")}</h2>'
        f"{text(lead, kind='quiet')}{text(people) if len(group.students) > 2 else ''}"
        f'<div class="pair">{columns}</div></section>'
    )


def _marked(source: str, lines: frozenset[int]) -> str:
    rows = source[:20_000].splitlines()
    return "\n".join(
        f"<mark>{html.escape(row)}</mark>" if n in lines and row.strip() else html.escape(row)
        for n, row in enumerate(rows, 1)
    )
