"""A verdict as HTML that needs no script and no network, with its programs drawn.

    Verdict("passes.dce", "wrong", 3, ...)  ->  <section class="verdict failed"> ... </section>

Next room: autograder/notebook.py, which shows it below a cell; autograder/grading/page.py, the page
that collects the verdicts of one student.
"""

from __future__ import annotations

import html
import re

from autograder.check.verdict import (
    BY_HAND,
    GRADER,
    LATER,
    NOT_ATTEMPTED,
    PASSED,
    PROGRAM,
    UNKNOWN,
    Verdict,
    headline,
    lacks_points,
    score,
    sections,
)

STYLE = """
.verdict{border:1px solid;border-left:6px solid;border-radius:4px;padding:.5em 1em;margin:.6em 0;
 font-family:system-ui,sans-serif;max-width:60em}
.verdict figure{margin:.3em 0;overflow-x:auto}
.verdict h4{margin:.1em 0 .4em}.verdict h5{margin:.7em 0 .2em}
.verdict pre{overflow-x:auto;border:1px solid;border-radius:3px;padding:.5em;margin:.2em 0;
 background:transparent;color:inherit;line-height:1.35}
.verdict .good{border-color:#009e73}.verdict mark{background:transparent;color:inherit;
 text-decoration:underline 3px #d55e00;font-weight:bold}
.verdict.passed{border-color:#009e73}.verdict.failed{border-color:#d55e00}
.verdict.open{border-color:#7f7f7f}.verdict .points{float:right}
"""


def as_html(verdict: Verdict, style: bool = True) -> str:
    """One box. Reads in order for a screen reader; colour repeats what the words say."""
    tone = "passed" if verdict.kind == PASSED else "failed"
    if verdict.kind in (NOT_ATTEMPTED, BY_HAND, LATER, GRADER, UNKNOWN) or lacks_points(verdict):
        tone = "open"
    parts = [f"<style>{STYLE}</style>"] if style else []
    name = html.escape(verdict.exercise)
    words = headline(verdict)
    parts.append(f'<section class="verdict {tone}" aria-label="{name}: {words}">')
    if verdict.kind != UNKNOWN:
        parts.append(f'<span class="points">{score(verdict)}</span>')
    parts.append(f"<h4><code>{name}</code>: {words}</h4>")
    if verdict.kind == PASSED:
        parts.append(f"<p>{html.escape('; '.join(verdict.tried))}</p>")
    else:
        for heading, text in sections(verdict):
            parts.append(_section(verdict, heading, text))
    return "\n".join([*parts, "</section>"])


def _section(verdict: Verdict, heading: str, text: str) -> str:
    title = f"<h5>{html.escape(heading)}</h5>" if heading else ""
    if heading == "Stuck?":
        call, _, rest = text.partition(") ")
        return f"<p>Stuck? <code>{html.escape(call)})</code> {rest}</p>"
    if heading in ("", "The specification says"):
        return f"{title}<p>{html.escape(text)}</p>".replace("\n", "<br>")
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
