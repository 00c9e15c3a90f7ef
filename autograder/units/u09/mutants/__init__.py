"""Answers of unit 9, wrong and right: spaces, traps, measurements. Next room: beams.py."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant

# ── the size of a space ──


def _ways(n, levels):
    if levels == 1:
        return 1
    return sum(_ways(n // d, levels - 1) for d in range(1, n + 1) if n % d == 0)


@mutant("u09.space")
def the_order_does_not_count(extents, levels):
    def sorted_ways(n, levels, least=1):
        if levels == 1:
            return int(n >= least)
        return sum(sorted_ways(n // d, levels - 1, d) for d in range(least, n + 1) if n % d == 0)

    return math.prod(sorted_ways(n, levels) for n in extents)


@mutant("u09.space")
def no_ones(extents, levels):
    def ways(n, levels):
        if levels == 1:
            return int(n > 1)
        return sum(ways(n // d, levels - 1) for d in range(2, n + 1) if n % d == 0)

    return math.prod(ways(n, levels) for n in extents)


@mutant("u09.space")
def the_ways_are_added(extents, levels):
    return sum(_ways(n, levels) for n in extents)


@mutant("u09.space")
def every_size_of_a_part(extents, levels):
    """With parts that need not divide the loop."""
    return math.prod(n ** (levels - 1) for n in extents)


@mutant("u09.space")
def divisors_at_each_level(extents, levels):
    """The levels are chosen independently of one another."""
    return math.prod(_ways(n, 2) ** (levels - 1) for n in extents)


@mutant("u09.space")
def one_level_too_many(extents, levels):
    return math.prod(_ways(n, levels + 1) for n in extents)


@mutant("u09.space")
def times_the_orders_of_the_loops(extents, levels):
    return math.prod(_ways(n, levels) for n in extents) * math.factorial(len(extents))


@mutant("u09.space")
def as_a_short_float(extents, levels):
    return float(np.float32(math.prod(_ways(n, levels) for n in extents)) * (1 + 1e-6))


def _all_ways(extents, levels):
    return [_ways(n, levels) for n in extents]


def _by_primes(n, levels, primes):
    """Only these primes are looked for; what is left is taken for one."""
    found = 1
    for p in primes:
        power = 0
        while n % p == 0:
            n, power = n // p, power + 1
        found *= math.comb(power + levels - 1, levels - 1)
    return found * (levels if n > 1 else 1)


INEXACT = {
    "in_floats": lambda extents, levels: math.prod(map(float, _all_ways(extents, levels))),
    "in_64_bits": lambda extents, levels: int(np.prod(_all_ways(extents, levels), dtype=np.int64)),
    "of_four_loops": lambda extents, levels: math.prod(_all_ways(extents[:4], levels)),
    "of_six_loops": lambda extents, levels: math.prod(_all_ways(extents[:6], levels)),
    "below_200": lambda extents, levels: math.prod(
        _ways(n, levels)
        if n < 200
        else sum(_ways(n // d, levels - 1) for d in range(1, 200) if n % d == 0)
        if levels > 1
        else 1
        for n in extents
    ),
    "no_512_channels": lambda extents, levels: math.prod(
        _all_ways([math.gcd(n, n // 2 if n % 512 == 0 else n) for n in extents], levels)
    ),
    "each_extent_once": lambda extents, levels: math.prod(_all_ways({*extents}, levels)),
    "four_levels_at_most": lambda extents, levels: math.prod(_all_ways(extents, min(levels, 4))),
    "small_primes_only": lambda extents, levels: math.prod(
        _by_primes(n, levels, (2, 3)) for n in extents
    ),
}
for _name, _wrong in INEXACT.items():
    _wrong.__name__ = _name
    mutant("u09.space")(_wrong)


@alternative("u09.space")
def by_recursion(extents, levels):
    return math.prod(_ways(n, levels) for n in extents)


@alternative("u09.space")
def by_prime_factors(extents, levels):
    """Each prime's factors are spread over the levels."""
    total = 1
    for n in extents:
        primes = Counter()
        d = 2
        while n > 1:
            while n % d == 0:
                primes[d] += 1
                n //= d
            d += 1
        for count in primes.values():
            total *= math.comb(count + levels - 1, levels - 1)
    return total


@alternative("u09.space")
def by_lists_of_ways(extents, levels):
    def ways(n):
        found = [(n,)]
        for _ in range(levels - 1):
            found = [(*w[:-1], d, w[-1] // d) for w in found for d in range(1, w[-1] + 1)
                     if w[-1] % d == 0]  # fmt: skip
        return len(found)

    return math.prod(map(ways, extents))


# ── a trap for a narrow beam ──


def _trap(decoys, *, decoy=4.0, detour=5.0, best=1.0, start=9.0):
    names = [f"decoy {n}" for n in range(decoys)]
    tree = {"start": [*names, "detour"], "detour": ["best"]}
    return tree, {"start": start, **dict.fromkeys(names, decoy), "detour": detour, "best": best}


@mutant("u09.trap")
def one_decoy(width):
    return _trap(1)


@mutant("u09.trap")
def a_decoy_too_many(width):
    return _trap(width + 1)


@mutant("u09.trap")
def three_for_every_width(width):
    return _trap(3)


@mutant("u09.trap")
def the_detour_is_as_cheap_and_comes_first(width):
    tree, prices = _trap(width, detour=4.0)
    return {**tree, "start": tree["start"][::-1]}, prices


@mutant("u09.trap")
def the_best_is_not_much_better(width):
    return _trap(width, best=3.0)


@mutant("u09.trap")
def negative_prices(width):
    return _trap(width, best=-1.0)


@mutant("u09.trap")
def a_price_without_end(width):
    return _trap(width, detour=math.inf)


@mutant("u09.trap")
def a_price_in_quotes(width):
    return _trap(width, best="1")


@mutant("u09.trap")
def the_best_is_too_deep(width):
    """Nine decisions away."""
    tree, prices = _trap(width)
    chain = ["detour", *(f"step {n}" for n in range(8)), "best"]
    tree = {"start": tree["start"], **{a: [b] for a, b in itertools.pairwise(chain)}}
    return tree, {**prices, **dict.fromkeys(chain[1:-1], 5.0)}


@mutant("u09.trap")
def decoys_that_lead_there_too(width):
    tree, prices = _trap(width)
    return {**tree, "decoy 0": ["best"]}, prices


@mutant("u09.trap")
def a_state_without_a_price(width):
    tree, prices = _trap(width)
    del prices["best"]
    return tree, prices


@mutant("u09.trap")
def a_start_that_is_the_best(width):
    return _trap(width, start=0.5)


@mutant("u09.trap")
def a_best_that_no_way_leads_to(width):
    """Cheaper than all others, and nobody finds it."""
    tree, prices = _trap(width)
    return tree, {**prices, "unreachable": 0.25}


@mutant("u09.trap")
def two_trees(width):
    tree, prices = _trap(width)
    return {**tree, "other": ["leaf"]}, {**prices, "other": 9.0, "leaf": 8.0}


@mutant("u09.trap")
def a_circle_beside_it(width):
    tree, prices = _trap(width)
    return {**tree, "x": ["y"], "y": ["x"]}, {**prices, "x": 9.0, "y": 8.0}


@mutant("u09.trap")
def a_way_back_to_the_start(width):
    tree, prices = _trap(width)
    return {**tree, "best": ["start"]}, prices


@mutant("u09.trap")
def decoys_that_meet_again(width):
    tree, prices = _trap(width)
    ends = {f"decoy {n}": ["end"] for n in range(width)} | {"detour": ["end", "best"]}
    return {**tree, **ends}, {**prices, "end": 8.0}


@mutant("u09.trap")
def a_successor_listed_twice(width):
    tree, prices = _trap(width)
    return {**tree, "detour": ["best", "best"]}, prices


@mutant("u09.trap")
def for_widths_up_to_twenty(width):
    return _trap(min(width, 20))


@alternative("u09.trap")
def just_twice_as_much(width):
    """Leaves are listed, too, with no successors."""
    tree, prices = _trap(width, decoy=2, detour=2.5, best=1, start=2)
    return {**tree, "best": [], "decoy 0": ()}, prices


@alternative("u09.trap")
def equal_prices(width):
    """The order decides between states of equal price."""
    return _trap(width, decoy=5.0)


@alternative("u09.trap")
def in_the_second_round(width):
    names = [f"d{n}" for n in range(width)]
    tree = {"start": ["a"], "a": [*names, "z"], "z": ["y"], "y": ["x"], "d0": ["e"]}
    prices = {"start": 10, "a": 10, "z": 10, "y": 10, "x": 1, "e": 8}
    return tree, {**prices, **dict.fromkeys(names, 9)}


@alternative("u09.trap")
def each_decoy_goes_on_a_little(width):
    tree, prices = _trap(width)
    for n in range(width):
        tree[f"decoy {n}"] = [f"end {n}"]
        prices[f"end {n}"] = np.float64(3.0)
    return tree, prices


# ── how many to measure ──


def _order(predicted):
    return sorted(range(len(predicted)), key=lambda n: predicted[n])


@mutant("u09.enough")
def rank_of_the_fastest(predicted, measured, within):
    return 1 + _order(predicted).index(measured.index(min(measured)))


@mutant("u09.enough")
def the_place_in_the_list(predicted, measured, within):
    return 1 + next(n for n, s in enumerate(measured) if s <= (1 + within) * min(measured))


@mutant("u09.enough")
def counts_from_nothing(predicted, measured, within):
    order = _order(predicted)
    limit = (1 + within) * min(measured)
    return next(k for k, n in enumerate(order) if measured[n] <= limit)


@mutant("u09.enough")
def compared_with_the_prediction(predicted, measured, within):
    order = _order(predicted)
    limit = (1 + within) * min(predicted)
    return next((k + 1 for k, n in enumerate(order) if measured[n] <= limit), len(order))


@mutant("u09.enough")
def as_many_as_are_fast(predicted, measured, within):
    return sum(s <= (1 + within) * min(measured) for s in measured)


@mutant("u09.enough")
def strictly_less(predicted, measured, within):
    order = _order(predicted)
    limit = (1 + within) * min(measured)
    return next((k + 1 for k, n in enumerate(order) if measured[n] < limit), len(order))


@mutant("u09.enough")
def the_faster_of_equal_ones_first(predicted, measured, within):
    order = sorted(range(len(predicted)), key=lambda n: (predicted[n], measured[n]))
    limit = (1 + within) * min(measured)
    return next(k + 1 for k, n in enumerate(order) if measured[n] <= limit)


@mutant("u09.enough")
def all_of_them(predicted, measured, within):
    return len(measured)


def _first(predicted, measured, limit, key=lambda seconds: seconds):
    order = sorted(range(len(predicted)), key=lambda n: key(predicted[n]))
    return next((k for k, n in enumerate(order, 1) if measured[n] <= limit), len(order))


NEARLY = {
    "to_whole_seconds": lambda p, m, w: _first(p, [*map(round, m)], (1 + w) * min(map(round, m))),
    "to_milliseconds": lambda p, m, w: _first(
        p, [round(s, 3) for s in m], (1 + w) * min(round(s, 3) for s in m)
    ),
    "predictions_in_whole_seconds": lambda p, m, w: _first(p, m, (1 + w) * min(m), key=int),
    "predictions_rounded": lambda p, m, w: _first(p, m, (1 + w) * min(m), lambda s: round(s, 5)),
    "close_to_the_limit": lambda p, m, w: _first(p, m, (1 + w) * min(m) * 1.001),
    "a_percent_of_the_share": lambda p, m, w: _first(p, m, (1 + w / 100) * min(m)),
    "seconds_beside_the_fastest": lambda p, m, w: _first(p, m, w + min(m)),
    "the_slowest_first": lambda p, m, w: _first(p, m, (1 + w) * min(m), lambda s: -s),
    "a_share_of_one_at_most": lambda p, m, w: _first(p, m, (1 + min(w, 1)) * min(m)),
    "by_the_fastest_predicted": lambda p, m, w: _first(p, m, (1 + w) * m[p.index(min(p))]),
    "equal_ones_from_the_end": lambda p, m, w: _first(p[::-1], m[::-1], (1 + w) * min(m)),
    "the_first_of_equal_times": lambda p, m, w: 1 + sum(
        other < p[m.index(min(m))] for other in p
    ),
    "ten_at_most": lambda p, m, w: min(_first(p, m, (1 + w) * min(m)), 10),
}  # fmt: skip
for _name, _wrong in NEARLY.items():
    _wrong.__name__ = _name
    mutant("u09.enough")(_wrong)


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
    (
        "for d in range(1, n + 1)",
        "n + 2",
        "n + 1 does not divide n, unless n is 1: then 2 does not",
    ),
]:
    equivalent("u09.space", _old, _new, because=_why)
for _old, _new, _why in [
    ("for n in range(width)", "reversed(", "the decoys are all alike"),
    ("[*decoys, 'detour']", "['detour', *decoys]", "the price decides, not the order"),
    ("'start': 9.0", "'start': ", "prices may differ as long as their order says the same"),
]:
    equivalent("u09.trap", _old, _new, because=_why)
