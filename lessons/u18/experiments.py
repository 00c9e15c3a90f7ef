"""Invented rounds of two engines, drawn so that the true ratio is known.

    rounds, ratio = experiment(np.random.default_rng(0), 30, "one side")
    rounds.first, rounds.second        30 times each, of which round 7 was disturbed in both

The ratio of a round is as likely above the true one as below it, whatever the kind: how far it is
off is what differs. Next room: evidence.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

KINDS = {
    "still": "a percent or so",
    "wide": "a percent for many rounds, and a tenth or more for some",
    "one side": "up to a half to one side, and a percent to the other",
}
Interval = Callable[[list[float], list[float]], tuple[float, float]]


@dataclass(frozen=True)
class Experiment:
    """Two engines in the same rounds."""

    first: list[float]
    second: list[float]
    ratio: float  # the true one
    kind: str

    @property
    def ratios(self) -> list[float]:
        return [a / b for a, b in zip(self.first, self.second, strict=True)]


def experiment(
    rng: np.random.Generator, count: int, kind: str, ratio: float | None = None
) -> Experiment:
    """So many rounds on a machine whose speed wanders, so that both times of a round change."""
    true = float(np.exp(rng.uniform(-0.5, 0.5))) if ratio is None else ratio
    speed = np.exp(np.cumsum(rng.normal(0, 0.15, count))) * 10 ** rng.uniform(-6, 0)
    off = np.abs(rng.standard_normal(count)) * 0.01
    if kind == "wide":
        off *= np.exp(1.5 * rng.standard_normal(count))
    side = rng.choice([-1, 1], count)
    if kind == "one side":
        off = np.where(side == rng.choice([-1, 1]), 25 * off, off)
    first, second = speed * true * np.exp(side * off), speed
    return Experiment(first.tolist(), second.tolist(), true, kind)


def drawn_of(rng: np.random.Generator, counts: Sequence[int], number: int) -> list[Experiment]:
    """So many experiments of all kinds, with one of these numbers of rounds each."""
    kinds = list(KINDS)
    return [experiment(rng, int(rng.choice(list(counts))), kinds[n % len(kinds)])
            for n in range(number)]  # fmt: skip


def missed(interval: Interval, tried: Sequence[Experiment]) -> list[Experiment]:
    """The experiments whose true ratio is outside of the interval."""
    bounds = [(one, interval(one.first, one.second)) for one in tried]
    return [one for one, (low, high) in bounds if not low <= one.ratio <= high]


def middle_half(ratios: Sequence[float]) -> tuple[float, float]:
    """From a quarter to three quarters of them."""
    low, high = np.quantile(ratios, [0.25, 0.75])
    return float(low), float(high)
