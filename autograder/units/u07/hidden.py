"""Hidden checks of unit 7: other sizes, other seeds, other caches."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import a_number
from autograder.units.u07.checks import ORDERS, always_misses
from autograder.units.u07.checks.cache import accesses, histograms, judged, programs
from autograder.units.u07.checks.schedules import CASES, multiplies, score
from course_lib.exercises import slot

SEED = 70_207
OTHER = [(48, 80, 84, 2048, 8192), (24, 144, 60, 4096, 32768), (60, 64, 140, 4096, 16384)]

harder("cost.cache.missed", "random_accesses", seed=SEED, given=accesses(80), examples=120)
harder("u07.smallest", "a_cache_of_that_size_is_enough", seed=SEED, given=programs(200))
harder("u07.smallest", "so_many_lines_are_enough_and_one_less_is_not", seed=SEED + 1,
       given=histograms(40, 400), examples=60)  # fmt: skip


@hidden("cost.cache.missed", seed=SEED)
def long_programs_on_large_caches(missed, rng):
    """Sets that are no power of two, many ways, and lines from all over the memory."""
    for sets, ways, lines in ((1, 300, 700), (3000, 3, 20_000), (12, 64, 2000)):
        near = rng.integers(0, lines, 4000)
        far = rng.integers(0, 1 << 40, 4000)
        asked = np.where(rng.random(4000) < 0.05, far, near).tolist()
        judged(missed, asked, sets, ways, right=slot("cost.cache.missed").reference(
            asked, sets, ways))  # fmt: skip


@hidden("u07.orders", seed=SEED)
def the_lines_of_larger_products(orders, rng):
    """The same question about other sizes."""
    for n in (64, 1600, 4096, *(16 * rng.integers(4, 200, 3)).tolist()):
        for order in ORDERS:
            right = slot("u07.orders").reference(order, n)
            if abs(a_number(orders(order, n), unit="lines") - right) > 0.02 * right:
                raise Wrong(f"Wrong for the order {order} and n = {n}.")


@hidden("u07.blocking", seed=SEED)
def products_of_any_size(blocking, rng):
    """The smallest product that is allowed, and some that have few divisors."""
    for sizes in ((12, 16, 4), (24, 16, 20), (12, 80, 28), (36, 16, 4)):
        first, second = (1 << int(n) for n in rng.integers((8, 10), (13, 16)))
        multiplies(blocking, sizes, first, second)


@hidden("u07.blocking", seed=SEED)
def other_products_wait_little_too(blocking):
    """The same score for other products, together with those that are known."""
    return score(blocking, [*OTHER, *CASES])


@hidden("u07.bad_width", seed=SEED)
def other_caches(bad_width, rng):
    """Every number of sets that is allowed, with few ways and many."""
    for sets in (1 << n for n in range(1, 13)):
        for ways in (1, *rng.integers(2, 40, 2).tolist()):
            always_misses(bad_width, sets, ways)
