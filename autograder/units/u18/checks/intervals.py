"""Visible checks of unit 18: intervals that hold what they promise. Next room: reports.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, shows
from autograder.check.shown import returned
from lessons.u18.experiments import Experiment, drawn_of, middle_half

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
NUMBER, ALLOWED = 300, 27  # of 15: so many more by chance are rarer than one in a thousand
COUNTS = (range(6, 12), range(12, 30), range(30, 61))


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
            raise Wrong(f"{count} rounds cannot tell so much.", program=_list(one.ratios),
                        got=f"{low:g} to {high:g}", expected="0.0 to inf", spec=FEW)  # fmt: skip


def covered(interval: Any, tried: Sequence[Experiment]) -> int:
    """How many intervals miss the true ratio; Wrong if too many do."""
    missed = []
    for one in tried:
        low, high = bounds(interval, one)
        if not low <= one.ratio <= high:
            missed.append((one, low, high))
    if len(missed) > len(tried) * ALLOWED / NUMBER:
        one, low, high = min(missed, key=lambda each: len(each[0].first))
        counts = sorted(len(each.first) for each in tried)
        kinds = [each.kind for each, *_ in missed]
        most = max(sorted(set(kinds)), key=kinds.count)
        raise Wrong(
            f"{len(missed)} of {len(tried)} intervals do not contain the true ratio.",
            program=f"experiments of {counts[0]} to {counts[-1]} rounds; of those missed, "
            f"{kinds.count(most)} are of the kind '{most}'; one of them has the ratios\n"
            + " ".join(f"{r:.4g}" for r in sorted(one.ratios)),
            got=f"{low:.4g} to {high:.4g}; the true ratio is {one.ratio:.4g}",
            expected=f"at most one in 20 missed, which is {len(tried) // 20}; "
            f"{int(len(tried) * ALLOWED / NUMBER)} are let pass, because of chance",
            spec=UNKNOWN if most == "one side" else COVERS,
        )
    return len(missed)


@checks("measure.interval", spec=[BETWEEN, AS_LIKELY, UNKNOWN, COVERS, PAIR, SIX])
def the_true_ratio_is_seldom_missed(interval):
    """900 experiments of 6 to 60 rounds."""
    missed = [covered(interval, drawn_of(np.random.default_rng(1810 + n), counts, NUMBER))
              for n, counts in enumerate(COUNTS)]  # fmt: skip
    return f"900 experiments of 6 to 60 rounds, {sum(missed)} missed"


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
    """150 experiments of 30 to 60 rounds."""
    share = narrow(interval, drawn_of(np.random.default_rng(1818), range(30, 61), 150))
    return f"{share:.2f} times as wide as the middle half of the ratios"
