"""A grid of cells with operands on their way into it: a systolic array at one clock.

    cells([[Cell(("2 · 3", "Σ 6"), "marked"), Cell(("", "Σ 0"), "stall")]],
          title="clock 1", summary="1 of 2 cells multiplies", west=["5 4"], north=[["7"], ["8"]])

What waits at an edge stands beside the row or above the column that it will enter, the next one
nearest to the grid. Next room: `tiles.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import MONO_WIDTH, label, tag

FONT, LINE, PAD, GAP = 11.0, 15.0, 8.0, 10.0
HEAD = 56.0  # title and summary


@dataclass(frozen=True)
class Cell:
    """Lines of text, and "" or "marked" (look here) or "stall" (nothing happens)."""

    lines: tuple[str, ...]
    state: str = ""


def cells(
    grid: Sequence[Sequence[Cell]],
    title: str,
    summary: str = "",
    west: Sequence[str] = (),
    north: Sequence[Sequence[str]] = (),
    letters: int = 0,
) -> Picture:
    """Draw rows of cells. `west` has a text for each row, `north` a list for each column.

    `letters` is the least room for text in a cell: give the pictures of a stepper the same.
    """
    if not grid or len({len(row) for row in grid}) != 1:
        raise ValueError(f"{title}: a grid needs rows of one length, at least one")
    every = [cell for row in grid for cell in row]
    letters = max(letters, *(len(line) for cell in every for line in cell.lines))
    width = max(letters * FONT * MONO_WIDTH + 2 * PAD, 44.0)
    height = max(len(cell.lines) for cell in every) * LINE + PAD
    waiting = max((len(column) for column in north), default=0)
    left = MARGIN + max((len(text) for text in west), default=0) * FONT * MONO_WIDTH + 24
    top = HEAD + waiting * LINE + 20
    content = []
    for j, column in enumerate(north):
        x = left + j * (width + GAP) + width / 2
        for above, text in enumerate(reversed(column)):
            content.append(label(x, top - 18 - above * LINE, text, "cl-mid cl-m"))
        content.append(label(x, top - 3, "↓", "cl-mid cl-m"))
    for i, row in enumerate(grid):
        y = top + i * (height + GAP)
        if i < len(west):
            content.append(label(left - 22, y + height / 2 + 4, west[i], "cl-e cl-m"))
            content.append(label(left - 4, y + height / 2 + 4, "→", "cl-e cl-m"))
        for j, cell in enumerate(row):
            content += _cell(cell, left + j * (width + GAP), y, width, height)
    right, low = left + len(grid[0]) * (width + GAP), top + len(grid) * (height + GAP) - GAP
    return sketch(title, summary, content, right, low, _text(grid, title, summary, west, north))


def _cell(cell: Cell, x: float, y: float, width: float, height: float) -> list[str]:
    klass = f"cl-{cell.state}" if cell.state else "cl-n"
    box = tag("rect", x=x, y=y, width=width, height=height, rx=3, klass=klass)
    middle = y + height / 2 - (len(cell.lines) - 1) * LINE / 2 + 4
    return [box] + [
        label(x + width / 2, middle + k * LINE, line, "cl-mid" + " cl-b" * (k == 0))
        for k, line in enumerate(cell.lines)
        if line
    ]


def _text(
    grid: Sequence[Sequence[Cell]],
    title: str,
    summary: str,
    west: Sequence[str],
    north: Sequence[Sequence[str]],
) -> str:
    sign = {"marked": "*", "stall": " ", "": " "}
    words = [[sign[c.state] + " ".join(filter(None, c.lines)) for c in row] for row in grid]
    columns = list(zip(*words, strict=True))
    widths = [max(map(len, column)) for column in columns]
    beside = max((len(text.strip()) for text in west), default=0)
    lines = [f"{title}: {summary}" if summary else title]
    if any(north):
        lines.append(
            "from above: " + "; ".join(" ".join(filter(None, reversed(c))) or "-" for c in north)
        )
    for i, row in enumerate(words):
        edge = (west[i].strip() if i < len(west) else "").rjust(beside)
        body = " | ".join(word.ljust(w) for word, w in zip(row, widths, strict=True))
        lines.append(f"{edge} -> {body}".rstrip() if west else body.rstrip())
    return "\n".join(lines)
