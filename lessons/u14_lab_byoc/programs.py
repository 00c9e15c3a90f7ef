"""The model of the lab: four dense layers, with a sigmoid between the second and the third.

It is a module of the stand-in (`course_lib/plugins/byoc`); `byoc.real` makes TVM's of it. Next
room: plugged.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from course_lib.plugins.byoc.build import written
from course_lib.plugins.byoc.dense import between, layer
from course_lib.plugins.byoc.tree import IRModule, TensorType, Var


@cache
def model() -> IRModule:
    """16 rows through four layers: the weights of the first as PyTorch stores them, no bias in the
    third, no relu in the last."""
    rng = np.random.default_rng(1400)

    def program(x: Var) -> Var:
        x = layer(layer(x, 96, transposed=True, rng=rng), 96, rng=rng)
        return layer(layer(between(x), 64, bias=False, rng=rng), 10, relu=False, rng=rng)

    return written(program, TensorType((16, 64), "int8"))


def inputs() -> list[np.ndarray]:
    """The rows that `model` is tried with."""
    return [np.random.default_rng(14).integers(-128, 128, (16, 64)).astype(np.int8)]
