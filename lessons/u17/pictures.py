"""The bounds of the program that counts wrong, as bands on one axis: tinygrad's and a student's.

    bands(bounds)      int8(x): 0 .. 127 dashed, -128 .. 127 below it

Next room: rules.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import label, tag
from lessons.u17.boundaries import COUNT
from lessons.u17.rows import Bounds, Row

# The page's line and what it computes, which row that is, and the rows.
LINES = [("%4", "x", 0), ("%5", "int8(x)", 1), ("%7", "2 · int8(x)", 3),
         ("%8", "2 · int8(x) + 5", 5)]  # fmt: skip
ROWS: list[Row] = [("between", 0, 255), ("cast", 0, "int8"), ("between", 2, 2), ("mul", 1, 2),
                   ("between", 5, 5), ("add", 3, 4)]  # fmt: skip
LEFT, TOP, BAR, STEP, ROW = 175.0, 62.0, 14.0, 17.0, 48.0  # px
PER, LOWEST, HIGHEST = 0.85, -260, 265  # px for each number, and the ends of the axis
TITLE = "Bounds of the numbers that are compared with 0"


def bands(bounds: Callable[[list[Row]], list[Bounds]]) -> Picture:
    """For each line of the program, the bounds of tinygrad 0.14.0, and these."""
    own, given = believed(), bounds(ROWS)
    low, text = TOP + len(LINES) * ROW, [TITLE]
    content = [tag("path", d=f"M{_x(0)} {TOP - 4}V{low}", klass="cl-edge"),
               label(_x(0), low + 14, "0", "cl-mid cl-m")]  # fmt: skip
    for k, (name, line, at) in enumerate(LINES):
        y, pairs = TOP + k * ROW, (own[name], (int(given[at][0]), int(given[at][1])))
        content.append(label(LEFT - 10, y + BAR + 6, line, "cl-e"))
        changed = pairs[0] != pairs[1]
        content += _band(pairs[0], y + 2, "cl-removed" if changed else "cl-n")
        content += _band(pairs[1], y + 2 + STEP, "cl-added" if changed else "cl-n")
        tinygrads, yours = (f"{a} .. {b}" for a, b in pairs)
        text.append(f"{line:<16} tinygrad: {tinygrads:<11} yours: {yours}")
    summary = "above: tinygrad's bounds, dashed where they differ; below: yours"
    return sketch(TITLE, summary, content, _x(HIGHEST) + 40, low + 18, "\n".join(text) + "\n")


def believed() -> dict[str, Bounds]:
    """The bounds on the page before the pass that drops the comparison."""
    lines = re.findall(r"(%\d+) .*?(-?\d+) \.\. (-?\d+)\n", COUNT["apply rangeify"])
    return {name: (int(low), int(high)) for name, low, high in lines}


def _x(value: float) -> float:
    return round(LEFT + 40 + MARGIN + (value - LOWEST) * PER, 1)


def _band(pair: Bounds, y: float, klass: str) -> list[Any]:
    """A band from the lowest to the highest value, with both numbers at its ends."""
    start, end = (_x(min(max(value, LOWEST), HIGHEST)) for value in pair)
    box = tag("rect", x=start, y=y, width=max(end - start, 1), height=BAR, rx=2, klass=klass)
    return [box, label(start - 4, y + 11, pair[0], "cl-e cl-s"),
            label(end + 4, y + 11, pair[1], "cl-s")]  # fmt: skip
