"""How often each block runs in one call of a function: trip counts, and what follows from them.

    entry:  1
    head:   101     once for each turn, and once to find that it is over
    body:   100
    done:   1

A branch that data decides leaves the blocks on both of its sides unknown; where they meet again,
the sum is known. It is taken for granted that the call returns: every loop ends, every function
that it calls comes back. Next room: `course_lib/llvm/inspect/fma.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.llvm.inspect.control.balance import balanced
from course_lib.llvm.inspect.control.numbers import Numbers
from course_lib.llvm.inspect.control.order import Edge, NaturalLoop, Order, order_of
from course_lib.llvm.inspect.control.trips import MOST, Trips, trips
from course_lib.llvm.inspect.control.view import Function


@dataclass(frozen=True, eq=False)
class Runs:
    """For each block how often it runs, or None and in `why` the reason; `trips` of each loop by
    its header."""

    blocks: tuple[int | None, ...]
    why: tuple[str, ...]
    trips: dict[int, Trips]


def runs(function: Function, given: Mapping[str, int] | None = None) -> Runs:
    """Count the runs of each block in one call, in which some arguments are `given` by name."""
    order = order_of(function)
    if order.trouble:
        none = [None if b in order.order else 0 for b in range(len(function.blocks))]
        return Runs(tuple(none), tuple(order.trouble if n is None else "" for n in none), {})
    numbers = Numbers(function, order, given or {})
    counted = {loop.header: trips(loop, function, order, numbers) for loop in order.loops}
    flow = _Flow(order, numbers, counted)
    flow.settle()
    per_block = tuple(flow.runs.get(b, 0) for b in range(len(function.blocks)))
    why = tuple("" if n is not None else _why(b, order, counted) for b, n in enumerate(per_block))
    return Runs(per_block, why, counted)


def _why(block: int, order: Order, counted: Mapping[int, Trips]) -> str:
    """Of all loops around a block, the outermost one that is not counted says why."""
    around = [loop for loop in order.loops if block in loop.blocks]
    reasons = [counted[loop.header].why for loop in around if counted[loop.header].why]
    return reasons[0] if reasons else "data decides whether it runs, or it runs too often"


class _Flow:
    """Runs of blocks and of edges, filled in until nothing more follows from what is known."""

    def __init__(self, order: Order, numbers: Numbers, counted: Mapping[int, Trips]) -> None:
        self.order, self.counted = order, counted
        self.loops: dict[int, NaturalLoop] = {loop.header: loop for loop in order.loops}
        self.into: dict[int, list[Edge]] = {b: [] for b in order.order}
        for edge in order.edges:
            self.into[edge[1]].append(edge)
        self.twins = order.twins()
        self.counts: dict[int | Edge, int] = {0: 1}
        self.counts |= {e: 0 for e in order.edges if e not in numbers.alive}

    @property
    def runs(self) -> dict[int, int | None]:
        """Of the blocks that can be reached."""
        return {b: self.counts.get(b) for b in self.order.order}

    def settle(self) -> None:
        before = -1
        while len(self.counts) > before:
            before = len(self.counts)
            solved = balanced(self.order.edges, self.counts)
            self.counts |= {key: n for key, n in solved.items() if 0 <= n <= MOST}
            for header in self.counted:
                self.turns(header)
            for one, other in self.twins:
                self.same(one, other)
                self.same(other, one)

    def turns(self, header: int) -> None:
        """A loop that is counted: its header runs so often for each time that it is entered."""
        count, inside = self.counted[header], self.loops[header].blocks
        ways = [self.counts.get(e) for e in self.into[header] if e[0] not in inside]
        entered = [n for n in ways if n is not None]
        if count.count is not None and count.leaves is not None and len(entered) == len(ways):
            self.learn(header, sum(entered) * count.count)
            self.learn(count.leaves, sum(entered))

    def same(self, one: int, other: int) -> None:
        if one in self.counts:
            self.learn(other, self.counts[one])

    def learn(self, key: int | Edge, count: int) -> None:
        if count <= MOST:
            self.counts.setdefault(key, count)
