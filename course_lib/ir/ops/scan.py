"""The row for recurrences: a graph that runs once for each step of some sequences.

    %h = scan(%h0, %xs, %r) {sequences = 1, body = graph @step(%h: f32[8], %x: f32[8], %r: f32[8,8])
                             -> (f32[8]) {...}} : f32[100,8]

    h = h0
    for t in 0..100 { h = body(h, xs[t], r);  out[t] = h }

The state is one tensor, and the result is its history: the last state is the last row. Several
states are parts of one (`ir/graph/recurrence.py`). The body stays a graph: each pass works on it,
too (`passes/infra/bodies.py`), and it is never written out once for each step. Next room:
`composite.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.registry import Op, flops, register
from course_lib.ir.types import TensorType


def _body_types(types: Sequence[TensorType], attrs: Attrs) -> list[TensorType]:
    """What the body gets: the state, one element of each sequence, the other operands whole."""
    initial, sequences, others = _parts(types, attrs)
    if len(sequences) < attrs["sequences"]:
        raise ValueError(f"scan: {attrs['sequences']} sequences, but {len(sequences)} are given")
    if any(s.rank == 0 for s in sequences):
        raise ValueError("scan: a sequence needs an axis of steps, got a single number")
    lengths = [s.shape[0] for s in sequences]
    if len(set(lengths)) > 1:
        raise ValueError(f"scan: the sequences must be of one length, got {lengths}")
    return [initial, *(s.with_shape(s.shape[1:]) for s in sequences), *others]


def _parts(operands: Sequence[Any], attrs: Attrs) -> tuple[Any, Sequence[Any], Sequence[Any]]:
    """The initial state, the sequences, and the operands that every step reads whole."""
    first_other = 1 + attrs["sequences"]
    return operands[0], operands[1:first_other], operands[first_other:]


def _scan_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    body, given = attrs["body"], _body_types(types, attrs)
    wanted = [n.type for n in body.inputs]
    if given != wanted:
        raise ValueError(f"scan: the body takes {wanted}, each step gives it {given}")
    state, results = types[0], [n.type for n in body.outputs]
    if results != [state]:
        raise ValueError(f"scan: the body must give the next state, {state}; it gives {results}")
    return state.with_shape((types[1].shape[0], *state.shape))


def _scan(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    state, sequences, others = _parts(arrays, attrs)
    steps = range(len(sequences[0]))
    history = np.empty((len(steps), *state.shape), state.dtype)
    for t in reversed(steps) if attrs["reverse"] else steps:
        (state,) = run(attrs["body"], [state, *(s[t] for s in sequences), *others])
        history[t] = state
    return history


def _scan_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    return out.dims[0] * sum(flops(node) for node in attrs["body"].ops)


register(
    Op(
        name="scan",
        kind="control",
        arity=(2, None),
        doc="the history of a state: `body` gives the next one from it, an element of each of the "
        "first `sequences` operands after it, and the others; `reverse` begins at the last",
        attrs={
            "body": Attr("graph"),
            "sequences": Attr("int", 1, least=1),
            "reverse": Attr("bool", False),
        },
        infer=_scan_type,
        evaluate=_scan,
        flops=_scan_flops,
    )
)
