"""A tile that slides over the operands of a matrix product.

    tiles(m=4, n=6, k=4, tile=(2, 3, 2))        8 steps; the third one:

      i = 0, j = 3, k = 0:  C[0:2, 3:6] += A[0:2, 0:2] @ B[0:2, 3:6]

B stands above C and A to its left, so that an element of C is where a row of A meets a column of
B. The number in an element of C says how many of its k products have been added. Next room:
`addresses.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from course_lib.arguments import takes
from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.style import HEAT_STEPS
from course_lib.draw.base.svg import MONO_WIDTH, label, squares

CELL, GAP, HEAD, NAME = 22.0, 26.0, 68.0, 16.0
MOST = 64  # steps that can be walked through
Range = tuple[int, int]


@takes
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

    def look(inside: bool, done: int = 0) -> tuple[str, object]:
        heat = f"cl-n cl-heat{done * (HEAT_STEPS - 1) // k}" if done else "cl-n"
        return "cl-marked" if inside else heat, done or ""

    a = [[look(row in range(*i) and x in range(*p)) for x in range(k)] for row in range(m)]
    b = [[look(x in range(*p) and column in range(*j)) for column in range(n)] for x in range(k)]
    c = [
        [look(row in range(*i) and column in range(*j), done) for column, done in enumerate(line)]
        for row, line in enumerate(added)
    ]
    content = [label(MARGIN, 58, words)]
    for name, x, y, grid in (
        (f"A, {m}×{k}", MARGIN, top, a),
        (f"B, {k}×{n}", left, HEAD + NAME, b),
        (f"C, {m}×{n}: products added so far", left, top, c),
    ):
        content += [label(x, y - 5, name, "cl-s cl-m"), *squares(x, y, CELL, grid)]
    right = max(left + n * CELL, MARGIN + len(words) * 11 * MONO_WIDTH)
    text = f"{title}: {does}; {words}"
    return sketch(title, does, content, right, top + m * CELL, text)
