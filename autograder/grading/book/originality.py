"""originality.html: answers that share more than the task explains, side by side, for the teacher.

Each answer becomes a row of tokens (shapes.py), and the row its shingles: every eight in sequence.
What the notebook gives everybody is taken away, and what more than a fifth of the class wrote. An
inverted index, from a shingle to the people who have it, finds the pairs that share any; nobody is
compared with everybody. The idea is that of winnowing and MOSS (Schleimer, Wilkerson and Aiken,
2003), without the sampling, because answers are short.

A pair is shown if at least half of the smaller answer's own shingles are in the other, and these
are at least ten. Similarity is no proof: the page says so first.

Next room: shapes.py, the tokens.
"""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from autograder.edition.contents import notebook_bytes
from autograder.edition.deliver import write
from autograder.edition.sources import Source
from autograder.grading.book.entries import OTHER, Entry
from autograder.grading.book.pages import code, page, share_bar, table, text
from autograder.grading.book.shapes import Shape, code_shape, helpers_of, shape_of, text_shape

LENGTH = 8  # tokens of a shingle
COMMON = 0.2  # of the class: what so many wrote is how one writes it
FEW = 5  # people: fewer are never too many
LEAST = 10  # shared shingles
SHARE = 0.5  # of the smaller answer
PAIRS = 60  # on the page
HELPERS = "code outside the answers"
WORDS = (
    "This page is for the teacher's eyes. It lists answers that share more than the task explains. "
    "Similarity is no proof of anything: two people who worked together as they were allowed to, "
    "who read the same page, or who both found the natural answer look like this as well. Read "
    "both answers, and talk with both people, before you decide anything."
)
Shingle = tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two people's answers to one exercise, and the lines that they share, from 1."""

    exercise: str
    students: tuple[str, str]
    sources: tuple[str, str]
    lines: tuple[frozenset[int], frozenset[int]]
    shared: int
    share: float  # of the smaller answer's own shingles


def write_originality(lines: Iterable[Entry], sources: Iterable[Source], out: Path) -> Path:
    """Write the page for all assignments in `lines`; `sources` are their notebooks."""
    by_name = {source.name: source for source in sources}
    pairs: list[Pair] = []
    graded = [e for e in lines if e.task and e.report and e.status != OTHER]
    for name in dict.fromkeys(e.assignment for e in graded):
        there = [e for e in graded if e.assignment == name]
        pairs += similar_in(there, by_name[name])
    path = out / "originality.html"
    write(path, _page(pairs, len(graded)).encode("utf-8", "replace"))
    return path


def similar_in(there: list[Entry], source: Source) -> list[Pair]:
    """The pairs of one assignment, most similar first."""
    code_given, text_given = _skeleton(source)
    pairs: list[Pair] = []
    for exercise in [*source.exercises(), HELPERS]:
        shapes = {}
        for entry in there:
            assert entry.task is not None
            program = entry.task.program
            shape = helpers_of(program) if exercise == HELPERS else shape_of(program, exercise)
            if shape:
                shapes[entry.student] = shape
        is_text = any(e.task and exercise in e.task.program.texts for e in there)
        pairs += similar(exercise, shapes, text_given if is_text else code_given)
    return sorted(pairs, key=lambda p: (-p.share * min(p.shared, 100), p.exercise, p.students))


def similar(exercise: str, shapes: dict[str, Shape], skeleton: set[Shingle]) -> list[Pair]:
    """The pairs among these answers (by student) that share enough."""
    own = {student: shingles(shape) - skeleton for student, shape in shapes.items()}
    index: dict[Shingle, list[str]] = defaultdict(list)
    for student in sorted(own):
        for shingle in own[student]:
            index[shingle].append(student)
    many = max(FEW, COMMON * len(shapes))
    common = {shingle for shingle, people in index.items() if len(people) > many}
    shared: Counter[tuple[str, str]] = Counter()
    for shingle, people in index.items():
        if shingle not in common:
            shared.update(combinations(people, 2))
    pairs = []
    for (one, other), count in shared.items():
        share = count / min(len(own[one] - common), len(own[other] - common))
        if count >= LEAST and share >= SHARE:
            both = (own[one] & own[other]) - common
            lines = (_lines(shapes[one], both), _lines(shapes[other], both))
            sources = (shapes[one].source, shapes[other].source)
            pairs.append(Pair(exercise, (one, other), sources, lines, count, share))
    return pairs


def shingles(shape: Shape) -> set[Shingle]:
    key = shape.key
    return {key[n : n + LENGTH] for n in range(len(key) - LENGTH + 1)}


def _lines(shape: Shape, wanted: set[Shingle]) -> frozenset[int]:
    """The lines of the source on which these shingles lie."""
    key = shape.key
    numbers: set[int] = set()
    for n in range(len(key) - LENGTH + 1):
        if key[n : n + LENGTH] in wanted:
            numbers |= {line for _, line in shape.tokens[n : n + LENGTH]}
    return frozenset(numbers)


def _skeleton(source: Source) -> tuple[set[Shingle], set[Shingle]]:
    """What everybody was given: the shingles of the released notebook's code and of its text."""
    cells = json.loads(notebook_bytes(source, solutions=False))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    codes = [t for cell, t in zip(cells, texts, strict=True) if cell["cell_type"] == "code"]
    shapes = [shape for t in codes if (shape := code_shape(t))]
    given = {shingle for shape in shapes for shingle in shingles(shape)}
    return given, {shingle for t in texts for shingle in shingles(text_shape(t))}


def _page(pairs: list[Pair], count: int) -> str:
    parts = [text("Answers that resemble each other", "h1"), text(WORDS)]
    parts.append(
        text(
            f"{count} hand-ins were compared. Names, layout and comments do not count, nor does "
            "what the notebook gives everybody or what a fifth of the class wrote alike.",
            kind="quiet",
        )
    )
    if not pairs:
        parts.append(text("No two answers share enough to be shown."))
        return page("Answers that resemble each other", parts)
    shown = pairs[:PAIRS]
    rows = [
        [
            f'<a href="#pair-{n}">{html.escape(" and ".join(pair.students))}</a>',
            code(pair.exercise),
            share_bar(pair.share, "#e69f00", f"{pair.share:.0%} of the smaller answer"),
            f"{pair.share:.0%}",
            str(pair.shared),
        ]
        for n, pair in enumerate(shown, 1)
    ]
    caption = ("1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs") + (
        f", the first {PAIRS}" if len(pairs) > PAIRS else ""
    )
    head = ["who", "exercise", "of the smaller answer", "share", "shared pieces"]
    parts.append(table(head, rows, caption, "ttbnn"))
    for n, pair in enumerate(shown, 1):
        parts.append(_side_by_side(n, pair))
    return page("Answers that resemble each other", parts)


def _side_by_side(number: int, pair: Pair) -> str:
    columns = "".join(
        f"<div><h4>{html.escape(student)}</h4><pre>{_marked(source, lines)}</pre></div>"
        for student, source, lines in zip(pair.students, pair.sources, pair.lines, strict=True)
    )
    title = f"{' and '.join(pair.students)}: {pair.exercise}"
    return (
        f'<section id="pair-{number}"><h3>{html.escape(title)}</h3>'
        f"{text(f'{pair.share:.0%} of the smaller answer; marked lines are shared.', kind='quiet')}"
        f'<div class="pair">{columns}</div></section>'
    )


def _marked(source: str, lines: frozenset[int]) -> str:
    rows = source[:20_000].splitlines()
    return "\n".join(
        f"<mark>{html.escape(row)}</mark>" if n in lines and row.strip() else html.escape(row)
        for n, row in enumerate(rows, 1)
    )
