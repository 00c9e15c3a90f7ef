"""Rows for movement: the same elements in other places.

    %0 = transpose(%x) {perm = [1, 0]} : f32[4,8]     // x: f32[8,4]
    ==>  out[i0, i1] = x[i1, i0]

`reshape` is special: a row-major tensor keeps its bytes, so the memory planner gives the result the
operand's address and no code runs. Next room: `gather.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm, literal
from course_lib.ir.ops.elementwise import broadcast_index, point, same_dtype
from course_lib.ir.registry import Op, no_flops, normal_axis, register
from course_lib.ir.types import Dim, Sym, TensorType, divide, product

V = Affine.var


def _moved(name: str, doc: str, **fields) -> None:
    fields.setdefault("arity", 1)
    register(Op(name=name, kind="movement", doc=doc, flops=no_flops, **fields))


def _reshape_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,), shape = types, tuple(attrs["shape"])
    total = product(x.shape)
    if -1 in shape:
        known = product([d for d in shape if d != -1])
        rest = divide(total, known)
        if shape.count(-1) > 1 or rest is None:
            raise ValueError(f"reshape: cannot find the size for -1 in {list(shape)} from {x}")
        shape = tuple(rest if d == -1 else d for d in shape)
    if product(shape) != total:
        raise ValueError(f"reshape: {x} has {total} elements, {list(shape)} has {product(shape)}")
    return x.with_shape(shape)


def _reshape(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    shape = tuple(attrs["shape"])
    if any(isinstance(d, Sym) for d in shape):
        raise ValueError(f"reshape to {list(shape)} needs numbers for its symbols")
    return arrays[0].reshape(shape)


_moved(
    "reshape",
    "the same elements in row-major order under another shape; one size may be -1",
    attrs={"shape": Attr("sizes")},
    infer=_reshape_type,
    evaluate=_reshape,
)


def _transpose_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,), perm = types, tuple(attrs["perm"])
    if sorted(perm) != list(range(x.rank)):
        raise ValueError(f"transpose: {list(perm)} is not an order of the {x.rank} axes of {x}")
    return x.with_shape(tuple(x.shape[p] for p in perm))


def _transpose_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    domain, at = point(out)
    read = tuple(at[tuple(attrs["perm"]).index(axis)] for axis in range(out.rank))
    return [LoopForm(domain, at, lambda load: load(0, *read))]


_moved(
    "transpose",
    "axes in another order: axis i of the result is axis perm[i] of x",
    attrs={"perm": Attr("axes")},
    infer=_transpose_type,
    evaluate=lambda arrays, attrs: arrays[0].transpose(attrs["perm"]).copy(),
    loops=_transpose_loops,
)


def _expand_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,), shape = types, tuple(attrs["shape"])
    padded = (1,) * (len(shape) - x.rank) + x.shape
    if len(shape) < x.rank or any(a not in (1, b) for a, b in zip(padded, shape, strict=True)):
        raise ValueError(f"expand: {x} does not broadcast to {list(shape)}")
    return x.with_shape(shape)


def _expand_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    domain, at = point(out)
    return [LoopForm(domain, at, lambda load: load(0, *broadcast_index(ins[0].shape, at)))]


_moved(
    "expand",
    "sizes of 1 stretched to the given shape",
    attrs={"shape": Attr("sizes")},
    infer=_expand_type,
    evaluate=lambda arrays, attrs: np.broadcast_to(arrays[0], tuple(attrs["shape"])).copy(),
    loops=_expand_loops,
)


# ── slice, concat, pad ──


def _slice_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,) = types
    sizes: list[Dim] = []
    starts, stops, steps = attrs["starts"], attrs["stops"], attrs["steps"] or (1,) * x.rank
    if not len(starts) == len(stops) == len(steps) == x.rank:
        raise ValueError(f"slice: needs one start, stop and step for each of the axes of {x}")
    for axis, (size, a, b, s) in enumerate(zip(x.shape, starts, stops, steps, strict=True)):
        if isinstance(size, Sym):
            if (a, b, s) != (0, size, 1):
                raise ValueError(
                    f"slice: axis {axis} of {x} is symbolic and can only be kept whole"
                )
            sizes.append(size)
            continue
        first, end = (size, 0) if s > 0 else (size - 1, -1)  # backwards, the first one is read
        inside = 0 <= a <= first and end <= b <= size
        if s == 0 or not inside:
            raise ValueError(f"slice: {a}..{b} by {s} is not inside axis {axis} of {x}")
        sizes.append(len(range(a, b, s)))
    return x.with_shape(tuple(sizes))


def _slice(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    (x,) = arrays
    steps = attrs["steps"] or (1,) * x.ndim
    for axis, (a, b, s) in enumerate(zip(attrs["starts"], attrs["stops"], steps, strict=True)):
        x = np.take(x, np.arange(a, b if isinstance(b, int) else x.shape[axis], s), axis=axis)
    return x


def _slice_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    domain, at = point(out)
    steps = attrs["steps"] or (1,) * out.rank
    read = tuple(i * s + a for i, a, s in zip(at, attrs["starts"], steps, strict=True))
    return [LoopForm(domain, at, lambda load: load(0, *read))]


_moved(
    "slice",
    "elements start, start+step, ... before stop, along every axis; a step may be negative",
    attrs={"starts": Attr("ints"), "stops": Attr("sizes"), "steps": Attr("ints", None)},
    infer=_slice_type,
    evaluate=_slice,
    loops=_slice_loops,
)


def _concat_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    same_dtype(types, "concat")
    first, axis = types[0], normal_axis(attrs["axis"], types[0].rank, "concat")
    total: Dim = 0
    for t in types:
        others = [d for a, d in enumerate(t.shape) if a != axis]
        if t.rank != first.rank or others != [d for a, d in enumerate(first.shape) if a != axis]:
            raise ValueError(f"concat along axis {axis}: {first} and {t} differ elsewhere too")
        size = t.shape[axis]
        if isinstance(size, Sym):
            raise ValueError(f"concat: the size {size} along axis {axis} must be a number")
        total = total + size  # type: ignore[operator]
    return first.with_shape((*first.shape[:axis], total, *first.shape[axis + 1 :]))


def _concat_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """One nest for each operand, each writing its own part of the result."""
    axis = normal_axis(attrs["axis"], out.rank, "concat")
    forms, offset = [], 0
    for k, t in enumerate(ins):
        domain, at = point(t)
        write = tuple(i + offset if a == axis else i for a, i in enumerate(at))
        forms.append(LoopForm(domain, write, lambda load, k=k, at=at: load(k, *at)))
        offset += t.dims[axis]
    return forms


_moved(
    "concat",
    "operands one after another along an axis",
    arity=(1, None),
    attrs={"axis": Attr("axis")},
    infer=_concat_type,
    evaluate=lambda arrays, attrs: np.concatenate(arrays, axis=attrs["axis"]),
    loops=_concat_loops,
)


def _pad_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,) = types
    low, high, gap = attrs["low"], attrs["high"], attrs["interior"] or (0,) * x.rank
    if not len(low) == len(high) == len(gap) == x.rank or min((*low, *high, *gap), default=0) < 0:
        raise ValueError(f"pad: needs a low and a high width >= 0 for each of the axes of {x}")
    if not x.dtype.holds(attrs["value"]):
        raise ValueError(f"pad: {x.dtype} has no number {attrs['value']}")
    sizes: list[Dim] = []
    for size, a, b, g in zip(x.shape, low, high, gap, strict=True):
        if isinstance(size, Sym):
            if a or b or g:
                raise ValueError(f"pad: the symbolic size {size} cannot be padded")
            sizes.append(size)
        else:
            sizes.append(a + b + size + g * max(size - 1, 0))
    return x.with_shape(tuple(sizes))


def _pad(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    (x,) = arrays
    gap = attrs["interior"] or (0,) * x.ndim
    widths = zip(x.shape, attrs["low"], attrs["high"], gap, strict=True)
    out = np.full([a + b + n + g * max(n - 1, 0) for n, a, b, g in widths], attrs["value"], x.dtype)
    inside = (slice(a, a + n + g * (n - 1), g + 1) if n else slice(0, 0)
              for n, a, g in zip(x.shape, attrs["low"], gap, strict=True))  # fmt: skip
    out[tuple(inside)] = x
    return out


def _pad_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """The border, in pieces, or everything if there are gaps inside; then the operand."""
    (x,) = ins
    gap = attrs["interior"] or (0,) * x.rank
    fill = literal(attrs["value"], out.dtype)
    if any(gap):
        forms = [LoopForm(*point(out), lambda load: fill)]
    else:
        forms = [LoopForm(*piece, lambda load: fill) for piece in _border(out, x, attrs)]
    domain, at = point(x)
    write = tuple(i * (g + 1) + a for i, a, g in zip(at, attrs["low"], gap, strict=True))
    return [*forms, LoopForm(domain, write, lambda load: load(0, *at))]


Nest = tuple[tuple[tuple[str, int], ...], tuple[Affine, ...]]  # domain, write


def _border(out: TensorType, x: TensorType, attrs: Attrs) -> Iterator[Nest]:
    """The loops for each side of each axis, without what the axes before have covered."""
    low, high = attrs["low"], attrs["high"]
    for axis in range(x.rank):
        for start, width in ((0, low[axis]), (low[axis] + x.dims[axis], high[axis])):
            first = (*low[:axis], start, *[0] * (x.rank - axis - 1))
            sizes = (*x.dims[:axis], width, *out.dims[axis + 1 :])
            if width:
                domain = tuple((f"b{k}", size) for k, size in enumerate(sizes))
                yield domain, tuple(V(v) + a for (v, _), a in zip(domain, first, strict=True))


_moved(
    "pad",
    "a border of `value`, `interior` more of it between neighbours (as in XLA)",
    attrs={
        "low": Attr("ints", least=0),
        "high": Attr("ints", least=0),
        "value": Attr("number", 0),
        "interior": Attr("ints", None, least=0),
    },
    infer=_pad_type,
    evaluate=_pad,
    loops=_pad_loops,
)
