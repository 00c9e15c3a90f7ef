"""Boxes that speak to the reader: predictions, hints, verdicts.

    callout("passed", "passes.cse", "40 random graphs and 3 real models. 58 of 69 nodes are left.")
    callout("wrong", "passes.cse", ["`sub` does not commute.", ir_diff(got, expected)])

A sign and a word say what kind it is, the colour repeats it. Next room: `draw/graphs/stages.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.svg import escape, tag

# kind: (sign, word, colour of its edge)
KINDS = {
    "passed": ("✓", "passed", "added-text"),
    "wrong": ("✗", "not yet", "removed-text"),
    "crashed": ("✗", "your code raised an error", "removed-text"),
    "timed out": ("✗", "took too long", "removed-text"),
    "not attempted": ("○", "not attempted yet", "line"),
    "by hand": ("○", "graded by a person", "line"),
    "grader": ("!", "our fault, no points lost", "marked-text"),
    "prediction": ("?", "predict", "focus"),
    "question": ("?", "question", "focus"),
    "hint": ("→", "hint", "focus"),
    "note": ("•", "note", "line"),
    "then and now": ("⇄", "then and now", "line"),
    "in the wild": ("◇", "in the wild", "line"),
}

CSS = (
    ".cl-call{border:1px solid var(--cl-faint);border-left:4px solid var(--cl-line);"
    "padding:.6em .9em;border-radius:3px;max-width:62em}.cl-call p{margin:.35em 0;max-width:46em}"
    ".cl-call .cl-sign{font-weight:700;margin-right:.5em}.cl-call .cl-fig{margin:.5em 0}"
    + "".join(
        f".cl-edge-{c}{{border-left-color:var(--cl-{c})}}"
        f".cl-edge-{c} .cl-sign{{color:var(--cl-{c})}}"
        for c in ("added-text", "removed-text", "marked-text", "focus")
    )
)

Part = str | Picture


def callout(kind: str, title: str, body: Part | Sequence[Part] = ()) -> Picture:
    """A box of one of the `KINDS`.

    A text is split into paragraphs at blank lines; `words in backticks` are set as code. Parts may
    be pictures.
    """
    if kind not in KINDS:
        raise ValueError(f"a callout is one of {', '.join(KINDS)}; got {kind!r}")
    sign, word, colour = KINDS[kind]
    parts = [body] if isinstance(body, (str, Picture)) else list(body)
    head = tag(
        "p",
        tag("span", f"{sign} {escape(word)}", klass="cl-sign"),
        tag("span", "· ", klass="cl-muted"),
        tag("strong", _prose(title)),
    )
    content = [p.html if isinstance(p, Picture) else _paragraphs(p) for p in parts]
    box = tag(
        "div",
        head,
        *content,
        klass=f"cl-call cl-edge-{colour}",
        role="note",
        aria_label=f"{word}: {title}",
    )
    text = [f"{sign} {word}: {title}", *(p.text if isinstance(p, Picture) else p for p in parts)]
    return Picture(title, fragment(box, css=CSS), "\n\n".join(text))


def _paragraphs(text: str) -> str:
    return "".join(tag("p", _prose(p)) for p in re.split(r"\n\s*\n", text.strip()) if p)


def _prose(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
