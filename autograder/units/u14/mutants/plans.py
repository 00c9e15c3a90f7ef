"""Answers to u14.merged, wrong and right. Next room: costs.py."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import combinations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from autograder.units.u14.checks.plans import runs
from lessons.u14.regions import convex, neighbours


def _pair_after_pair(allowed):
    """All pairs of a round, and another round if one of them was joined."""

    def merged(graph, pieces):
        regions, changed = [list(piece) for piece in pieces], True
        while changed:
            changed = False
            for a, b in combinations(regions, 2):
                plan = [r for r in regions if r is not a and r is not b] + [a + b]
                if len(plan) < len(regions) and neighbours(a, b) and allowed(graph, plan):
                    regions, changed = plan, True
        return regions

    return merged


def _no_pair_waits(graph, plan):
    """A cycle of three regions is not noticed."""
    home = {node: k for k, region in enumerate(plan) for node in region}
    origin = dict.fromkeys(graph.nodes, ())  # whose value it is, at once or through the processor
    for n in graph.ops:
        origin[n] = {home[n]} if n in home else {k for i in n.inputs for k in origin[i]}
    waits = [{k for n in region for i in n.inputs for k in origin[i]} for region in plan]
    pairs = combinations(range(len(plan)), 2)
    return convex(graph, plan[-1]) and not any(b in waits[a] and a in waits[b] for a, b in pairs)


def _has_an_order(graph, plan):
    """The plan runs if its regions and the other operations have a topological order."""
    home, needs = {node: k for k, region in enumerate(plan) for node in region}, {}
    for node in graph.ops:
        mine = home.get(node, node)
        needs.setdefault(mine, set()).update({home.get(i, i) for i in node.inputs} - {mine})
    try:
        TopologicalSorter(needs).prepare()
    except CycleError:
        return False
    return True


CONVEX = ("def merged(", "from lessons.u14.regions import convex\n\ndef merged(")
RUNS, NEAR = "len(started(graph, plan)) == len(plan) + alone", "neighbours(a, b)"
PIECES, RESULT = "[list(piece) for piece in pieces]", "return regions"
mutants(
    "u14.merged",
    each_region_is_convex=(*CONVEX, RUNS, "convex(graph, a + b)"),  # the fault of the text
    all_regions_are_convex=(*CONVEX, RUNS, "all(convex(graph, region) for region in plan)"),
    no_two_wait_for_each_other=_pair_after_pair(_no_pair_waits),
    # as many pieces start as there are regions: never, where the processor has something to do
    the_processor_is_not_counted=(RUNS, "len(started(graph, plan)) == len(plan)"),
    whatever_starts_counts=(RUNS, "len(started(graph, plan)) >= len(plan)"),
    nothing_is_joined=lambda graph, pieces: [list(piece) for piece in pieces],
    all_neighbours_are_joined=(RUNS, "True"),
    stops_at_the_first_failure=(f"if {RUNS}:\n                return plan",
                                f"return plan if {RUNS} else None"),
    # joins what is not adjacent, too, as our own partitioner does
    everything_that_can_run_together=(NEAR, "True"),
    # its operations become regions, and are joined as well
    the_processor_joins_in=(PIECES, f"{PIECES} + [[n] for n in graph.ops if not any(n in piece for "
                            "piece in pieces)]"),
    one_region_for_all=lambda graph, pieces: [[node for piece in pieces for node in piece]],
    # a neighbour is only what comes later in the list and reads the earlier one once
    readers_in_one_direction_only=(NEAR, "any(i is a[-1] for i in b[0].inputs)"),
    # a value in the middle may be read as well
    looks_at_both_ends_of_a_region=(NEAR, "neighbours([a[0], a[-1]], [b[0], b[-1]])"),
    pieces_of_three_stay_alone=(
        PIECES, "[list(piece) for piece in pieces if len(piece) < 3]",
        RESULT, f"{RESULT} + [list(piece) for piece in pieces if len(piece) > 2]",
    ),
    pieces_of_six_stay_alone=(PIECES, "[list(piece) for piece in pieces if len(piece) < 6]",
                              RESULT, f"{RESULT} + [[*piece] for piece in pieces if piece[5:]]"),
    # as if a constant were an operation of the processor
    constants_have_to_start=("in graph.ops)", "in (*graph.ops, *graph.constants))"),
    # as if neighbours stood side by side in the list
    the_next_in_the_list=("combinations(regions, 2)", "zip(regions, regions[1:])"),
    only_the_first_forty=(PIECES, "[list(piece) for piece in pieces[:40]]",
                          RESULT, f"{RESULT} + [list(piece) for piece in pieces[40:]]"),
    forty_at_a_time=("combinations(regions, 2)", "combinations(regions[:40], 2)"),
    numbers_in_place_of_nodes=(RESULT, "return [[graph.nodes.index(n) for n in r] for r in "
                               "regions]"),
)  # fmt: skip
alternatives(
    "u14.merged",
    pair_after_pair=_pair_after_pair(runs),
    by_a_graph_of_regions=_pair_after_pair(_has_an_order),
    # the last pieces first
    from_the_back=lambda graph, pieces: _pair_after_pair(_has_an_order)(graph, pieces[::-1]),
    as_the_values_of_a_dict=(RESULT, "return dict(enumerate(map(frozenset, regions))).values()"),
)


@alternative("u14.merged")
def each_pair_of_pieces_once(graph, pieces):
    """No program is known on which a second round would join more."""
    regions = [list(piece) for piece in pieces]
    for one, other in combinations(pieces, 2):
        a, b = (next(r for r in regions if piece[0] in r) for piece in (one, other))
        plan = [r for r in regions if r is not a and r is not b] + [a + b]
        if a is not b and neighbours(one, other) and runs(graph, plan):
            regions = plan
    return regions


ORDER = "the pairs may be tried in any order, and the regions come in any order"
for before, after, why in (
    ("combinations(regions, 2)", "reversed(list(combinations(regions, 2)))", ORDER),
    ("plan = [region for region in regions", "plan = [a + b] + [region for", ORDER),
    ("[region for region in regions", "in reversed(list(regions))", ORDER),
    (PIECES, "in reversed(list(pieces))", ORDER),
    (f"regions = {PIECES}", "regions = [piece for piece in pieces]", "no piece is changed"),
    (f"if {NEAR}", "if neighbours(b, a)", "neighbours are so on both sides"),
    ("return None", "pass", "a function without return returns None"),
):
    equivalent("u14.merged", before, after, because=why)
