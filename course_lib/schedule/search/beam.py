"""BEAM search: of all candidates with one more decision, the best few go on.

    beam(problem, Budget(priced=200), predict, width=4).best

    decisions   0          1                        2
                root  ->   tile A     (3.1 us)  ->  A, ow outermost   (2.8 us)
                           tile B     (3.0 us)      A, kw unrolled    (3.0 us)
                           tile C     (9.0 us)      B, kw unrolled    (2.9 us)

With width 1 it is `greedy`, which never sees what follows from B, if A is cheaper for the moment.
Where two lists of decisions lead to the same kernel, only the first one goes on. Lowerre's HARPY
(1976) searched so for the words of a sentence; tinygrad searches so for kernels. Next room:
`sample.py`.
"""

from __future__ import annotations

from course_lib.schedule.search.moves import moves
from course_lib.schedule.search.problem import Budget, Measure, Price, Problem, Record
from course_lib.schedule.search.search import Progress, Search

WIDTH, DEPTH = 4, 4


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
    seed      nothing here is random: for the interface that all searches share
    progress  is told how many candidates there are, and the best so far

    The same every time, if the price is and nothing is measured. Ctrl-C ends it with what it has.

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

    def plan() -> None:
        states = [search.root]
        for _ in range(depth):
            found = [
                search.extend(state, move)
                for state in states
                for move in moves(problem, state.kernel, state.decisions)
            ]
            states = search.best([state for state in found if state], width)

    search.run(plan)
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
