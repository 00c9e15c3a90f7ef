"""Visible checks of unit 7, Tiling.

Here are those of the numbers. The cache and its size are checked in cache.py; the schedules are
judged in schedules.py. Misses are counted by the stand-in of `missed`, which is right (and slower
than the text allows), so that no answer depends on another one. Next room: cache.py.
"""

from __future__ import annotations

import functools
from itertools import permutations
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number
from course_lib.cost.cache import Cache, misses, set_by_set
from course_lib.exercises import baselines
from lessons.u07.products import scheduled

# The loads for each multiply-add of the best tile, by the number of registers.
TILES = {3: 2 / 1, 5: 4 / 3, 16: 7 / 12, 32: 10 / 25, 61: 5 / 18, 500: 44 / 475}


# ── the six orders ──


@functools.cache
def lines_of(order: str, n: int, kept: int) -> dict[str, int]:
    """The misses of each matrix in a fully associative cache of so many lines."""
    with baselines("cost.cache.missed"):
        kernel = scheduled((n, n, n), f"reorder({', '.join(order)})")
        (found,) = misses(kernel, [Cache(64 * kept, kept)])
    return found


ORDERS = tuple(map("".join, permutations("mnk")))
WITHIN = "the number of misses, correct within 2 % for each of the six orders"
ORDERS_SPEC = (
    "How many lines does a product of two n × n matrices bring into the cache",
    WITHIN,
    "`out[m, n] += x[m, k] * w[k, n]` is inside the loops",
    "A line holds 16 elements, and each matrix begins at the start of a line",
    "keeps the most recently used lines",
    "One row of each matrix fits into it at the same time, with a few lines to spare",
    "A column does not fit: it touches n lines, and the cache has at most half as many",
    "n        a multiple of 16, at least 32",
    "the three loops from the outside to the inside",
)


@checks("u07.orders", spec=ORDERS_SPEC)
def the_lines_of_each_order(orders):
    """The misses of products of 32 × 32 and 48 × 48, in a cache of half as many lines."""
    for n in (32, 48):
        for order in ("mkn", "mnk", *ORDERS):
            found = lines_of(order, n, n // 2)
            right, value = sum(found.values()), a_number(orders(order, n), unit="lines")
            if abs(value - right) > 0.02 * right:
                side = "few" if value < right else "many"
                raise Wrong(
                    f"For the order {order} and n = {n}, {value:,.0f} lines are too {side}"
                    f"{whose(value - right, found, n)}.",
                    program=f"orders({order!r}, {n})",
                    got=f"{value:,.0f}",
                    spec=WITHIN,
                )
    return "six orders of 32 × 32 and of 48 × 48"


def whose(difference: float, found: dict[str, int], n: int) -> str:
    """The one matrix that another usual count would explain the difference of, if there is one."""
    for name, count in found.items():
        for other in (0, n * n // 16, n * n, n**3 // 16, n**3):
            if other != count and abs(difference - (other - count)) < n * n / 32:
                return f", as if `{name}` brought in {other:,} of them"
    return ""


# ── the register tile ──

background(
    "u07.register_tile",
    "Then it does rows × vectors vector multiply-adds, row after row",
    because="what the number of loads is divided by",
)
FIT = "All sums, the vectors of w and one number of x must be in registers at the same time"
FEWEST = "The tile of sums that needs the fewest loads for each multiply-add"


@checks(
    "u07.register_tile",
    spec=[FIT, FEWEST, "Each step of k loads `vectors` vectors of w and, for each of the rows",
          "there are `registers` of them", "If several tiles are equally good, any of them"],
)  # fmt: skip
def the_best_tile(register_tile):
    """Tiles for 3, 5, 16, 32, 61 and 500 registers."""
    for registers, fewest in TILES.items():
        rows, vectors = fitting(register_tile, registers)
        if ratio_of(rows, vectors) > fewest + 1e-9:
            raise Wrong(
                f"With {registers} registers there is a tile with fewer than "
                f"{ratio_of(rows, vectors):.3f} loads for each multiply-add.",
                program=f"register_tile({registers})",
                got=f"{rows} rows × {vectors} vectors",
                spec=FEWEST,
            )
    return "3, 5, 16, 32, 61 and 500 registers"


def ratio_of(rows: int, vectors: int) -> float:
    return (rows + vectors) / (rows * vectors)


def fitting(register_tile: Any, registers: int) -> tuple[int, int]:
    """The answer as two whole numbers that fit."""
    program = f"register_tile({registers})"
    got = register_tile(registers)
    try:
        rows, vectors = (int(v) for v in got if int(v) == v and v >= 1)
    except (TypeError, ValueError):
        shown = "nothing (is a `return` missing?)" if got is None else repr(got)[:200]
        raise Wrong("The function must return (rows, vectors), two whole numbers of at least 1.",
                    program=program, got=shown, spec=FEWEST) from None  # fmt: skip
    needed = rows * vectors + vectors + 1
    if needed > registers:
        raise Wrong(
            f"{rows} rows × {vectors} vectors need {needed} registers, and there are {registers}.",
            program=program,
            got=f"({rows}, {vectors})",
            spec=FIT,
        )
    return rows, vectors


# ── the bad width ──


@checks(
    "u07.bad_width",
    spec=["The first element of each of the rows 0 to `ways` is read, from top to bottom",
          "Every access must miss", "a multiple of 16, at least 16 and at most 65,536",
          "The matrix is row-major and begins at the start of a line, and a line holds 16",
          "A width at which a cache cannot even keep `ways` + 1 lines of one column",
          "sets is a power of two from 2 to 4,096"],
)  # fmt: skip
def every_access_misses(bad_width):
    """Five caches."""
    for sets, ways in ((8, 4), (64, 8), (2, 1), (16, 3), (4096, 8)):
        always_misses(bad_width, sets, ways)
    return "five caches"


def always_misses(bad_width: Any, sets: int, ways: int) -> None:
    program = f"bad_width({sets}, {ways})"
    width = a_number(bad_width(sets, ways), unit="elements")
    if width != int(width) or width % 16 or not 16 <= width <= 65_536:
        raise Wrong(
            f"The width must be a multiple of 16 from 16 to 65,536, not {width:g}.",
            program=program,
            spec="a multiple of 16, at least 16 and at most 65,536",
        )
    lines = [int(width) // 16 * row for row in range(ways + 1)] * 2
    used = sorted({line % sets for line in lines})  # numbered anew, because few of them are
    missing = set_by_set(
        [used.index(line % sets) + len(used) * line for line in lines], len(used), ways
    )
    if len(missing) < len(lines):
        raise Wrong(
            f"Only {len(missing)} of {len(lines)} accesses miss at a width of {width:g}.",
            program=program,
            got=f"the lines {lines[: ways + 1]} are in the sets "
            f"{[line % sets for line in lines[: ways + 1]]}",
            spec="Every access must miss",
        )
