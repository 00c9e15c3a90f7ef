"""What is drawn at random on the first layer, recorded: walks through the space, and two searches.

    LUCK["walks"]       ->  [7841.0, 21903.0, ...], an estimate of the space by each walk
    LUCK["random"][3]   ->  [[1, 11.07], [4, 10.2], ...], the best so far of the fourth run

Prices and seeds are fixed, so the result is the same wherever this runs, but it takes minutes.
`python -m course_lib record u09/luck` makes it again. Next room: `searches.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from course_lib.cost.nest import CLOCK, predict
from course_lib.maker import maker
from course_lib.recorded import recorded
from course_lib.schedule.search.evolve import evolve
from course_lib.schedule.search.problem import Budget, Record
from course_lib.schedule.search.sample import sample
from course_lib.schedule.search.space import estimate
from lessons.u09.landscapes import SHAPES, problem_of

DEPTH = 6  # decisions
WALKS, RUNS, PRICES = 100, 8, 100
SEARCHES: dict[str, Callable[..., Record]] = {"random": sample, "evolution": evolve}


def so_far(record: Record) -> list[tuple[int, float]]:
    """(schedules priced, fewest clocks so far in millions) whenever a search finds a cheaper one,
    and at its end."""
    prices = [c.predicted for c in record.candidates if c.predicted is not None]
    best = list(accumulate((round(price * CLOCK / 1e6, 2) for price in prices), min))
    gains = [(n + 1, now) for n, now in enumerate(best) if now not in best[:n]]
    return [*gains, (len(best), best[-1])]


@maker("course-lib", "course_lib", seconds=300)
def drawn() -> dict[str, str]:
    problem = problem_of(next(iter(SHAPES.values())))
    results: dict[str, Any] = {
        words: [so_far(search(problem, Budget(priced=PRICES), predict, seed=seed, depth=DEPTH))
                for seed in range(RUNS)]
        for words, search in SEARCHES.items()
    }  # fmt: skip
    results["walks"] = [estimate(problem, DEPTH, walks=1, seed=seed) for seed in range(WALKS)]
    return {name: json.dumps(data, separators=(",", ":")) for name, data in results.items()}


BY_US = recorded(__file__, "luck.txt")
LUCK: dict[str, Any] = {name: BY_US.data(name) for name in BY_US.texts}
