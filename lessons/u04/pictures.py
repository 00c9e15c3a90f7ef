"""The pictures of unit 4 that are no plain plan: what an allocator does, and where elements lie.

    served(requests, offsets)     # a stepper: memory after each request, and the free blocks
    no_plan_in_five()             # why eight values do not fit into their lower bound
    orders()                      # one image in three layouts
    window_lines()                # the cache lines that one window of a convolution reads

Next room: layers.py, which measures what a layout is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.draw.base.stepper import stepper
from course_lib.draw.plots.addresses import cache_lines
from course_lib.draw.plots.cells import Cell, cells
from course_lib.draw.plots.timeline import Span, timeline
from course_lib.ir.ops.layout import rearranged
from lessons.u04.traces import Request, highest

LINE = 64  # bytes of one cell


def served(requests: Sequence[Request], offsets: Mapping[str, int], title: str) -> Any:
    """Memory after each request: a cell is 64 bytes, and an empty cell is free."""
    count = highest(requests, dict(offsets)) // LINE
    taken: dict[int, str] = {}  # cell -> whose it is
    states = []
    for name, size in requests:
        own = [offsets[name] // LINE + k for k in range(abs(size) // LINE)]
        for cell in own:
            taken.pop(cell, None) if size < 0 else taken.update({cell: name})
        what = f"{name} asks for {size}" if size > 0 else f"{name} comes back"
        row = [Cell((taken.get(k, ""),), "marked" if k in own else "") for k in range(count)]
        north = [[str(k * LINE)] for k in range(count)]
        summary = "free blocks (offset, size): " + _free(taken, count)
        states.append((what, cells([row], what, summary, north=north, letters=5)))
    return stepper(states, title=title)


def _free(taken: Mapping[int, str], count: int) -> str:
    """The free blocks in words; the last one has no end."""
    blocks, begin = [], None
    for cell in range(count + 1):
        if cell < count and cell not in taken:
            begin = cell if begin is None else begin
        elif begin is not None and cell < count:
            blocks.append(f"({begin * LINE}, {(cell - begin) * LINE})")
            begin = None
    return ", ".join([*blocks, f"({(count if begin is None else begin) * LINE}, ∞)"])


def no_plan_in_five() -> Any:
    """Eight values, five units of 64 bytes: where `d` must begin, seen from both ends."""
    ends = [("a", 3, 0, 0, 1), ("b", 1, 0, 2, 0), ("c", 2, 1, 1, 1)]
    others = [("e", 1, 2, 4, 4), ("g", 3, 4, 4, 0), ("h", 1, 4, 4, 3)]
    left = [*ends, ("d", 2, 1, 3, 3)]
    right = [*others, ("f", 2, 3, 3, 0), ("d", 2, 1, 3, 2)]
    both = [*ends[:2], others[0], ("d, seen from b", 2, 1, 1, 3), ("d, seen from e", 2, 3, 3, 2)]
    return stepper(
        [
            ("from step 0", _units(left, "b lies at the bottom: d begins at 64 or at 192")),
            ("from step 4", _units(right, "e lies on top: d begins at 0 or at 128")),
            ("together", _units(both, "d cannot do both")),
        ],
        title="eight values in 320 bytes",
    )


def _units(rows: Sequence[tuple[str, int, int, int, int]], title: str) -> Any:
    spans = [
        Span(name, first, last + 1, LINE * low, LINE * (low + size),
             state="marked" if name.startswith("d") else "")
        for name, size, first, last, low in rows
    ]  # fmt: skip
    return timeline(spans, title, bound=5 * LINE)


SMALL = {"nchw": (1, 4, 2, 3), "nhwc": (1, 2, 3, 4), "nchw2c": (1, 2, 2, 3, 2)}
WAYS = {
    "nchw": "place = (c · 2 + h) · 3 + w",
    "nhwc": "place = (h · 3 + w) · 4 + c",
    "nchw2c": "place = ((c div 2 · 2 + h) · 3 + w) · 2 + c mod 2",
}


def places(name: str, shape: Sequence[int]) -> np.ndarray:
    """The place in memory, counted in elements, of every element [c, h, w] of a layout."""
    return rearranged(np.arange(np.prod(shape)).reshape(shape), name, "nchw")[0]


def orders() -> Any:
    """An image of four channels, 2 x 3, in three layouts: the number of a cell is its place."""
    north = [[f"{h}, {w}"] for h in (0, 1) for w in (0, 1, 2)]
    west, states = [f"c = {c}" for c in range(4)], []
    for name, shape in SMALL.items():
        rows = places(name, shape).reshape(4, 6)
        grid = [[Cell((str(k),), "marked" if k < 4 else "") for k in row] for row in rows]
        title, summary = f"{name}: {WAYS[name]}", "marked: the first four in memory"
        states.append((name, cells(grid, title, summary, west=west, north=north)))
    return stepper(states, title="one image, three layouts (columns: h, w)")


# The lines that a 3 x 3 window at row 4, column 4 reads of f32[1,32,14,14], of 392 lines in all.
# tests/units/test_u04.py computes them again.
READ = {
    "nchw": [49 * k + n for k in range(8) for n in (3, 4, 5, 16, 17, 28, 29, 30, 40, 41, 42)],
    "nhwc": [*range(120, 126), *range(148, 154), *range(176, 182)],
    "nchw16c": [60, 61, 62, 74, 75, 76, 88, 89, 90, 256, 257, 258, 270, 271, 272, 284, 285, 286],
}


def window_lines() -> Any:
    """What one window of a convolution reads, in three layouts."""
    title = "The cache lines that a 3×3 window reads: image [1, 32, 14, 14], row 4, column 4"
    return cache_lines(READ, count=392, needed=1152, title=title)
