"""How a small program of Relax is written.

    written(lambda x: op("matmul", x, const(w), out_dtype="int32"), TensorType((2, 4), "int8"))

What a call's type is, its op says of zeros. Next room: `dpl.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.plugins.byoc.machine import OPS
from course_lib.plugins.byoc.tree import (
    Attrs,
    GenericConst,
    IRModule,
    Op,
    RelaxCall,
    Tensor,
    TensorType,
    Var,
    VarBinding,
    function,
)

_bindings: list[list[VarBinding]] = []  # of the programs that are being written


def written(program: Callable[..., Var | Sequence[Var]], *types: TensorType) -> IRModule:
    """A module whose `main` is the program; its inputs have these types."""
    params = [Var(f"x{k}", ty) for k, ty in enumerate(types)]
    _bindings.append([])
    try:
        results = program(*params)
    finally:
        bindings = _bindings.pop()
    several = (results,) if isinstance(results, Var) else tuple(results)
    return IRModule((("main", function(params, bindings, several)),))


def op(name: str, *operands: Var | GenericConst, **attrs: Any) -> Var:
    """A binding for a call of `relax.NAME`."""
    call = OPS[f"relax.{name}"]
    zeros = [_zeros(operand) for operand in operands]
    made = call(*zeros, **attrs)
    ty = TensorType(made.shape, made.dtype.name)
    var = Var(f"lv{len(_bindings[-1])}", ty)
    value = RelaxCall(Op(f"relax.{name}"), operands, Attrs(tuple(attrs.items())), ty)
    _bindings[-1].append(VarBinding(var, value))
    return var


def _zeros(operand: Var | GenericConst) -> np.ndarray:
    if isinstance(operand, GenericConst):
        return operand.value.numpy()
    assert isinstance(operand.ty, TensorType)
    return np.zeros(operand.ty.shape, operand.ty.dtype)


def const(values: Any, dtype: str | None = None) -> GenericConst:
    return GenericConst(Tensor(np.array(values, dtype)))
