"""Answers to schedule.beam_search and u09.search, wrong and right."""

from __future__ import annotations

import heapq
import math
import random
from contextlib import suppress

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant


def _beam(start, successors, price, width, depth, *, dedupe="all", worse_stops=False, ties="first",
          infinite=False, rest=False, last=False, each=False, twice=False):  # fmt: skip
    """A beam search with switches."""
    costs, going_on, best, waiting = {start: price(start)}, [start], start, []
    for _ in range(depth):
        found, here = [], set()
        for state in going_on:
            mine = []
            for new in successors(state):
                if dedupe == "all" and (new in costs or new in here):
                    continue
                if dedupe == "round" and new in here:
                    continue
                here.add(new)
                mine.append(new)
            if each:
                mine.sort(key=lambda s: costs.setdefault(s, price(s)))
                mine = mine[:width]
            found += mine
        for state in found:
            if state not in costs or twice or dedupe != "all":
                costs[state] = price(state)
        pool = found + waiting if rest else found
        order = sorted(pool[::-1] if ties == "last" else pool, key=lambda s: costs[s])
        cut = len(order) if each else width
        going_on = [s for s in order[:cut] if infinite or costs[s] < math.inf]
        waiting = order[cut:]
        if not going_on:
            break
        if worse_stops and costs[going_on[0]] >= costs[best]:
            break
        best = going_on[0] if last else min([best, *going_on], key=lambda s: costs[s])
    return best


@mutant("schedule.beam_search")
def greedy_whatever_the_width(start, successors, price, width, depth):
    return _beam(start, successors, price, 1, depth)


@mutant("schedule.beam_search")
def a_round_without_gain_ends_it(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth, worse_stops=True)


@mutant("schedule.beam_search")
def the_best_of_the_last_round(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth, last=True)


@mutant("schedule.beam_search")
def forgets_what_it_has_seen(start, successors, price, width, depth):
    return _beam(start, successors, price, width, min(depth, 6), dedupe="none")


@mutant("schedule.beam_search")
def forgets_the_rounds_before(start, successors, price, width, depth):
    return _beam(start, successors, price, width, min(depth, 12), dedupe="round")


@mutant("schedule.beam_search")
def so_many_of_each_parent(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth, each=True)


@mutant("schedule.beam_search")
def the_cheapest_of_each_parent(start, successors, price, width, depth):
    costs, going_on, best = {start: price(start)}, [start], start
    for _ in range(depth):
        following = []
        for state in going_on:
            new = [s for s in dict.fromkeys(successors(state)) if s not in costs]
            costs |= {s: price(s) for s in new}
            new.sort(key=lambda s: costs[s])
            following += [s for s in new[:width] if costs[s] < math.inf]
        going_on = sorted(following, key=lambda s: costs[s])
        best = min([best, *going_on], key=lambda s: costs[s])
    return best


@mutant("schedule.beam_search")
def the_start_goes_on_only_if_it_is_finite(start, successors, price, width, depth):
    costs = {start: price(start)}
    if costs[start] == math.inf:
        return start
    return _beam(start, successors, lambda s: costs.get(s) or price(s), width, depth)


@mutant("schedule.beam_search")
def the_last_of_equal_ones(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth, ties="last")


@mutant("schedule.beam_search")
def goes_on_from_what_does_not_run(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth, infinite=True)


@mutant("schedule.beam_search")
def those_that_stayed_behind_may_come_back(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth, rest=True)


@mutant("schedule.beam_search")
def one_round_too_many(start, successors, price, width, depth):
    return _beam(start, successors, price, width, depth + 1)


@mutant("schedule.beam_search")
def never_prices_the_start(start, successors, price, width, depth):
    return _beam(start, successors, lambda s: math.inf if s == start else price(s), width, depth)


@mutant("schedule.beam_search")
def one_too_wide(start, successors, price, width, depth):
    return _beam(start, successors, price, width + 1, depth)


@mutant("schedule.beam_search")
def the_price_of_the_best(start, successors, price, width, depth):
    seen = {}
    best = _beam(start, successors, lambda s: seen.setdefault(s, price(s)), width, depth)
    return seen[best] + 0.5


def _loosely(*, cost=lambda price: price, key=lambda state: state, keep=lambda state: True):
    """A beam search that rounds prices, compares something else, or leaves some states out."""

    def search(start, successors, price, width, depth):
        costs, going_on, best, seen = {start: price(start)}, [start], start, {key(start)}
        for _ in range(depth):
            found = []
            for new in [new for state in going_on for new in successors(state)]:
                if key(new) not in seen and keep(new):
                    seen.add(key(new))
                    found.append(new)
                    costs[new] = price(new)
            found.sort(key=lambda s: cost(costs[s]) if costs[s] < math.inf else math.inf)
            going_on = [s for s in found[:width] if costs[s] < math.inf]
            best = min([best, *going_on], key=lambda s: cost(costs[s])
                       if costs[s] < math.inf else math.inf)  # fmt: skip
        return best

    return search


def _in_pairs(start, successors, price, width, depth):
    """Of equally cheap states, the one that is less."""
    costs, front = {start: price(start)}, [start]
    for _ in range(depth):
        new = [n for n in dict.fromkeys(n for s in front for n in successors(s)) if n not in costs]
        pairs = sorted((costs.setdefault(n, price(n)), n) for n in new)
        front = [n for c, n in pairs[:width] if c < math.inf]
    return min(costs, key=costs.__getitem__)


def _start_again(start, successors, price, width, depth):
    """The start is new if a state leads to it."""
    costs = {start: price(start)}
    first = costs.pop(start)
    front, best = [start], (first, start)
    for _ in range(depth):
        new = [n for n in dict.fromkeys(n for s in front for n in successors(s)) if n not in costs]
        costs |= {n: first if n == start else price(n) for n in new}
        front = sorted((n for n in new if costs[n] < math.inf), key=costs.__getitem__)[:width]
        best = min([best, *((costs[n], n) for n in front)], key=lambda pair: pair[0])
    return best[1]


def _below(limit):
    """Whatever does not cost less than that cannot be run."""

    def search(start, successors, price, width, depth):
        return _beam(start, successors, lambda s: c if limit(c := price(s)) else math.inf,
                     width, depth)  # fmt: skip

    return search


LOOSE = {
    "rounds_prices_to_whole_numbers": _loosely(cost=round),
    "cuts_prices_to_whole_numbers": _loosely(cost=int),
    "rounds_prices_a_little": _loosely(cost=lambda price: round(price, 9)),
    "prices_without_a_sign": _loosely(cost=abs),
    "prices_as_short_floats": _loosely(cost=np.float32),
    "compares_objects": _loosely(key=id),
    "compares_what_is_printed_of_them": _loosely(key=lambda state: str(state)[:1]),
    "leaves_out_empty_states": _loosely(keep=bool),
    "the_lesser_of_equally_cheap_states": _in_pairs,
    "the_start_is_found_again": _start_again,
    "a_price_must_be_positive": _below(lambda price: price > 0),
    "large_prices_are_infinite": _below(lambda price: price < 1e9),
    "four_rounds_at_most": lambda a, b, c, width, depth: _beam(a, b, c, width, min(depth, 4)),
    "a_width_of_three_at_most": lambda a, b, c, width, depth: _beam(a, b, c, min(width, 3), depth),
}
for _name, _wrong in LOOSE.items():
    _wrong.__name__ = _name
    mutant("schedule.beam_search")(_wrong)


@alternative("schedule.beam_search")
def with_a_heap(start, successors, price, width, depth):
    prices, front, best = {start: price(start)}, [start], start
    while front and depth > 0:
        depth -= 1
        heap = []
        for state in front:
            for new in successors(state):
                if new in prices:
                    continue
                prices[new] = cost = price(new)
                heapq.heappush(heap, (cost, len(prices), new))
        front = [s for c, _, s in heapq.nsmallest(width, heap) if c != math.inf]
        if front and prices[front[0]] < prices[best]:
            best = front[0]
    return best


@alternative("schedule.beam_search")
def by_recursion(start, successors, price, width, depth):
    costs = {start: price(start)}

    def onward(front, left):
        if left and front:
            new = list(dict.fromkeys(n for s in front for n in successors(s)))
            new = [n for n in new if n not in costs]
            costs.update((n, price(n)) for n in new)
            on = sorted((n for n in new if not math.isinf(costs[n])), key=costs.__getitem__)
            onward(on[:width], left - 1)

    onward([start], depth)
    return min(costs, key=costs.__getitem__)


@alternative("schedule.beam_search")
def with_lists(start, successors, price, width, depth):
    order, cost, front = [start], [price(start)], [0]
    for _ in range(depth):
        begin = len(order)
        for place in front:
            for new in successors(order[place]):
                if new not in order:
                    order.append(new)
                    cost.append(price(new))
        places = [p for p in range(begin, len(order)) if cost[p] < math.inf]
        front = sorted(places, key=lambda p: (cost[p], p))[:width]
    return order[cost.index(min(cost))]


# ── a search that looks at few ──


def _within(successors, price, budget, plan):
    """Whatever the plan prices, until the budget is spent; the best of it."""
    costs = {}

    def ask(state):
        if state not in costs:
            if len(costs) == budget:
                raise StopIteration
            costs[state] = price(state)
        return costs[state]

    with suppress(StopIteration):
        plan(ask)
    return min(costs, key=lambda s: costs[s])


@mutant("u09.search")
def the_start(successors, price, budget):
    price(())
    return ()


@mutant("u09.search")
def spends_too_much(successors, price, budget):
    return _beam((), successors, price, 2, 6)


@mutant("u09.search")
def spends_too_much_and_catches_what_is_said(successors, price, budget):
    def safely(state):
        try:
            return price(state)
        except Exception:
            return math.inf

    return _beam((), successors, safely, 8, 6)


@mutant("u09.search")
def greedy_until_it_is_spent(successors, price, budget):
    return _within(successors, price, budget, lambda ask: _beam((), successors, ask, 1, 6))


@mutant("u09.search")
def at_random(successors, price, budget):
    rng = random.Random(0)

    def plan(ask):
        for _ in range(1000):
            state = ()
            for _ in range(rng.randint(1, 6)):
                following = successors(state)
                state = rng.choice(following) if following else state
            ask(state)

    return _within(successors, price, budget, plan)


@mutant("u09.search")
def the_first_tiles(successors, price, budget):
    return min(successors(())[:budget], key=price)


@mutant("u09.search")
def a_schedule_of_its_own(successors, price, budget):
    best = min(successors(())[:budget], key=price)
    return (*best, "inner: unroll(k0)", "inner: unroll(k1)")


@mutant("u09.search")
def by_the_length_of_the_text(successors, price, budget):
    best = sorted(successors(()), key=lambda s: len(s[-1]))[:budget]
    return min(best, key=price)


def _tiles_and_two(successors, price, budget, keep, tiles=0.75, ordered=True):
    def plan(ask):
        first = [s for s in successors(()) if s[0].startswith("tile")]
        first = first[: max(1, int(tiles * budget))]
        costs = {s: ask(s) for s in first}
        first = sorted(first, key=lambda s: costs[s]) if ordered else first
        for tile in first[:keep]:
            for one in successors(tile):
                if one[-1].startswith("inner: unroll"):
                    for two in successors(one):
                        if two[-1].startswith("inner: unroll"):
                            ask(two)

    return _within(successors, price, budget, plan)


@mutant("u09.search")
def the_first_tiles_of_the_list(successors, price, budget):
    return _tiles_and_two(successors, price, budget, 99, ordered=False)


@mutant("u09.search")
def the_first_two_inner_decisions_of_the_list(successors, price, budget):
    """Never looks at a price before the end."""

    def plan(ask):
        for tile in successors(()):
            for one in successors(tile) if tile[0].startswith("tile") else ():
                for two in successors(one) if one[-1].startswith("inner: unroll") else ():
                    if two[-1].startswith("inner: unroll"):
                        ask(two)
        for tile in successors(()):
            ask(tile)

    return _within(successors, price, budget, plan)


@alternative("u09.search")
def the_best_two_tiles(successors, price, budget):
    return _tiles_and_two(successors, price, budget, 2)


@alternative("u09.search")
def most_of_it_for_tiles(successors, price, budget):
    return list(_tiles_and_two(successors, price, budget, 4, 0.8))


@alternative("u09.search")
def without_pricing_a_tile(successors, price, budget):
    """Straight to the states that are three decisions away: both loops over the filter."""

    def plan(ask):
        for tile in successors(()):
            for one in successors(tile) if tile[0].startswith("tile") else ():
                for two in successors(one) if one[-1] == "inner: unroll(k1)" else ():
                    if two[-1] == "inner: unroll(k0)":
                        ask(two)
        for tile in successors(()):
            ask(tile)

    return _within(successors, price, budget, plan)


for _old, _new in [("if not going_on", "pass"), ("break", "pass"), ("break", "continue")]:
    equivalent("schedule.beam_search", _old, _new,
               because="where nothing goes on, the rounds that are left find nothing")  # fmt: skip
for _old, _new, _why in [
    ("for tile in sorted", "for tile in list(sorted", "the dearest tile never has its turn"),
    ("in successors(())", "list(successors(()))", "it leaves out a tile or two, or takes others"),
    ("[-1].startswith('tile')]", "[-0].startswith('tile')]", "there is one decision only"),
    ("// 4]", "// 4]", "it prices a tile more or less"),
    ("successors(tile)", "list(successors(tile))", "the pair of unrolled loops is in the middle"),
    (
        "for two in",
        "for two in",
        "it prices other pairs first, or one less; there are two decisions",
    ),
    ("costs[two] =", "costs.setdefault", "the price is the same"),
]:
    equivalent("u09.search", _old, _new, because=_why)
