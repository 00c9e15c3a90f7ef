"""May one say that it is faster, and by how much? A ratio is told if its spread is smaller than it.

>>> print(claim([1.0, 1.1, 1.0, 1.2, 1.0], [1.5, 1.6, 1.5, 1.9, 1.5]))
1.5
>>> print(claim([1.0, 1.1, 1.0, 1.2, 1.0], [1.1, 1.0, 1.2, 1.0, 1.1]))
not told apart
>>> print(claim([1.0, 1.1, 1.0, 1.2, 1.0], [1.5, 9.0, 1.8, 7.0, 1.3]))
slower, not told by how much

Two took turns, so every round has a ratio of its own, and what disturbed the machine for a while is
in both of its times. The spread is from the lower to the upper quartile of these ratios. As far
from 1 as that, at least, the middle one has to be. Of two processes that run the same program, one
may be a little faster for good, because its memory lies elsewhere: less than `MARGIN` is never
told. If it is slower in every round by more than that, it is slower, even if nobody can say by how
much. Next room: `apart.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

MARGIN = 0.02  # of a difference between processes that no round can show to be noise
ROUNDS = 5  # fewer have no quartiles


@dataclass(frozen=True)
class Claim:
    """How many times as long the second one takes, in the middle one of the rounds, from which to
    which quartile, and at least and at most. Without enough rounds nothing is known of the spread:
    both quartiles are None."""

    ratio: float
    low: float | None
    high: float | None
    least: float
    most: float

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
        if self.low is None:
            return 0
        return (self.least > 1 + MARGIN) - (self.most < 1 - MARGIN)

    def __str__(self) -> str:
        if self.told:
            return f"{self.ratio:.3g}"
        words = {1: "slower", -1: "faster"}
        return f"{words[self.order]}, not told by how much" if self.order else "not told apart"


def claim(first: Sequence[float], second: Sequence[float]) -> Claim:
    """What the times of the same rounds say about the two."""
    ratios = [b / a for a, b in zip(first, second, strict=True)]
    return Claim(median(ratios), *quartiles(ratios), min(ratios), max(ratios))


def quartiles(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """The lower and the upper quartile; None for both if there are too few values."""
    if len(values) < ROUNDS:
        return None, None
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high
