"""Are two results the same, but for roundings? In floats by a tolerance, else in steps.

    errors([ours], [right], [None])   ->   {"max_rel_error": 2e-07, "agrees": True, ...}

Next room: `contest.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.bridges import steps as stepwise

TOLERANCE = 1e-3  # relative to the largest value of the right result
ROUNDINGS = 4  # of a result's own type, which may be all that f16 has


def errors(
    outputs: Sequence[np.ndarray], right: Sequence[np.ndarray], steps: stepwise.Sizes
) -> dict[str, Any]:
    """The largest errors, and whether all outputs are near enough: in steps, or by a tolerance."""
    worst_absolute = worst_relative = 0.0
    agrees = True
    for mine, other, step in zip(outputs, right, steps, strict=True):
        absolute, scale = _distance(mine, np.asarray(other))
        relative = absolute / scale if scale else absolute
        worst_absolute = max(worst_absolute, absolute)
        worst_relative = max(worst_relative, relative)
        apart = stepwise.in_steps([mine], [other], [step])
        near = relative <= tolerance(mine.dtype) if apart is None else apart <= stepwise.ALLOWED
        agrees = agrees and near
    return {"max_abs_error": worst_absolute, "max_rel_error": worst_relative, "agrees": agrees}


def tolerance(dtype: np.dtype) -> float:
    """How far apart two right results of this type may be."""
    precision = float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    return max(TOLERANCE, ROUNDINGS * precision)


def _distance(mine: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Largest difference, and the largest finite value to see it against."""
    if mine.shape != other.shape:
        raise ValueError(f"shapes differ: {list(mine.shape)}, and right is {list(other.shape)}")
    if not mine.size:
        return 0.0, 1.0
    a, b = mine.astype(np.float64), other.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    return float(np.nan_to_num(difference, nan=np.inf).max()), float(finite.max(initial=0.0))
