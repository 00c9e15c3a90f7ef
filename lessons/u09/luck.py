"""What is drawn at random on the first layer, recorded: walks through the space, and two searches.

    LUCK["walks"]       ->  [7841.0, 21903.0, ...], an estimate of the space by each walk
    LUCK["random"][3]   ->  [[1, 11.07], [4, 10.2], ...], the best so far of the fourth run

Prices and seeds are fixed, so the result is the same wherever this runs, but it takes minutes.
`python -m course_lib record u09/luck` makes it again. Next room: `searches.py`.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from course_lib.cost.nest import CLOCK
from course_lib.recorded import recorded
from course_lib.schedule.search.problem import Record

DEPTH = 6  # decisions


def so_far(record: Record) -> list[tuple[int, float]]:
    """(schedules priced, fewest clocks so far in millions) whenever a search finds a cheaper one,
    and at its end."""
    prices = [c.predicted for c in record.candidates if c.predicted is not None]
    best = list(accumulate((round(price * CLOCK / 1e6, 2) for price in prices), min))
    gains = [(n + 1, now) for n, now in enumerate(best) if now not in best[:n]]
    return [*gains, (len(best), best[-1])]


BY_US = recorded(__file__, "luck.txt")
LUCK: dict[str, Any] = {name: BY_US.data(name) for name in BY_US.texts}
