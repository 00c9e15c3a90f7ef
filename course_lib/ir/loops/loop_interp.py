"""The interpreter of level 2: what a kernel means, one element at a time.

    run_kernel(kernel, {"x": array, "out": empty})      fills `out`

Slow on purpose: it is the definition that fast code is tested against. All loop kinds run as `for`.
An index outside its buffer is an error, here as in compiled code.

A statement, an expression and an index are each turned into a Python function without arguments,
made of the functions of its parts; what a statement is gets asked once, not at every point of the
loops around it. The functions read the arrays, and the loop variables' values of the moment, from
two dicts that they share. Next room: `course_lib/passes/clean/dce.py`, the first pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Call, Const, Expr, Iter, Load
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.scalar import SCALARS, convert
from course_lib.ir.types import TensorType


@takes
def run_kernel(kernel: Kernel, arrays: Mapping[str, np.ndarray]) -> None:
    """Execute the kernel on the arrays of its parameters; the last one is written in place."""
    for param in kernel.params:
        if param.name not in arrays:
            raise ValueError(f"@{kernel.name}: there is no array for {param.name}, {param.type}")
        array = arrays[param.name]
        if array.shape != param.type.dims or array.dtype != param.type.dtype.numpy:
            raise ValueError(
                f"@{kernel.name}: {param.name} must be {param.type}, "
                f"got {array.dtype}{list(array.shape)}"
            )
    with np.errstate(all="ignore"):
        _Frame(dict(arrays)).block(kernel.body)()


def unwritten(type: TensorType) -> np.ndarray:
    """New memory. It holds NaN (or a strange number), so that reading before writing shows."""
    strange = np.nan if type.dtype.is_float else 0x55
    return np.full(type.dims, strange, type.dtype.numpy)


@dataclass(frozen=True)
class _Frame:
    """One run of a kernel: its buffers, and where each loop is.

    Each method turns a piece of the kernel into the function that runs it.
    """

    arrays: dict[str, np.ndarray]
    at: dict[str, int] = field(default_factory=dict)

    def block(self, body: tuple[Stmt, ...]) -> Callable[[], None]:
        parts = [self.statement(stmt) for stmt in body]

        def run() -> None:
            for part in parts:
                part()

        return run

    def statement(self, stmt: Stmt) -> Callable[[], None]:
        arrays, at = self.arrays, self.at
        match stmt:
            case Local(buffer):

                def run() -> None:
                    arrays[buffer.name] = unwritten(buffer.type)
            case Store(name, indices, value):
                point, new = self.point(name, indices), self.value(value)

                def run() -> None:
                    arrays[name][point()] = new()
            case Accumulate(name, indices, op, value):
                point, new = self.point(name, indices), self.value(value)
                combine = SCALARS[op].numpy

                def run() -> None:
                    where, array = point(), arrays[name]
                    array[where] = combine(array[where], new())
            case Loop(var, body=body):
                inner, starts, stops = self.block(body), stmt.starts, stmt.stops

                def run() -> None:
                    start = max([bound.evaluate(at) for bound in starts])
                    for i in range(start, min([bound.evaluate(at) for bound in stops])):
                        at[var] = i
                        inner()

        return run

    def point(self, name: str, indices: tuple[Affine | Expr, ...]) -> Callable[[], tuple[int, ...]]:
        """Where in the buffer, checked against its shape."""
        arrays, at = self.arrays, self.at
        parts = [i.evaluate if isinstance(i, Affine) else self.whole(i) for i in indices]

        def run() -> tuple[int, ...]:
            point = tuple([part(at) for part in parts])
            shape = arrays[name].shape
            for p, size in zip(point, shape, strict=True):
                if not 0 <= p < size:
                    raise IndexError(f"{name}{list(point)} is outside its shape {list(shape)}")
            return point

        return run

    def whole(self, index: Expr) -> Callable[[Mapping[str, int]], int]:
        """An index that is computed from what the buffers hold, called as `Affine.evaluate` is."""
        value = self.value(index)
        return lambda _: int(value())

    def value(self, expr: Expr) -> Callable[[], Any]:
        arrays, at = self.arrays, self.at
        match expr:
            case Const(value, dtype):
                number = dtype.numpy.type(value)
                return lambda: number
            case Iter(index):
                return lambda: np.int64(index.evaluate(at))
            case Load(name, indices, _):
                point = self.point(name, indices)
                return lambda: arrays[name][point()]
            case Call("cast", (arg,), dtype):
                old = self.value(arg)
                return lambda: convert(old(), dtype)[()]
            case Call("select", (condition, a, b), _):  # computes both, as machine code does
                chosen, first, second = self.value(condition), self.value(a), self.value(b)
                return lambda: (second(), first())[bool(chosen())]
            case Call(fn, args, dtype):
                apply, parts = SCALARS[fn].numpy, [self.value(arg) for arg in args]
                return lambda: dtype.numpy.type(apply(*[part() for part in parts]))
        raise AssertionError(f"unknown expression {expr!r}")
