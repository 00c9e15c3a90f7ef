"""Answers to unit 7: plausible mistakes that every check must catch, other right ones that pass.

Here: reuse distance, the register tile and the bad width. Next room: orders.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants

# ── reuse distance ──

ALLOWED = "share * sum(counts.values())"
MISSES = "sum((n for d, n in counts.items() if d < 0 or d >= s))"
SIZE = f"next((s for s in sizes if {MISSES} <= allowed))"
mutants(
    "u07.smallest",
    the_distance_itself=(SIZE, f"max(0, {SIZE} - 1)"),
    without_the_first_ones=("d < 0 or d >= s", "d >= s"),
    fewer_than_the_share=("<= allowed))", "< allowed), max(sizes))"),
    the_largest_distance=lambda counts, share: max(counts) + 1,
    the_share_of_hits=(ALLOWED, "(1 - share) * sum(counts.values())", "<= allowed))",
                       "<= allowed), max(sizes))"),
    one_line_at_least=(SIZE, f"max(1, {SIZE})"),
    a_count_of_accesses=lambda counts, share: share * sum(counts.values()),
    # as if the distances were sorted
    in_the_order_of_the_counts=("sorted((distance + 1 for distance in counts))",
                                "[0, *(d + 1 for d in counts if d >= 0)]"),
    rounds_what_may_miss=(ALLOWED, f"round({ALLOWED})"),
    a_percent_more=(ALLOWED, f"1.01 * {ALLOWED}"),
    a_power_of_two_lines=(SIZE, f"(lambda n: 1 << (n - 1).bit_length() if n else 0)({SIZE})"),
    at_most_128_lines=(SIZE, f"min({SIZE}, 128)"),
    at_most_65_536_lines=(SIZE, f"min({SIZE}, 1 << 16)"),
)  # fmt: skip


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
    size, allowed = 0, share * sum(counts.values())
    while sum(n for d, n in counts.items() if not 0 <= d < size) > allowed:
        size += 1
    return np.int64(size)


# ── the bad width ──

mutants(
    "u07.bad_width",
    a_power_of_two=lambda sets, ways: 64,
    the_lines_of_a_way=lambda sets, ways: max(sets, 16),  # in lines and not in elements
    the_whole_cache_in_bytes=lambda sets, ways: sets * ways * 64 + 16,
    half_of_the_sets=lambda sets, ways: 8 * sets,
    one_line_more=lambda sets, ways: 16 * (sets + 1),
    very_wide=lambda sets, ways: 16 * sets << 20,
    twice_as_wide=lambda sets, ways: 32 * sets,  # too wide where there are 4,096 sets
    at_most_a_thousand_sets=lambda sets, ways: 16 * min(sets, 1024),
)
alternatives(
    "u07.bad_width",
    twice_as_wide_if_that_is_allowed=lambda sets, ways: np.int64(min(32 * sets, 65_536)),
    always_the_widest=lambda sets, ways: 65_536,
)


@alternative("u07.bad_width")
def tried_out(sets, ways):
    width = 16
    while len({width // 16 * row % sets for row in range(ways + 1)}) > 1:
        width += 16
    return float(width)


equivalent("u07.bad_width", "apart, line", "(16, sets)", because="the product, named otherwise")
