"""How large the space is: the number of schedules that a search could try, before it tries any.

>>> from course_lib.cost.machine import Machine
>>> from course_lib.ir.loops.parse import parse_kernel
>>> rows = parse_kernel('''
... kernel @rows(x: f32[4,6], out: f32[4,6]) {
...   for i in 0..4 { for j in 0..6 { out[i, j] = x[i, j] + x[i, j] } } }''')
>>> problem = Problem(rows, Machine(vector_bytes=8))
>>> [count(problem, depth) for depth in (0, 1, 2)]
[1, 12, 65]

Counting walks through all of it, which takes long where it is large. Knuth's estimate walks down a
few times at random: if a node of the tree has b1 children, the next one b2, and so on, there are
1 + b1 + b1*b2 + ... nodes, on average over the walks (Estimating the efficiency of backtrack
programs, 1975). Next room: `search.py`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.search.moves import moves
from course_lib.schedule.search.problem import Decision, Problem

Child = tuple[Decision, Kernel]


def children(problem: Problem, kernel: Kernel, decided: Sequence[Decision]) -> list[Child]:
    """Every legal decision that may come next, and what it makes of the kernel."""
    following = []
    for move in moves(problem, kernel, decided):
        try:
            following.append(move.decide(kernel))
        except ValueError:
            continue  # refused: no move
    return following


def count(problem: Problem, depth: int) -> int:
    """The lists of at most `depth` decisions. Different ones may lead to the same kernel."""

    def below(kernel: Kernel, decided: tuple[Decision, ...]) -> int:
        if len(decided) == depth:
            return 1
        next_ones = children(problem, kernel, decided)
        return 1 + sum(below(after, (*decided, decision)) for decision, after in next_ones)

    return below(problem.kernel, ())


def estimate(problem: Problem, depth: int, walks: int = 20, seed: int = 0) -> float:
    """Knuth's estimate of `count`."""
    rng = random.Random(seed)
    return sum(_walk(problem, depth, rng) for _ in range(walks)) / walks


def _walk(problem: Problem, depth: int, rng: random.Random) -> float:
    kernel, decided = problem.kernel, ()
    total = nodes = 1
    for _ in range(depth):
        following = children(problem, kernel, decided)
        if not following:
            break
        nodes *= len(following)
        total += nodes
        decision, kernel = rng.choice(following)
        decided = (*decided, decision)
    return total
