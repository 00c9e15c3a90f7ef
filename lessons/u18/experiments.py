"""Invented rounds of two engines, made so that the true ratio is known.

    one = experiment(np.random.default_rng(0), 30, "one side")
    one.first, one.second              30 times each, of which round 7 was disturbed in both
    rate(interval, 30, "one side")     ->   0.0428        of all intervals miss the true ratio

The ratio of a round is as likely above the true one as below it, whatever the kind: how far it is
off is what differs. `rate` goes through what coins may show, one number of rounds above the true
ratio after the other, and weighs each with its probability. So it needs no luck: an interval whose
ends are ratios of certain ranks gets its exact rate. Next room: evidence.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb

import numpy as np

KINDS = {
    "still": "a percent or so",
    "wide": "a percent for many rounds, and a tenth or more for some",
    "one side": "a quarter or so to one side, and a percent to the other",
    "two heaps": "never less than 5 %",
}
Interval = Callable[[list[float], list[float]], tuple[float, float]]


@dataclass(frozen=True)
class Experiment:
    """Two engines in the same rounds. `weight`: the probability of what it stands for."""

    first: list[float]
    second: list[float]
    ratio: float  # the true one
    kind: str
    weight: float = 1.0

    @property
    def ratios(self) -> list[float]:
        return [a / b for a, b in zip(self.first, self.second, strict=True)]


def experiment(
    rng: np.random.Generator, count: int, kind: str, side: Sequence[int] = (), weight: float = 1.0
) -> Experiment:
    """So many rounds on a machine whose speed wanders, so that both times of a round change.
    `side`: for each round, 1 if it is above the true ratio and -1 if below; (): as coins fall."""
    true = float(np.exp(rng.uniform(-0.5, 0.5)))
    speed = np.exp(np.cumsum(rng.normal(0, 0.15, count))) * 10 ** rng.uniform(-6, 0)
    off = np.abs(rng.standard_normal(count)) * 0.01
    sides = np.array(side if len(side) else rng.choice([-1, 1], count))
    if kind == "wide":
        off *= np.exp(1.5 * rng.standard_normal(count))
    if kind == "one side":
        off = np.where(sides == rng.choice([-1, 1]), 25 * off, off)
    if kind == "two heaps":
        off = 0.05 + 5 * off
    first, second = speed * true * np.exp(sides * off), speed
    return Experiment(first.tolist(), second.tolist(), true, kind, weight)


def drawn_of(rng: np.random.Generator, counts: Sequence[int], number: int) -> list[Experiment]:
    """So many experiments of all kinds, with one of these numbers of rounds each."""
    kinds = list(KINDS)
    return [experiment(rng, int(rng.choice(list(counts))), kinds[n % len(kinds)])
            for n in range(number)]  # fmt: skip


def every_throw(count: int, kind: str, seed: int = 0) -> Iterator[Experiment]:
    """One experiment for each of the 2**count ways in which so many coins may fall. They share
    how far off each round is, but not to which side."""
    for side in product((-1, 1), repeat=count):
        rng = np.random.default_rng([seed, count])
        yield experiment(rng, count, kind, side, 1 / 2**count)


def by_number(count: int, kind: str, each: int = 1, seed: int = 0) -> Iterator[Experiment]:
    """Experiments with 0, 1, 2, ... rounds above the true ratio, `each` of every number. Numbers
    so rare that all of them together are one in a million are left out."""
    rng = np.random.default_rng([seed, count, 1])
    for above in range(count + 1):
        weight = comb(count, above) / 2**count
        if weight > 1e-8:
            for _ in range(each):
                side = rng.permutation([1] * above + [-1] * (count - above))
                yield experiment(rng, count, kind, side.tolist(), weight / each)


def rate(interval: Interval, count: int, kind: str, each: int = 20) -> float:
    """The share of intervals that miss the true ratio, of so many rounds."""
    return sum(one.weight for one in missed(interval, list(by_number(count, kind, each))))


def missed(interval: Interval, tried: Sequence[Experiment]) -> list[Experiment]:
    """The experiments whose true ratio is outside of the interval."""
    bounds = [(one, interval(one.first, one.second)) for one in tried]
    return [one for one, (low, high) in bounds if not low <= one.ratio <= high]


def middle_half(ratios: Sequence[float]) -> tuple[float, float]:
    """From a quarter to three quarters of them."""
    low, high = np.quantile(ratios, [0.25, 0.75])
    return float(low), float(high)
