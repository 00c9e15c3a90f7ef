"""Visible checks of unit 18: intervals that hold what they promise. Next room: reports.py."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, shows
from autograder.check.shown import returned
from lessons.u18.experiments import (
    KINDS,
    Experiment,
    by_number,
    drawn_of,
    every_throw,
    experiment,
    middle_half,
)

BETWEEN = "Between which two numbers does the true ratio lie"
GIVEN = "positive seconds of one run of each engine, in the same rounds; 1 to 200 of each"
PAIR = "the lowest and the highest ratio that the rounds are compatible with"
OF_A_ROUND = "The ratio of a round is the first time divided by the second one"
AS_LIKELY = (
    "It is as likely to lie above the true ratio as below it, and the rounds are independent"
)
UNKNOWN = "Nothing else is known: some ratios may be far off, most of them on one side"
COVERS = "At least 19 of 20 intervals must contain the true ratio, whatever the number of rounds"
FEW = "With five rounds or fewer, no narrower interval than 0.0 to math.inf can promise that"
SIX = "With six or more, both ends must be positive and finite"
NARROW = "With 30 or more, the interval must on average be narrower than the middle half"
PROMISED = 0.05  # of all intervals may miss the true ratio
ABOUT = 0.06  # the same, where not everything that may happen is looked at


def bounds(interval: Any, one: Experiment) -> tuple[float, float]:
    """The interval of an answer; Wrong if it is none."""
    call = f"interval({_list(one.first)}, {_list(one.second)})"
    with shows(call):
        got = interval(list(one.first), list(one.second))
    pair = isinstance(got, (tuple, list, np.ndarray)) and len(got) == 2
    if not pair or not all(isinstance(x, Real) for x in got):
        raise Wrong(
            "The answer must be a pair of numbers.", program=call, got=returned(got), spec=PAIR
        )
    low, high = float(got[0]), float(got[1])
    if len(one.first) > 5 and (low == 0 or high == math.inf):
        raise Wrong(f"{len(one.first)} rounds tell more than that.", program=_list(one.ratios),
                    got=f"{low:g} to {high:g}", spec=SIX)  # fmt: skip
    if not 0 <= low <= high:
        raise Wrong("The lowest ratio comes first, and neither is negative.", program=call,
                    got=returned(got), spec=PAIR)  # fmt: skip
    return low, high


def _list(values: Sequence[float]) -> str:
    shown = ", ".join(f"{v:.4g}" for v in values[:8])
    return f"[{shown}, ... {len(values)} in all]" if len(values) > 8 else f"[{shown}]"


@checks("measure.interval", spec=[FEW, GIVEN, OF_A_ROUND])
def few_rounds_tell_nothing(interval):
    """One to five rounds."""
    for count in (5, 4, 3, 2, 1):
        (one,) = drawn_of(np.random.default_rng(count), [count], 1)
        low, high = bounds(interval, one)
        if low > 0 or high < math.inf:
            raise Wrong(f"{count} rounds cannot tell that much.", program=_list(one.ratios),
                        got=f"{low:g} to {high:g}", expected="0.0 to inf", spec=FEW)  # fmt: skip


def tail(count: int, most: int) -> float:
    """How often so many coins show heads at most `most` times."""
    return sum(math.comb(count, k) for k in range(most + 1)) / 2**count


def ranks(interval: Any, seed: int) -> None:
    """For each number of rounds, how many ratios lie outside; Wrong if these are too many.

    The true ratio has at most k ratios below it as often as so many coins show k heads at most. If
    k ratios lie below an interval that begins with one, such a true ratio is below it, too.
    """
    for count in range(6, 201):
        one = experiment(np.random.default_rng([seed, count]), count, "still")
        low, high = bounds(interval, one)
        below, above = sum(r < low for r in one.ratios), sum(r > high for r in one.ratios)
        between = [not any(math.isclose(end, r, rel_tol=1e-9) for r in one.ratios)
                   for end in (low, high)]  # fmt: skip
        misses = tail(count, below - between[0]) + tail(count, above - between[1])
        if misses > PROMISED:
            raise Wrong(
                "An interval that leaves so many ratios out misses the true one too often.",
                program=f"{count} rounds",
                got=f"ratios below the interval: {below}, above it: {above}; so few of {count} "
                f"lie on one side of the true ratio in {misses:.1%} of all cases",
                expected="at most 5 %",
                spec=COVERS,
            )


def covered(interval: Any, tried: Iterable[Experiment], allowed: float) -> float:
    """The probability that the interval misses the true ratio; Wrong if it is too large."""
    every, missed = 0, []
    for one in tried:
        every += 1
        low, high = bounds(interval, one)
        if not low <= one.ratio <= high:
            missed.append((one, low, high))
    share = sum(one.weight for one, *_ in missed)
    if share > allowed:
        one, low, high = max(missed, key=lambda each: each[0].weight)
        raise Wrong(
            f"Of all intervals of {len(one.first)} rounds, {share:.1%} do not contain the true "
            "ratio.",
            program=f"{every} experiments, in which a round is off by {KINDS[one.kind]}; one of "
            "those missed has the ratios\n" + " ".join(f"{r:.4g}" for r in sorted(one.ratios)),
            got=f"{low:.4g} to {high:.4g}; the true ratio is {one.ratio:.4g}",
            expected="at most 5 %",
            spec=UNKNOWN if one.kind in ("one side", "two heaps") else COVERS,
        )
    return share


@checks("measure.interval", spec=[BETWEEN, AS_LIKELY, COVERS, PAIR, SIX])
def no_number_of_rounds_is_left_out(interval):
    """Every number of rounds from 6 to 200."""
    ranks(interval, 1809)


@checks("measure.interval", spec=[AS_LIKELY, UNKNOWN, COVERS, PAIR, SIX])
def the_true_ratio_is_seldom_missed(interval):
    """All ways in which the ratios of 6, 7 and 8 rounds may fall, and many for 12 to 120 rounds."""
    worst = 0.0
    for kind in KINDS:
        for count in (6, 7, 8):
            worst = max(worst, covered(interval, every_throw(count, kind), PROMISED))
        for count, each in ((12, 2), (20, 2), (30, 2), (60, 2), (120, 1)):
            worst = max(worst, covered(interval, by_number(count, kind, each), ABOUT))
    return f"of 100 intervals, at most {100 * worst:.1f} miss the true ratio"


def narrow(interval: Any, tried: Sequence[Experiment]) -> float:
    """The mean width of the intervals, as a share of that of the middle half; Wrong if wide."""
    pairs = [(bounds(interval, one), middle_half(one.ratios)) for one in tried]
    mine, halves = (sum(math.log(pair[k][1] / pair[k][0]) for pair in pairs) for k in (0, 1))
    if mine >= halves:
        raise Wrong("The intervals are too wide.", program=f"{len(tried)} experiments",
                    got=f"on average {mine / halves:.2f} times as wide as the middle half",
                    expected="narrower than that", spec=NARROW)  # fmt: skip
    return mine / halves


@checks("measure.interval", spec=[NARROW, OF_A_ROUND])
def the_interval_is_narrow(interval):
    """200 experiments of 30 to 200 rounds."""
    shares = [narrow(interval, drawn_of(np.random.default_rng(least), range(least, most), 50))
              for least, most in ((30, 45), (45, 75), (75, 130), (130, 201))]  # fmt: skip
    return f"{max(shares):.2f} times as wide as the middle half of the ratios, or narrower"
