"""A verdict as text for a terminal, and as HTML that needs no script and no network.

Order of a failure, the same everywhere: what failed, the smallest program that shows it, got
against expected, the words of the specification, how to get a hint.

Next room: report.py, the page that collects the verdicts of one student.
"""

from __future__ import annotations

import difflib
import html
import re

from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    GRADER,
    NOT_ATTEMPTED,
    PASSED,
    TIMED_OUT,
    WRONG,
    Verdict,
)

HEADLINE = {
    PASSED: "passed",
    WRONG: "not yet right",
    CRASHED: "your code raised an error",
    TIMED_OUT: "timed out",
    NOT_ATTEMPTED: "not attempted yet",
    BY_HAND: "read and graded by a person",
    GRADER: "the checker failed, not you",
}
ADVICE = {
    NOT_ATTEMPTED: "Write the function in the exercise cell, run that cell, then run this one.",
    GRADER: "This costs no points. Please show it to your teacher.",
}
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


def as_text(verdict: Verdict) -> str:
    """A few lines for a terminal."""
    title = f"{verdict.exercise}: {HEADLINE[verdict.kind]} ({score(verdict)})"
    if verdict.kind == PASSED:
        return f"{title}\n  {_tried(verdict)}"
    parts = [title]
    for heading, text in sections(verdict):
        shown = text.rstrip("\n").replace("\n", "\n    ")
        parts.append(f"  {heading}\n    {shown}" if heading else f"  {shown}")
    return "\n".join(parts)


def as_html(verdict: Verdict, style: bool = True) -> str:
    """One box. Reads in order for a screen reader; colour repeats what the words say."""
    tone = "passed" if verdict.kind == PASSED else "failed"
    if verdict.kind in (NOT_ATTEMPTED, BY_HAND, GRADER):
        tone = "open"
    parts = [f"<style>{STYLE}</style>"] if style else []
    name = html.escape(verdict.exercise)
    parts.append(f'<section class="verdict {tone}" aria-label="{name}: {HEADLINE[verdict.kind]}">')
    parts.append(f'<span class="points">{score(verdict)}</span>')
    parts.append(f"<h4><code>{name}</code>: {HEADLINE[verdict.kind]}</h4>")
    if verdict.kind == PASSED:
        parts.append(f"<p>{html.escape(_tried(verdict))}</p>")
    else:
        for heading, text in sections(verdict):
            parts.append(_section(verdict, heading, text))
    return "\n".join([*parts, "</section>"])


def sections(verdict: Verdict) -> list[tuple[str, str]]:
    """(heading, text) in the order in which a learner needs them; a heading may be empty."""
    found = [("", _lead(verdict))]
    if verdict.error:
        where = f"line {verdict.line} of your cell: {verdict.code}\n" if verdict.line else ""
        found.append(("The error", f"{where}{verdict.error}"))
    if verdict.program:
        stopped = verdict.kind in (CRASHED, TIMED_OUT) and not verdict.program.startswith("graph @")
        heading = "The call" if stopped else "The smallest program that shows it"
        found.append((heading, verdict.program))
    if verdict.got and verdict.expected and "\n" in verdict.got + verdict.expected:
        found.append(("Got (-) against expected (+)", _diff(verdict.got, verdict.expected)))
    else:
        found += [("Got", verdict.got)] if verdict.got else []
        found += [("Expected", verdict.expected)] if verdict.expected else []
    if verdict.spec:
        found.append(("The specification says", f"“{verdict.spec}”"))
    if verdict.printed:
        found.append(("Your code printed", verdict.printed))
    if verdict.kind in (WRONG, CRASHED, TIMED_OUT, NOT_ATTEMPTED):
        found.append(("Stuck?", f'hint("{verdict.exercise}") gives the next hint.'))
    return found


def score(verdict: Verdict) -> str:
    earned = "–" if verdict.earned is None else f"{verdict.earned:g}"
    return f"{earned} of {verdict.points:g} points"


def _lead(verdict: Verdict) -> str:
    text = " ".join(filter(None, [verdict.problem, ADVICE.get(verdict.kind, "")]))
    if verdict.kind == BY_HAND:
        text = "Your text is kept. A person reads it and gives the points."
    hidden = " (a check that only the grader has)" if verdict.hidden else ""
    return f"{text}\ncheck: {verdict.check}{hidden}" if verdict.check else text


def _tried(verdict: Verdict) -> str:
    return "; ".join(verdict.tried)


def _diff(got: str, expected: str) -> str:
    mine, ours = got.splitlines(), expected.splitlines()
    lines = list(difflib.unified_diff(mine, ours, n=len(mine), lineterm=""))[3:]
    return "\n".join(f"{line[0]} {line[1:]}" for line in lines) or got


def _section(verdict: Verdict, heading: str, text: str) -> str:
    title = f"<h5>{html.escape(heading)}</h5>" if heading else ""
    if heading == "Stuck?":
        call, _, rest = text.partition(") ")
        return f"<p>Stuck? <code>{html.escape(call)})</code> {rest}</p>"
    if heading in ("", "The specification says"):
        return f"{title}<p>{html.escape(text)}</p>".replace("\n", "<br>")
    body = html.escape(text.rstrip("\n"))
    is_marked = heading == "Got" or (not verdict.got and heading.startswith("The smallest"))
    if is_marked:
        lines = [_marked(line, set(verdict.marked)) for line in body.split("\n")]
        body = "\n".join(lines)
    picture = _drawing(text, verdict.marked if is_marked else ()) if "graph @" in text else ""
    return f"{title}{picture}<pre>{body}</pre>"


def _marked(line: str, names: set[str]) -> str:
    """A line of IR text, marked if it defines one of these values."""
    value = re.match(r"\s*%([^ ]+) = ", line)
    return f"<mark>{line}</mark>" if value and value[1] in names else line


def _drawing(text: str, marked: tuple[str, ...]) -> str:
    """Each graph drawn, when the drawing room can; the text below says the same."""
    try:
        from course_lib.draw.graphs.graph import graph
        from course_lib.ir.graph.parse import parse_graph

        parts = [part for part in re.split(r"(?m)^(?=graph @)", text) if part.strip()]
        drawn = [graph(parse_graph(part), marked=marked).svg for part in parts]
        return f"<figure>{''.join(drawn)}</figure>"
    except Exception:  # what an answer returned may be too odd to draw
        return ""
