"""Calibration: how large does each value get on a few samples?

    calibrate(graph, [[x0], [x1]])  ->  {%x: Range(-2.1, 3.4), %relu: Range(0.0, 5.2), ...}

The smallest and the largest number that was seen (min-max). Real tools also clip outliers, by
percentile or by entropy. Next room: `site.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node

Sample = Sequence[Any] | Mapping[str, Any]  # inputs as `run` takes them, by position or by name


class Range(NamedTuple):
    """All numbers of a value were from `low` to `high`."""

    low: float
    high: float

    @property
    def scale(self) -> np.float32:
        """How large a step of i8 is if both ends are within 127 steps of 0; 1 if all was 0."""
        return np.float32(max(-self.low, self.high) / 127) or np.float32(1)


def calibrate(graph: Graph, samples: Iterable[Sample]) -> dict[Node, Range]:
    """The range of every float value but constants, over all samples; 0 to 0 of one without
    elements.

    Raises ValueError if there is no sample, or a value is not finite.
    """
    ranges: dict[Node, Range] = {}

    def watch(node: Node, value: np.ndarray) -> None:
        if node.op == "constant" or not node.type.dtype.is_float:
            return
        low, high = (float(value.min()), float(value.max())) if value.size else (0.0, 0.0)
        if not np.isfinite([low, high]).all():
            raise ValueError(
                f"calibration needs finite numbers; {node!r} goes from {low} to {high}"
            )
        before = ranges.get(node, Range(low, high))
        ranges[node] = Range(min(low, before.low), max(high, before.high))

    seen = 0
    for sample in samples:
        run(graph, sample, watch)
        seen += 1
    if not seen:
        raise ValueError("calibration needs at least one sample")
    return ranges
