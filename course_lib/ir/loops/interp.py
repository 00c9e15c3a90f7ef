"""The interpreter of level 2: what a kernel means, one element at a time.

    run_kernel(kernel, {"x": array, "out": empty})      fills `out`

Slow on purpose: it is the definition that fast code is tested against. All loop kinds run as `for`.
An index outside its buffer is an error, here as in compiled code. Next room:
`course_lib/passes/clean/dce.py`, the first pass.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from course_lib.ir.expr import Affine, Call, Const, Expr, Iter, Load
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.scalar import SCALARS, convert
from course_lib.ir.types import TensorType


def run_kernel(kernel: Kernel, arrays: Mapping[str, np.ndarray]) -> None:
    """Execute the kernel on the arrays of its parameters; the last one is written in place."""
    for param in kernel.params:
        array = arrays[param.name]
        if array.shape != param.type.dims or array.dtype != param.type.dtype.numpy:
            raise ValueError(
                f"@{kernel.name}: {param.name} must be {param.type}, "
                f"got {array.dtype}{list(array.shape)}"
            )
    with np.errstate(all="ignore"):
        _block(kernel.body, dict(arrays), {})


def unwritten(type: TensorType) -> np.ndarray:
    """New memory. It holds NaN (or a strange number), so that reading before writing shows."""
    strange = np.nan if type.dtype.is_float else 0x55
    return np.full(type.dims, strange, type.dtype.numpy)


def _block(body: tuple[Stmt, ...], arrays: dict[str, np.ndarray], at: dict[str, int]) -> None:
    for stmt in body:
        match stmt:
            case Local(buffer):
                arrays = {**arrays, buffer.name: unwritten(buffer.type)}
            case Store(name, indices, value):
                arrays[name][_point(name, indices, arrays, at)] = _value(value, arrays, at)
            case Accumulate(name, indices, op, value):
                point = _point(name, indices, arrays, at)
                new = _value(value, arrays, at)
                arrays[name][point] = SCALARS[op].numpy(arrays[name][point], new)
            case Loop(var, start, stop, inner, _):
                for i in range(start.evaluate(at), stop.evaluate(at)):
                    _block(inner, arrays, {**at, var: i})


def _point(name: str, indices, arrays: dict[str, np.ndarray], at: dict[str, int]) -> tuple:
    point = tuple(
        i.evaluate(at) if isinstance(i, Affine) else int(_value(i, arrays, at)) for i in indices
    )
    if any(not 0 <= p < size for p, size in zip(point, arrays[name].shape, strict=True)):
        raise IndexError(f"{name}{list(point)} is outside its shape {list(arrays[name].shape)}")
    return point


def _value(expr: Expr, arrays: dict[str, np.ndarray], at: dict[str, int]):
    match expr:
        case Const(value, dtype):
            return dtype.numpy.type(value)
        case Iter(index):
            return np.int64(index.evaluate(at))
        case Load(name, indices, _):
            return arrays[name][_point(name, indices, arrays, at)]
        case Call("select", args, _):  # computes both, as machine code does
            condition, a, b = (_value(arg, arrays, at) for arg in args)
            return a if condition else b
        case Call("cast", (arg,), dtype):
            return convert(_value(arg, arrays, at), dtype)[()]
        case Call(fn, args, dtype):
            result = SCALARS[fn].numpy(*(_value(a, arrays, at) for a in args))
            return dtype.numpy.type(result)
    raise AssertionError(f"unknown expression {expr!r}")
