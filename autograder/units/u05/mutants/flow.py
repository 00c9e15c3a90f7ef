"""Answers to unit 5 on counts that follow from others."""

from __future__ import annotations

from collections import defaultdict, deque

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.llvm.inspect.control import balance

NAME = "llvm.control.balanced"
ROUNDS, SIDES, RETURNED = "while len(counts) > before", "_sides(edges)", "return counts"
KNOWN, ALL, OUT = "dict(known)", "[*into.items(), *out.items()]", "out.setdefault(edge[0], [])"
BLOCKS = "{b for edge in edges for b in edge}"
ours = edited(balance.balanced)  # a copy, whatever is plugged in

mutants(
    NAME,
    only_what_flows_in=(ALL, "[*into.items()]"),
    only_what_flows_out=(ALL, "[*out.items()]"),
    one_round=(ROUNDS, "for _ in range(1)"),
    five_rounds=(ROUNDS, "for _ in range(5)"),
    a_hundred_rounds=(ROUNDS, "for _ in range(100)"),
    without_the_last_edge=("elif len(missing) == 1 and block in counts", "elif False"),
    no_edges_mean_zero=(OUT, f"[*map(into.setdefault, edge, ([], []))]; "
                        f"out.setdefault(edge[1], []); {OUT}"),
    only_what_is_new=(RETURNED, "return {k: n for k, n in counts.items() if k not in known}"),
    without_the_way_back=(SIDES, "_sides((e for e in edges if e[0] < e[1]))"),
    # a loop from a block to itself is left out of its sums
    what_comes_back_is_no_flow=(SIDES, "_sides((e for e in edges if e[0] != e[1]))"),
    the_last_edge_takes_all=("counts[block] - flow", "counts[block]"),
    the_rest_is_zero=(RETURNED, f"return dict.fromkeys([*{BLOCKS}, *edges], 0) | counts"),
    into_the_argument=(KNOWN, "known"),
    nought_is_unknown=(KNOWN, "{k: n for k, n in known.items() if n}", RETURNED,
                       "return {k: n for k, n in counts.items() if n} | dict(known)"),
    in_floating_point=(KNOWN, "{k: float(n) for k, n in known.items()}"),
    blocks_are_numbered_from_0=(RETURNED, "return {k: n for k, n in counts.items() if k in known "
                                f"or isinstance(k, tuple) or k < len({BLOCKS})}}"),
    only_blocks_with_edges=(RETURNED, "return {k: n for k, n in counts.items() "
                            f"if k in edges or k in {BLOCKS}}}"),
)  # fmt: skip


@mutant(NAME)
def all_equations_at_once(edges, known):
    """Also what neither rule gives by itself: where a branch divides and comes together again."""
    blocks = {b for edge in edges for b in edge}
    first = [b for b in blocks if not any(end == b for _, end in edges)]
    last = [b for b in blocks if not any(start == b for start, _ in edges)]
    counts = ours(edges, known)
    if len(first) == len(last) == 1 and first[0] in counts:
        counts[last[0]] = counts[first[0]]
    return ours(edges, counts)


@mutant(NAME)
def branches_are_even(edges, known):
    """Half of the runs on each side of a branch."""
    counts = ours(edges, known)
    for block in sorted({a for a, _ in edges}):
        out = [e for e in edges if e[0] == block]
        missing = [e for e in out if e not in counts]
        if block in counts and missing:
            left = counts[block] - sum(counts.get(e, 0) for e in out)
            counts.update(dict.fromkeys(missing, left // len(missing)))
            counts = ours(edges, counts)
    return counts


@mutant(NAME)
def one_end_runs_as_often_as_the_other(edges, known):
    counts = ours(edges, known)
    starts = {a for a, _ in edges} - {b for _, b in edges}
    ends = {b for _, b in edges} - {a for a, _ in edges}
    if len(ends) == 1 and starts and starts <= set(counts):
        counts.setdefault(*ends, sum(counts[b] for b in starts))
    return ours(edges, counts)


@mutant(NAME)
def what_nothing_can_reach_is_zero(edges, known):
    """Also an edge of which the rules say nothing, if all others of the block sum up to it."""
    counts = ours(edges, known)
    for edge in edges:
        flow = sum(counts.get(e, 0) for e in edges if e[0] == edge[0])
        if edge not in counts and counts.get(edge[0]) == flow:
            counts[edge] = 0
    return counts


alternatives(NAME, round_after_round=(SIDES, "_sides(tuple(edges)[::-1])"))


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
    solved = dict(known)
    again = True
    while again:
        again = False
        for equation in equations:
            unknown = [key for key in equation if key not in solved]
            if len(unknown) == 1:
                rest = sum(sign * solved[key] for key, sign in equation.items() if key in solved)
                solved[unknown[0]] = -rest * equation[unknown[0]]
                again = True
    return solved


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
