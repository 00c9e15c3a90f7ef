"""Pairs of accesses, out[a*i + b] and out[c*j + d], and two quick tests that sometimes say no.

    by_gcd(6, 1, 4, 7)            True: there may be such whole numbers, as 2 divides 6
    by_bounds(1, 0, 1, 9, 9)      False: in 0..9, the values of i and of j + 9 do not overlap

Next room: pictures.py.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

import numpy as np

from course_lib.draw.plots.table import table

Pair = tuple[int, int, int, int, int]  # a, b, c, d, n
COUNT = 2000


def by_gcd(a: int, b: int, c: int, d: int) -> bool:
    """May a*i + b == c*j + d hold for any whole numbers at all?"""
    return (d - b) % gcd(a, c) == 0


def by_bounds(a: int, b: int, c: int, d: int, n: int) -> bool:
    """May it hold for some fractions i and j from 0 to n - 1 (Banerjee)?"""
    first, second = (sorted((offset, factor * (n - 1) + offset)) for factor, offset in
                     ((a, b), (c, d)))  # fmt: skip
    return first[0] <= second[1] and second[0] <= first[1]


def random_pairs(count: int = COUNT) -> list[Pair]:
    """Short loops with small factors, such as strides and blocks make them."""
    rng = np.random.default_rng(8)
    factors, offsets = rng.integers(1, 9, (count, 2)), rng.integers(0, 40, (count, 2))
    columns = factors[:, 0], offsets[:, 0], factors[:, 1], offsets[:, 1], rng.integers(4, 9, count)
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def maybe(tests: list[Callable[..., bool]], pairs: list[Pair]) -> list[Pair]:
    """The pairs of which none of the tests says no."""
    return [pair for pair in pairs if all(test(*pair) for test in tests)]


def tests_table(meet: Callable[..., Any]) -> Any:
    """How many of 2,000 pairs each test leaves, and how many really meet."""
    pairs = random_pairs()
    quick: dict[str, list[Callable[..., bool]]] = {
        "no test": [], "GCD": [lambda a, b, c, d, n: by_gcd(a, b, c, d)], "bounds": [by_bounds],
    }  # fmt: skip
    quick["GCD and bounds"] = quick["GCD"] + quick["bounds"]
    rows: list[list[Any]] = [[name, len(maybe(tests, pairs))] for name, tests in quick.items()]
    rows.append(["yours, exactly", sum(meet(*pair) is not None for pair in pairs)])
    heads = ["test", f"pairs that may meet (of {COUNT:,})"]
    return table(rows, heads, exact=heads[1:])


def false_alarms(meet: Callable[..., Any]) -> int:
    """What percentage of the pairs that both quick tests let pass do not meet."""
    left = maybe([lambda a, b, c, d, n: by_gcd(a, b, c, d), by_bounds], random_pairs())
    return round(100 * sum(meet(*pair) is None for pair in left) / len(left))
