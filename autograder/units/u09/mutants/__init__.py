"""Answers of unit 9, wrong and right: spaces, traps, measurements. Next room: beams.py."""

from __future__ import annotations

import itertools
import math

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.exercises import slot

# ── the size of a space ──


def _ways(n, levels):
    if levels == 1:
        return 1
    return sum(_ways(n // d, levels - 1) for d in range(1, n + 1) if n % d == 0)


def _by_primes(extents, levels, primes):
    """Only these factors are looked for; what is left is taken for one."""
    ways = 1
    for n in extents:
        for p in primes:
            power = 0
            while n % p == 0:
                n, power = n // p, power + 1
            ways *= math.comb(power + levels - 1, levels - 1)
        ways *= levels if n > 1 else 1
    return ways


mutants(
    "u09.space",
    no_ones=("range(1, n + 1)", "range(2, n)"),
    the_ways_are_added=("ways = 1", "ways = 0", "ways *=", "ways +="),
    # With parts that need not divide the loop.
    every_size_of_a_part=lambda extents, levels: math.prod(n ** (levels - 1) for n in extents),
    # The levels are chosen independently of one another.
    divisors_at_each_level=lambda extents, levels: by_recursion(extents, 2) ** (levels - 1),
    one_level_too_many=("levels - 1", "levels"),
    times_the_orders_of_the_loops=lambda extents, levels: (
        by_recursion(extents, levels) * math.factorial(len(extents))
    ),
    as_a_short_float=lambda extents, levels: float(np.float32(by_recursion(extents, levels))),
    in_floats=("ways = 1", "ways = 1.0"),
    in_64_bits=("return ways", "return (ways + 2 ** 63) % 2 ** 64 - 2 ** 63"),
    of_four_loops=("in extents", "in extents[:4]"),
    of_six_loops=("in extents", "in extents[:6]"),
    below_200=("range(1, n + 1)", "range(1, min(n + 1, 200))"),
    no_512_channels=("{extent: 1}", "{extent // 2 if extent % 512 == 0 else extent: 1}"),
    each_extent_once=("in extents", "in {*extents}"),
    four_levels_at_most=("levels - 1", "min(levels, 4) - 1"),
    small_primes_only=lambda extents, levels: _by_primes(extents, levels, (2, 3)),
    primes_up_to_41=lambda extents, levels: _by_primes(extents, levels, range(2, 42)),
)


@mutant("u09.space")
def the_order_does_not_count(extents, levels):
    def sorted_ways(n, levels, least=1):
        if levels == 1:
            return int(n >= least)
        return sum(sorted_ways(n // d, levels - 1, d) for d in range(least, n + 1) if n % d == 0)

    return math.prod(sorted_ways(n, levels) for n in extents)


@alternative("u09.space")
def by_recursion(extents, levels):
    return math.prod(_ways(n, levels) for n in extents)


@alternative("u09.space")
def by_prime_factors(extents, levels):
    """Each prime's factors are spread over the levels."""
    return _by_primes(extents, levels, range(2, max(extents) + 1))


@alternative("u09.space")
def by_lists_of_ways(extents, levels):
    def ways(n):
        tilings = [(n,)]
        for _ in range(levels - 1):
            tilings = [(*w[:-1], d, w[-1] // d) for w in tilings for d in range(1, w[-1] + 1)
                       if w[-1] % d == 0]  # fmt: skip
        return len(tilings)

    return math.prod(map(ways, extents))


# ── a trap for a narrow beam ──

END, PRICES = "'detour': ['best']}", "'best': 1.0}"

mutants(
    "u09.trap",
    one_decoy=("range(width)", "range(1)"),
    a_decoy_too_many=("range(width)", "range(width + 1)"),
    three_for_every_width=("range(width)", "range(3)"),
    for_widths_up_to_twenty=("range(width)", "range(min(width, 20))"),
    the_detour_is_as_cheap_and_comes_first=(
        *("[*decoys, 'detour']", "['detour', *decoys]", "5.0", "4.0"),
    ),
    the_best_is_not_much_better=("1.0", "3.0"),
    negative_prices=("1.0", "-1.0"),
    a_price_without_end=("5.0", "float('inf')"),
    a_price_in_quotes=("1.0", "'1'"),
    # Nine decisions away.
    the_best_is_too_deep=(
        *(END, "'detour': [0], **{str(n): [str(n + 1)] for n in range(8)}, '8': ['best']}"),
        *("[0]", "['0']", PRICES, PRICES[:-1] + ", **{str(n): 5.0 for n in range(9)}}"),
    ),
    decoys_that_lead_there_too=(END, "'detour': ['best'], 'decoy 0': ['best']}"),
    a_state_without_a_price=(", 'best': 1.0", ""),
    a_start_that_is_the_best=("9.0", "0.5"),
    # Cheaper than all others, and nobody finds it.
    a_best_that_no_way_leads_to=(PRICES, "'best': 1.0, 'unreachable': 0.25}"),
    two_trees=(
        *(END, "'detour': ['best'], 'other': ['leaf']}"),
        *(PRICES, "'best': 1.0, 'other': 9.0, 'leaf': 8.0}"),
    ),
    a_circle_beside_it=(
        *(END, "'detour': ['best'], 'x': ['y'], 'y': ['x']}"),
        *(PRICES, "'best': 1.0, 'x': 9.0, 'y': 8.0}"),
    ),
    a_way_back_to_the_start=(END, "'detour': ['best'], 'best': ['start']}"),
    decoys_that_meet_again=(
        *(END, "'detour': ['end', 'best'], **{d: ['end'] for d in decoys}}"),
        *(PRICES, "'best': 1.0, 'end': 8.0}"),
    ),
    a_successor_listed_twice=("['best']", "['best', 'best']"),
)
alternatives(
    "u09.trap",
    # Leaves are listed, too, with no successors.
    just_twice_as_much=(
        *(END, "'detour': ['best'], 'best': [], 'decoy 0': ()}"),
        *("9.0", "2", "4.0", "2", "5.0", "2.5", "1.0", "1"),
    ),
    # The order decides between states of equal price.
    equal_prices=("4.0", "5.0"),
)


@alternative("u09.trap")
def in_the_second_round(width):
    names = [f"d{n}" for n in range(width)]
    tree = {"start": ["a"], "a": [*names, "z"], "z": ["y"], "y": ["x"], "d0": ["e"]}
    prices = {"start": 10, "a": 10, "z": 10, "y": 10, "x": 1, "e": 8}
    return tree, {**prices, **dict.fromkeys(names, 9)}


@alternative("u09.trap")
def each_decoy_goes_on_a_little(width):
    tree, prices = slot("u09.trap").reference(width)
    for n in range(width):
        tree[f"decoy {n}"] = [f"end {n}"]
        prices[f"end {n}"] = np.float64(3.0)
    return tree, prices


# ── how many to measure ──

ALL = "min(measured)))"
OR_ALL = ", len(order) - 1)"  # where no number is enough

mutants(
    "u09.enough",
    rank_of_the_fastest=("(1 + within) * ", ""),
    the_place_in_the_list=("predicted[n]", "n"),
    counts_from_nothing=("1 + next", "next"),
    compared_with_the_prediction=(ALL, f"min(predicted)){OR_ALL}"),
    as_many_as_are_fast=lambda p, m, within: sum(s <= (1 + within) * min(m) for s in m),
    strictly_less=("s <= ", "s < ", ALL, f"min(measured)){OR_ALL}"),
    the_faster_of_equal_ones_first=("predicted[n]", "(predicted[n], measured[n])"),
    all_of_them=lambda predicted, measured, within: len(measured),
    to_whole_seconds=("order =", "measured = [*map(round, measured)]\n    order ="),
    to_milliseconds=("order =", "measured = [round(s, 3) for s in measured]\n    order ="),
    predictions_in_whole_seconds=("predicted[n]", "int(predicted[n])"),
    predictions_rounded=("predicted[n]", "round(predicted[n], 5)"),
    close_to_the_limit=("(1 + within)", "1.001 * (1 + within)"),
    a_percent_of_the_share=("+ within", "+ within / 100"),
    seconds_beside_the_fastest=("(1 + within) *", "within +"),
    the_slowest_first=("predicted[n]", "-predicted[n]"),
    a_share_of_one_at_most=("+ within", "+ min(within, 1)"),
    by_the_fastest_predicted=(ALL, "measured[order[0]]))"),
    equal_ones_from_the_end=("range(len(predicted))", "reversed(range(len(predicted)))"),
    the_first_of_equal_times=lambda p, m, within: 1 + sum(x < p[m.index(min(m))] for x in p),
    ten_at_most=("1 + next", "1 + min(9, next", ALL, f"{ALL})"),
)


@alternative("u09.enough")
def with_numpy(predicted, measured, within):
    order = np.argsort(np.asarray(predicted), kind="stable")
    fast = np.asarray(measured)[order] <= (1 + within) * np.min(measured)
    return int(np.argmax(fast)) + 1


@alternative("u09.enough")
def one_by_one(predicted, measured, within):
    left, k = list(range(len(predicted))), 0
    while True:
        n = min(left, key=lambda n: (predicted[n], n))
        left.remove(n)
        k += 1
        if measured[n] / min(measured) <= 1 + within:
            return k


@alternative("u09.enough")
def over_growing_sets(predicted, measured, within):
    pairs = sorted(zip(predicted, itertools.count(), measured, strict=False))
    for k in range(1, len(pairs) + 1):
        if min(m for _, _, m in pairs[:k]) <= min(measured) * (1 + within):
            return float(k)
    return None


for _old, _new, _why in [
    ("for extent in extents", "reversed(", "the loops are multiplied in any order"),
    ("for n, count in", "reversed(", "the ways are added in any order"),
    ("for part in", "reversed(", "the ways are added in any order"),
    ("for d in range(1, n + 1)", "n + 2", "n + 1 does not divide n, and 2 does not divide 1"),
]:
    equivalent("u09.space", _old, _new, because=_why)
for _old, _new, _why in [
    ("for n in range(width)", "reversed(", "the decoys are all alike"),
    ("[*decoys, 'detour']", "['detour', *decoys]", "the price decides, not the order"),
    ("'start': 9.0", "'start': ", "prices may differ as long as their order says the same"),
]:
    equivalent("u09.trap", _old, _new, because=_why)
