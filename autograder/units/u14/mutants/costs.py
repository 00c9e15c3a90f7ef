"""Answers to u14.chosen, wrong and right. Next room: docs/units/u14.md."""

from __future__ import annotations

import random

from autograder.check.exemplars import in_the_library, mutants
from autograder.check.framework import alternative, alternatives, equivalent
from lessons.u14.offload import total
from lessons.u14.tables import one_at_a_time


def _flips(graph, chip, host, plans, groups):
    """From each of some plans, operations change sides, one group at a time, while that saves
    clocks; the best plan that comes of it."""

    def clocks(plan):
        return total(graph, chip, host, plan)

    flipped = []
    for plan in plans:
        while groups and clocks(better := min((plan ^ g for g in groups), key=clocks)) < clocks(
            plan
        ):
            plan = better
        flipped.append(plan)
    return min(flipped, key=clocks)


RESULT = "[node for node in chip if node in cut]"
mutants(
    "u14.chosen",
    all_that_the_chip_can=(RESULT, "list(chip)"),
    nothing=(RESULT, "[]"),
    # each operation by itself: crossings are free
    what_is_faster_there=(RESULT, "[n for n in chip if chip[n] < host[n]]"),
    what_pays_for_two_crossings=(
        RESULT, "[n for n in chip if host[n] - chip[n] > 2 * crossing(n)]"
    ),
    # stops where two operations would have to move together
    one_flip_at_a_time=one_at_a_time,
    one_flip_at_a_time_from_all=lambda graph, chip, host: list(
        _flips(graph, chip, host, [set(chip)], [{node} for node in chip])
    ),
    what_the_chip_lacks_as_well=(RESULT, "list(graph.ops)"),
    the_slowest_of_the_processor=(RESULT, "sorted(chip, key=host.get)[len(chip) // 2:]"),
    # without points for the values: one with two readers on the other side crosses twice
    a_cut_that_pays_for_each_reader=(
        "links[(value, 'in'), (value, 'out')] = crossing(value)", "start, *ends = ends",
        "links[end, (value, 'in')] = links[(value, 'out'), end] = FOREVER",
        "for link in ((start, end), (end, start)):\n"
        "                    links[link] = links.get(link, 0) + crossing(value)",
    ),
    as_numbers=(RESULT, "[k for k, node in enumerate(graph.ops) if node in chip]"),
)  # fmt: skip
alternatives(
    "u14.chosen",
    as_keys=(RESULT, "{node: chip[node] for node in chip if node in cut}.keys()"),
    one_after_another=(f"return {RESULT}", "yield from chip.keys() & cut"),
)


def _connected(graph, chip):
    """Sets of up to four operations that read one another."""
    users = graph.users()
    near = {n: {m for m in (*n.inputs, *users[n]) if m in chip} for n in chip}
    groups = {frozenset([n]) for n in chip}
    front = set(groups)
    for _ in range(3):
        front = {g | {m} for g in front for n in g for m in near[n]} - groups
        groups |= front
    return [set(g) for g in sorted(groups, key=lambda g: sorted(graph.nodes.index(n) for n in g))]


@alternative("u14.chosen")
def neighbours_together(graph, chip, host):
    """Groups of neighbours change sides, from both ends."""
    return list(_flips(graph, chip, host, [set(), set(chip)], _connected(graph, chip)))


@alternative("u14.chosen")
def many_beginnings(graph, chip, host):
    """From many plans at random, one operation and one pair at a time."""
    rng, pairs = random.Random(0), [{node} for node in chip]
    pairs += [{a, b} for b in chip for a in b.inputs if a in chip]
    plans = [{n for n in chip if rng.random() < k / 5} for k in range(6)]
    return _flips(graph, chip, host, plans, pairs)


@alternative("u14.chosen")
def slowly_cooled(graph, chip, host):
    """Simulated annealing, a group of neighbours at a time."""
    rng, groups = random.Random(1), _connected(graph, chip)
    plan, now = set(chip), total(graph, chip, host, set(chip))
    for step in range(1000):
        other = plan ^ rng.choice(groups)
        took = total(graph, chip, host, other)
        if took <= now or rng.random() < 2.718 ** ((now - took) / (1501 - 1.5 * step)):
            plan, now = other, took
    return tuple(_flips(graph, chip, host, [plan], groups))


ORDER, ONE = "in any order", "one of thirty changes the clocks by less than what the points see"
ONCE = "it is there once only"
for before, after, why in (
    ("for node in graph.ops:", "reversed(list(graph.ops))", ORDER),
    ("for value, users in graph.users().items():", "reversed(list(graph.users().items()))", ORDER),
    ("for end in ends:", "reversed(list(ends))", ORDER),
    ("ends = [value if value in graph.ops", "ends = [*users, value", ORDER),
    ("for node in chip if node in cut", "reversed(list(chip))", ORDER),
    ("for node in graph.ops:", "list(graph.ops)[1:]", ONE),
    ("for value, users in graph.users().items():", "list(graph.users().items())[:-1]", ONE),
    ("links['chip', node] = ", "links.setdefault", ONCE),
    ("links[node, 'host'] = ", "links.setdefault", ONCE),
    ("links[(value, 'in'), (value, 'out')] = ", "links.setdefault", ONCE),
):
    equivalent("u14.chosen", before, after, because=why)
in_the_library("u14.chosen", "lessons.u14.tables.one_at_a_time",
               because="the text describes this plan, and points grow with a budget")  # fmt: skip
