"""Hidden checks of unit 7: other sizes, other seeds, other caches."""

from __future__ import annotations

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import a_number
from autograder.units.u07.checks import ORDERS, always_misses, fitting, ratio_of
from autograder.units.u07.checks.cache import accesses, programs
from autograder.units.u07.checks.schedules import CASES, score
from course_lib.exercises import slot

SEED = 70_207
OTHER = [(48, 80, 84, 2048, 8192), (24, 144, 60, 4096, 32768), (60, 64, 140, 4096, 16384)]

harder("cost.cache.missed", "random_accesses", seed=SEED, given=accesses(80), examples=120)
harder("u07.smallest", "a_cache_of_that_size_is_enough", seed=SEED, given=programs(200))


@hidden("u07.orders", seed=SEED)
def the_lines_of_larger_products(orders):
    """The same question about other sizes."""
    for n in (64, 144, 1600):
        for order in ORDERS:
            right = slot("u07.orders").reference(order, n)
            if abs(a_number(orders(order, n), unit="lines") - right) > 0.02 * right:
                raise Wrong(f"Wrong for the order {order} and n = {n}.")


@hidden("u07.blocking", seed=SEED)
def other_products_wait_little_too(blocking):
    """The same score for other products, together with those that are known."""
    return score(blocking, [*OTHER, *CASES])


@hidden("u07.register_tile", seed=SEED)
def tiles_for_other_files(register_tile):
    """Few registers and many."""
    for registers in (3, 4, 5, 8, 12, 24, 48, 64):
        best = ratio_of(*slot("u07.register_tile").reference(registers))
        if ratio_of(*fitting(register_tile, registers)) > best + 1e-9:
            raise Wrong(f"With {registers} registers there is a better tile.")


@hidden("u07.bad_width", seed=SEED)
def other_caches(bad_width):
    """More sets, more ways."""
    for sets, ways in ((4, 3), (32, 8), (128, 12), (1024, 16), (2, 16)):
        always_misses(bad_width, sets, ways)
