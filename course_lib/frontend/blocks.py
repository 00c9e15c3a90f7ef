"""Building blocks: small programs in our ops that both importers need.

    attention(q, k, v, causal=True)   ->   softmax(select(seen, q @ k.T * scale, -inf)) @ v

ONNX and PyTorch have hundreds of ops; most are short programs in a few dozen. What is about
windows and image sizes stands in `images.py`, Einstein sums in `einsum.py`. Next: `einsum.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import normal_axes, normal_axis
from course_lib.ir.types import bool_, i64
from course_lib.limits import check_room

# ── arithmetic ──


def truncate(x: Node) -> Node:
    """Towards zero."""
    return b.select(apply("lt", x, 0.0), apply("ceil", x), apply("floor", x))


def floor_divide(x: Node, y: Node) -> Node:
    """Python's x // y. Of floats, the rest is exact and the quotient is not: 1 // 0.1 is 9,
    although 1 / 0.1 rounds to 10."""
    if not x.type.dtype.is_float:
        return b.div(b.sub(x, apply("mod", x, y)), y)  # exact: it does not matter how div rounds
    rest = apply("fmod", x, y)
    towards_zero = apply("round", b.div(b.sub(x, rest), y))
    apart = apply("ne", apply("lt", y, 0.0), apply("lt", rest, 0.0))
    beyond = apply("and", apply("ne", rest, 0.0), apart)
    floor = b.select(beyond, b.sub(towards_zero, 1.0), towards_zero)
    return b.select(apply("eq", y, 0.0), b.div(x, y), floor)


def divide_truncating(x: Node, y: Node) -> Node:
    return truncate(b.div(x, y)) if x.type.dtype.is_float else b.div(x, y)


def log_one_plus(x: Node) -> Node:
    """log(1 + x), exact for small x too: what u = 1 + x lost, x / (u - 1) gives back (Kahan)."""
    u = b.add(x, 1.0)
    corrected = b.mul(b.log(u), b.div(x, b.sub(u, 1.0)))
    plain = apply("or", apply("eq", u, 1.0), apply("eq", u, math.inf))
    return b.select(plain, x, corrected)


def exp_minus_one(x: Node) -> Node:
    """exp(x) - 1, exact for small x too, in the same way; far from 0 there is nothing to mend."""
    u = b.exp(x)
    less = b.sub(u, 1.0)
    corrected = b.mul(less, b.div(x, b.log(u)))
    near = apply("lt", b.abs(x), 1.0)
    return b.select(apply("eq", u, 1.0), x, b.select(near, corrected, less))


def variance(x: Node, axes: Sequence[int] | None, keepdims: bool, correction: float) -> Node:
    """sum((x - mean)^2) / (count - correction), with a divisor of 0 where that is negative."""
    axes = normal_axes(axes, x.type.rank, "variance")
    count = math.prod(x.type.dims[a] for a in axes)
    centred = b.sub(x, b.mean(x, axes, keepdims=True))
    total = b.reduce_sum(b.mul(centred, centred), axes, keepdims)
    divisor = count - correction
    return b.mul(total, 1 / divisor if divisor > 0 else math.inf)  # 0 * inf is NaN, as 0 / 0 is


def log_sum_exp(x: Node, axes: Sequence[int] | None, keepdims: bool) -> Node:
    """log(sum(exp(x))), shifted so that exp cannot overflow; a shift by an infinity is left out."""
    axes = normal_axes(axes, x.type.rank, "logsumexp")
    top = b.reduce_max(x, axes, keepdims=True)
    shift = b.select(apply("isinf", top), 0.0, top)
    total = b.log(b.reduce_sum(b.exp(b.sub(x, shift)), axes, keepdims=True))
    y = b.add(total, shift)
    return y if keepdims else drop_axes(y, axes)


def channels(v: Node, spatial: int) -> Node:
    """A vector [c] as [c, 1, ...]: it then broadcasts over [n, c, spatial...]."""
    return b.reshape(v, (v.type.shape[0], *[1] * spatial))


# ── shapes and parts ──


def drop_axes(x: Node, axes: Sequence[int]) -> Node:
    """Without these axes of size 1."""
    return b.reshape(x, [n for a, n in enumerate(x.type.shape) if a not in axes])


def add_axes(x: Node, axes: Sequence[int]) -> Node:
    """With new axes of size 1 at these places of the result."""
    rank = x.type.rank + len(axes)
    new = {a % rank for a in axes}
    old = iter(x.type.shape)
    return b.reshape(x, [1 if a in new else next(old) for a in range(rank)])


def stack(parts: Sequence[Node], axis: int) -> Node:
    """Tensors of one shape along a new axis."""
    axis = normal_axis(axis, parts[0].type.rank + 1, "stack")
    return b.concat([add_axes(x, [axis]) for x in parts], axis)


def item(x: Node, axis: int, index: int) -> Node:
    """x[..., index, ...]: one position of an axis, without that axis."""
    return drop_axes(cut(x, axis, index, index + 1), [axis])


def cut(x: Node, axis: int, start: int | None, stop: int | None = None, step: int = 1) -> Node:
    """x[start:stop:step] along one axis, with Python's rules for what lies outside."""
    return cut_axes(x, {axis: slice(start, stop, step)})


def cut_axes(x: Node, parts: dict[int, slice]) -> Node:
    """Several axes cut at once; x itself if that keeps everything."""
    starts, stops, steps = [0] * x.type.rank, list(x.type.shape), [1] * x.type.rank
    for axis, part in parts.items():
        size = x.type.shape[axis]
        if not isinstance(size, int):
            if part != slice(0, None, 1) and part != slice(None, None, 1):
                raise ValueError(f"axis {axis} of {x.type} has a symbolic size: it cannot be cut")
            continue
        kept = range(size)[part]
        nothing = len(kept) == 0
        starts[axis], stops[axis], steps[axis] = (
            (0, 0, 1) if nothing else (kept.start, kept.stop, kept.step)
        )
    if (starts, stops, steps) == ([0] * x.type.rank, list(x.type.shape), [1] * x.type.rank):
        return x
    return apply("slice", x, starts=starts, stops=stops, steps=steps)


def cut_to(x: Node, sizes: Sequence[int]) -> Node:
    """The first `sizes` elements along each axis."""
    return cut_axes(x, {axis: slice(0, size, 1) for axis, size in enumerate(sizes)})


def split(x: Node, axis: int, sizes: Sequence[int]) -> list[Node]:
    """Consecutive parts of these sizes."""
    ends = np.cumsum(sizes).tolist()
    if ends[-1] != x.type.dims[axis]:
        raise ValueError(f"split: parts {list(sizes)} do not add up to axis {axis} of {x.type}")
    return [cut(x, axis, end - size, end) for size, end in zip(sizes, ends, strict=True)]


def flip(x: Node, axes: Sequence[int]) -> Node:
    return cut_axes(x, {axis: slice(None, None, -1) for axis in axes})


def tile(x: Node, repeats: Sequence[int]) -> Node:
    """Each axis repeated: [n] -> [1, n] -> [r, n] -> [r * n]."""
    shape = [1] * (len(repeats) - x.type.rank) + list(x.type.dims)
    apart = [size for n in shape for size in (1, n)]
    wide = [size for n, r in zip(shape, repeats, strict=True) for size in (r, n)]
    whole = [n * r for n, r in zip(shape, repeats, strict=True)]
    return b.reshape(b.expand(b.reshape(x, apart), wide), whole)


def pad(x: Node, low: Sequence[int], high: Sequence[int], mode: str = "constant",
        value: float = 0) -> Node:  # fmt: skip
    """Wider by `low` and `high` along each axis, or narrower where they are negative.

    mode: constant, reflect (without repeating the edge), edge, wrap; PyTorch's names work too.
    """
    mode = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    for axis, (l, h) in enumerate(zip(low, high, strict=True)):
        if l < 0 or h < 0:
            x = cut(x, axis, max(-l, 0), x.type.dims[axis] - max(-h, 0))
    low, high = [max(v, 0) for v in low], [max(v, 0) for v in high]
    if mode == "constant":
        if not any(low) and not any(high):
            return x
        value = float(value) if x.type.dtype.is_float else int(value)
        return apply("pad", x, low=low, high=high, value=value)
    for axis, widths in enumerate(zip(low, high, strict=True)):
        if any(widths):
            check_room(8 * (x.type.dims[axis] + sum(widths)), f"{x.type} with a border of {widths}")
            where = np.pad(np.arange(x.type.dims[axis]), widths, mode=mode)  # type: ignore[call-overload]
            x = apply("gather", x, b.const(where, i64), axis=axis)
    return x


def triangle(x: Node, diagonal: int, upper: bool) -> Node:
    """x with zeros below (upper) or above (lower) a diagonal of the last two axes."""
    keep = triangle_mask(x.type.dims[-2:], diagonal, upper)
    zero = b.const(0, x.type.dtype)
    return b.select(keep, x, zero)


def triangle_mask(shape: Sequence[int], diagonal: int, upper: bool) -> Node:
    """bool[m,n]: column - row >= diagonal (upper) or <= diagonal (lower)."""
    rows = apply("iota", shape=(shape[0], 1), axis=0, dtype="i64")
    columns = apply("iota", shape=(1, shape[1]), axis=1, dtype="i64")
    edge = b.add(rows, diagonal) if diagonal else rows
    return apply("ge" if upper else "le", columns, edge)


# ── index arithmetic ──


def gather_axes(x: Node, first: int, picks: Sequence[Node]) -> Node:
    """x[..., i, j, ...]: integer indices for neighbouring axes, as one gather on the flat axes.

    Where one of them is outside its axis, the flat index is outside all of them: an error.
    """
    if len(picks) == 1:
        return apply("gather", x, picks[0], axis=first)
    sizes = x.type.dims[first : first + len(picks)]
    flat = None
    for pick, size in zip(picks, sizes, strict=True):
        pick = from_start(pick, size)
        inside = apply("and", apply("ge", pick, 0), apply("lt", pick, size))
        pick = b.select(inside, pick, -2 * math.prod(sizes))
        flat = pick if flat is None else b.add(b.mul(flat, size), pick)
    merged = (*x.type.dims[:first], math.prod(sizes), *x.type.dims[first + len(picks) :])
    return apply("gather", b.reshape(x, merged), flat, axis=first)


def from_start(index: Node, size: int) -> Node:
    """Indices with the negative ones counted from the end, as i64."""
    index = index if index.type.dtype == i64 else b.cast(index, "i64")
    return b.select(apply("lt", index, 0), b.add(index, size), index)


def topk(x: Node, k: int, axis: int, largest: bool = True) -> tuple[Node, Node]:
    """The k largest (or smallest) along an axis in order, and where they were."""
    first = None if k == x.type.shape[axis] else k
    order = apply("argsort", x, axis=axis, descending=largest, first=first)
    return apply("gather_elements", x, order, axis=axis), order


# ── layers ──


def matmul(x: Node, y: Node) -> Node:
    """Matrix product where a vector stands for a row (left) or a column (right), as in numpy."""
    row, column = x.type.rank == 1, y.type.rank == 1
    x = b.reshape(x, (1, x.type.shape[0])) if row else x
    y = b.reshape(y, (y.type.shape[0], 1)) if column else y
    z = b.matmul(x, y)
    shape = list(z.type.shape)
    if column:
        del shape[-1]
    if row:
        del shape[-1 if column else -2]
    return b.reshape(z, shape) if row or column else z


def attention(q: Node, k: Node, v: Node, mask: Node | None = None, causal: bool = False,
              scale: float | None = None) -> Node:  # fmt: skip
    """softmax(q @ k.T * scale + mask) @ v; a bool mask says what may be looked at: it stands for 0
    and -inf. A query that may look at nothing gets 0, not the NaN of that softmax."""
    scale = 1 / math.sqrt(q.type.dims[-1]) if scale is None else scale
    scores = b.mul(b.matmul(q, swap_last(k)), float(scale))
    if causal:
        seen = triangle_mask(scores.type.dims[-2:], 0, upper=False)
        scores = b.select(seen, scores, -math.inf)
    if mask is None:  # each query sees a key
        return b.matmul(b.softmax(scores), v)
    hidden = b.add(scores, -math.inf)  # NaN stays NaN
    masked = b.select(mask, scores, hidden) if mask.type.dtype == bool_ else b.add(scores, mask)
    return b.matmul(_softmax_or_zero(masked), v)


def _softmax_or_zero(scores: Node) -> Node:
    """The softmax of each row; 0 for a row that is -inf everywhere, whose softmax is NaN."""
    largest = b.reduce_max(scores, (-1,), keepdims=True)
    return b.select(apply("eq", largest, -math.inf), 0.0, b.softmax(scores))


def swap_last(x: Node) -> Node:
    rank = x.type.rank
    return b.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def repeat_heads(x: Node, heads: int) -> Node:
    """[..., few, t, d] -> [..., heads, t, d]: each key head serves several query heads."""
    *batch, few, t, d = x.type.dims
    if few == heads:
        return x
    apart = b.reshape(x, (*batch, few, 1, t, d))
    return b.reshape(b.expand(apart, (*batch, few, heads // few, t, d)), (*batch, heads, t, d))


def group_norm(x: Node, groups: int, weight: Node | None, bias: Node | None, eps: float) -> Node:
    """Standardize within groups of channels; missing affine parts count as 1 and 0."""
    if weight is None and bias is None:
        return apply("group_norm", x, groups=groups, eps=eps)
    c = x.type.dims[1]
    weight = b.expand(b.const(1.0, x.type.dtype), (c,)) if weight is None else weight
    bias = b.expand(b.const(0.0, x.type.dtype), (c,)) if bias is None else bias
    return apply("group_norm", x, weight, bias, groups=groups, eps=eps)


def rms_norm(x: Node, axes: Sequence[int], weight: Node | None, eps: float) -> Node:
    """x / sqrt(mean(x^2) + eps), scaled."""
    y = b.mul(x, b.rsqrt(b.add(b.mean(b.mul(x, x), axes, keepdims=True), float(eps))))
    return y if weight is None else b.mul(y, weight)
