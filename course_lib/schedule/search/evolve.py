"""Evolutionary search: the best schedules so far are changed and crossed.

    mutation    tile A; ow outermost; kw unrolled     ->   tile A; ic split; kw unrolled
    crossover   tile A; ow outermost                  ->   tile A; kw unrolled; no threads
                tile B; kw unrolled; no threads

A decision names loops, and after another tile there may be no loop of that name: what no primitive
accepts any more is left out, so a child is always legal. Ansor (2020) and MetaSchedule search like
this, with a learned cost model. Next room: `tuned.py`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress

from course_lib.schedule.search.moves import open_kinds
from course_lib.schedule.search.problem import Budget, Decision, Measure, Price, Problem, Record
from course_lib.schedule.search.sample import FRUITLESS, draw, one_more
from course_lib.schedule.search.search import Progress, Search, State


def evolve(
    problem: Problem,
    budget: Budget | None = None,
    price: Price | None = None,
    measure: Measure | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    population: int = 12,
    depth: int = 4,
) -> Record:
    """Generations of `population` schedules, the default and random ones at first.

    A child takes the first decisions of one parent and what follows them in another one, or it is
    one parent with another decision at some place; good parents are drawn more often. The best of
    parents and children live on. The arguments are those of `beam`; the same for the same seed, if
    nothing is measured.
    """
    search = Search(problem, budget or Budget(), price, measure, progress)
    rng = random.Random(seed)

    def plan() -> None:
        first = [draw(search, rng, depth) for _ in range(population)]
        alive = search.best([search.default, *filter(None, first)], population)
        fruitless = 0
        while fruitless < FRUITLESS and alive:
            born = [s for _ in range(population) if (s := child(search, rng, alive, depth))]
            fruitless = 0 if born else fruitless + 1
            new = [state for state in born if state.number]  # the default lives already
            alive = search.best([*alive, *new], population) if new else alive

    search.run(plan)
    return search.record("evolve", population=population, depth=depth, seed=seed)


def child(search: Search, rng: random.Random, alive: Sequence[State], depth: int) -> State | None:
    """A new candidate made of one or two of `alive`, the best first; None if there was one like
    it."""
    one, other = (alive[min(rng.randrange(len(alive)), rng.randrange(len(alive)))] for _ in "ab")
    place = rng.randrange(len(one) + 1)
    begin, rest = replay(search, (), one.decisions[:place]), other.decisions[place:]
    if rng.random() < 0.5:
        step = one_more(search, rng, begin, search.after(begin))
        begin = (*begin, step[0]) if step else begin
        rest = one.decisions[place + 1 :]
    decisions = replay(search, begin, rest)
    if not 0 < len(decisions) <= depth:
        return None
    return search.add(decisions, search.after(decisions), one.number)


def replay(
    search: Search, decided: tuple[Decision, ...], more: Sequence[Decision]
) -> tuple[Decision, ...]:
    """Some decisions after others, but for those that are refused or would come too late."""
    for decision in more:
        if decision.kind in open_kinds(decided):
            with suppress(ValueError):
                search.after((*decided, decision))
                decided = (*decided, decision)
    return decided
