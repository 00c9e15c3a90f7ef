"""Is it faster, or was that noise? Two take turns, and every round is a comparison of its own.

>>> faster([1.00, 1.02, 1.50, 1.01], [0.90, 0.93, 1.40, 0.91], margin=0.02)
True
>>> faster([1.00, 1.02, 1.50, 1.01], [0.99, 1.30, 0.90, 0.95], margin=0.02)
False

What disturbs the machine for a while disturbs both sides of a round, so the ratio of a round says
more than either time. Next room: `claim.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles

MARGIN = 0.02  # of its time that a kernel must gain


def faster(default: Sequence[float], tuned: Sequence[float], margin: float = MARGIN) -> bool:
    """Does the second one win by more than `margin` in three of four rounds?"""
    ratios = [after / before for before, after in zip(default, tuned, strict=True)]
    return len(ratios) > 1 and quantiles(ratios, n=4, method="inclusive")[2] < 1 - margin


def ratio(default: Sequence[float], tuned: Sequence[float]) -> float:
    """How many times as fast the second one is, in the middle one of all rounds."""
    return median(before / after for before, after in zip(default, tuned, strict=True))
