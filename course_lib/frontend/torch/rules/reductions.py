"""ATen rules for reductions: sums, means, extremes, norms, softmax.

    aten.mean.dim(%x, [2, 3], True)   ->   mean(%x) {axes = [2, 3], keepdims = true}

Next: `movement.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from course_lib.frontend import blocks
from course_lib.frontend.torch.table import element_type, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import bool_, f32, i64, u8


def axes_of(x: Node, dim: Any) -> tuple[int, ...] | None:
    """PyTorch's `dim`: None or an empty list means all axes."""
    if dim is None or dim == []:
        return None
    return (dim,) if isinstance(dim, int) else tuple(dim)


def reduce(op: str, x: Node, dim: Any, keepdim: bool) -> Node:
    if x.type.rank == 0:
        return x
    return apply(op, x, axes=axes_of(x, dim), keepdims=keepdim)


@translates("sum")
def sum(x: Node, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Node:
    wanted = element_type(dtype) if dtype else x.type.dtype if x.type.dtype.is_float else i64
    return reduce("reduce_sum", as_type(x, wanted), dim, keepdim)


@translates("mean")
def mean(x: Node, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Node:
    return reduce("mean", as_type(x, element_type(dtype)) if dtype else x, dim, keepdim)


@translates("prod.default", "prod.dim_int")
def prod(x: Node, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Node:
    wanted = element_type(dtype) if dtype else x.type.dtype if x.type.dtype.is_float else i64
    return reduce("reduce_prod", as_type(x, wanted), dim, keepdim)


@translates("amax")
def amax(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
    return reduce("reduce_max", x, dim, keepdim)


@translates("amin")
def amin(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
    return reduce("reduce_min", x, dim, keepdim)


@translates("max.default")
def max_all(x: Node) -> Node:
    return _extreme_of_all("reduce_max", x)


@translates("min.default")
def min_all(x: Node) -> Node:
    return _extreme_of_all("reduce_min", x)


def _extreme_of_all(op: str, x: Node) -> Node:
    """PyTorch checks most reductions of nothing when it exports them, but not this one."""
    if x.type.numel == 0:
        raise ValueError(f"{x.type} is empty: it has no largest or smallest element")
    return reduce(op, x, None, False)


@translates("max.dim")
def max_dim(x: Node, dim: int, keepdim: bool = False) -> list[Node]:
    return [reduce("reduce_max", x, dim, keepdim), argmax(x, dim, keepdim)]


@translates("min.dim")
def min_dim(x: Node, dim: int, keepdim: bool = False) -> list[Node]:
    return [reduce("reduce_min", x, dim, keepdim), argmin(x, dim, keepdim)]


def _extreme(op: str, x: Node, dim: int | None, keepdim: bool) -> Node:
    x = x if x.type.dtype.is_float else as_type(x, f32)
    if dim is not None:
        return apply(op, x, axis=dim, keepdims=keepdim)
    extreme = apply(op, b.reshape(x, (-1,)), axis=0, keepdims=False)
    return b.reshape(extreme, (1,) * x.type.rank) if keepdim else extreme


@translates("argmax")
def argmax(x: Node, dim: int | None = None, keepdim: bool = False) -> Node:
    return _extreme("argmax", x, dim, keepdim)


@translates("argmin")
def argmin(x: Node, dim: int | None = None, keepdim: bool = False) -> Node:
    return _extreme("argmin", x, dim, keepdim)


@translates("any")
def any(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
    return truth(x, amax(as_type(x, bool_), dim, keepdim))


@translates("all")
def all(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
    return truth(x, amin(as_type(x, bool_), dim, keepdim))


def truth(x: Node, result: Node) -> Node:
    """A bool. (From u8, PyTorch's bool before it had one, it stays u8.)"""
    return as_type(result, u8 if x.type.dtype == u8 else bool_)


@translates("var.correction", "var.dim", "var.default")
def var(x: Node, dim: Any = None, unbiased: bool = True, keepdim: bool = False,
        correction: float | None = None) -> Node:  # fmt: skip
    if isinstance(dim, bool):  # var.default(x, unbiased)
        dim, unbiased = None, dim
    less = correction if correction is not None else float(unbiased)
    return blocks.variance(x, axes_of(x, dim), keepdim, less)


@translates("std.correction", "std.dim", "std.default")
def std(*args: Any, **kwargs: Any) -> Node:
    return b.sqrt(var(*args, **kwargs))


@translates("logsumexp")
def logsumexp(x: Node, dim: Sequence[int], keepdim: bool = False) -> Node:
    return blocks.log_sum_exp(x, axes_of(x, dim), keepdim)


@translates("linalg_vector_norm")
def vector_norm(x: Node, ord: float = 2, dim: Any = None, keepdim: bool = False,
                dtype: Any = None) -> Node:  # fmt: skip
    if ord == 2:
        return b.sqrt(reduce("reduce_sum", b.mul(x, x), dim, keepdim))
    if ord in (math.inf, 1):
        return reduce("reduce_max" if ord == math.inf else "reduce_sum", b.abs(x), dim, keepdim)
    raise ValueError(f"the norm of order {ord} is not supported")


@translates("cumsum")
def cumsum(x: Node, dim: int, dtype: Any = None) -> Node:
    wanted = element_type(dtype) if dtype else x.type.dtype if x.type.dtype.is_float else i64
    return apply("cumsum", as_type(x, wanted), axis=dim)


@translates("softmax", "_softmax")
def softmax(x: Node, dim: int, dtype: Any = None) -> Node:
    x = x if dtype is None or isinstance(dtype, bool) else as_type(x, element_type(dtype))
    return apply("softmax", x, axis=dim)


@translates("log_softmax", "_log_softmax")
def log_softmax(x: Node, dim: int, dtype: Any = None) -> Node:
    x = x if dtype is None or isinstance(dtype, bool) else as_type(x, element_type(dtype))
    return apply("log_softmax", x, axis=dim)
