"""What Relax's ops compute, and a machine that runs a module.

    machine = VirtualMachine(compile(module, target), device)
    machine["main"](Tensor(x))    ->    Tensor, or a tuple of them

The call of a function that a backend has generated goes to what is registered under its name, in
destination-passing style: operands, then results to be filled. Next room: `tvm.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.plugins.byoc.tree import (
    ExternFunc,
    Function,
    GenericConst,
    GlobalVar,
    IRModule,
    RelaxCall,
    Tensor,
    TensorType,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
    function,
)

Registered = dict[str, Callable[..., Any]]


def _scaled(scale: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """One scale, or one for each entry along an axis."""
    if not scale.ndim:
        return scale
    shape = [1] * rank
    shape[axis] = -1
    return scale.reshape(shape)


def _dequantize(x: Any, scale: Any, zero: Any, *, axis: int, out_dtype: str) -> np.ndarray:
    whole = (x.astype(np.int32) - zero.astype(np.int32)).astype(out_dtype)
    return whole * _scaled(scale, x.ndim, axis)


def _quantize(x: Any, scale: Any, zero: Any, *, axis: int, out_dtype: str) -> np.ndarray:
    info = np.iinfo(out_dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.nan_to_num(np.rint(x / _scaled(scale, x.ndim, axis))) + zero.astype(np.float32)
    return np.clip(whole, info.min, info.max).astype(out_dtype)


def _matmul(a: Any, b: Any, *, out_dtype: str) -> np.ndarray:
    return np.matmul(a.astype(np.int64 if a.dtype.kind == "i" else a.dtype), b).astype(out_dtype)


OPS: dict[str, Callable[..., np.ndarray]] = {
    "relax.matmul": _matmul,
    "relax.add": np.add,
    "relax.multiply": np.multiply,
    "relax.negative": np.negative,
    "relax.nn.relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "relax.sigmoid": lambda x: (1 / (1 + np.exp(-x))).astype(x.dtype),
    "relax.permute_dims": np.transpose,
    "relax.dequantize": _dequantize,
    "relax.quantize": _quantize,
}


def run(
    function: Function, operands: Sequence[np.ndarray], module: IRModule,
    registered: Registered | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """The results of a function of a module."""
    known = registered or {}
    values: dict[Any, Any] = dict(zip(function.params, operands, strict=True))
    for binding in function.bindings:
        value = binding.value
        if isinstance(value, Function):
            values[binding.var] = value
        elif isinstance(value, TupleGetItem):
            values[binding.var] = values[value.tuple_value][value.index]
        else:
            given = [a.value.numpy() if isinstance(a, GenericConst) else values[a]
                     for a in value.args]  # fmt: skip
            values[binding.var] = _called(value, given, values, module, known)
    return [values[result] for result in function.results]


def _called(
    call: RelaxCall, given: list[np.ndarray], values: Any, module: IRModule, known: Registered
) -> Any:
    if isinstance(call.op, ExternFunc):
        results = _packed(call.op.global_symbol, given, call.ty, known)
    elif isinstance(call.op, (Var, GlobalVar)):
        inner = values[call.op] if isinstance(call.op, Var) else module[call.op.name_hint]
        results = run(inner, given, module, known)
    else:
        return OPS[call.op.name](*given, **dict(call.attrs.pairs))
    return results if isinstance(call.ty, TupleType) else results[0]


def _packed(
    symbol: str, operands: list[np.ndarray], ty: TensorType | TupleType, known: Registered
) -> list[Any]:
    if symbol not in known:
        raise ValueError(f"the machine calls {symbol}, and nothing is registered under that name")
    types = ty.fields if isinstance(ty, TupleType) else (ty,)
    results = [Tensor(np.zeros(t.shape, t.dtype)) for t in types]
    known[symbol](*map(Tensor, operands), *results)
    return [result.array for result in results]


def folded(main: Function) -> Function:
    """Without calls of ops whose operands are all constants."""
    known: dict[Var, GenericConst] = {}
    left = []
    for b in main.bindings:
        call = b.value
        if not isinstance(call, RelaxCall):
            left.append(b)
            continue
        args = tuple(known.get(a, a) if isinstance(a, Var) else a for a in call.args)
        constants = [a.value.numpy() for a in args if isinstance(a, GenericConst)]
        call = RelaxCall(call.op, args, call.attrs, call.ty)
        if len(constants) == len(args) and b.var not in main.results:
            values: Any = _called(call, constants, {}, IRModule(()), {})
            known[b.var] = GenericConst(Tensor(np.ascontiguousarray(values)))
        else:
            left.append(VarBinding(b.var, call))
    return function(main.params, left, main.results)


@dataclass(frozen=True, eq=False)
class Executable:
    module: IRModule


def compile(module: IRModule, target: Any = None) -> Executable:
    return Executable(module)


@dataclass(frozen=True, eq=False)
class VirtualMachine:
    registered: Registered
    built: Executable
    device: Any

    def __getitem__(self, name: str) -> Callable[..., Any]:
        module = self.built.module

        def call(*tensors: Tensor) -> Any:
            results = run(module[name], [t.numpy() for t in tensors], module, self.registered)
            made = tuple(Tensor(np.ascontiguousarray(r)) for r in results)
            return made[0] if len(made) == 1 else made

        return call
