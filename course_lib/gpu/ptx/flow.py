"""Where control goes: straight pieces, what follows each, and where its threads meet again.

    flow(entry).pieces[2]   ->   Piece(start=20, stop=39, follows=(2, 3), meets=3)

Threads of a warp that part at a branch run one side after the other, and go on together at the
first piece that both sides must come to: the immediate post-dominator of the branch. Pieces end at
a branch, at a barrier (where warps wait), before a label, and at the end. They are numbered in
reverse postorder, so that the pieces of a loop have smaller numbers than what comes after it.

Post-dominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
Next room: `liveness.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.gpu.ptx.parts import Entry, Instruction, PtxError, Symbol

ENDS = ("ret", "exit", "trap")
BARRIERS = ("bar", "barrier")


@dataclass(frozen=True)
class Piece:
    """Instructions start to stop - 1. `follows` are pieces: the one that a branch goes to, then the
    one below. The number behind the last piece stands for the end of the thread. `meets` is where
    all its threads are together again, at the latest."""

    start: int
    stop: int
    follows: tuple[int, ...]
    meets: int


@dataclass(frozen=True)
class Flow:
    pieces: tuple[Piece, ...]

    @property
    def end(self) -> int:
        return len(self.pieces)


def flow(entry: Entry) -> Flow:
    """The pieces of a kernel that can be reached. PtxError where control runs out of the text."""
    starts = _starts(entry)
    stops = [*starts[1:], len(entry.instructions)]
    if not entry.instructions:
        return Flow(())
    at = {start: k for k, start in enumerate(starts)}
    edges = [_edges(entry, stop - 1, at, len(starts)) for stop in stops]
    order = _reverse_postorder(edges)
    number = {old: new for new, old in enumerate(order)} | {len(starts): len(order)}
    follows = [tuple(number[f] for f in edges[old]) for old in order]
    meets = _post_dominators(follows)
    return Flow(tuple(
        Piece(starts[old], stops[old], follows[new], meets[new]) for new, old in enumerate(order)
    ))  # fmt: skip


def is_barrier(instruction: Instruction) -> bool:
    """Does it make warps wait for each other? (`bar.warp.sync` concerns one warp.)"""
    return instruction.name in BARRIERS and not instruction.has("warp")


def _starts(entry: Entry) -> list[int]:
    found = {0, *entry.labels.values()}
    for k, i in enumerate(entry.instructions):
        if i.name in ("bra", *ENDS) or is_barrier(i):
            found.add(k + 1)
    return sorted(start for start in found if start < len(entry.instructions))


def _edges(entry: Entry, last: int, at: dict[int, int], end: int) -> tuple[int, ...]:
    """Where control may go from the instruction that ends a piece."""
    instruction, below = entry.instructions[last], at.get(last + 1)
    goes: list[int] = []
    if instruction.name == "bra":
        (target,) = instruction.operands
        assert isinstance(target, Symbol)
        goes.append(at.get(entry.labels[target.name], end))
    elif instruction.name in ENDS:
        goes.append(end)
    always = instruction.name in ("bra", *ENDS) and instruction.guard is None
    if not always:
        if below is None:
            raise PtxError("control runs out of the kernel", instruction.line, "it ends with ret")
        goes.append(below)
    return tuple(dict.fromkeys(goes)) if len(set(goes)) == 1 else tuple(goes)


def _reverse_postorder(edges: Sequence[tuple[int, ...]]) -> list[int]:
    """What is visited last comes first. The one that is visited first of two comes last, so the
    piece that a branch leaves a loop for is visited before the loop."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(sorted(edges[0], reverse=True)))]
    while stack:
        piece, rest = stack[-1]
        for other in rest:
            if other not in seen and other < len(edges):
                seen.add(other)
                stack.append((other, iter(sorted(edges[other], reverse=True))))
                break
        else:
            order.append(piece)
            stack.pop()
    return order[::-1]


def _post_dominators(follows: Sequence[tuple[int, ...]]) -> list[int]:
    """The immediate post-dominator of each piece, by walking up from both of two."""
    end = len(follows)
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for k, several in enumerate(follows):
        for other in several:
            before[other].append(k)
    order = _backwards(before, end)
    rank = {piece: k for k, piece in enumerate(order)}
    found: dict[int, int] = {end: end}

    def common(a: int, b: int) -> int:
        while a != b:
            if rank[a] > rank[b]:
                a = found[a]
            else:
                b = found[b]
        return a

    changed = True
    while changed:
        changed = False
        for piece in order[1:]:
            known = [other for other in follows[piece] if other in found]
            new = known[0]
            for other in known[1:]:
                new = common(new, other)
            if found.get(piece) != new:
                found[piece], changed = new, True
    return [found.get(k, end) for k in range(end)]  # a loop without end meets nowhere


def _backwards(before: Sequence[Sequence[int]], end: int) -> list[int]:
    """Reverse postorder from the end, along edges turned round."""
    order: list[int] = []
    seen = {end}
    stack = [(end, iter(before[end]))]
    while stack:
        piece, rest = stack[-1]
        for other in rest:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(before[other])))
                break
        else:
            order.append(piece)
            stack.pop()
    return order[::-1]
