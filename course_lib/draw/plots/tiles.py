"""A tile that slides over the operands of a matrix product.

    tiles(m=4, n=6, k=4, tile=(2, 3, 2))        8 steps; the third one:

      i = 0, j = 3, k = 0:  C[0:2, 3:6] += A[0:2, 0:2] @ B[0:2, 3:6]

B stands above C and A to its left, so that an element of C is where a row of A meets a column of
B. The number in an element of C says how many of its k products have been added. Next room:
`addresses.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from course_lib.draw.base.picture import Picture, framed
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.style import HEAT_STEPS
from course_lib.draw.base.svg import MONO_WIDTH, drawing, label, tag

CELL, GAP, MARGIN, HEAD, NAME = 22.0, 26.0, 14.0, 68.0, 16.0
MOST = 64  # steps that can be walked through
Range = tuple[int, int]


def tiles(m: int, n: int, k: int, tile: tuple[int, int, int]) -> Picture:
    """Walk through `C[m, n] += A[m, k] @ B[k, n]`, one tile (in m, n, k) after the other.

    The loops run i, j, k from the outermost to the innermost; a tile at the end may be smaller.
    """
    if min(m, n, k, *tile) < 1 or max(m, n, k) > 24:
        raise ValueError(f"sizes and tiles are 1 to 24 elements, got {m}, {n}, {k} and {tile}")
    steps = list(_steps((m, n, k), tile))
    if len(steps) > MOST:
        raise ValueError(f"{len(steps)} steps are too many to walk through ({MOST}): larger tiles?")
    added = [[0] * n for _ in range(m)]
    read_a = read_b = 0
    states: list[tuple[str, str | Picture]] = []
    for i, j, p in steps:
        for row, column in product(range(*i), range(*j)):
            added[row][column] += p[1] - p[0]
        read_a += (i[1] - i[0]) * (p[1] - p[0])
        read_b += (p[1] - p[0]) * (j[1] - j[0])
        words = f"read so far: {read_a} elements of A, {read_b} of B"
        name = f"i={i[0]} j={j[0]} k={p[0]}"
        states.append((name, _step((m, n, k), (i, j, p), added, words)))
    return stepper(
        states, f"A product of {m}×{k} and {k}×{n}, in tiles of {'×'.join(map(str, tile))}"
    )


def _steps(sizes: tuple[int, ...], tile: tuple[int, ...]) -> Iterator[tuple[Range, ...]]:
    ranges = [
        [(low, min(low + step, size)) for low in range(0, size, step)]
        for size, step in zip(sizes, tile, strict=True)
    ]
    return product(*ranges)


def _step(
    sizes: tuple[int, int, int], at: tuple[Range, ...], added: list[list[int]], words: str
) -> Picture:
    (m, n, k), (i, j, p) = sizes, at
    rows, columns, inner = (f"{low}:{high}" for low, high in at)
    title = f"i = {i[0]}, j = {j[0]}, k = {p[0]}"
    does = f"C[{rows}, {columns}] += A[{rows}, {inner}] @ B[{inner}, {columns}]"
    left, top = MARGIN + k * CELL + GAP, HEAD + NAME + k * CELL + GAP
    content = [label(MARGIN, 24, title, "cl-h"), label(MARGIN, 42, does), label(MARGIN, 58, words)]

    def inside(row: int, column: int, of: tuple[Range, Range]) -> bool:
        return of[0][0] <= row < of[0][1] and of[1][0] <= column < of[1][1]

    def operand(of: tuple[Range, Range]) -> Callable[[int, int], tuple[str, str]]:
        return lambda row, column: ("cl-marked" if inside(row, column, of) else "cl-n", "")

    def result(row: int, column: int) -> tuple[str, str]:
        done = added[row][column]
        heat = f"cl-n cl-heat{done * (HEAT_STEPS - 1) // k}" if done else "cl-n"
        return "cl-marked" if inside(row, column, (i, j)) else heat, str(done or "")

    content += _matrix("A", MARGIN, top, m, k, operand((i, p)))
    content += _matrix("B", left, HEAD + NAME, k, n, operand((p, j)))
    content += _matrix("C: products added so far", left, top, m, n, result)
    wide = MARGIN + max(len(does), len(words)) * 11 * MONO_WIDTH
    size = max(left + n * CELL, wide) + MARGIN, top + m * CELL + MARGIN
    description = f"{does}; {words}"
    return framed(title, drawing(title, description, *size, content), f"{title}: {description}")


def _matrix(
    name: str,
    x: float,
    y: float,
    rows: int,
    columns: int,
    look: Callable[[int, int], tuple[str, str]],
) -> list[str]:
    """A grid of squares under its name; `look` says the class and the words of each."""
    content = [label(x, y - 5, f"{name}, {rows}×{columns}", "cl-s cl-m")]
    for row, column in product(range(rows), range(columns)):
        klass, words = look(row, column)
        left, top = x + column * CELL, y + row * CELL
        content.append(tag("rect", x=left, y=top, width=CELL, height=CELL, klass=klass))
        if words:
            content.append(label(left + CELL / 2, top + CELL / 2 + 3.5, words, "cl-s cl-mid"))
    return content
