"""A small call of each op, so that its page can show values and loops.

    EXAMPLES["matmul"]  ->  ("f32[2,3] f32[3,2]", {})        the operands' types, the attributes

Operands count 0, 1, 2, ... where nothing else is said here. Next: `op_pages.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.registry import OPS
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import TensorType, parse_type

IMAGE = "f32[1,2,4,4]"
EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "select": ("bool[3] f32[3] f32[3]", {}),
    "cast": ("f32[4]", {"dtype": "i32"}),
    "cumsum": ("f32[4]", {"axis": 0}),
    "matmul": ("f32[2,3] f32[3,2]", {}),
    "conv": ("f32[1,1,4,4] f32[1,1,2,2]", {}),
    "conv_in_layout": (
        "f32[1,4,4,1] f32[1,1,2,2]",
        {"layouts": ("nhwc", "oihw", "nhwc")},
    ),
    "conv_transpose": ("f32[1,1,2,2] f32[1,1,2,2]", {}),
    "winograd_tiles": ("f32[1,4,4,1]", {}),
    "winograd_pixels": ("f32[16,1,1]", {"rows": 1, "columns": 1}),
    "max_pool": ("f32[1,1,4,4]", {"kernel": (2, 2), "strides": (2, 2)}),
    "sum_pool": ("f32[1,1,4,4]", {"kernel": (2, 2), "strides": (2, 2)}),
    "avg_pool": ("f32[1,1,4,4]", {"kernel": (2, 2), "strides": (2, 2)}),
    "max_pool_in_layout": (
        "f32[1,4,4,1]",
        {"kernel": (2, 2), "strides": (2, 2), "layouts": ("nhwc", "nhwc")},
    ),
    "sum_pool_in_layout": (
        "f32[1,4,4,1]",
        {"kernel": (2, 2), "strides": (2, 2), "layouts": ("nhwc", "nhwc")},
    ),
    "reshape": ("f32[2,3]", {"shape": (3, 2)}),
    "transpose": ("f32[2,3]", {"perm": (1, 0)}),
    "relayout": ("f32[1,2,2,2]", {"src": "nchw", "dst": "nhwc"}),
    "expand": ("f32[3]", {"shape": (2, 3)}),
    "slice": ("f32[6]", {"starts": (1,), "stops": (6,), "steps": (2,)}),
    "concat": ("f32[2] f32[3]", {"axis": 0}),
    "pad": ("f32[3]", {"low": (1,), "high": (2,)}),
    "gather": ("f32[4,2] i64[3]", {}),
    "gather_elements": ("f32[3,2] i64[2,2]", {}),
    "grid_sample": ("f32[1,1,2,2] f32[1,1,3,2]", {"aligned": True}),
    "dft": ("f32[1,4,1]", {}),
    "scatter_elements": ("f32[4] i64[2] f32[2]", {}),
    "scatter_nd": ("f32[4] i64[2,1] f32[2]", {}),
    "argsort": ("f32[4]", {"axis": 0}),
    "iota": ("", {"shape": (2, 3), "axis": 1}),
    "batch_norm": ("f32[1,2,2,2] f32[2] f32[2] f32[2] f32[2]", {}),
    "layer_norm": ("f32[2,3]", {}),
    "group_norm": ("f32[1,4,2]", {"groups": 2}),
    "quantize": ("f32[4] f32[]", {}),
    "dequantize": ("i8[4] f32[]", {}),
    "requantize": ("i32[4] f32[]", {}),
    "add_quantized": ("i8[4] i8[4] f32[] f32[]", {}),
    "clamp": ("f32[4]", {"min": 0.0, "max": 1.0}),
}
VALUES: dict[str, tuple[Any, ...]] = {  # where counting would show little
    "select": ([True, False, True], [1, 2, 3], [-1, -2, -3]),
    "cast": ([-1.5, 0.5, 2.9, np.nan],),
    "gather": ([[0, 1], [2, 3], [4, 5], [6, 7]], [3, 0, 0]),
    "gather_elements": ([[0, 1], [2, 3], [4, 5]], [[2, 0], [0, 1]]),
    "grid_sample": ([[[[0, 1], [2, 3]]]], [[[[-1, -1], [0, 0], [1, 0.5]]]]),
    "scatter_elements": ([0, 0, 0, 0], [3, 1], [5, 7]),
    "scatter_nd": ([0, 0, 0, 0], [[3], [1]], [5, 7]),
    "argsort": ([3, 1, 2, 1],),
    "quantize": ([-1, 0, 0.3, 100], 0.5),
    "dequantize": ([-2, 0, 1, 100], 0.5),
    "requantize": ([-100, 0, 30, 5000], 0.1),
    "add_quantized": ([1, 2, 3, 4], [4, 4, 4, 100], 0.5, 0.25),
    "argmax": ([[3, 1, 4], [1, 5, 9]],),
    "argmin": ([[3, 1, 4], [1, 5, 9]],),
}
KINDS: dict[str, tuple[list[Any], list[Any]]] = {  # operands of scalar functions, by element type
    "bool": ([True, True, False, False], [True, False, True, False]),
    "i32": ([6, -7, 3, 1], [3, 2, 1, 5]),
    "f32": ([-1.0, 0.0, 0.5, 2.0], [2.0, 1.0, -0.5, 3.0]),
}


def example(name: str) -> tuple[Node, list[np.ndarray]] | None:
    """A node of this op whose operands are inputs, and their values; None if it has no operands
    and no value of its own (`input`, `constant`)."""
    if name in ("input", "constant"):
        return None
    types, attrs, values = _call(name)
    operands = [inp("abcdefghi"[k], t) for k, t in enumerate(types)]
    return apply(name, *operands, **attrs), values


def _call(name: str) -> tuple[list[TensorType], dict[str, Any], list[np.ndarray]]:
    if name in BODIES:
        text, attrs = BODIES[name]()
    elif name in SCALARS:
        text, attrs = " ".join([f"{_element(name)}[4]"] * SCALARS[name].arity), {}
    elif name in EXAMPLES:
        text, attrs = EXAMPLES[name]
    else:  # a reduction, or a composite of one operand
        text = "f32[2,3]" if "axis" in OPS[name].attrs or "axes" in OPS[name].attrs else "f32[4]"
        attrs = {"axes": (1,)} if "axes" in OPS[name].attrs else {}
        attrs = {"axis": 1} if "axis" in OPS[name].attrs else attrs
    types = [parse_type(word) for word in text.split()]
    return types, attrs, _values(name, types)


def _element(name: str) -> str:
    accepts = SCALARS[name].accepts
    return "f32" if "float" in accepts else "i32" if "int" in accepts else "bool"


def _values(name: str, types: list[TensorType]) -> list[np.ndarray]:
    if name in VALUES:
        given = VALUES[name]
    elif name in SCALARS:
        given = KINDS[_element(name)]
    elif len(types) == 1 and types[0].shape == (4,):
        given = ([-2, -0.5, 0.5, 2],)
    else:
        given = [np.arange(t.numel).reshape(t.dims) for t in types]
    return [np.array(v, t.dtype.numpy) for v, t in zip(given, types, strict=False)]


def _scan() -> tuple[str, dict[str, Any]]:
    state, x = inp("state", "f32[2]"), inp("x", "f32[2]")
    return "f32[2] f32[3,2]", {"body": Graph.of([state, x], [state + x], "step")}


def _fused() -> tuple[str, dict[str, Any]]:
    x, y = inp("x", "f32[2,3]"), inp("y", "f32[2,3]")
    return "f32[2,3] f32[2,3]", {"body": Graph.of([x, y], [apply("relu", x - y)], "sub_relu")}


BODIES: dict[str, Callable[[], tuple[str, dict[str, Any]]]] = {"scan": _scan, "fused": _fused}
