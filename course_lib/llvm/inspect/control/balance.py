"""What flows into a block flows out of it: from a few counts to all of them.

    entry -> loop -> done, loop -> loop     and the loop turns 100 times:
    balanced([(0, 1), (1, 1), (1, 2)], {0: 1, 1: 100})
        ->  {0: 1, 1: 100, 2: 1, (0, 1): 1, (1, 1): 99, (1, 2): 1}

The law is Kirchhoff's, of currents. That a program's counts obey it, and that a few counters
therefore tell all, is from Knuth and Stevenson, "Optimal measurement points for program frequency
counts", BIT 13, 1973. Next room: `runs.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from course_lib.exercises import exercise

Edge = tuple[int, int]


def nothing_more(edges: Sequence[Edge], known: Mapping[int | Edge, int]) -> dict[int | Edge, int]:
    """Only what is known already."""
    return dict(known)


@exercise("llvm.control.balanced", unit=5, points=4, baseline=nothing_more)
def balanced(edges: Sequence[Edge], known: Mapping[int | Edge, int]) -> dict[int | Edge, int]:
    """How often do blocks run, and how often are edges taken, as far as a few counts tell?

    edges    pairs (from, to) of block numbers, each pair once
    known    counts of some blocks (keys: numbers) and edges (keys: pairs) in one run
    returns  all of `known`, and every count that the two rules below give

    The edges into a block are one side of it, and those out of it are the other. A block runs as
    often as all edges of a side together are taken; a side without edges says nothing. If all edges
    of a side are known, their sum is the block's count. If the block and all but one edge of a side
    are known, that edge is the difference. Go on until neither rule gives anything new, and leave
    out what the rules do not give.

    >>> balanced([(0, 1), (0, 2), (1, 2)], {0: 5, (0, 1): 2})
    {0: 5, (0, 1): 2, 1: 2, (0, 2): 3, (1, 2): 2, 2: 5}
    """
    counts = dict(known)
    sides = _sides(edges)
    before = -1
    while len(counts) > before:
        before = len(counts)
        for block, side in sides:
            missing = [edge for edge in side if edge not in counts]
            flow = sum(counts[edge] for edge in side if edge in counts)
            if not missing:
                counts.setdefault(block, flow)
            elif len(missing) == 1 and block in counts:
                counts[missing[0]] = counts[block] - flow
    return counts


def _sides(edges: Iterable[Edge]) -> list[tuple[int, list[Edge]]]:
    """Each block with the edges into it, and with those out of it, if there are any."""
    into: dict[int, list[Edge]] = {}
    out: dict[int, list[Edge]] = {}
    for edge in edges:
        out.setdefault(edge[0], []).append(edge)
        into.setdefault(edge[1], []).append(edge)
    return [*into.items(), *out.items()]
