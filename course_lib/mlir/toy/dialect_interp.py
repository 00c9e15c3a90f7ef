"""What a function of the Toy dialect means: its operations, run by numpy.

    outputs(block, [np.ones((2, 3))])     ->  what it prints and returns, in this order

An operation that is no part of Toy is computed by a function in `more`, by its name. Next room:
`canonical.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from course_lib.mlir.toy.dialect import (
    AddOp,
    CastOp,
    ConstantOp,
    MulOp,
    ReshapeOp,
    TransposeOp,
    shape_of,
)
from course_lib.mlir.toy.functions import PrintOp, ReturnOp

Arrays = list[np.ndarray]
Computed = Callable[[Operation, Arrays], np.ndarray]


def outputs(
    block: Block, arguments: Sequence[np.ndarray], more: Mapping[str, Computed] | None = None
) -> Arrays:
    """What a block prints and returns. ValueError for an operation that is not known here."""
    values: dict[SSAValue, np.ndarray] = dict(zip(block.args, arguments, strict=True))
    printed: Arrays = []
    for op in block.ops:
        given = [values[operand] for operand in op.operands]
        if isinstance(op, (PrintOp, ReturnOp)):
            printed += given
        else:
            values[op.results[0]] = _value(op, given, more or {})
    return printed


def _value(op: Operation, given: Arrays, more: Mapping[str, Computed]) -> np.ndarray:
    match op:
        case AddOp():
            return given[0] + given[1]
        case MulOp():
            return given[0] * given[1]
        case TransposeOp():
            return given[0].T
        case CastOp():
            return given[0]
        case ReshapeOp():
            return given[0].reshape(shape_of(op.result) or ())
        case ConstantOp(value=value):
            return np.array([*value.get_values()]).reshape(shape_of(op.result) or ())
    if op.name in more:
        return more[op.name](op, given)
    raise ValueError(f"there is no {op.name} in these programs")
