"""The table from ATen ops to ours: one small function for each op.

    @translates("hardtanh", "relu6")
    def hardtanh(x, min_val=-1.0, max_val=1.0): ...        # aten.hardtanh.default(x, 0.0, 6.0)

A rule has the parameters of the ATen op, takes nodes where that takes tensors, and returns a node
(or a list of them). A name without an overload covers all overloads; `max.dim` covers one.
Next: `rules/elementwise.py`, then reductions, movement, indexing and nn.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node
from course_lib.ir.types import DTYPES, DType, bool_, f32, i64

RULES: dict[str, Callable[..., Any]] = {"getitem": operator.getitem}


def find_rule(target: Any) -> Callable[..., Any] | None:
    """The rule for an ATen op, or None. In-place ops have none: PyTorch makes them pure first."""
    if target is operator.getitem:
        return operator.getitem
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return None
    _, packet, overload = str(target).split(".")
    if target._schema.is_mutable:
        return None
    return RULES.get(f"{packet}.{overload}") or RULES.get(packet)


def translates(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the rule for these ATen ops."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in RULES, f"aten.{name} has two rules"
            RULES[name] = function
        return function

    return register


# ── element types and numbers ──

_TYPES = {
    torch.float16: "f16", torch.float32: "f32", torch.float64: "f64",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
    torch.bool: "bool",
}  # fmt: skip


def element_type(dtype: torch.dtype) -> DType:
    """Our element type for PyTorch's."""
    if dtype not in _TYPES:
        raise ValueError(f"{dtype} is not supported; convert the model, for example model.float()")
    return DTYPES[_TYPES[dtype]]


def array(tensor: torch.Tensor) -> np.ndarray:
    """The values of a tensor, if its element type is one of ours."""
    element_type(tensor.dtype)
    return tensor.detach().cpu().contiguous().numpy()


_RANKS = {"bool": 0, "uint": 1, "int": 1, "float": 2}


def promote(*operands: Any) -> DType:
    """PyTorch's result type. A number, or a tensor of rank 0, counts only if its kind is higher.

    (int tensor) + 2.5 is f32, (f16 tensor) + 2.5 stays f16, (i64 tensor) + (f32 tensor) is f32.
    """
    tensors = [o.type.dtype for o in operands if isinstance(o, Node) and o.type.rank]
    scalars = [o.type.dtype for o in operands if isinstance(o, Node) and not o.type.rank]
    numbers = [_of_number(o) for o in operands if not isinstance(o, Node)]
    result: DType | None = None
    for group in (tensors, scalars, numbers):
        best = _join(group)
        if best and (result is None or _RANKS[best.kind] > _RANKS[result.kind]):
            result = best
    assert result is not None, "an op without operands"
    return result


def _of_number(number: bool | int | float) -> DType:
    if isinstance(number, bool):
        return bool_
    return i64 if isinstance(number, int) else f32


def _join(types: Sequence[DType]) -> DType | None:
    top = max((_RANKS[t.kind] for t in types), default=-1)
    same = [t.numpy for t in types if _RANKS[t.kind] == top]
    return DType.of(np.result_type(*same)) if same else None


def together(*operands: Any) -> list[Node]:
    """All operands in their common element type.

    A number that is too large for f32 becomes infinite, as PyTorch makes it. One that is too large
    for f16 does not, because PyTorch then computes with it in f32: ours refuses it.
    """
    common = promote(*operands)
    with np.errstate(over="ignore"):
        rounded = [np.float32(o) if common == f32 and isinstance(o, float) else o for o in operands]
    return [as_type(o, common) for o in rounded]
