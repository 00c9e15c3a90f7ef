"""A bar for each of several measured things, and how far its values spread.

    spreads([Spread("ours", 33.6, 33.1, 34.0, marked=True), Spread("another", 52.3, 51.9, 54.0)],
            "ms", "Time of a call")

The bar ends at the median; the line across its end goes from the lower to the upper quartile. One
that is many times as long as the shortest is cut, so that the short ones can be told apart. Next
room: `charts.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.arguments import takes
from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import MONO_WIDTH, label, points, shorten, tag
from course_lib.draw.base.units import digits

WIDTH, LINE, THICK, TOP = 420.0, 24.0, 12.0, 60.0  # px
NAME = 32  # letters of a name
MOST = 8.0  # times the shortest: what is longer is cut


@dataclass(frozen=True)
class Spread:
    """A median, and the quartiles around it if they are known. `marked`: one of the best."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    marked: bool = False


@takes
def spreads(rows: Sequence[Spread], unit: str, title: str, summary: str = "") -> Picture:
    """Bars with their spreads, in the order that is given."""
    if not rows or min(row.value for row in rows) <= 0:
        raise ValueError(f"{title}: a spread needs values above 0, got {list(rows)}")
    limit = MOST * min(row.value for row in rows)
    most = max(row.high or row.value for row in rows if row.value <= limit)
    left = MARGIN + 11 * MONO_WIDTH * (3 + max(len(shorten(row.name, NAME)) for row in rows))
    content: list[str] = []
    for k, row in enumerate(rows):
        content += _bar(row, left, TOP + k * LINE, WIDTH / most, unit)
    low = TOP + len(rows) * LINE
    content.append(tag("path", d=f"M{points(left, TOP - 6)}V{points(low)}", klass="cl-axis"))
    return sketch(title, summary, content, left + WIDTH + 150, low, _text(rows, unit, title))


def _bar(row: Spread, left: float, y: float, scale: float, unit: str) -> list[str]:
    """One line: name, bar, quartiles, value."""
    name = ("▸ " if row.marked else "") + shorten(row.name, NAME)
    width, middle = row.value * scale, y + THICK / 2
    cut, end = width > WIDTH, min(width, WIDTH)
    content = [
        label(left - 8, middle + 4, name, "cl-e cl-b" if row.marked else "cl-e"),
        tag("rect", tag("title", name), x=left, y=y, width=end, height=THICK,
            klass="cl-added" if row.marked else "cl-n"),
    ]  # fmt: skip
    if cut:
        path = f"M{points(left + WIDTH - 14, y + THICK + 3)}l6,{-THICK - 6}m5,0l-6,{THICK + 6}"
        content.append(tag("path", d=path, klass="cl-axis"))
    elif row.low is not None and row.high is not None:
        first, last = left + row.low * scale, min(left + row.high * scale, left + WIDTH)
        end = max(end, last - left)
        ends = "".join(f"M{points(x, middle - 4)}v8" for x in (first, last))
        content.append(tag("path", d=f"M{points(first, middle)}H{points(last)}{ends}",
                           klass="cl-axis"))  # fmt: skip
    return [*content, label(left + end + 8, middle + 4, _value(row, unit))]


def _value(row: Spread, unit: str) -> str:
    return f"{digits(row.value, exactly=True)} {unit}"


def _text(rows: Sequence[Spread], unit: str, title: str) -> str:
    wide = max(len(row.name) for row in rows) + 2
    lines = [title]
    for row in rows:
        name = ("▸ " if row.marked else "  ") + row.name
        words = "" if row.low is None or row.high is None else (
            f"  from {digits(row.low, exactly=True)} to {digits(row.high, exactly=True)}"
        )  # fmt: skip
        lines.append(f"{name.ljust(wide)}  {_value(row, unit)}{words}")
    return "\n".join(lines)
