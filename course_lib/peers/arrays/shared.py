"""The rules that hold for every array library: numpy's names, which both have.

    slice(%x) {starts = [5], stops = [-1], steps = [-2]}  ->  np.flip(x[1:6:2], (0,))

Here `np` is not numpy but the library at hand (`library.py`). Scalar functions need no rule of
their own: what `ir/scalar.py` calls in numpy has the same name there. Next room: `in_torch.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from course_lib.ir.graph.node import Node
from course_lib.ir.registry import normal_axes, normal_axis, op
from course_lib.ir.scalar import SCALARS, accumulator, identity
from course_lib.ir.types import DTYPES, DType
from course_lib.peers.arrays.library import Library, Rules, writes

SHARED: Rules = {}


# ── one element at a time ──


def _called(name: str) -> Any:
    return lambda np, node, *operands: getattr(np, name)(*operands)


for _name, _row in SCALARS.items():
    _ufunc = isinstance(_row.numpy, numpy.ufunc)
    if _name not in ("div", "mod", "fmod", "pow"):  # whose integers are a matter of their own
        writes(SHARED, _name)(_called(_row.numpy.__name__ if _ufunc else _name))


def is_float(node: Node) -> bool:
    return node.type.dtype.is_float


def _divisor(np: Library, node: Node, b: Any) -> tuple[Any, Any, Any]:
    """Is it 0, is it -1, and a divisor that no processor stumbles over."""
    zero = b == 0
    minus = b == -1 if node.type.dtype.kind == "int" else zero
    return zero, minus, np.where(zero | minus, np.ones_like(b), b)


@writes(SHARED, "div")
def _div(np: Library, node: Node, a: Any, b: Any) -> Any:
    """Integers truncate; by 0 they give 0 as in numpy."""
    if is_float(node):
        return np.true_divide(a, b)
    zero, minus, safe = _divisor(np, node, b)
    quotient = np.truncated(a, safe)
    if node.type.dtype.kind == "int":
        quotient = np.where(minus, -a, quotient)
    return np.where(zero, np.zeros_like(quotient), quotient)


@writes(SHARED, "mod", "fmod")
def _mod(np: Library, node: Node, a: Any, b: Any) -> Any:
    """A whole number leaves nothing when it is divided by -1, and by our agreement by 0."""
    remainder = np.remainder if node.op == "mod" else np.fmod
    return remainder(a, b if is_float(node) else _divisor(np, node, b)[2])


@writes(SHARED, "pow")
def _pow(np: Library, node: Node, a: Any, b: Any) -> Any:
    """A negative power of an integer is truncated: 0, unless it is one of 1 or -1."""
    if node.type.dtype.kind != "int":
        return np.power(a, b)
    negative = b < 0
    positive = np.power(a, np.where(negative, np.zeros_like(b), b))
    unit = np.where(b % 2 == 0, a * a, a)
    small = np.where(np.absolute(a) == 1, unit, np.zeros_like(unit))
    return np.where(negative, small, positive)


@writes(SHARED, "select")
def _select(np: Library, node: Node, condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)


@writes(SHARED, "cast")
def _cast(np: Library, node: Node, x: Any) -> Any:
    """From floats to integers: what is beyond the type is its nearest number, NaN is 0."""
    old, new = node.inputs[0].type.dtype, node.type.dtype
    if not old.is_float or new.kind not in ("int", "uint"):
        return np.astype(x, new)
    limits = numpy.iinfo(new.numpy)
    with numpy.errstate(over="ignore"):  # the limits may round, or be infinite
        low, high = (float(old.numpy.type(limit)) for limit in (limits.min, limits.max))
    whole = np.astype(np.where((x > low) & (x < high), x, np.zeros_like(x)), new)
    whole = np.where(x <= low, np.full_like(whole, limits.min), whole)
    return np.where(x >= high, np.full_like(whole, limits.max), whole)


# ── along axes ──

_REDUCTIONS = {
    "reduce_sum": ("add", "sum", "any"),
    "reduce_prod": ("mul", "prod", "all"),
    "reduce_max": ("max", "amax", "any"),
    "reduce_min": ("min", "amin", "all"),
}


@writes(SHARED, *_REDUCTIONS)
def _reduction(np: Library, node: Node, x: Any) -> Any:
    (operand,), kind = node.inputs, node.type.dtype
    axes = normal_axes(node.attrs["axes"], operand.type.rank, node.op)
    combine, name, of_bools = _REDUCTIONS[node.op]
    if not axes:  # torch takes that for all of them
        return x
    if any(operand.type.dims[a] == 0 for a in axes):
        start = identity(combine, kind)
        return np.asarray(numpy.full(node.type.dims, start, kind.numpy))
    function = getattr(np, of_bools if kind.kind == "bool" else name)
    return np.astype(function(x, axes, keepdims=node.attrs["keepdims"]), kind)


@writes(SHARED, "mean", fits=lambda node: bool(normal_axes(
    node.attrs["axes"], node.inputs[0].type.rank, "mean")))  # fmt: skip
def _mean(np: Library, node: Node, x: Any) -> Any:
    axes = normal_axes(node.attrs["axes"], node.inputs[0].type.rank, "mean")
    return np.mean(x, axes, keepdims=node.attrs["keepdims"])


@writes(SHARED, "cumsum")
def _cumsum(np: Library, node: Node, x: Any) -> Any:
    axis = normal_axis(node.attrs["axis"], node.type.rank, "cumsum")
    if not node.type.dims[axis]:
        return x
    x = np.flip(x, (axis,)) if node.attrs["reverse"] else x
    if node.attrs["exclusive"]:  # a zero enters in front, the last one leaves
        first, others = _along(axis, slice(0, 1)), _along(axis, slice(0, -1))
        x = np.concatenate([np.zeros_like(x[first]), x[others]], axis)
    wide = accumulator(node.type.dtype)
    total = np.astype(np.cumsum(x, axis, dtype=np.kind(wide)), node.type.dtype)
    return np.flip(total, (axis,)) if node.attrs["reverse"] else total


@writes(SHARED, "softmax", "log_softmax")
def _softmax(np: Library, node: Node, x: Any) -> Any:
    return getattr(np, node.op)(x, node.attrs["axis"])


@writes(SHARED, "argmax", "argmin", fits=lambda node: not (
    node.attrs["last"] or node.inputs[0].type.dtype.kind == "bool"))  # fmt: skip
def _position(np: Library, node: Node, x: Any) -> Any:
    attrs = node.attrs
    return np.astype(getattr(np, node.op)(x, attrs["axis"], keepdims=attrs["keepdims"]), I64)


@writes(SHARED, "argsort")
def _argsort(np: Library, node: Node, x: Any) -> Any:
    """Stable in both directions: of equal elements the first comes first."""
    attrs, (operand,) = node.attrs, node.inputs
    axis = normal_axis(attrs["axis"], operand.type.rank, "argsort")
    if attrs["descending"]:
        order = np.argsort(np.flip(x, (axis,)), axis, stable=True)
        order = operand.type.dims[axis] - 1 - np.flip(order, (axis,))
    else:
        order = np.argsort(x, axis, stable=True)
    return np.astype(order[_along(axis, slice(0, node.type.dims[axis]))], I64)


I64 = DTYPES["i64"]


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, part)


@writes(SHARED, "matmul")
def _matmul(np: Library, node: Node, a: Any, b: Any) -> Any:
    kind = node.type.dtype
    if kind.kind == "bool":
        counts = np.matmul(np.astype(a, DTYPES["i32"]), np.astype(b, DTYPES["i32"]))
        return counts != 0
    return np.matmul(wide(np, node, a), wide(np, node, b))


def wide(np: Library, node: Node, x: Any) -> Any:
    """An operand in the type that its products are summed in."""
    narrow = node.inputs[0].type.dtype != node.type.dtype
    return np.astype(x, node.type.dtype) if narrow else x


# ── activations ──


@writes(SHARED, "silu", "hard_swish", "softplus", "softsign", "mish")
def _activation(np: Library, node: Node, x: Any) -> Any:
    return getattr(np, node.op)(x)


@writes(SHARED, "elu", "leaky_relu", "gelu")
def _shaped(np: Library, node: Node, x: Any) -> Any:
    """Their one attribute is the second argument."""
    (attribute,) = node.attrs.values()
    return getattr(np, node.op)(x, attribute)


# ── movement ──


@writes(SHARED, "iota")
def _iota(np: Library, node: Node) -> Any:
    return np.asarray(op("iota").evaluate([], node.attrs))


@writes(SHARED, "reshape")
def _reshape(np: Library, node: Node, x: Any) -> Any:
    return np.reshape(x, node.type.dims)


@writes(SHARED, "transpose")
def _transpose(np: Library, node: Node, x: Any) -> Any:
    return np.transpose(x, node.attrs["perm"])


@writes(SHARED, "expand")
def _expand(np: Library, node: Node, x: Any) -> Any:
    return np.broadcast_to(x, node.type.dims)


@writes(SHARED, "concat")
def _concat(np: Library, node: Node, *parts: Any) -> Any:
    return np.concatenate(list(parts), node.attrs["axis"])


@writes(SHARED, "slice")
def _slice(np: Library, node: Node, x: Any) -> Any:
    """With a negative step: the same elements forwards, and then turned round."""
    starts, steps = node.attrs["starts"], node.attrs["steps"] or (1,) * node.type.rank
    parts, turned = [], []
    for axis, (first, step, count) in enumerate(zip(starts, steps, node.type.dims, strict=True)):
        last = first + step * (count - 1)
        low, high = min(first, last), max(first, last)
        parts.append(slice(low, high + 1, abs(step)) if count else slice(0, 0))
        turned += [axis] if step < 0 and count else []
    x = x[tuple(parts)] if parts else x
    return np.flip(x, tuple(turned)) if turned else x


@writes(SHARED, "gather")
def _gather(np: Library, node: Node, x: Any, indices: Any) -> Any:
    operand, places = node.inputs
    axis = normal_axis(node.attrs["axis"], operand.type.rank, "gather")
    picked = _indices(np, indices, places, operand.type.dims[axis])
    rows = np.take(x, np.reshape(picked, (places.type.numel,)), axis)
    return np.reshape(rows, node.type.dims)


@writes(SHARED, "gather_elements")
def _gather_elements(np: Library, node: Node, x: Any, indices: Any) -> Any:
    operand, places = node.inputs
    axis = normal_axis(node.attrs["axis"], operand.type.rank, "gather_elements")
    sizes = enumerate(places.type.dims)
    inner = x[tuple(slice(None) if a == axis else slice(0, n) for a, n in sizes)]
    picked = _indices(np, indices, places, operand.type.dims[axis])
    return np.take_along_axis(inner, picked, axis)


def _indices(np: Library, indices: Any, places: Node, size: int) -> Any:
    """As i64, counted from the front: wide first, since an i8 may not hold the sum."""
    indices = np.astype(indices, I64)
    return np.from_front(indices, size) if signed(places) else indices


def signed(places: Node) -> bool:
    """May one of these indices be negative? Of constants that is known."""
    if places.op == "constant":
        return bool((places.value < 0).any())
    return places.type.dtype.kind == "int"


@writes(SHARED, "scatter_elements")
def _scatter_elements(np: Library, node: Node, x: Any, indices: Any, updates: Any) -> Any:
    operand, places, _ = node.inputs
    axis = normal_axis(node.attrs["axis"], operand.type.rank, "scatter_elements")
    grid: list[Any] = [np.asarray(g) for g in numpy.indices(places.type.dims)]
    grid[axis] = _indices(np, indices, places, operand.type.dims[axis])
    return np.scattered(x, tuple(grid), updates, node.attrs["reduction"], node)


@writes(SHARED, "scatter_nd")
def _scatter_nd(np: Library, node: Node, x: Any, indices: Any, updates: Any) -> Any:
    operand, places, _ = node.inputs
    where = tuple(
        _indices(np, indices[(..., k)], places, operand.type.dims[k])
        for k in range(places.type.dims[-1])
    )
    return np.scattered(x, where, updates, node.attrs["reduction"], node)


def low_high(rank: int, pads: tuple[int, ...] | None) -> list[tuple[int, int]]:
    """The padding of each spatial axis."""
    pads = pads or (0,) * (2 * rank)
    return list(zip(pads[:rank], pads[rank:], strict=True))


def combined(op: str, kind: DType) -> float | int | bool:
    """What a pooling pads with."""
    return identity("max" if op == "max_pool" else "add", kind)
