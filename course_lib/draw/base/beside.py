"""Texts side by side, in which lines that belong together have one colour and one number.

    beside([Column("loops", [("out[i] = x[i] * 2.0", 3)]),
            Column("assembly", [("vmulps (%rdi), %ymm0, %ymm1", 3), ("retq", 1)])], title, summary)

Lines belong together if they come from the same line of the first text; its number stands before
each. Tab reaches the row of numbers above, the arrow keys walk through it: then the other texts
show only what belongs to the chosen line. Where styles are missing, the numbers say it all.
The idea is Compiler Explorer's (M. Godbolt, godbolt.org). Next room: `legend.py`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.draw.base.picture import Picture, fragment, scrolling
from course_lib.draw.base.stepper import CSS as BAR
from course_lib.draw.base.svg import OWN_KEYS, escape, tag

HUES = ("region", "added", "marked", "heat1", "removed", "heat3")

CSS = (
    ".cl-beside{display:grid;gap:1em;grid-template-columns:minmax(0,1fr)}"
    "@media(min-width:60rem){.cl-beside{grid-auto-columns:minmax(0,1fr);grid-auto-flow:column;"
    "grid-template-columns:none}}"
    ".cl-beside .cl-scroll{max-height:36rem;border:1px solid var(--cl-faint)}"
    ".cl-beside span{display:block;min-width:max-content;padding:0 .5em 0 0}"
    ".cl-beside b{display:inline-block;width:3ch;margin-right:1ch;text-align:right;font-weight:400;"
    "color:var(--cl-muted)}"
    ".cl-beside i{font-style:normal;color:var(--cl-muted)}"
    + "".join(f".cl-beside .cl-hue{k}{{background:var(--cl-{h})}}" for k, h in enumerate(HUES))
)


@dataclass(frozen=True)
class Column:
    """A text: its lines, each with the number of the line of the first text that it comes from."""

    name: str
    lines: Sequence[tuple[str, int | None]]


def beside(columns: Sequence[Column], title: str, summary: str = "") -> Picture:
    """Two or three texts side by side. The first one's lines carry their own numbers.

    ValueError for fewer than two texts, or more than three.
    """
    if not 2 <= len(columns) <= 3:
        raise ValueError(f"{title}: 2 or 3 texts stand side by side, got {len(columns)}")
    first, *others = columns
    came = Counter(number for column in others for _, number in column.lines if number)
    numbers = [number for _, number in first.lines if number and came[number]]
    hue = {number: k % len(HUES) for k, number in enumerate(numbers)}
    parts = [_column(column, hue) for column in columns]
    group = "cl-" + hashlib.sha256(repr((title, parts)).encode()).hexdigest()[:10]
    buttons = [_button(group, 0, "all lines")] + [_button(group, n, f"{n}") for n in numbers]
    form = tag(
        "form",
        tag("div", escape(title), klass="cl-title"),
        tag("div", escape(summary), klass="cl-muted") if summary else "",
        tag(
            "div",
            *buttons,
            klass="cl-bar cl-many",
            role="radiogroup",
            aria_label=f"{title}: lines of the {first.name}, arrow keys move",
        ),
        tag("div", *parts, klass="cl-beside"),
        method="dialog",  # Enter sends nothing
    )
    words = "\n\n".join(f"{c.name}\n" + "\n".join(_plain(c)) for c in columns)
    return Picture(
        title,
        fragment(form, css=BAR + CSS + _rules(numbers)),
        f"{title}\n{summary}\n\n{words}",
    )


def _column(column: Column, hue: dict[int, int]) -> str:
    lines = []
    for text, number in column.lines:
        klass = f"cl-hue{hue[number]} cl-of{number}" if number in hue else ""
        lines.append(tag("span", tag("b", f"{number or ' '}"), escape(text) or " ", klass=klass))
    counted = sum(1 for text, _ in column.lines if text.strip())
    head = tag("div", escape(column.name), tag("i", f" · {counted:,} lines"), klass="cl-name")
    return tag("div", head, scrolling(column.name, tag("pre", *lines)))


def _button(group: str, number: int, words: str) -> str:
    name = f"line {number}" if number else words
    checked = None if number else "checked"
    radio = tag("input", type="radio", name=group, value=number, aria_label=name, checked=checked,
                klass=f"cl-at{number}", **OWN_KEYS)  # fmt: skip
    return tag("label", radio, tag("span", escape(words)), title=name)


def _rules(numbers: Sequence[int]) -> str:
    """A line is chosen: the first text marks it, the others keep what belongs to it."""
    rules = []
    for number in numbers:
        chosen = f"form:has(.cl-at{number}:checked) .cl-beside"
        rules.append(f"{chosen}>div+div span:not(.cl-of{number}){{display:none}}")
        rules.append(f"{chosen} span:not(.cl-of{number}){{background:none}}")
        mine = "font-weight:600;box-shadow:inset 4px 0 var(--cl-focus)"
        rules.append(f"{chosen}>div:first-child .cl-of{number}{{{mine}}}")
    return "@media screen{" + "".join(rules) + "}"


def _plain(column: Column) -> list[str]:
    return [f"{number or '':>4}  {text}".rstrip() for text, number in column.lines]
