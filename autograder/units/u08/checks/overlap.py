"""Visible checks of unit 8 about overlapped tiles: the values that they compute in all.

Each tile's rows and columns are counted one by one. Next room: ../hidden.py.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.properties import a_number

Case = tuple[int, int, tuple[int, int], int, int]

HOW_MANY = "How many values of the first result do the tiles of the second one compute in all"
RESULT = "rows and columns of the second convolution's result"
TILE, SMALLER = "rows and columns of a tile of it", "The last tiles are smaller if these numbers do"
WINDOW = "the second convolution reads window × window values of the first result for each"
STRIDE = "how many rows or columns the window moves from one value of the second"
ONCE = "Each tile computes all the values of the first result that it reads, and each of them once"
SEVERAL = "A value that several tiles read is computed by each of them"
EXACT = "the number, exactly, for one channel"
# Each is wrong for one kind of mistake, so the sentence fits.
CASES: list[tuple[str, Case]] = [
    (WINDOW, (4, 4, (4, 4), 3, 1)),
    (SEVERAL, (4, 4, (2, 2), 3, 1)),
    (RESULT, (8, 12, (4, 4), 3, 1)),
    (TILE, (12, 8, (3, 4), 3, 1)),
    (TILE, (300, 70, (150, 70), 5, 1)),
    (STRIDE, (6, 6, (3, 3), 3, 2)),
    (STRIDE, (6, 6, (3, 3), 5, 3)),
    (STRIDE, (6, 6, (3, 2), 3, 3)),
    (SMALLER, (7, 5, (3, 2), 3, 1)),
    (SMALLER, (3, 5, (8, 9), 3, 2)),
    (ONCE, (3, 3, (1, 1), 1, 1)),
]


def read_by(values: range, window: int, stride: int) -> int:
    """How many rows of the first result some rows of the second one read."""
    return len({value * stride + at for value in values for at in range(window)})


def along(size: int, part: int, window: int, stride: int) -> int:
    """The rows of all tiles, one tile after the other; or the columns."""
    tiles = (range(at, min(at + part, size)) for at in range(0, size, part))
    return sum(read_by(tile, window, stride) for tile in tiles)


def judged(overlapped: Any, case: Case, spec: str) -> None:
    """The number of values is right."""
    height, width, tile, *moves = case
    program = f"overlapped{case}"
    right = along(height, tile[0], *moves) * along(width, tile[1], *moves)
    value = a_number(overlapped(*case), unit="values", program=program)
    if value != right:
        problem = f"{value:,.10g} values are too {'few' if value < right else 'many'}."
        raise Wrong(problem, program=program, got=f"{value:.10g}", expected=str(right), spec=spec)


@checks("u08.overlapped", spec=[HOW_MANY, EXACT, *dict.fromkeys(spec for spec, _ in CASES)])
def small_tiles(overlapped):
    """A few results, one or two for each sentence."""
    for spec, case in CASES:
        judged(overlapped, case, spec)
    return f"{len(CASES)} results"


@st.composite
def tilings(draw: DrawFn, most: int = 20, windows: int = 6) -> Case:
    """Results, tiles that may not divide them or may be larger, windows and strides."""
    sizes = st.integers(1, most)
    window = draw(st.integers(1, windows))
    return (draw(sizes), draw(sizes), (draw(sizes), draw(sizes)), window,
            draw(st.integers(1, window)))  # fmt: skip


@checks("u08.overlapped", given=tilings(), examples=60, what="random tiles", spec=HOW_MANY)
def random_tiles(overlapped, example):
    """The same count for tiles of any shape."""
    judged(overlapped, example, "")
