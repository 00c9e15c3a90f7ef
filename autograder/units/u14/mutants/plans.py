"""Answers to u14.merged, wrong and right. Next room: costs.py."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import combinations

from autograder.check.framework import alternative, equivalent, mutant
from lessons.u14.regions import convex, neighbours, started


def _greedy(graph, pieces, allowed, again=True, near=neighbours):
    regions = [list(piece) for piece in pieces]
    found = True
    while found:
        found = False
        for a, b in combinations(list(regions), 2):
            if not any(a is r for r in regions) or not any(b is r for r in regions):
                continue
            plan = [r for r in regions if r is not a and r is not b] + [a + b]
            if near(a, b) and allowed(graph, plan, a + b):
                regions, found = plan, again
    return regions


def _count(graph, plan):
    inside = {node for region in plan for node in region}
    return len(plan) + sum(node not in inside for node in graph.ops)


def _runs(graph, plan, joined=()):
    return len(started(graph, plan)) == _count(graph, plan)


@mutant("u14.merged")
def each_region_is_convex(graph, pieces):
    """The fault of the text."""
    return _greedy(graph, pieces, lambda g, plan, joined: convex(g, joined))


@mutant("u14.merged")
def all_regions_are_convex(graph, pieces):
    """The same fault, asked of every region."""
    return _greedy(graph, pieces, lambda g, plan, joined: all(convex(g, r) for r in plan))


@mutant("u14.merged")
def no_two_wait_for_each_other(graph, pieces):
    """A cycle of three regions is not noticed."""

    def reached(plan, k, home):
        """The regions that get something from region k, at once or through the processor."""
        behind, found = set(plan[k]), set()
        for node in graph.ops:
            if home.get(node) != k and behind & set(node.inputs):
                if node in home:
                    found.add(home[node])
                else:
                    behind.add(node)
        return found

    def allowed(graph, plan, joined):
        home = {node: k for k, region in enumerate(plan) for node in region}
        reach = [reached(plan, k, home) for k in range(len(plan))]
        pairs = combinations(range(len(plan)), 2)
        return convex(graph, joined) and not any(b in reach[a] and a in reach[b] for a, b in pairs)

    return _greedy(graph, pieces, allowed)


@mutant("u14.merged")
def the_processor_is_not_counted(graph, pieces):
    """As many pieces start as there are regions: never, where the processor has something to do."""
    return _greedy(graph, pieces, lambda g, plan, joined: len(started(g, plan)) == len(plan))


@mutant("u14.merged")
def nothing_is_joined(graph, pieces):
    return [list(piece) for piece in pieces]


@mutant("u14.merged")
def all_neighbours_are_joined(graph, pieces):
    return _greedy(graph, pieces, lambda g, plan, joined: True)


@alternative("u14.merged")
def each_pair_of_pieces_once(graph, pieces):
    """No program is known on which a second round would join more."""
    regions = [list(piece) for piece in pieces]
    for one, other in combinations(pieces, 2):
        a, b = (next(r for r in regions if piece[0] in r) for piece in (one, other))
        plan = [r for r in regions if r is not a and r is not b] + [a + b]
        if a is not b and neighbours(one, other) and _runs(graph, plan):
            regions = plan
    return regions


@mutant("u14.merged")
def stops_at_the_first_failure(graph, pieces):
    regions = [list(piece) for piece in pieces]
    while pair := next((p for p in combinations(regions, 2) if neighbours(*p)), None):
        plan = [r for r in regions if r is not pair[0] and r is not pair[1]] + [pair[0] + pair[1]]
        if not _runs(graph, plan):
            break
        regions = plan
    return regions


@mutant("u14.merged")
def everything_that_can_run_together(graph, pieces):
    """Joins what is not adjacent, too, as our own partitioner does."""
    return _greedy(graph, pieces, _runs, near=lambda a, b: True)


@mutant("u14.merged")
def the_processor_joins_in(graph, pieces):
    """Its operations become regions, and are joined as well."""
    inside = {node for piece in pieces for node in piece}
    alone = [[node] for node in graph.ops if node not in inside]
    return _greedy(graph, [*pieces, *alone], lambda g, plan, joined: _runs(g, plan))


@mutant("u14.merged")
def one_region_for_all(graph, pieces):
    return [[node for piece in pieces for node in piece]]


@mutant("u14.merged")
def readers_in_one_direction_only(graph, pieces):
    """A neighbour is only what comes later in the list and reads the earlier one once."""

    def near(a, b):
        return any(i is a[-1] for i in b[0].inputs)

    return _greedy(graph, pieces, _runs, near=near)


@mutant("u14.merged")
def looks_at_both_ends_of_a_region(graph, pieces):
    """A value in the middle may be read as well."""

    def near(a, b):
        ends = (a[0], a[-1]), (b[0], b[-1])
        return any(i in x for x, y in (ends, ends[::-1]) for node in y for i in node.inputs)

    return _greedy(graph, pieces, _runs, near=near)


@mutant("u14.merged")
def pieces_of_three_stay_alone(graph, pieces):
    large = [list(piece) for piece in pieces if len(piece) > 2]
    return large + _greedy(graph, [piece for piece in pieces if len(piece) < 3], _runs)


@mutant("u14.merged")
def the_next_in_the_list(graph, pieces):
    """As if neighbours stood side by side in the list."""
    regions, k = [list(piece) for piece in pieces], 1
    while k < len(regions):
        a, b = regions[k - 1 : k + 1]
        plan = [*regions[: k - 1], a + b, *regions[k + 1 :]]
        if neighbours(a, b) and _runs(graph, plan):
            regions = plan
        else:
            k += 1
    return regions


@mutant("u14.merged")
def numbers_in_place_of_nodes(graph, pieces):
    found = _greedy(graph, pieces, _runs)
    return [[graph.nodes.index(node) for node in region] for region in found]


@alternative("u14.merged")
def pair_after_pair(graph, pieces):
    return _greedy(graph, pieces, _runs)


@alternative("u14.merged")
def by_a_graph_of_regions(graph, pieces):
    """The plan runs if the pieces have a topological order."""
    home = {node: k for k, piece in enumerate(pieces) for node in piece}
    home |= {n: len(pieces) + k for k, n in enumerate(graph.ops) if n not in home}
    edges = [(home[i], home[n]) for n in graph.ops for i in n.inputs if i in home]
    name = list(range(len(pieces) + len(graph.ops)))

    def runs(name):
        needs = {}
        for a, b in edges:
            if name[a] != name[b]:
                needs.setdefault(name[b], set()).add(name[a])
        try:
            TopologicalSorter(needs).prepare()
        except CycleError:
            return False
        return True

    changed = True
    while changed:
        changed = False
        for a, b in edges:
            if a < len(pieces) and b < len(pieces) and name[a] != name[b]:
                other = [name[a] if old == name[b] else old for old in name]
                if runs(other):
                    name, changed = other, True
    regions = {}
    for node, k in home.items():
        if k < len(pieces):
            regions.setdefault(name[k], []).append(node)
    return tuple(tuple(region) for region in regions.values())


@alternative("u14.merged")
def from_the_back(graph, pieces):
    """The last pieces first; whether a path leads around is asked of the pieces."""
    regions = [list(piece) for piece in pieces][::-1]

    def around(a, b):
        plan = [*(r for r in regions if r is not a and r is not b)]
        inside = {n for r in regions for n in r}
        plan += [[n] for n in graph.ops if n not in inside]
        both, seen, todo = a + b, [], []
        todo = [p for p in plan if any(i in both for n in p for i in n.inputs)]
        while todo:
            piece = todo.pop()
            if any(i in piece for n in both for i in n.inputs):
                return True
            seen.append(piece)
            todo += [p for p in plan if p not in seen and p not in todo
                     and any(i in piece for n in p for i in n.inputs)]  # fmt: skip
        return False

    while pair := next(
        (p for p in combinations(regions, 2) if neighbours(*p) and not around(*p)), None
    ):
        regions = [
            pair[0] + pair[1],
            *(r for r in regions if r is not pair[0] and r is not pair[1]),
        ]
    return regions


ORDER = "the pairs may be tried in any order, and the regions come in any order"
equivalent("u14.merged", "combinations(regions, 2)", "reversed(list(combinations(regions, 2)))",
           because=ORDER)  # fmt: skip
equivalent("u14.merged", "plan = [region for region in regions", "plan = [a + b] + [region for",
           because=ORDER)  # fmt: skip
equivalent("u14.merged", "[region for region in regions", "in reversed(list(regions))",
           because=ORDER)  # fmt: skip
equivalent("u14.merged", "[list(piece) for piece in pieces]", "in reversed(list(pieces))",
           because=ORDER)  # fmt: skip
equivalent("u14.merged", "if neighbours(a, b)", "if neighbours(b, a)",
           because="neighbours are so on both sides")  # fmt: skip
equivalent("u14.merged", "return None", "pass", because="a function without return returns None")
equivalent("u14.merged", "regions = [list(piece) for piece in pieces]",
           "regions = [piece for piece in pieces]", because="no piece is changed")  # fmt: skip
