"""Between which two numbers the true ratio lies, as far as rounds can tell.

>>> interval([1.00, 1.02, 1.50, 1.01, 1.03, 1.01], [0.80, 0.82, 1.20, 0.99, 0.82, 0.80])
(1.02020202020202, 1.2625)
>>> interval([1.00, 1.02, 1.50], [0.80, 0.82, 1.20])
(0.0, inf)

Next room: `duel.py`, the three answers that follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from course_lib.exercises import exercise


def all_of_them(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """From the least of the ratios to the largest, if there are six."""
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    return (min(ratios), max(ratios)) if len(ratios) > 5 else (0.0, math.inf)


@exercise("measure.interval", unit=18, points=4, baseline=all_of_them)
def interval(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Between which two numbers does the true ratio lie?

    first, second  positive seconds of one run of each engine, in the same rounds; 1 to 200 of each
    returns        the lowest and the highest ratio that the rounds are compatible with

    The ratio of a round is the first time divided by the second one. It is as likely to lie above
    the true ratio as below it, and the rounds are independent of each other. Nothing else is known:
    some ratios may be far off, most of them on one side.

    At least 19 of 20 intervals must contain the true ratio, whatever the number of rounds. With
    five rounds or fewer, no narrower interval than 0.0 to math.inf can promise that. With six or
    more, both ends must be positive and finite. With 30 or more, the interval must on average be
    narrower than the middle half of the ratios, from a quarter to three quarters.
    """
    ratios = sorted(a / b for a, b in zip(first, second, strict=True))
    count = len(ratios)
    tails = accumulate(math.comb(count, k) / 2**count for k in range(count))
    cut = sum(tail <= 0.025 for tail in tails)  # so many at each end are seldom all on one side
    return (ratios[cut - 1], ratios[count - cut]) if cut else (0.0, math.inf)
