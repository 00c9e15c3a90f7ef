"""A verdict as HTML that needs no script and no network, with its programs drawn.

    Verdict("passes.dce", "wrong", 3, ...)  ->  <section class="verdict failed"> ... </section>

Next room: cards.py, the frame; autograder/notebook.py, which shows it below a cell;
autograder/grading/page.py, the page that collects the verdicts of one student.
"""

from __future__ import annotations

import html
import re

from autograder.check.cards import STYLE, framed, inline, paragraph
from autograder.check.verdict import (
    BY_HAND,
    GRADER,
    LATER,
    NOT_ATTEMPTED,
    PASSED,
    PROGRAM,
    UNGRADABLE,
    UNKNOWN,
    Verdict,
    headline,
    lacks_points,
    score,
    sections,
)


def as_html(verdict: Verdict, style: bool = True) -> str:
    """One box. Reads in order for a screen reader; colour repeats what the words say."""
    tone = "passed" if verdict.kind == PASSED else "failed"
    is_open = verdict.kind in (NOT_ATTEMPTED, BY_HAND, LATER, UNGRADABLE, GRADER, UNKNOWN)
    if is_open or lacks_points(verdict):
        tone = "open"
    name = html.escape(verdict.exercise)
    words = headline(verdict)
    if verdict.kind == PASSED:
        small = f'<p class="small">{inline(verdict.so_far)}</p>' if verdict.so_far else ""
        body = [paragraph("; ".join(verdict.tried)), small]
    else:
        body = [_section(verdict, heading, text) for heading, text in sections(verdict)]
    corner = score(verdict) if verdict.kind != UNKNOWN else ""
    label, title = f"{verdict.exercise}: {words}", f"<code>{name}</code>: {words}"
    return framed(tone, label, title, body, corner, STYLE if style else "")


def _section(verdict: Verdict, heading: str, text: str) -> str:
    title = f'<p class="part">{html.escape(heading)}</p>' if heading else ""
    if heading == "Stuck?":
        call, _, rest = text.partition(") ")
        return f"<p>Stuck? <code>{html.escape(call)})</code> {inline(rest)}</p>"
    if heading in ("", "The specification says"):
        return title + paragraph(text)
    body = html.escape(text.rstrip("\n"))
    is_marked = heading == "Got" or (not verdict.got and heading in PROGRAM)
    if is_marked:
        lines = [_marked(line, set(verdict.marked)) for line in body.split("\n")]
        body = "\n".join(lines)
    svg = dict(verdict.pictures).get(_part(heading), "")
    picture = f"<figure>{svg}</figure>" if svg else ""
    return f"{title}{picture}<pre>{body}</pre>"


def _part(heading: str) -> str:
    """Which part of a verdict stands under that heading."""
    is_program = heading in PROGRAM or heading == "The call"
    return "program" if is_program else heading.lower()


def _marked(line: str, names: set[str]) -> str:
    """A line of IR text, marked if it defines one of these values."""
    value = re.match(r"\s*%([^ ]+) = ", line)
    return f"<mark>{line}</mark>" if value and value[1] in names else line
