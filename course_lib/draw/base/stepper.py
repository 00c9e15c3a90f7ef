"""States one after the other: the IR after each pass, loops after each step, clock by clock.

    stepper([("import", text0), ("fold", text1), ("cse", text2)], title="What each pass did")

Tab reaches it, the arrow keys walk through it. It is a row of radio buttons and a style sheet:
there is no JavaScript in it, and where even styles are missing (or on paper) all states show, one
below the other. In a text state, lines that the step removed and added are marked; a line whose
values only got other numbers is not.

Next room: `diff.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import takewhile

from course_lib.draw.base.diff import CSS as DIFF_CSS
from course_lib.draw.base.diff import diff, renumbered
from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.svg import OWN_KEYS, escape, shorten, tag

MANY = 10  # more states than this stand closer; what all their names begin with is left out

CSS = (
    ".cl-bar{display:flex;flex-wrap:wrap;gap:2px;margin:0 0 .6em}"
    ".cl-bar label{position:relative;cursor:pointer}"
    ".cl-bar input{position:absolute;opacity:0;inset:0;margin:0;cursor:pointer}"
    ".cl-bar span{display:block;padding:.25em .7em;border-bottom:3px solid var(--cl-faint)}"
    ".cl-many span{padding:.2em .35em;min-width:1.1em;text-align:center}"
    ".cl-bar input:checked+span{border-color:var(--cl-focus);font-weight:600}"
    ".cl-bar input:focus-visible+span{outline:2px solid var(--cl-focus);outline-offset:1px}"
    ".cl-name{margin:0 0 .3em;font-weight:600}"
)


def stepper(
    states: Sequence[tuple[str, str | Picture]], title: str, compare: bool = True
) -> Picture:
    """Walk through named states, each a text or a picture.

    compare   mark the lines in which a text differs from the text before it
    """
    if not states:
        raise ValueError(f"{title}: a stepper needs at least one state")
    shown = [(name, *_content(states, k, compare)) for k, (name, _) in enumerate(states)]
    # The name ties the buttons of this stepper together; the form keeps equal steppers apart.
    group = "cl-" + hashlib.sha256(repr((title, shown)).encode()).hexdigest()[:10]
    many, steady = len(states) > MANY, _is_steady(states)
    names = [name for name, _ in states]
    words = _without_common_start(names) if many else names
    buttons = [_button(group, k, *both) for k, both in enumerate(zip(names, words, strict=True))]
    panels = [
        tag("div", tag("div", escape(f"{k}. {name}"), klass="cl-name"), html, klass="cl-state")
        for k, (name, html, _) in enumerate(shown)
    ]
    form = tag(
        "form",
        tag("div", escape(title), klass="cl-title"),
        tag(
            "div",
            *buttons,
            klass="cl-bar cl-many" if many else "cl-bar",
            role="radiogroup",
            aria_label=f"{title}: {len(states)} states, arrow keys move",
        ),
        tag("div", *panels, klass="cl-steady" if steady else "cl-states", aria_live="polite"),
        method="dialog",  # Enter sends nothing
    )
    text = "\n\n".join(f"{k}. {name}\n{words}" for k, (name, _, words) in enumerate(shown))
    return Picture(
        title,
        fragment(form, css=DIFF_CSS + CSS + _rules(len(states), steady)),
        f"{title}\n\n{text}",
    )


def _content(states: Sequence[tuple[str, str | Picture]], k: int, compare: bool) -> tuple[str, str]:
    """One state as HTML and as text."""
    now = states[k][1]
    if isinstance(now, Picture):
        return now.html, now.text
    before = states[k - 1][1] if k else now
    if not compare or isinstance(before, Picture):
        before = now
    return diff(before, now, renumbered(before, now))


def _without_common_start(names: list[str]) -> list[str]:
    """Names without the words that all begin with: `clock 0`, `clock 1` -> `0`, `1`."""
    words = [name.split() for name in names]
    columns = zip(*words, strict=False)
    shared = takewhile(lambda column: column[0].isalpha() and len(set(column)) == 1, columns)
    common = len(list(shared))
    return [" ".join(w[common:]) or name for w, name in zip(words, names, strict=True)]


def _button(group: str, k: int, name: str, words: str) -> str:
    checked = "checked" if k == 0 else None
    radio = tag(
        "input",
        type="radio",
        name=group,
        value=k,
        aria_label=f"{k}. {name}",
        checked=checked,
        **OWN_KEYS,
    )
    return tag("label", radio, tag("span", escape(shorten(words, 30))), title=name)


def _rules(count: int, steady: bool) -> str:
    """Show the state whose button is chosen; only where the browser can, and not on paper.

    `steady` keeps room for the tallest state, so that nothing jumps when the next one is shown.
    """
    chosen = ",".join(
        f"form:has(.cl-bar label:nth-child({k}) input:checked) .cl-state:nth-child({k})"
        for k in range(1, count + 1)
    )
    hidden, shown = (
        ("grid-area:1/1;min-width:0;visibility:hidden", "visibility:visible")
        if steady
        else ("display:none", "display:block")
    )
    return (
        "@media screen{@supports selector(:has(*)){.cl-steady{display:grid}"
        f".cl-{'steady' if steady else 'states'}>.cl-state{{{hidden}}}"
        f"{chosen}{{{shown}!important}}}}}}"
    )


def _is_steady(states: Sequence[tuple[str, str | Picture]]) -> bool:
    """Whether room for the tallest state leaves little blank under the others."""
    lines = [s.svg.count("<text") if isinstance(s, Picture) else s.count("\n") for _, s in states]
    return max(lines) - min(lines) <= 12
