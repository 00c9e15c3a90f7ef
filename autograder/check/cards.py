"""Cards: what a notebook says to a student, framed alike; plain text where there is no notebook.

    show(Card("`passes.dce`: hint 1 of 3", ("Which node is needed for certain?",), "a question"))

A text of a card may hold `code` between backticks. A card needs no script and no network, and is
light or dark as the page around it is. Next room: feedback.py, a verdict as a card; hints.py.
"""

from __future__ import annotations

import html
import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

STYLE = """
.verdict{border:1px solid;border-left:6px solid;border-radius:4px;padding:.5em 1em;margin:.6em 0;
 font-family:system-ui,sans-serif;max-width:60em;container-type:inline-size}
.verdict figure{margin:.3em 0;overflow-x:auto}
.verdict p{margin:.3em 0 .5em;line-height:1.5;overflow-wrap:break-word}
.verdict .title{margin:.1em 0 .4em;font-size:1.1em;font-weight:600}
.verdict .part{margin:.7em 0 .2em;font-weight:600}
.verdict pre{overflow-x:auto;border:1px solid;border-radius:3px;padding:.5em;margin:.2em 0;
 background:transparent;color:inherit;line-height:1.35}
.verdict .good{border-color:#009e73}.verdict mark{background:transparent;color:inherit;
 text-decoration:underline 3px #d55e00;font-weight:bold}
.verdict.passed{border-color:#009e73}.verdict.failed{border-color:#d55e00}
.verdict.open{border-color:#7f7f7f}.verdict.hint{border-color:#0072b2}
.verdict .points{float:right;margin-left:1em}.verdict .small{font-size:.9em;opacity:.8}
section.verdict table{border-collapse:collapse;margin:.3em 0 .6em;font-size:inherit}
section.verdict table tr:nth-child(n){background:none}
section.verdict table:has(td:first-child:empty) tr:has(>td:first-child:not(:empty)) td{
 border-top:1px solid #7f7f7f66}
section.verdict td,section.verdict th{padding:.2em 1.6em .2em 0;background:none;
 text-align:left!important}
section.verdict th{font-weight:600}
section.verdict .number{padding:.2em .3em .2em 1em;text-align:right!important;
 white-space:nowrap;font-variant-numeric:tabular-nums}
@container (max-width:34em){section.verdict table{font-size:.88em}
 section.verdict td,section.verdict th{padding-left:0;padding-right:.7em}
 section.verdict .number{padding-left:.7em;padding-right:0}}
"""
CODE = re.compile(r"``\s?(.+?)\s?``|`([^`]+)`")
WIDTH = 88  # characters of a line, where the terminal is not narrower


@dataclass(frozen=True)
class Table:
    """Rows of words; the last columns, so many of them, hold numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1

    def __str__(self) -> str:
        rows = [[_plain(cell) for cell in row] for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([
                cell.rjust(wide) if place >= len(row) - self.numbers else cell.ljust(wide)
                for place, (cell, wide) in enumerate(zip(row, widths, strict=True))
            ])
            for row in rows
        )  # fmt: skip

    def as_html(self) -> str:
        rows = [self._row("th", self.head), *(self._row("td", row) for row in self.rows)]
        return f"<table>{''.join(rows)}</table>"

    def _row(self, tag: str, cells: Sequence[str]) -> str:
        many = len(cells) - self.numbers
        first = "".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in cells[:many])
        numbers = (f'<{tag} class="number">{inline(cell)}</{tag}>' for cell in cells[many:])
        return f"<tr>{first}{''.join(numbers)}</tr>"


@dataclass(frozen=True)
class Card:
    """A title, then paragraphs and tables; `corner` stands at its right, `small` at its end."""

    title: str
    parts: tuple[str | Table, ...]
    corner: str = ""
    small: str = ""
    tone: str = "hint"

    def __repr__(self) -> str:
        lines = [wrapped(_plain(self.title) + (f" ({self.corner})" if self.corner else ""))]
        for part in (*self.parts, self.small):
            if part:
                text = str(part) if isinstance(part, Table) else wrapped(part, WIDTH - 2)
                lines.append(textwrap.indent(text, "  "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = [p.as_html() if isinstance(p, Table) else paragraph(p) for p in self.parts]
        body += [f'<p class="small">{inline(self.small)}</p>'] if self.small else []
        label = _plain(self.title)
        return framed(self.tone, label, inline(self.title), body, self.corner, STYLE)


@dataclass(frozen=True)
class Note:
    """One sentence, with a line at its left."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        style = "border-left:4px solid currentColor;padding:.3em .8em;margin:.3em 0"
        return f'<p role="note" style="{style}">{html.escape(self.text)}</p>'


def framed(
    tone: str, label: str, title: str, body: Sequence[str], corner: str = "", style: str = ""
) -> str:
    """The frame of every card. `title` and `body` are HTML, `label` and `corner` are words. A card
    stands below a heading of any level, and in no table of contents: so its title is none."""
    parts = [f"<style>{style}</style>"] if style else []
    parts.append(f'<section class="verdict {tone}" aria-label="{html.escape(label)}">')
    parts += [f'<span class="points">{html.escape(corner)}</span>'] if corner else []
    return "\n".join([*parts, f'<p class="title">{title}</p>', *body, "</section>"])


def paragraph(text: str) -> str:
    return f"<p>{inline(text)}</p>".replace("\n", "<br>")


def inline(text: str) -> str:
    """Words as HTML, those in backticks as code."""
    return CODE.sub(lambda m: f"<code>{m[1] or m[2]}</code>", html.escape(text, quote=False))


def wrapped(text: str, width: int = WIDTH) -> str:
    """Lines that end between words, as long as the terminal allows."""
    room = min(width, max(20, shutil.get_terminal_size((WIDTH, 24)).columns - 2))
    lines = text.split("\n")
    return "\n".join(
        textwrap.fill(line, room, break_long_words=False, break_on_hyphens=False) for line in lines
    )


def in_notebook() -> bool:
    """Does what is shown appear below a cell?"""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    return get_ipython() is not None


def show(what: Any) -> None:
    """Below the cell; printed where there is no notebook."""
    if not in_notebook():
        print(what)
        return
    from IPython.display import display

    display(what)


def _plain(text: str) -> str:
    """Names in a title or a table need no backticks: nothing else stands there."""
    return CODE.sub(lambda m: m[1] or m[2], text)
