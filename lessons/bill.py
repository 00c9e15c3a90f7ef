"""The bill at the end of a unit: what the student's pieces changed, beside the best that is known.

    bill_of([["plate, 64 × 64", 98304, 1536, 1536, 256]],
            ["nest", "as written", "yours", "ours", "each line once"])

A row is a program, or a piece of the unit. Its columns lead from what was before to what no program
can beat. Counts come out alike on every machine, and the text quotes them, so they keep all of
their digits; times and ratios have three. A unit passes rows, whatever they count.
Next room: roof.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import Cell, table


def bill_of(rows: Sequence[Sequence[Cell]], heads: Sequence[str], title: str = "") -> Picture:
    """The table of these rows; ValueError if there is none, or if nothing is counted in a row."""
    if not rows:
        raise ValueError(f"a bill of {', '.join(heads)} has no rows")
    for row in rows:
        if not any(_is_number(cell) for cell in row):
            raise ValueError(f"a row of a bill counts something, this one nothing: {list(row)}")
    columns = dict(zip(heads, zip(*rows, strict=False), strict=False))
    counts = [head for head, cells in columns.items() if _counted(cells)]
    return table(rows, heads, title, exact=counts)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool)  # numpy's, too


def _counted(cells: Sequence[Cell]) -> bool:
    """Is there a number in this column, and none with a fraction?"""
    numbers = [cell for cell in cells if _is_number(cell)]
    return bool(numbers) and all(isinstance(cell, Integral) for cell in numbers)
