"""How far apart two engines are on a quantized model, in steps of its results.

    in_steps(ours, theirs, [scale])   ->   3.0       the largest difference is three steps

An engine that optimizes a quantized model rounds at other places: it folds a scale into the next
one, or computes a layer between two roundings at once. So there are two witnesses, the engine that
computes the file as it stands, and the same one that optimizes; the first says what is right. Next
room: `course_lib/passes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Steps: where floats are summed in another order, a number in the middle may round the other way,
# and the layers behind it hand that on. ResNet-18 in pairs of Quantize and Dequantize is 2 away.
ALLOWED = 2.0
LEVELS = {"plain": "as the file stands", "optimized": "with its optimizations"}
Results = Sequence[np.ndarray]
Sizes = Sequence[np.ndarray | None]


def distances(ours: Results, plain: Results, optimized: Results, steps: Sizes) -> dict[str, Any]:
    """Our results beside those of both levels, and these beside each other, as plain data."""
    levels = {"plain": plain, "optimized": optimized}
    return {
        "allowed": ALLOWED,
        **{name: in_steps(ours, theirs, steps) for name, theirs in levels.items()},
        "between_the_two": in_steps(plain, optimized, steps),
        "same_bits": [name for name, theirs in levels.items() if _same_bits(ours, theirs)],
    }


def in_steps(first: Results, second: Results, steps: Sizes) -> float | None:
    """The largest difference of any output that has a step; None if none has one."""
    pairs = zip(first, second, steps, strict=True)
    differences = [_apart(a, b, step) for a, b, step in pairs if step is not None]
    return max(differences, default=None)


def _apart(a: np.ndarray, b: np.ndarray, step: np.ndarray) -> float:
    """Whole steps, but for roundings of the multiplication by the scale."""
    with np.errstate(invalid="ignore"):
        steps = np.abs(a.astype(np.float64) - b.astype(np.float64)) / step.astype(np.float64)
    same = (a == b) | ((a != a) & (b != b))
    largest = np.nan_to_num(np.where(same, 0.0, steps), nan=np.inf).max(initial=0.0)
    return round(float(largest), 3)


def _same_bits(ours: Results, theirs: Results) -> bool:
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
               for a, b in zip(ours, theirs, strict=True))  # fmt: skip


def told(peer: str, differences: dict[str, Any]) -> str:
    """A line for each level, and one for how far they are from each other."""
    lines = [
        f"in steps of the results' scales ({differences['allowed']:g} is allowed for the first):"
    ]
    for name, words in LEVELS.items():
        apart = "the same bits" if name in differences["same_bits"] else _words(differences[name])
        lines.append(f"  from {peer} {words}: {apart}")
    return "\n".join([*lines, f"  between these two: {_words(differences['between_the_two'])}"])


def _words(steps: float | None) -> str:
    if steps is None:
        return "no result comes in steps"
    return f"{steps:g} step{'' if steps == 1 else 's'}"
