"""The feedback page of one student: every verdict, in order, in one file without scripts.

It names hidden checks and never shows their source. Light or dark as the reader's system is; drawn
graphs come with the same as text.

Next room: autograder/check/feedback.py, one verdict as HTML.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from autograder.check.cards import STYLE, inline
from autograder.check.feedback import as_html
from autograder.check.verdict import (
    ADVICE,
    BLANK,
    BY_HAND,
    GRADER,
    NOT_ATTEMPTED,
    UNGRADABLE,
    Verdict,
    headline,
    score,
)
from autograder.grading.book.pages import code
from autograder.grading.report import Report
from autograder.process.start import unprotected

WHAT_TO_DO = (
    f"{ADVICE[UNGRADABLE]} Open it there before you hand it in: it should show your answers. If "
    "it is too late for that, ask your teacher, who decides what happens to this file."
)
NO_POINTS_YET = "What you handed in cannot be graded, so it has no points yet."
PAGE_STYLE = """
:root{color-scheme:light dark;--line:color-mix(in srgb,CanvasText 18%,Canvas)}
body{font:16px/1.5 system-ui,sans-serif;max-width:64em;margin:2em auto;padding:0 1em;
 background:Canvas;color:CanvasText;overflow-wrap:break-word}
table{border-collapse:collapse}
td,th{padding:.3em .8em .3em 0;text-align:left;vertical-align:top;
 border-bottom:1px solid var(--line)}
td.number,th.number{text-align:right;padding-right:0;font-variant-numeric:tabular-nums}
blockquote{border-left:4px solid var(--line);margin:.2em 0 1em 1.4em;padding:.1em 1em;
 white-space:pre-wrap}
section.verdict h3{margin:.1em 0 .4em;font-size:1rem}
section.verdict h4{margin:.7em 0 .2em;font-weight:600;font-size:.85rem}
.verdict pre{white-space:pre-wrap;overflow-wrap:anywhere}
:focus-visible{outline:3px solid #0072b2;outline-offset:2px}
@media (max-width:40em){body{margin:1em auto}td,th{padding-right:.5em}
 h1,h2,h3{overflow-wrap:anywhere}}
"""


def feedback_page(report: Report, student: str, sentences: Iterable[str] = ()) -> str:
    """A whole HTML page. `sentences` are about the points: lateness, points by hand."""
    title = f"{report.assignment}: feedback for {student}"
    parts = [f"<h1>{html.escape(report.assignment)}</h1>", f"<p>{html.escape(student)}</p>"]
    parts += [
        _total(report),
        *(f"<p>{html.escape(text)}</p>" for text in sentences),
        _table(report),
    ]
    if report.is_ungradable:
        reasons = "".join(f"<p>{html.escape(note)}</p>" for note in report.notes)
        parts.append(f"<h2>What is wrong</h2>{reasons}<h2>What to do</h2><p>{WHAT_TO_DO}</p>")
    elif report.notes:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in report.notes)
        parts.append(f"<h2>Notes</h2><ul>{notes}</ul>")
    shown = [v for v in report.verdicts if not _is_empty(v)]
    parts += ["<h2>Exercises</h2>"] if shown else []
    for verdict in shown:
        parts.append(_box(verdict))
        if verdict.kind == BY_HAND and verdict.exercise in report.texts:
            parts.append(f"<blockquote>{html.escape(report.texts[verdict.exercise])}</blockquote>")
    parts.append(_small_print(report))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{PAGE_STYLE}{STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _box(verdict: Verdict) -> str:
    """The box of a notebook, one heading higher: here it stands below an h2. What the keyboard
    has to scroll, it can reach."""
    box = as_html(verdict, style=False)
    for before, after in (("h4", "h3"), ("h5", "h4")):
        box = box.replace(f"<{before}>", f"<{after}>").replace(f"</{before}>", f"</{after}>")
    return box.replace("<figure>", '<figure tabindex="0" role="group" aria-label="Drawing">')


def _is_empty(verdict: Verdict) -> bool:
    """True where the table has said it all: a page of empty boxes would say no more."""
    silent = verdict.kind == NOT_ATTEMPTED and verdict.problem in ("", *BLANK)
    return silent or verdict.kind == UNGRADABLE


def _total(report: Report) -> str:
    if report.is_ungradable:
        return f"<p><strong>{NO_POINTS_YET}</strong></p>"
    text = f"{report.earned:g} of {report.possible:g} points"
    if report.bonus:
        text += f", {report.bonus:g} of them a bonus"
    if report.to_grade:
        text += f"; {report.to_grade:g} more are graded by hand"
    return f"<p><strong>{text}</strong></p>"


def _table(report: Report) -> str:
    rows = "".join(
        f"<tr><td>{code(v.exercise)}</td><td>{headline(v)}{_why_blank(v)}</td>"
        f'<td class="number">{score(v)}</td></tr>'
        for v in report.verdicts
    )
    head = '<tr><th>exercise</th><th>verdict</th><th class="number">points</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _why_blank(verdict: Verdict) -> str:
    return f"<br><small>{inline(verdict.problem)}</small>" if verdict.problem in BLANK else ""


def _small_print(report: Report) -> str:
    fault = any(v.kind == GRADER for v in report.verdicts)
    words = "Something in the grader broke; no points are lost by that. " if fault else ""
    return (
        f"<p><small>{words}Seed {report.seed}; sandbox: {html.escape(report.sandbox or 'none')}; "
        f"submission {report.submission_digest[:12]}; assignment {report.assignment_digest[:12]}. "
        "The same submission always gets the same grade. "
        f"{unprotected(report.sandbox)}</small></p>"
    )
