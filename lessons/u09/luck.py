"""What is drawn at random on the first layer, recorded: walks through the space, and two searches.

    LUCK["walks"]       ->  [7841.0, 21903.0, ...], an estimate of the space by each walk
    LUCK["random"][3]   ->  [[1, 11.07], [4, 10.2], ...], the best so far of the fourth run

Prices and seeds are fixed, so the result is the same wherever this runs, but it takes minutes.
`python -m lessons.u09.luck` records it again. Next room: `searches.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from course_lib.cost.nest import CLOCK, predict
from course_lib.schedule.search.evolve import evolve
from course_lib.schedule.search.problem import Budget, Record
from course_lib.schedule.search.sample import sample
from course_lib.schedule.search.space import estimate
from lessons.u09.landscapes import SHAPES, problem_of

DEPTH = 6  # decisions
WALKS, RUNS, PRICES = 100, 8, 100
SEARCHES: dict[str, Callable[..., Record]] = {"random": sample, "evolution": evolve}
FILE = Path(__file__).with_name("luck.json")


def so_far(record: Record) -> list[tuple[int, float]]:
    """(schedules priced, fewest clocks so far in millions) whenever a search finds a cheaper one,
    and at its end."""
    found: list[tuple[int, float]] = []
    count, least = 0, float("inf")
    for candidate in record.candidates:
        if candidate.predicted is None:
            continue
        count, now = count + 1, round(candidate.predicted * CLOCK / 1e6, 2)
        if now < least:
            found.append((count, now))
            least = now
    return [*found, (count, least)]


def recorded() -> dict[str, Any]:
    problem = problem_of(next(iter(SHAPES.values())))
    made: dict[str, Any] = {
        words: [so_far(search(problem, Budget(priced=PRICES), predict, seed=seed, depth=DEPTH))
                for seed in range(RUNS)]
        for words, search in SEARCHES.items()
    }  # fmt: skip
    made["walks"] = [estimate(problem, DEPTH, walks=1, seed=seed) for seed in range(WALKS)]
    return made


def space_estimate() -> tuple[float, float]:
    """Knuth's estimate of the space, and its standard error."""
    walks = LUCK["walks"]
    return mean(walks), stdev(walks) / len(walks) ** 0.5


LUCK: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}

if __name__ == "__main__":
    FILE.write_text(json.dumps(recorded(), separators=(",", ":")) + "\n", "utf-8")
