"""Answers to unit 5 on counts that follow from others."""

from __future__ import annotations

from collections import defaultdict, deque

from autograder.check.framework import alternative, equivalent, mutant

NAME = "llvm.control.balanced"


def _balanced(edges, known, *, sides=(0, 1), rounds=10**6, last=True, empty=False, keep=True,
              back=True, over=True):  # fmt: skip
    """Both rules with switches: which sides, how often, and what is forgotten."""
    counts = dict(known)
    blocks = sorted({b for edge in edges for b in edge})
    for _ in range(rounds):
        before = len(counts)
        for block in blocks:
            for side in sides:
                around = [e for e in edges if e[side] == block and (back or e[0] < e[1])]
                if not around and not empty:
                    continue
                missing = [e for e in around if e not in counts]
                flow = sum(counts.get(e, 0) for e in around)
                if not missing:
                    counts.setdefault(block, flow)
                elif last and len(missing) == 1 and block in counts:
                    counts[missing[0]] = counts[block] - (flow if over else 0)
        if len(counts) == before:
            break
    return counts if keep else {k: n for k, n in counts.items() if k not in known}


@mutant(NAME)
def only_what_flows_in(edges, known):
    return _balanced(edges, known, sides=(1,))


@mutant(NAME)
def only_what_flows_out(edges, known):
    return _balanced(edges, known, sides=(0,))


@mutant(NAME)
def one_round(edges, known):
    return _balanced(edges, known, rounds=1)


@mutant(NAME)
def five_rounds(edges, known):
    return _balanced(edges, known, rounds=5)


@mutant(NAME)
def all_equations_at_once(edges, known):
    """Also what neither rule gives by itself: where a branch divides and comes together again."""
    blocks = {b for edge in edges for b in edge}
    first = [b for b in blocks if not any(end == b for _, end in edges)]
    last = [b for b in blocks if not any(start == b for start, _ in edges)]
    counts = _balanced(edges, known)
    if len(first) == len(last) == 1 and first[0] in counts:
        counts[last[0]] = counts[first[0]]
    return _balanced(edges, counts)


@mutant(NAME)
def without_the_last_edge(edges, known):
    return _balanced(edges, known, last=False)


@mutant(NAME)
def no_edges_mean_zero(edges, known):
    return _balanced(edges, known, empty=True)


@mutant(NAME)
def only_what_is_new(edges, known):
    return _balanced(edges, known, keep=False)


@mutant(NAME)
def without_the_way_back(edges, known):
    return _balanced(edges, known, back=False)


@mutant(NAME)
def the_last_edge_takes_all(edges, known):
    return _balanced(edges, known, over=False)


@mutant(NAME)
def the_rest_is_zero(edges, known):
    keys = [*{b for edge in edges for b in edge}, *edges]
    return {**dict.fromkeys(keys, 0), **_balanced(edges, known)}


@mutant(NAME)
def branches_are_even(edges, known):
    """Half of the runs on each side of a branch."""
    counts = _balanced(edges, known)
    for block in sorted({a for a, _ in edges}):
        out = [e for e in edges if e[0] == block]
        missing = [e for e in out if e not in counts]
        if block in counts and missing:
            left = counts[block] - sum(counts.get(e, 0) for e in out)
            counts.update(dict.fromkeys(missing, left // len(missing)))
            counts = _balanced(edges, counts)
    return counts


@mutant(NAME)
def into_the_argument(edges, known):
    known.update(_balanced(edges, known))
    return known


@mutant(NAME)
def a_hundred_rounds(edges, known):
    return _balanced(edges, known, rounds=100)


@mutant(NAME)
def nought_is_unknown(edges, known):
    counts = _balanced(edges, {key: n for key, n in known.items() if n})
    return {key: n for key, n in counts.items() if n} | known


@mutant(NAME)
def in_floating_point(edges, known):
    return _balanced(edges, {key: float(n) for key, n in known.items()})


@mutant(NAME)
def blocks_are_numbered_from_0(edges, known):
    found = _balanced(edges, known)
    count = len({b for edge in edges for b in edge})
    return {k: n for k, n in found.items() if k in known or isinstance(k, tuple) or k < count}


@mutant(NAME)
def only_blocks_with_edges(edges, known):
    around = {b for edge in edges for b in edge}
    return {k: n for k, n in _balanced(edges, known).items() if k in around or k in edges}


@mutant(NAME)
def what_comes_back_is_no_flow(edges, known):
    """A loop from a block to itself is left out of its sums."""
    found = _balanced([e for e in edges if e[0] != e[1]], known)
    return {**found, **known}


@mutant(NAME)
def one_end_runs_as_often_as_the_other(edges, known):
    counts = _balanced(edges, known)
    starts = {a for a, _ in edges} - {b for _, b in edges}
    ends = {b for _, b in edges} - {a for a, _ in edges}
    if len(ends) == 1 and starts and starts <= set(counts):
        counts.setdefault(*ends, sum(counts[b] for b in starts))
    return _balanced(edges, counts)


@mutant(NAME)
def what_nothing_can_reach_is_zero(edges, known):
    """Also an edge of which the rules say nothing, if all others of the block sum up to it."""
    counts = _balanced(edges, known)
    for edge in edges:
        flow = sum(counts.get(e, 0) for e in edges if e[0] == edge[0])
        if edge not in counts and counts.get(edge[0]) == flow:
            counts[edge] = 0
    return counts


@alternative(NAME)
def round_after_round(edges, known):
    return _balanced(tuple(edges)[::-1], known)


@alternative(NAME)
def with_a_list_of_work(edges, known):
    """Look again only at the blocks next to what is new."""
    sides = defaultdict(list)
    for edge in edges:
        sides[edge[0], "out"].append(edge)
        sides[edge[1], "in"].append(edge)
    counts, work = dict(known), deque(sides)
    while work:
        key = work.popleft()
        block, around = key[0], sides[key]
        missing = [edge for edge in around if edge not in counts]
        if not missing and block not in counts:
            counts[block] = sum(map(counts.__getitem__, around))
            work.extend(k for k in sides if k[0] == block)
        elif len(missing) == 1 and block in counts:
            (edge,) = missing
            counts[edge] = counts[block] - sum(counts[e] for e in around if e != edge)
            work.extend(k for k in sides if k[0] in edge)
    return counts


@alternative(NAME)
def as_equations(edges, known):
    """block = edge + edge + ...: one unknown in an equation is solved for."""
    equations = []
    for block in {b for edge in edges for b in edge}:
        for side in (0, 1):
            terms = [edge for edge in edges if edge[side] == block]
            if terms:
                equations.append({block: -1} | dict.fromkeys(terms, 1))
    found = dict(known)
    again = True
    while again:
        again = False
        for equation in equations:
            unknown = [key for key in equation if key not in found]
            if len(unknown) == 1:
                rest = sum(sign * found[key] for key, sign in equation.items() if key in found)
                found[unknown[0]] = -rest * equation[unknown[0]]
                again = True
    return found


ORDER = "the rules give the same in any order"
SAME = "a count that two rules give is the same"
for _old, _new, _why in [
    ("for edge in edges", "reversed", ORDER),
    (".append(edge)", ".insert(0, edge)", ORDER),
    ("*into.items(), *out.items()", "*out.items(), *into.items()", ORDER),
    ("before = -1", "before = -2", "any number below the first length"),
    ("before = -1", "before = -0", "nothing follows from nothing"),
    ("for block, side in sides", "reversed", ORDER),
    ("missing = [edge for edge in side", "reversed", "only a single missing edge is looked at"),
    ("counts.setdefault(block, flow)", "counts[block] = flow", SAME),
    ("counts[missing[0]] = ", "counts.setdefault(missing[0]", SAME),
    ("counts[missing[0]]", "counts[missing[-1]]", "there is one"),
]:
    equivalent(NAME, _old, _new, because=_why)
