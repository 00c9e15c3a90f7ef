"""May one say that it is faster, and by how much? A ratio is told if its spread is smaller than it.

>>> print(claim([1.0, 1.1, 1.0, 1.2, 1.0, 1.0], [1.5, 1.6, 1.5, 1.9, 1.5, 1.5]))
1.5
>>> print(claim([1.0, 1.1, 1.0, 1.2, 1.0, 1.0], [1.1, 1.0, 1.2, 1.0, 1.1, 1.1]))
not told apart
>>> print(claim([1.0, 1.1, 1.0, 1.2, 1.0, 1.0], [1.5, 9.0, 1.8, 7.0, 1.3, 1.4]))
slower, not told by how much

Two took turns, so every round has a ratio of its own, and what disturbed the machine for a while is
in both of its times. The spread is the width of the interval in which the true ratio lies, as far
as the rounds can tell (`interval.py`). As far from 1 as that, at least, the middle one has to be.
Of two processes that run the same program, one may be a little faster for good, because its memory
lies elsewhere: less than `MARGIN` is never told. If the whole interval is farther from 1 than that,
one is slower, even if nobody can say by how much. Next room: `apart.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from course_lib.measure.interval import interval

MARGIN = 0.02  # of a difference between processes that no round can show to be noise
ROUNDS = 6  # fewer tell nothing of the spread


@dataclass(frozen=True)
class Claim:
    """How many times as long the second one takes, in the middle one of the rounds, and between
    which numbers the truth lies. Too few rounds tell nothing of that: both are None."""

    ratio: float
    low: float | None
    high: float | None

    @property
    def told(self) -> bool:
        """Is the difference larger than its spread? The faster one is the unit, whichever it is."""
        if self.low is None or self.high is None:
            return False
        if self.ratio < 1:
            return 1 / self.ratio - 1 >= max(1 / self.low - 1 / self.high, MARGIN)
        return self.ratio - 1 >= max(self.high - self.low, MARGIN)

    @property
    def order(self) -> int:
        """1: the second one is slower; -1: it is faster; 0: neither may be said."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 1 + MARGIN) - (self.high < 1 - MARGIN)

    def __str__(self) -> str:
        if self.told:
            return f"{self.ratio:.3g}"
        words = {1: "slower", -1: "faster"}
        return f"{words[self.order]}, not told by how much" if self.order else "not told apart"


def claim(first: Sequence[float], second: Sequence[float]) -> Claim:
    """What the times of the same rounds say about the two."""
    ratios = [b / a for a, b in zip(first, second, strict=True)]
    low, high = interval(second, first)
    return Claim(median(ratios), *((low, high) if high < math.inf else (None, None)))


def quartiles(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """The lower and the upper quartile; None for both if there are too few values."""
    if len(values) < ROUNDS:
        return None, None
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high
