"""BEAM search: of all candidates with one more decision, the best few go on.

    beam(problem, Budget(priced=200), predict, width=4).best

    decisions   0          1                        2
                root  ->   tile A     (3.1 us)  ->  A, ow outermost   (2.8 us)
                           tile B     (3.0 us)      A, kw unrolled    (3.0 us)
                           tile C     (9.0 us)      B, kw unrolled    (2.9 us)

With width 1 it is `greedy`, which never sees what follows from B if A is cheaper at the moment.
Where two lists of decisions lead to the same kernel, only the first one goes on. Lowerre's HARPY
(1976) searched this way for the words of a sentence; tinygrad searches this way for kernels. Next
room: `sample.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from course_lib.exercises import exercise
from course_lib.schedule.search.moves import moves
from course_lib.schedule.search.problem import Budget, Measure, Price, Problem, Record
from course_lib.schedule.search.search import Progress, Search, State

WIDTH, DEPTH = 4, 4


def no_search(start: Hashable, *_: Any) -> Hashable:
    """What the compiler does before unit 9: it looks at nothing but the start."""
    return start


@exercise("schedule.beam_search", unit=9, points=4, baseline=no_search)
def beam_search(
    start: Hashable,
    successors: Callable[[Hashable], Sequence[Hashable]],
    price: Callable[[Hashable], float],
    width: int,
    depth: int,
) -> Hashable:
    """Beam search: return the cheapest state that it prices, the first of equally cheap ones.

    start       the first state; states can be compared with `==` and kept in a set
    successors  lists the states that are one decision further on
    price       a number, or positive infinity if a state cannot be run
    width       how many states go on after a round, at least 1
    depth       how many rounds there are at most

    The start is priced, and goes on whatever it costs. In each round, `successors` is called for
    all states that go on, the cheapest first. A state seen before, in this round or earlier, is
    left out, so that no state is priced twice. Of the new ones, the `width` cheapest go on; of
    equally cheap ones, those found first. Any other state of infinite price never goes on. When no
    state goes on, the search is over.
    """
    costs, best, going_on = {start: price(start)}, start, [start]
    for _ in range(depth):
        following = [new for state in going_on for new in successors(state)]
        fresh = [new for new in dict.fromkeys(following) if new not in costs]
        costs |= {state: price(state) for state in fresh}
        fresh.sort(key=lambda state: costs[state])  # stable: the first of equals stays first
        going_on = [state for state in fresh[:width] if costs[state] < math.inf]
        best = min([best, *going_on], key=lambda state: costs[state])
        if not going_on:
            break
    return best


def beam(
    problem: Problem,
    budget: Budget | None = None,
    price: Price | None = None,
    measure: Measure | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    width: int = WIDTH,
    depth: int = DEPTH,
) -> Record:
    """Search with at most `depth` decisions; the best `width` candidates of each number go on.

    budget    how many kernels may be priced and measured, and for how long; None: `Budget()`
    price     `price(kernel, machine).seconds`, a cost model; None: only measuring counts
    measure   `measure(kernels, machine)`, a `Timing` each; None: only the price counts
    seed      unused, since nothing here is random: all searches share this interface
    progress  is told how many candidates there are, and the best so far

    The result is the same every time if the price is and nothing is measured. Ctrl-C ends the
    search with what it has.

    >>> from course_lib.cost.machine import Machine
    >>> from course_lib.ir.loops.parse import parse_kernel
    >>> from course_lib.ir.loops.walk import loops
    >>> from course_lib.schedule.search.problem import Timing
    >>> rows = parse_kernel('''
    ... kernel @rows(x: f32[4,6], out: f32[4,6]) {
    ...   for i in 0..4 { for j in 0..6 { out[i, j] = x[i, j] + x[i, j] } } }''')
    >>> def plainly(kernel, machine):       # iterations of loops that run one after another
    ...     serial = [loop.extent for loop in loops(kernel.body) if loop.kind == "for"]
    ...     return Timing(1 + sum(serial))
    >>> found = beam(Problem(rows, Machine(vector_bytes=8)), price=plainly, width=2)
    >>> print(found.best.schedule, end="")
    vectorize(j)
    parallelize(i)
    >>> found.rounds[0], found.gain, found.stopped
    ((5, 8), 7.0, 'complete')
    """
    if width < 1 or depth < 1:
        raise ValueError(f"width and depth must be at least 1, got {width} and {depth}")
    search = Search(problem, budget or Budget(), price, measure, progress)
    rounds = Rounds(search, width)
    search.run(lambda: beam_search(search.root, rounds.successors, rounds.price, width, depth))
    return search.record("beam", width=width, depth=depth, seed=seed)


def greedy(
    problem: Problem,
    budget: Budget | None = None,
    price: Price | None = None,
    measure: Measure | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    depth: int = DEPTH,
) -> Record:
    """Beam search of width 1: the best next decision, again and again."""
    return beam(problem, budget, price, measure, seed, progress, width=1, depth=depth)


class Rounds:
    """The tree of a search as `beam_search` wants to see it. Candidates are measured in turns, so
    those of a round are priced together: once a state that goes on is asked for its successors, the
    others of its round are, too. So an answer may price what it finds one by one."""

    def __init__(self, search: Search, width: int) -> None:
        self.search, self.width = search, width
        self.new: list[State] = []  # found since the last price was asked for
        self.rounds: dict[int, list[State]] = {}  # found, by the number of decisions
        self.after: dict[int | None, list[State]] = {}

    def successors(self, state: State) -> list[State]:
        if state.number not in self.after:
            going_on = sorted(self.rounds.get(len(state), []), key=self._seconds)[: self.width]
            for other in going_on if state in going_on else [state]:
                alive = other is state or self._seconds(other) < math.inf
                if alive and other.number not in self.after:
                    self._extend(other)
        return list(self.after[state.number])

    def _extend(self, state: State) -> None:
        search = self.search
        after = moves(search.problem, state.kernel, state.decisions)
        following = self.after[state.number] = []
        for move in after:
            if new := search.extend(state, move):
                following.append(new)
                self.new.append(new)
                self.rounds.setdefault(len(new), []).append(new)

    def price(self, state: State) -> float:
        if self.new:
            self.search.best(self.new, self.width)
            self.new = []
        return self._seconds(state)

    def _seconds(self, state: State) -> float:
        """Infinite for the root, which is no candidate, and for what was not measured."""
        if state.number is None:
            return math.inf
        candidate = self.search.candidates[state.number]
        seconds = candidate.measured if self.search.measure else candidate.predicted
        return math.inf if seconds is None or candidate.dropped else seconds
