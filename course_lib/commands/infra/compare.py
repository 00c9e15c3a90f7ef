"""`run --compare onnxruntime`: the same model on a peer, how far apart, and how fast it is.

    compare(task, outputs, options)  ->  {"max_rel_error": 2e-07, "agrees": True, ...}

Next room: `course_lib/peers/onnxruntime.py`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.bridges import steps as stepwise
from course_lib.commands.infra.task import Task
from course_lib.measure.turns import warm_median
from course_lib.peers.onnxruntime import onnxruntime_session

TOLERANCE = 1e-3  # relative to the largest value of the peer's result
ROUNDINGS = 4  # of a result's own type, which may be all that f16 has


def compare(task: Task, outputs: Sequence[np.ndarray], options: Namespace) -> dict[str, Any]:
    """Errors against the peer, over all outputs, and its time. A model of integers is compared with
    what the peer computes without optimizing it, in steps where its results come in steps."""
    from course_lib.frontend.onnx.steps import output_steps  # onnx is heavy

    peer = onnxruntime_session(task.source, options.threads)
    right, steps, more = peer(task.peer_inputs), output_steps(task.source), {}
    if steps is not None:
        optimized = right
        right = onnxruntime_session(task.source, options.threads, plain=True)(task.peer_inputs)
        more = {"steps": stepwise.distances(outputs, right, optimized, steps)}
    return {
        "peer": options.compare,
        **errors(outputs, right, steps or [None] * len(outputs)),
        **more,
        "peer_ms": 1e3 * warm_median(lambda: peer(task.peer_inputs), options.repeat),
    }


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
        raise ValueError(f"shapes differ: ours {list(mine.shape)}, the peer's {list(other.shape)}")
    if not mine.size:
        return 0.0, 1.0
    a, b = mine.astype(np.float64), other.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    return float(np.nan_to_num(difference, nan=np.inf).max()), float(finite.max(initial=0.0))


def comparison(apart: dict[str, Any], ours_ms: float) -> str:
    """The same in words."""
    verdict = "agrees with" if apart["agrees"] else "DIFFERS from"
    plain = " (without its optimizations)" if "steps" in apart else ""
    steps = stepwise.told(apart["peer"], apart["steps"]) + "\n" if "steps" in apart else ""
    return (
        f"{verdict} {apart['peer']}{plain}: largest error {apart['max_abs_error']:.2e} absolute, "
        f"{apart['max_rel_error']:.2e} relative to its largest value\n{steps}"
        f"{apart['peer']}: {apart['peer_ms']:.3f} ms, "
        f"ours takes {ours_ms / apart['peer_ms']:.2f} times as long"
    )
