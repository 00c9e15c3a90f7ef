"""Answers to schedule.beam_search and u09.search, wrong and right."""

from __future__ import annotations

import heapq
import math
import random
from contextlib import suppress

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.exercises import slot

BEAM = slot("schedule.beam_search").reference
UNSEEN = "if new not in costs"


def _priced(text):
    """The price c of a state is taken to be something else, if it is not infinite."""
    price = f"lambda state: {text} if (c := exact(state)) < math.inf else c"
    return "    costs, best,", f"    exact, price = (price, {price})\n    costs, best,"


mutants(
    "schedule.beam_search",
    greedy_whatever_the_width=("[:width]", "[:1]"),
    one_too_wide=("[:width]", "[:width + 1]"),
    a_width_of_three_at_most=("[:width]", "[:min(width, 3)]"),
    one_round_too_many=("range(depth)", "range(depth + 1)"),
    four_rounds_at_most=("range(depth)", "range(min(depth, 4))"),
    a_round_without_gain_ends_it=("if not going_on", "if best not in going_on"),
    the_best_of_the_last_round=("min([best, *going_on]", "min(going_on or [best]"),
    forgets_what_it_has_seen=(f"dict.fromkeys(following) {UNSEEN}", "following"),
    forgets_the_rounds_before=(UNSEEN, ""),
    so_many_of_each_parent=(
        *("[new for state in going_on for new in successors(state)]", "sum(each, [])"),
        *("following = ", "each = [[*successors(s)] for s in going_on]\n        following = "),
        *("fresh[:width] if", "fresh if any((state in {BEST} for one in each)) and"),
        *("{BEST}", "sorted([s for s in one if s in fresh], key=costs.get)[:width]"),
    ),
    the_start_goes_on_only_if_it_is_finite=("range(depth)", "range(depth * (costs[start] < 1e99))"),
    the_last_of_equal_ones=("fresh.sort(", "fresh.reverse()\n        fresh.sort("),
    the_lesser_of_equally_cheap_states=("fresh.sort(", "fresh.sort()\n        fresh.sort("),
    goes_on_from_what_does_not_run=(" if costs[state] < math.inf", ""),
    those_that_stayed_behind_may_come_back=(
        *("for _ in", "behind = []\n    for _ in", "fresh.sort(", "fresh += behind\n{SORT}"),
        *("{SORT}", "        fresh.sort(", "best = min(", "behind = fresh[width:]\n{BEST}"),
        *("{BEST}", "        best = min("),
    ),
    never_prices_the_start=("{start: price(start)}", "{start: math.inf}"),
    the_start_is_found_again=(
        *("{state: price(state)", "{state: costs[start] if state == start else price(state)"),
        *(UNSEEN, f"{UNSEEN} or new == start"),
    ),
    the_price_of_the_best=("return best", "return costs[best] + 0.5"),
    rounds_prices_to_whole_numbers=_priced("round(c)"),
    cuts_prices_to_whole_numbers=_priced("int(c)"),
    rounds_prices_a_little=_priced("round(c, 9)"),
    prices_without_a_sign=_priced("abs(c)"),
    prices_as_short_floats=_priced("__import__('numpy').float32(c)"),
    a_price_must_be_positive=_priced("(c if c > 0 else math.inf)"),
    large_prices_are_infinite=_priced("(c if c < 1000000000.0 else math.inf)"),
    compares_objects=(UNSEEN, "if id(new) not in map(id, costs)"),
    compares_what_is_printed_of_them=(UNSEEN, "if str(new)[:1] not in [str(s)[:1] for s in costs]"),
    leaves_out_empty_states=(UNSEEN, f"{UNSEEN} and new"),
)


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


def _within(price, budget, plan):
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


mutants(
    "u09.search",
    the_start=lambda successors, price, budget: price(()) and (),
    spends_too_much=lambda successors, price, budget: BEAM((), successors, price, 2, 6),
    greedy_until_it_is_spent=lambda successors, price, budget: _within(
        price, budget, lambda ask: BEAM((), successors, ask, 1, 6)
    ),
    the_first_tiles=lambda successors, price, budget: min(successors(())[:budget], key=price),
    a_schedule_of_its_own=("return min(", "return ('inner: unroll(k0)',) + min("),
    by_the_length_of_the_text=lambda successors, price, budget: min(
        sorted(successors(()), key=lambda s: len(s[-1]))[:budget], key=price
    ),
    the_first_tiles_of_the_list=("sorted(costs, key=lambda state: costs[state])", "list(costs)"),
    # Never looks at a price before the end.
    the_first_two_inner_decisions_of_the_list=lambda *given: _pairs(*given, "inner: unroll", ""),
)


@mutant("u09.search")
def spends_too_much_and_catches_what_is_said(successors, price, budget):
    def safely(state):
        try:
            return price(state)
        except Exception:
            return math.inf

    return BEAM((), successors, safely, 8, 6)


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

    return _within(price, budget, plan)


alternatives(
    "u09.search",
    the_best_two_tiles=("costs[state]):", "costs[state])[:2]:"),
    most_of_it_for_tiles=(
        *("(3 * budget + 3) // 4", "max(1, int(0.8 * budget))", "[state]):", "[state])[:4]:"),
        *("min(costs, key=lambda state: costs[state])", "[*min(costs, key=costs.get)]"),
    ),
    # Straight to the states that are three decisions away: both loops over the filter.
    without_pricing_a_tile=lambda *given: _pairs(*given, "inner: unroll(k1)", "(k0)"),
)


def _pairs(successors, price, budget, first, second):
    """Tiles with two loops unrolled, and then the tiles, in the order of the list."""

    def plan(ask):
        for tile in successors(()):
            for one in successors(tile) if tile[0].startswith("tile") else ():
                for two in successors(one) if one[-1].startswith(first) else ():
                    if two[-1].startswith(f"inner: unroll{second}"):
                        ask(two)
        for tile in successors(()):
            ask(tile)

    return _within(price, budget, plan)


for _old, _new in [("if not going_on", "pass"), ("break", "pass"), ("break", "continue")]:
    equivalent("schedule.beam_search", _old, _new,
               because="where nothing goes on, the rounds that are left find nothing")  # fmt: skip
for _old, _new, _why in [
    ("for tile in sorted", "for tile in list(sorted", "the dearest tile never has its turn"),
    ("in successors(())", "list(successors(()))", "it leaves out a tile or two, or takes others"),
    ("[-1].startswith('tile')]", "[-0].startswith('tile')]", "there is one decision only"),
    ("// 4]", "// 4]", "it prices a tile more or less"),
    ("successors(tile)", "list(successors(tile))", "the pair of unrolled loops is in the middle"),
    ("for two in", "for two in", "it prices other pairs first, or one less"),
    ("costs[two] =", "costs.setdefault", "the price is the same"),
]:
    equivalent("u09.search", _old, _new, because=_why)
