"""Visible checks of unit 7, Tiling.

Here are those of the numbers. The cache and its size are checked in cache.py; the schedules are
judged in schedules.py. Misses are counted by the stand-in of `missed`, which is right (and slower
than the text allows), so that no answer depends on another one. Next room: cache.py.
"""

from __future__ import annotations

import functools
from itertools import permutations
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.check.properties import a_number
from autograder.check.steps import with_steps
from course_lib.cost.cache import Cache, misses
from course_lib.exercises import baselines
from lessons.u07.products import scheduled

# ── the six orders ──


@functools.cache
def lines_of(order: str, n: int, kept: int) -> dict[str, int]:
    """The misses of each matrix in a fully associative cache of so many lines."""
    with baselines("cost.cache.missed"):
        kernel = scheduled((n, n, n), f"reorder({', '.join(order)})")
        (missed,) = misses(kernel, [Cache(64 * kept, kept)])
    return missed


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
            lines, program = lines_of(order, n, n // 2), f"orders({order!r}, {n})"
            right = sum(lines.values())
            value = a_number(orders(order, n), unit="lines", program=program)
            if abs(value - right) > 0.02 * right:
                problem = f"For the order {order} and n = {n}, {value:,.0f} lines are too "
                problem += f"{'few' if value < right else 'many'}{whose(value - right, lines, n)}."
                raise Wrong(problem, program=program, got=f"{value:,.0f}", spec=WITHIN)
    return "six orders of 32 × 32 and of 48 × 48"


def whose(difference: float, lines: dict[str, int], n: int) -> str:
    """The one matrix that another usual count would explain the difference of, if there is one."""
    for name, count in lines.items():
        for other in (0, n * n // 16, n * n, n**3 // 16, n**3):
            if other != count and abs(difference - (other - count)) < n * n / 32:
                return f", as if `{name}` brought in {other:,} of them"
    return ""


LONG = "it may be 4,096 or more, so going through all accesses takes too long"


@checks("u07.orders", spec=LONG)
def a_product_of_4096_is_no_obstacle(orders):
    """The lines of 4096 × 4096, in few steps."""
    few = with_steps(orders, 1_000_000, "a product of 4096 × 4096",
                     "does the function go through the accesses one by one?")  # fmt: skip
    for order in ORDERS:
        # the misses of a larger product: its parts grow with n**2 and n**3
        a, b = (sum(lines_of(order, size, size // 2).values()) / size**2 for size in (32, 48))
        right, program = 4096**2 * (a + (b - a) / 16 * (4096 - 32)), f"orders({order!r}, 4096)"
        value = a_number(few(order, 4096), unit="lines", program=program)
        if abs(value - right) > 0.03 * right:  # the parts were found with smaller products
            problem = f"{value:,.0f} lines are too {'few' if value < right else 'many'}."
            raise Wrong(problem, program=program, got=f"{value:,.0f}", spec=WITHIN)
    return "six orders of 4096 × 4096"


# ── the bad width ──


WIDTH, MISSES = "a multiple of 16, at least 16 and at most 65,536", "Every access must miss"


@checks(
    "u07.bad_width",
    spec=["The first element of each of the rows 0 to `ways` is read, from top to bottom",
          MISSES, WIDTH,
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
    """All lines are in one set: if not, each has room in its own, and hits the second time."""
    program = f"bad_width({sets}, {ways})"
    width = a_number(bad_width(sets, ways), unit="elements", program=program)
    if width != int(width) or width % 16 or not 16 <= width <= 65_536:
        problem = f"The width must be a multiple of 16 from 16 to 65,536, not {width:g}."
        raise Wrong(problem, program=program, spec=WIDTH)
    lines = [int(width) // 16 * row for row in range(ways + 1)]
    used = [line % sets for line in lines]
    if len(set(used)) > 1:
        problem = f"Only {ways + 1} of {2 * (ways + 1)} accesses miss at a width of {width:g}."
        placed = f"the lines {lines} are in the sets {used}"
        raise Wrong(problem, program=program, got=placed, spec=MISSES)
