"""Inputs for a graph of which nobody gave any: the same ones each time.

    random_inputs(graph)   ->   [array of f32[1,784], ...]

Next room: `graph_interp.py`, which runs a graph on inputs.
"""

from __future__ import annotations

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.limits import check_room


def random_inputs(graph: Graph) -> list[np.ndarray]:
    """Standard normal floats, zeros for other inputs."""
    rng = np.random.default_rng(0)
    check_room(sum(8 * n.type.numel for n in graph.inputs), "random inputs")
    return [
        rng.standard_normal(n.type.dims).astype(n.type.dtype.numpy)
        if n.type.dtype.is_float else np.zeros(n.type.dims, n.type.dtype.numpy)
        for n in graph.inputs
    ]  # fmt: skip
