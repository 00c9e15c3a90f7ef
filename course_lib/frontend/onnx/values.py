"""What stands for an ONNX value during the import, and what must be a number at compile time.

    Node            a tensor
    SymbolicShape   the result of Shape where a size is a symbol: (batch, 3), not computed further
                    than exporters do with shapes
    Missing         an output of an op that we do not compute
    None            an operand that the model leaves out

What ONNX computes at run time and we need at compile time (the shape of a Reshape, the axes of a
ReduceSum) goes through `numbers` or `sizes`. Next: `table.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from course_lib.ir.graph.graph_interp import value_of
from course_lib.ir.graph.node import Node, const
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import Dim, i64


@dataclass(frozen=True, eq=False)
class SymbolicShape:
    """Sizes of which at least one is a symbol, as an array of rank 0 or 1 of Python objects."""

    sizes: np.ndarray

    def __str__(self) -> str:
        return str(self.sizes.tolist())


@dataclass(frozen=True)
class Missing:
    """An output that no rule computes; an error only if somebody reads it."""

    op_type: str
    name: str


Value = Union[Node, SymbolicShape, Missing, None]


class NeedsConstant(ValueError):
    """An op needs a value at compile time that depends on `inputs` of the graph."""

    def __init__(self, what: str, inputs: list[str]) -> None:
        self.inputs = inputs
        named = ", ".join(repr(name) for name in inputs)
        super().__init__(
            f"{what} must be known at compile time, but depends on the input {named}; "
            f"give its value: from_onnx(model, freeze={{{inputs[0]!r}: array}}), or on the command "
            f"line --freeze {inputs[0]}=FILE.npy"
        )


def numbers(x: Any, what: str) -> np.ndarray:
    """The value of a node that depends on constants only. Shape arithmetic is computed here."""
    if isinstance(x, SymbolicShape):
        raise ValueError(f"{what} must be numbers, but it is {x}: a size is symbolic")
    needed = [n.name for n in topological_order([x]) if n.op == "input"]
    if needed:
        raise NeedsConstant(what, needed)
    return value_of(x)


def sizes(x: Any, what: str) -> list[Dim]:
    """A shape as a list; symbolic sizes are allowed."""
    if isinstance(x, SymbolicShape):
        return x.sizes.tolist()
    return [int(n) for n in numbers(x, what)]


def optional_axes(axes: Any, what: str) -> list[int] | None:
    """Axes given as an attribute (a list), as an input (a node) or not at all."""
    if axes is None:
        return None
    return [int(a) for a in np.ravel(numbers(axes, what) if isinstance(axes, Node) else axes)]


# ── shapes with symbols ──

# What exporters do with shapes: these few ops work on sizes with symbols as on numbers.
SHAPE_RULES: dict[str, Callable[..., Any]] = {
    "Identity": lambda x: x,
    "Cast": lambda x, *, to: x,
    "Gather": lambda x, i, *, axis=0: x[i.astype(int)],
    "Concat": lambda *parts, axis: np.concatenate(parts),
    "Unsqueeze": lambda x, axes=None: x.reshape(-1),
    "Squeeze": lambda x, axes=None: x.reshape(()),
    "Reshape": lambda x, shape, *, allowzero=0: x.reshape([int(n) for n in shape]),
    "Slice": lambda x, start, end, axes=None, steps=None: x[int(start[0]) : int(end[0])],
    "Mul": lambda x, y: x * y,
}
SHAPE_USERS = ("Reshape", "Expand", "ConstantOfShape")  # their rules take such a shape


def is_shape_arithmetic(op_type: str, inputs: Sequence[Value]) -> bool:
    """Does this node compute with a shape that holds symbols (rather than use it for a tensor)?"""
    symbolic = [isinstance(x, SymbolicShape) for x in inputs]
    return any(symbolic) and (symbolic[0] or op_type not in SHAPE_USERS)


def shape_arithmetic(op_type: str, inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    """What one of SHAPE_RULES makes of operands of which at least one is a symbolic shape."""
    if op_type not in SHAPE_RULES:
        raise ValueError("it computes with a size that is symbolic; give example inputs")
    plain = [
        x if x is None else x.sizes if isinstance(x, SymbolicShape) else numbers(x, op_type)
        for x in inputs
    ]
    return shape_value(SHAPE_RULES[op_type](*plain, **attrs))


def shape_value(shape: Any) -> Node | SymbolicShape:
    """A constant if all sizes are numbers, else a symbolic shape."""
    shape = np.asarray(shape, dtype=object)
    if all(isinstance(n, (int, np.integer)) for n in shape.ravel()):
        return const(shape.astype(np.int64), i64)
    return SymbolicShape(shape)
