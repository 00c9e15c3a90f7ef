"""The row for sampling an image at positions that are data: each result lies between elements.

    %0 = grid_sample(%x, %g) {mode = "linear"} : f32[1,3,8,8]   // x: f32[1,3,5,5], g: f32[1,8,8,2]

    for n, c, o0, o1 { for k0 in 0..2, k1 in 0..2 {
      out[n, c, o0, o1] += weight(k0) * weight(k1) * x[n, c, floor(row) + k0, floor(column) + k1] }}

`row` and `column` come from g[n, o0, o1]: -1 is the first edge of the image and 1 the last, the
column stands first. An index that is data could be anything, so it is brought into its axis before
it is used, also where the result is then 0: no kernel reads outside of the image. Both meanings of
the op read the same formulas. Next room: `source.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, Expr, Iter, LoopForm, call, cast, literal
from course_lib.ir.ops.window import positions_of
from course_lib.ir.registry import Op, register
from course_lib.ir.scalar import SCALARS, accumulator
from course_lib.ir.types import DType, TensorType, i64

V = Affine.var
TAPS = {"nearest": 1, "linear": 2, "cubic": 4}  # elements along an axis that make a result
KEYS = -0.75  # the parameter of the cubic kernel, as torch and ONNX have it


@dataclass(frozen=True)
class Arithmetic:
    """Where the formulas are computed: `f("add", a, b)` on expressions or on arrays."""

    f: Callable[..., Any]
    number: Callable[[float], Any]

    def position(self, coordinate: Any, size: int, aligned: bool) -> Any:
        """-1 .. 1 in elements: from centre to centre of the outermost ones, or edge to edge."""
        one = self.f("add", coordinate, self.number(1))
        if aligned:
            return self.f("mul", one, self.number((size - 1) / 2))
        return self.f("mul", self.f("sub", self.f("mul", one, self.number(size)), self.number(1)),
                      self.number(0.5))  # fmt: skip

    def weight(self, distance: Any, mode: str) -> Any:
        """How much an element at this distance gives."""
        d = self.f("abs", distance)
        if mode == "linear":
            return self.f("sub", self.number(1), d)
        near = self.polynomial(d, KEYS + 2, -KEYS - 3, 0, 1)
        far = self.polynomial(d, KEYS, -5 * KEYS, 8 * KEYS, -4 * KEYS)
        return self.f("select", self.f("le", d, self.number(1)), near, far)

    def polynomial(self, d: Any, *coefficients: float) -> Any:
        """The highest power first, by Horner's rule."""
        value = self.number(coefficients[0])
        for c in coefficients[1:]:
            value = self.f("add", self.f("mul", value, d), self.number(c))
        return value

    def inside(self, at: Any, size: int) -> Any:
        """Is this whole number an index?"""
        low, high = self.number(0), self.number(size - 1)
        return self.f("and", self.f("ge", at, low), self.f("le", at, high))

    def index(self, at: Any, size: int, padding: str, aligned: bool) -> Any:
        """The index that a whole number stands for, still as a float."""
        if padding == "reflection":
            at = self.reflected(at, size, aligned)
        return self.f("min", self.f("max", at, self.number(0)), self.number(size - 1))

    def reflected(self, at: Any, size: int, aligned: bool) -> Any:
        """Mirrored at the centres of the outermost elements, or at their edges, as often as it
        takes: there and back again is a period."""
        edge, span = (0.0, size - 1) if aligned else (0.5, size)
        if span == 0:
            return self.f("mul", at, self.number(0))
        there = self.f("mod", self.f("add", at, self.number(edge)), self.number(2 * span))
        back = self.f("sub", self.number(2 * span), there)
        return self.f("sub", self.f("min", there, back), self.number(edge))


def _in_arrays(kind: DType, library: Any) -> Arithmetic:
    """In numpy, or another library with the same names."""

    def function(name: str, *operands: Any) -> Any:
        ours = "where" if name == "select" else SCALARS[name].numpy.__name__
        return getattr(library, ours)(*operands)

    return Arithmetic(function, kind.numpy.type)


def _in_loops(kind: DType) -> Arithmetic:
    return Arithmetic(call, lambda value: literal(value, kind))


def _infer(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, grid = types
    if not x.dtype.is_float or not grid.dtype.is_float:
        raise ValueError(f"grid_sample works on float tensors, got {x} and {grid}")
    rank = x.rank - 2
    if rank < 1 or grid.rank != x.rank or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise ValueError(
            f"grid_sample: x[n,c,spatial...] needs a grid[n,out...,{max(rank, 1)}] of as many axes "
            f"and its batch size, got {x} and {grid}"
        )
    if 0 in x.shape[2:]:
        raise ValueError(f"grid_sample: {x} holds nothing to sample")
    return x.with_shape((*x.shape[:2], *grid.shape[1:-1]))


def _taps(a: Arithmetic, coordinate: Any, k: Any, size: int, attrs: Attrs) -> tuple[Any, Any]:
    """(whole number, weight) of the k-th element that counts along an axis; no weight for one."""
    where = a.position(coordinate, size, attrs["aligned"])
    if attrs["mode"] == "nearest":
        return a.f("round", where), None
    first = a.f("floor", where)
    step = k if attrs["mode"] == "linear" else a.f("sub", k, a.number(1))
    distance = a.f("sub", a.f("sub", where, first), step)  # exact, also far outside
    return a.f("add", first, step), a.weight(distance, attrs["mode"])


def sampled(arrays: Sequence[Any], attrs: Attrs, library: Any = np) -> Any:
    """What the op means, in numpy or another library with the same names."""
    x, grid = arrays
    wide = accumulator(DType.of(x.dtype)).numpy
    kind = accumulator(DType.of(grid.dtype))
    a, sizes, channels_last = _in_arrays(kind, library), x.shape[2:], library.moveaxis(x, 1, -1)
    batch = library.arange(len(x)).reshape(-1, *[1] * len(sizes))
    total = library.zeros((*grid.shape[:-1], x.shape[1]), wide)
    for window in itertools.product(range(TAPS[attrs["mode"]]), repeat=len(sizes)):
        picked, inside, weight = [batch], library.array(True), library.array(1, wide)
        for axis, (k, size) in enumerate(zip(window, sizes, strict=True)):
            coordinate = grid[..., len(sizes) - 1 - axis].astype(kind.numpy)
            at, w = _taps(a, coordinate, a.number(k), size, attrs)
            index = a.index(at, size, attrs["padding"], attrs["aligned"])
            picked.append(library.nan_to_num(index).astype(np.int64))
            inside = inside & a.inside(at, size) if attrs["padding"] == "zeros" else inside
            weight = weight if w is None else weight * w.astype(wide)
        value = channels_last[tuple(picked)].astype(wide)
        total += library.where(inside[..., None], weight[..., None] * value, 0)
    return library.moveaxis(total, -1, 1).astype(x.dtype)


def _loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    x, grid = ins
    n, c, *sizes = out.dims
    kind, positions = accumulator(grid.dtype), positions_of(sizes)
    a, spatial, at = _in_loops(kind), x.dims[2:], tuple(V(o) for o, _ in positions)
    window = tuple((f"k{axis}", TAPS[attrs["mode"]]) for axis in range(len(spatial)))

    def body(load: Callable[..., Expr]) -> Expr:
        picked: list[Expr] = []
        tests: list[Expr] = []
        weights: list[Expr] = []
        for axis, size in enumerate(spatial):
            coordinate = cast(load(1, V("n"), *at, Affine.of(len(spatial) - 1 - axis)), kind)
            k = cast(Iter(V(f"k{axis}")), kind)
            tap, w = _taps(a, coordinate, k, size, attrs)
            picked.append(cast(a.index(tap, size, attrs["padding"], attrs["aligned"]), i64))
            tests += [a.inside(tap, size)] if attrs["padding"] == "zeros" else []
            weights += [] if w is None else [cast(w, x.dtype)]
        value = load(0, V("n"), V("c"), *picked)
        if weights:
            value = call("mul", reduce(partial(call, "mul"), weights), value)
        if tests:
            inside = reduce(partial(call, "and"), tests)
            value = call("select", inside, value, literal(0, x.dtype))
        return value

    domain = (("n", n), ("c", c), *positions)
    write = (V("n"), V("c"), *at)
    if attrs["mode"] == "nearest":
        return [LoopForm(domain, write, body)]
    return [LoopForm(domain, write, body, window, "add")]


def _flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    """A multiplication and an addition for each element that counts; positions are not counted."""
    taps = TAPS[attrs["mode"]] ** (ins[0].rank - 2)
    return 0 if taps == 1 else 2 * out.numel * taps


register(
    Op(
        name="grid_sample",
        kind="contraction",
        arity=2,
        doc="x[n,c,...] at positions grid[n,...,d] in -1 .. 1, the last axis' position first",
        attrs={
            "mode": Attr("string", "linear", among=tuple(TAPS)),
            "padding": Attr("string", "zeros", among=("zeros", "border", "reflection")),
            "aligned": Attr("bool", False),
        },
        infer=_infer,
        evaluate=lambda arrays, attrs: np.ascontiguousarray(sampled(arrays, attrs)),
        loops=_loops,
        flops=_flops,
    )
)
