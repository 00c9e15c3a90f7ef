"""Dominators and natural loops: who must run before whom, and what runs again and again.

    entry -> head -> body -> head          body is dominated by head; head and body are a loop,
                  -> done                  because an edge leads from body back to its dominator

A set of blocks is a number with one bit for each, in the order in which they are visited. Source:
Aho, Lam, Sethi and Ullman, "Compilers: Principles, Techniques, and Tools", chapter 9.6. Next room:
`numbers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.llvm.inspect.control.view import Function

Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class NaturalLoop:
    """A `header`, all `blocks` that lead back to it without passing it, and the last of those."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Order:
    """What follows from the edges of a function alone.

    order      the blocks that can be reached; each after all that lead to it, but for back edges
    place      of each block in this order; a set has its bit there
    edges      between them, each once
    before     for each block a set: its dominators, itself among them
    behind     the same from the end: its postdominators
    loops      outer ones before those inside
    innermost  the loop around each block, the smallest one
    trouble    why nothing can be said: a loop with two entries, or one without an end; else ""
    """

    order: tuple[int, ...]
    place: dict[int, int]
    edges: tuple[Edge, ...]
    before: dict[int, int]
    behind: dict[int, int]
    loops: tuple[NaturalLoop, ...]
    innermost: dict[int, NaturalLoop | None]
    trouble: str

    def dominates(self, a: int, b: int) -> bool:
        return bool(self.before[b] >> self.place[a] & 1)

    def twins(self) -> list[Edge]:
        """Pairs of blocks of one loop that run equally often: one leads to the other, always.

        For each block only the nearest one above it: what holds farther up holds from pair to pair.
        """
        inside: dict[NaturalLoop | None, int] = {}
        for b in self.order:
            inside[self.innermost[b]] = inside.get(self.innermost[b], 0) | 1 << self.place[b]
        pairs = []
        for b in self.order:
            above = self.before[b] & inside[self.innermost[b]] & ~(1 << self.place[b])
            nearest = self.order[above.bit_length() - 1]
            if above and self.behind[nearest] >> self.place[b] & 1:
                pairs.append((nearest, b))
        return pairs


def order_of(function: Function) -> Order:
    """Dominators and loops of the blocks that can be reached from the first one."""
    after = {k: dict.fromkeys(b.successors) for k, b in enumerate(function.blocks)}
    order = _reverse_postorder(after)
    edges = tuple((u, v) for u in order for v in after[u])
    place = {block: k for k, block in enumerate(order)}
    before = _dominators(order, place, edges, [0])
    ends = [u for u in order if not after[u]]
    behind = _dominators(order[::-1], place, [(v, u) for u, v in edges], ends)
    back = [(u, v) for u, v in edges if before[u] >> place[v] & 1]
    trouble = ""
    if any(place[v] <= place[u] and (u, v) not in back for u, v in edges):
        trouble = "a loop has two entries"
    elif not set(order) <= _reaching(ends, edges):
        trouble = "a loop has no end"
    loops = _natural_loops(back, edges)
    innermost: dict[int, NaturalLoop | None] = dict.fromkeys(order)
    for loop in loops:
        innermost.update(dict.fromkeys(loop.blocks, loop))
    return Order(tuple(order), place, edges, before, behind, loops, innermost, trouble)


def _reverse_postorder(after: dict[int, dict[int, None]]) -> list[int]:
    done: list[int] = []
    seen = {0}
    path = [(0, iter(after[0]))]
    while path:
        block, rest = path[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            done.append(block)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(after[following])))
    return done[::-1]


def _dominators(
    order: Sequence[int], place: dict[int, int], edges: Sequence[Edge], starts: list[int]
) -> dict[int, int]:
    """before[b] = b and what stands before all that lead to b; the largest solution."""
    every = (1 << len(order)) - 1
    before = {b: 1 << place[b] if b in starts else every for b in order}
    into: dict[int, list[int]] = {b: [] for b in order}
    for u, v in edges:
        into[v].append(u)
    changed = True
    while changed:
        changed = False
        for block in order:
            if block in starts:
                continue
            common = every
            for u in into[block]:
                common &= before[u]
            common |= 1 << place[block]
            changed |= common != before[block]
            before[block] = common
    return before


def _reaching(ends: Sequence[int], edges: Sequence[Edge], stop: int = -1) -> set[int]:
    """All blocks from which an end can be reached without passing `stop`."""
    into: dict[int, list[int]] = {}
    for u, v in edges:
        into.setdefault(v, []).append(u)
    reached, todo = set(ends), list(ends)
    while todo:
        block = todo.pop()
        new = [] if block == stop else [u for u in into.get(block, []) if u not in reached]
        reached.update(new)
        todo += new
    return reached


def _natural_loops(back: Sequence[Edge], edges: Sequence[Edge]) -> tuple[NaturalLoop, ...]:
    """One for each header, whatever number of edges leads back to it."""
    latches: dict[int, list[int]] = {}
    for u, v in back:
        latches.setdefault(v, []).append(u)
    loops = [
        NaturalLoop(head, frozenset({head} | _reaching(ends, edges, head)), tuple(ends))
        for head, ends in latches.items()
    ]
    return tuple(sorted(loops, key=lambda loop: (-_size(loop), loop.header)))


def _size(loop: NaturalLoop) -> int:
    return len(loop.blocks)
