"""Answers to machine.cover, wrong and right. Next room: registers.py."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.machine.cover import TILES, match


def _size(pattern):
    return 0 if pattern == "_" else 1 + sum(_size(part) for part in pattern[1:])


def _fits(tree, tiles):
    found = [(name, match(pattern, tree), pattern, cost) for name, (pattern, cost) in tiles.items()]
    return [one for one in found if one[1] is not None]


def _greedy(tree, tiles, key):
    if isinstance(tree, str):
        return []
    name, holes, _, _ = max(_fits(tree, tiles), key=key)
    return [n for hole in holes for n in _greedy(hole, tiles, key)] + [name]


@mutant("machine.cover")
def maximal_munch(tree, tiles):
    return _greedy(tree, tiles, lambda one: _size(one[2]))


@mutant("machine.cover")
def one_by_one(tree, tiles):
    return _greedy(tree, tiles, lambda one: -_size(one[2]))


@mutant("machine.cover")
def cheapest_at_the_root(tree, tiles):
    return _greedy(tree, tiles, lambda one: (-one[3], _size(one[2])))


@mutant("machine.cover")
def cheapest_for_each_operation(tree, tiles):
    return _greedy(tree, tiles, lambda one: _size(one[2]) / one[3])


@mutant("machine.cover")
def the_cheapest_for_what_it_covers(tree, tiles):
    """The least cost for each node of the tree that a tile covers."""
    return _greedy(tree, tiles, lambda one: -one[3] / _size(one[2]))


@mutant("machine.cover")
def one_level_ahead(tree, tiles):
    """The tile's cost and the cheapest tile for each subtree that it leaves."""

    def ahead(one):
        rest = [min(o[3] for o in _fits(h, tiles)) for h in one[1] if not isinstance(h, str)]
        return -one[3] - sum(rest)

    return _greedy(tree, tiles, ahead)


@mutant("machine.cover")
def nothing_for_a_register(tree, tiles):
    return None if isinstance(tree, str) else _dynamic(tree, tiles, {})[1]


def _dynamic(tree, tiles, known, cost_of=lambda cost: cost, before=True):
    if isinstance(tree, str):
        return 0, []
    if id(tree) not in known:
        found = []
        for name, holes, _, cost in _fits(tree, tiles):
            parts = [_dynamic(hole, tiles, known, cost_of, before) for hole in holes]
            names = [n for _, inside in parts for n in inside]
            found.append((cost_of(cost) + sum(c for c, _ in parts),
                          [*names, name] if before else [name, *names]))  # fmt: skip
        known[id(tree)] = min(found, key=lambda one: one[0])
    return known[id(tree)]


@mutant("machine.cover")
def fewest_tiles(tree, tiles):
    return _dynamic(tree, tiles, {}, cost_of=lambda cost: 1)[1]


@mutant("machine.cover")
def the_root_first(tree, tiles):
    return _dynamic(tree, tiles, {}, before=False)[1]


@mutant("machine.cover")
def the_cost_and_the_names(tree, tiles):
    return _dynamic(tree, tiles, {})


@mutant("machine.cover")
def without_keeping_anything(tree, tiles):
    def best(at):
        if isinstance(at, str):
            return 0, []
        found = []
        for name, holes, _, cost in _fits(at, tiles):
            parts = [best(hole) for hole in holes]
            names = [n for _, inside in parts for n in inside]
            found.append((cost + sum(c for c, _ in parts), [*names, name]))
        return min(found, key=lambda one: one[0])

    return best(tree)[1]


@mutant("machine.cover")
def in_whole_numbers(tree, tiles):
    return _dynamic(tree, tiles, {}, cost_of=int)[1]


@mutant("machine.cover")
def nothing_costs_a_million(tree, tiles):
    return _dynamic(tree, tiles, {}, cost_of=lambda cost: min(cost, 10**6))[1]


@mutant("machine.cover")
def equal_subtrees_are_paid_once(tree, tiles):
    """Everything that the program has computed is there for the next one who needs it."""

    def best(at):
        if isinstance(at, str):
            return {}, []
        found = []
        for name, holes, _, cost in _fits(at, tiles):
            parts = [best(hole) for hole in holes]
            paid = {at: cost}
            for inside, _ in parts:
                paid |= inside
            found.append((sum(paid.values()), paid, [n for _, p in parts for n in p] + [name]))
        return min(found, key=lambda one: one[0])[1:]

    return best(tree)[1]


@mutant("machine.cover")
def a_number_is_paid_once(tree, tiles):
    def best(at):
        if isinstance(at, str):
            return 0, frozenset(), []
        found = []
        for name, holes, _, cost in _fits(at, tiles):
            parts = [best(hole) for hole in holes]
            numbers = frozenset().union(*(n for _, n, _ in parts))
            twice = sum(len(n) for _, n, _ in parts) - len(numbers)
            dear = min((c for p, c in tiles.values() if p == ("const",)), default=0)
            total = cost + sum(c for c, _, _ in parts) - twice * dear
            own = {at} if at[0] == "const" else set()
            found.append((total, numbers | own, [n for *_, p in parts for n in p] + [name]))
        return min(found, key=lambda one: one[0])

    return best(tree)[2]


@mutant("machine.cover")
def only_the_names_of_the_machine(tree, tiles):
    known = {n: t for n, t in tiles.items() if n in TILES}
    return _dynamic(tree, known if all(_fits(t, known) for t in _all(tree)) else tiles, {})[1]


def _all(tree):
    inner = not isinstance(tree, str) and tree[0] not in ("load", "broadcast", "const")
    own = [] if isinstance(tree, str) else [tree]
    return own + [t for part in (tree[1:] if inner else ()) for t in _all(part)]


REMEMBERED = {}


@mutant("machine.cover")
def remembered_between_calls(tree, tiles):
    def best(at):
        if isinstance(at, str):
            return 0, []
        if at not in REMEMBERED:
            found = []
            for name, holes, _, cost in _fits(at, tiles):
                parts = [best(hole) for hole in holes]
                inside = [n for _, part in parts for n in part]
                found.append((cost + sum(c for c, _ in parts), [*inside, name]))
            REMEMBERED[at] = min(found, key=lambda one: one[0])
        return REMEMBERED[at]

    return best(tree)[1]


@alternative("machine.cover")
def bottom_up(tree, tiles):
    """Costs from the leaves to the root, then the names from the root to the leaves."""
    cost, choice = {}, {}

    def label(at):
        if isinstance(at, str):
            cost[id(at)] = 0
            return
        for child in at[1:] if at[0] not in ("load", "broadcast", "const") else ():
            if id(child) not in cost:
                label(child)
        options = []
        for name, holes, _, price in _fits(at, tiles):
            total = price + sum(0 if isinstance(h, str) else cost[id(h)] for h in holes)
            options.append((total, name, holes))
        best = min(options, key=lambda one: one[0])
        cost[id(at)], choice[id(at)] = best[0], best[1:]

    def names(at):
        if isinstance(at, str):
            return []
        name, holes = choice[id(at)]
        return [n for hole in holes for n in names(hole)] + [name]

    if isinstance(tree, str):
        return []
    label(tree)
    return names(tree)


@alternative("machine.cover")
def kept_by_value(tree, tiles):
    known = {}

    def best(at):
        if isinstance(at, str):
            return (0, ())
        if at not in known:
            options = []
            for name, holes, _, price in _fits(at, tiles):
                parts = [best(hole) for hole in holes]
                inside = tuple(n for _, part in parts for n in part)
                options.append((price + sum(c for c, _ in parts), (*inside, name)))
            known[at] = min(options)
        return known[at]

    return list(best(tree)[1])


@alternative("machine.cover")
def the_last_of_the_cheapest(tree, tiles):
    return tuple(_dynamic(tree, dict(reversed(list(tiles.items()))), {})[1])


@alternative("machine.cover")
def as_a_generator(tree, tiles):
    yield from _dynamic(tree, tiles, {})[1]


COVER, ANY = "machine.cover", "of several cheapest covers, any will do"
equivalent(COVER, "return (0, [])", "return (1, [])", because="all covers have the same registers")
equivalent(COVER, "return (0, [])", "return (-1, [])", because="all covers have the same registers")
equivalent(COVER, "in tiles.items()", "reversed(", because=ANY)
equivalent(COVER, "found.append((cost", "found.insert(0, (cost", because=ANY)
equivalent(COVER, "min(found, key=", "min(found)", because=ANY)
equivalent(COVER, "known[id(tree)] =", "known.setdefault(", because="it is not in known")
