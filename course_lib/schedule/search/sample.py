"""Random search: decisions at random, again and again, until the budget is spent.

    sample(problem, Budget(priced=200), predict, seed=1).best

Anything that is called a search has to be better than this. Next room: `evolve.py`.
"""

from __future__ import annotations

import random

from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.search.moves import Move, moves
from course_lib.schedule.search.problem import Budget, Decision, Measure, Price, Problem, Record
from course_lib.schedule.search.search import Progress, Search, State

ROUND = 8  # schedules between two looks at which is the best
FRUITLESS = 20  # rounds without anything new: the space is exhausted
TRIES = 8  # moves that are drawn, where others are refused


def sample(
    problem: Problem,
    budget: Budget | None = None,
    price: Price | None = None,
    measure: Measure | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    depth: int = 4,
) -> Record:
    """Lists of at most `depth` decisions, each drawn evenly from the moves that were there.

    The arguments are those of `beam`. The same for the same seed, if nothing is measured.
    """
    search = Search(problem, budget or Budget(), price, measure, progress)
    rng = random.Random(seed)

    def plan() -> None:
        fruitless = 0
        while fruitless < FRUITLESS:
            drawn = [draw(search, rng, depth) for _ in range(ROUND)]
            new = [state for state in drawn if state]
            fruitless = 0 if new else fruitless + 1
            if new:
                search.best(new, 1)

    search.run(plan)
    return search.record("random", depth=depth, seed=seed)


def draw(search: Search, rng: random.Random, depth: int) -> State | None:
    """A new candidate with at most `depth` decisions; None if there was one like it."""
    decisions, kernel = (), search.problem.kernel
    for _ in range(rng.randint(1, depth)):
        step = one_more(search, rng, decisions, kernel)
        if step is None:
            break
        decisions, kernel = (*decisions, step[0]), step[1]
    return search.add(decisions, kernel, None) if decisions else None


def one_more(
    search: Search, rng: random.Random, decisions: tuple[Decision, ...], kernel: Kernel
) -> tuple[Decision, Kernel] | None:
    """A decision at random: its kind is drawn first, then a move. None if none is accepted."""
    of_kind: dict[str, list[Move]] = {}
    for move in moves(search.problem, kernel, decisions):
        of_kind.setdefault(move.kind, []).append(move)
    for _ in range(TRIES if of_kind else 0):
        try:
            return rng.choice(rng.choice(list(of_kind.values()))).decide(kernel)
        except ValueError:
            search.refused += 1
    return None
