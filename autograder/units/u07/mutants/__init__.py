"""Answers to unit 7: plausible mistakes that every check must catch, other right ones that pass.

Here: reuse distance, the register tile and the bad width. Next room: orders.py.
"""

from __future__ import annotations

import math

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant

# ── reuse distance ──


def _smallest(counts, share, *, beyond=0, new=True, strict=False):
    every = sum(counts.values())
    for size in range(max(counts) + 3):
        gone = sum(n for d, n in counts.items() if (d < 0 and new) or d >= size + beyond)
        if gone < share * every or (not strict and gone == share * every):
            return size
    return size


@mutant("u07.smallest")
def the_distance_itself(counts, share):
    return max(0, _smallest(counts, share) - 1)


@mutant("u07.smallest")
def without_the_first_ones(counts, share):
    return _smallest(counts, share, new=False)


@mutant("u07.smallest")
def fewer_than_the_share(counts, share):
    return _smallest(counts, share, strict=True)


@mutant("u07.smallest")
def the_largest_distance(counts, share):
    return max(counts) + 1


@mutant("u07.smallest")
def the_share_of_hits(counts, share):
    return _smallest(counts, 1 - share)


@mutant("u07.smallest")
def one_line_at_least(counts, share):
    return max(1, _smallest(counts, share))


@mutant("u07.smallest")
def a_count_of_accesses(counts, share):
    return share * sum(counts.values())


@mutant("u07.smallest")
def in_the_order_of_the_counts(counts, share):
    """As if the distances were sorted."""
    left = sum(counts.values())
    if counts and left <= share * left:
        return 0
    for distance, count in counts.items():
        left -= count if distance >= 0 else 0
        if left <= share * sum(counts.values()):
            return distance + 1
    return max(counts) + 1


@mutant("u07.smallest")
def rounds_what_may_miss(counts, share):
    every = sum(counts.values())
    return _smallest(counts, round(share * every) / every)


@mutant("u07.smallest")
def a_percent_more(counts, share):
    return _smallest(counts, share * 1.01)


@mutant("u07.smallest")
def a_power_of_two_lines(counts, share):
    size = _smallest(counts, share)
    return 1 << (size - 1).bit_length() if size else 0


@mutant("u07.smallest")
def at_most_128_lines(counts, share):
    return min(_smallest(counts, share), 128)


@alternative("u07.smallest")
def by_the_share_of_hits(counts, share):
    """Another rounding."""
    every = sum(counts.values())
    hits = 0
    for size in range(max(counts) + 2):
        if hits / every >= 1 - share:
            return size
        hits += counts.get(size, 0)
    return size


@alternative("u07.smallest")
def by_bisection(counts, share):
    low, high = 0, max(counts) + 1
    allowed = share * sum(counts.values())
    while low < high:
        half = (low + high) // 2
        if sum(n for d, n in counts.items() if d < 0 or d >= half) <= allowed:
            high = half
        else:
            low = half + 1
    return low


@alternative("u07.smallest")
def from_the_far_end(counts, share):
    left = share * sum(counts.values()) - counts.get(-1, 0)
    for distance in sorted((d for d in counts if d >= 0), reverse=True):
        left -= counts[distance]
        if left < 0:
            return float(distance + 1)
    return 0


@alternative("u07.smallest")
def one_after_another(counts, share):
    return np.int64(_smallest(counts, share))


# ── the register tile ──


def _tile(registers, needs, cost=lambda r, v: (r + v) / (r * v)):
    fitting = [(r, v) for r in range(1, registers + 1) for v in range(1, registers + 1)
               if needs(r, v) <= registers]  # fmt: skip
    return min(fitting, key=lambda tile: cost(*tile)) if fitting else (1, 1)


@mutant("u07.register_tile")
def sums_alone(registers):
    return _tile(registers, lambda r, v: r * v)


@mutant("u07.register_tile")
def a_register_for_each_row(registers):
    return _tile(registers, lambda r, v: r * v + v + r)


@mutant("u07.register_tile")
def as_many_sums_as_fit(registers):
    return _tile(registers, lambda r, v: r * v + v + 1, lambda r, v: -r * v)


@mutant("u07.register_tile")
def two_vectors_as_ours(registers):
    return max((registers - 3) // 2, 1), 2 if registers > 4 else 1


@mutant("u07.register_tile")
def the_other_way(registers):
    rows, vectors = _tile(registers, lambda r, v: r * v + v + 1)
    return vectors, rows


@mutant("u07.register_tile")
def a_square(registers):
    side = max(int((registers - 2) ** 0.5) - 1, 1)
    return side, side


@mutant("u07.register_tile")
def eight_rows_at_most(registers):
    return _tile(registers, lambda r, v: r * v + v + 1 if r <= 8 else math.inf)


@mutant("u07.register_tile")
def four_vectors_at_most(registers):
    return _tile(registers, lambda r, v: r * v + v + 1 if v <= 4 else math.inf)


@mutant("u07.register_tile")
def as_square_as_possible(registers):
    """The vectors that a square would have, and as many rows as fit beside them."""
    vectors = max(math.isqrt(registers - 1) - 1, 1)
    return (registers - 1 - vectors) // vectors, vectors


@mutant("u07.register_tile")
def the_loads(registers):
    rows, vectors = _tile(registers, lambda r, v: r * v + v + 1)
    return (rows + vectors) / (rows * vectors)


@alternative("u07.register_tile")
def by_widths(registers):
    best = None
    for vectors in range(1, registers):
        rows = (registers - 1 - vectors) // vectors
        if rows >= 1 and (best is None or 1 / rows + 1 / vectors < 1 / best[0] + 1 / best[1]):
            best = [rows, vectors]
    return best


@alternative("u07.register_tile")
def the_last_of_the_best(registers):
    fitting = [(v, r) for r in range(1, 70) for v in range(1, 70) if r * v + v + 1 <= registers]
    vectors, rows = min(reversed(fitting), key=lambda t: round((t[0] + t[1]) / (t[0] * t[1]), 9))
    return np.array([rows, vectors])


@alternative("u07.register_tile")
def as_floats(registers):
    rows, vectors = _tile(registers, lambda r, v: r * v + v + 1)
    return float(rows), np.int64(vectors)


# ── the bad width ──


@mutant("u07.bad_width")
def a_power_of_two(sets, ways):
    return 64


@mutant("u07.bad_width")
def the_lines_of_a_way(sets, ways):
    """In lines and not in elements."""
    return max(sets, 16)


@mutant("u07.bad_width")
def the_whole_cache_in_bytes(sets, ways):
    return sets * ways * 64 + 16


@mutant("u07.bad_width")
def half_of_the_sets(sets, ways):
    return 8 * sets


@mutant("u07.bad_width")
def one_line_more(sets, ways):
    return 16 * (sets + 1)


@mutant("u07.bad_width")
def very_wide(sets, ways):
    return 16 * sets << 20


@mutant("u07.bad_width")
def twice_as_wide(sets, ways):
    """Too wide where there are 4,096 sets."""
    return 32 * sets


@mutant("u07.bad_width")
def at_most_a_thousand_sets(sets, ways):
    return 16 * min(sets, 1024)


@alternative("u07.bad_width")
def twice_as_wide_if_that_is_allowed(sets, ways):
    return np.int64(min(32 * sets, 65_536))


@alternative("u07.bad_width")
def always_the_widest(sets, ways):
    return 65_536


@alternative("u07.bad_width")
def tried_out(sets, ways):
    width = 16
    while len({width // 16 * row % sets for row in range(ways + 1)}) > 1:
        width += 16
    return float(width)


for _old, _new, _why in [
    ("for vectors in range(1, registers)", "reversed(", "which of several best tiles is left open"),
    ("for vectors in range(1, registers)", "[:-1]", "so many vectors leave no room for a sum"),
]:
    equivalent("u07.register_tile", _old, _new, because=_why)

equivalent(
    "u07.bad_width", "apart, line", "(16, sets)", because="the same product, named otherwise"
)
