"""Each op of the table on the inputs at which frameworks go wrong: empty, infinite, NaN, -0.0,
denormal, masked, the largest integers. PyTorch says what is right.

    "relu": Row(torch.relu, unary(F32)),

A row of the table below has a witness and cases. Each case runs with numpy, as loops and as machine
code. Where PyTorch has no such op, `by` names the witness and says why; where we differ on purpose,
the case says what ours is, and why, and the test fails if we no longer differ.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from course_lib.compiler import compile
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.loops.program import run_program
from course_lib.ir.ops.winograd import PIXELS, RESULTS
from course_lib.ir.registry import OPS
from course_lib.ir.types import type_of
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose

torch = pytest.importorskip("torch")
F = torch.nn.functional
INF, NAN = np.inf, np.nan
ODD = np.array(
    [0.0, -0.0, INF, -INF, NAN, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 0.5, -0.5, 1, -1, 2.5, -3],
    np.float32,
)
TAME = ODD[np.abs(ODD) != np.float32(3e38)]  # without the numbers whose products overflow
RNG = np.random.default_rng(3)


@dataclass(frozen=True)
class Case:
    """Operands and attributes; `ours` is what we give where we differ, and `why`.

    `ours` is "refused" where there is no result. `always`: does the witness differ on every
    processor? What PyTorch's vectorized kernels do depends on the vectors.
    """

    operands: Sequence[np.ndarray]
    attrs: dict[str, Any] = field(default_factory=dict)
    ours: Any = None
    why: str = ""
    always: bool = True


@dataclass(frozen=True)
class Row:
    """`witness(*operands, **attrs)` says what is right; it gets tensors, or arrays if it stands for
    another than PyTorch (`by`). `signed`: must zeros have the same sign?"""

    witness: Callable[..., Any]
    cases: Callable[[], Iterator[Case]]
    by: str = ""
    signed: bool = False
    close: tuple[float, float] = (2e-6, 1e-37)


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def some(*shape: int) -> np.ndarray:
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def whole(dtype: Any) -> np.ndarray:
    """The ends of an integer type, and what lies around 0."""
    limits = np.iinfo(dtype)
    near = [v for v in (-3, -1, 0, 1, 2, 7) if v >= limits.min]
    return np.array([limits.min, limits.min + 1, *near, limits.max], dtype)


# ── elementwise ──


def unary(*numbers: np.ndarray, **attrs: Any) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        yield from (Case([x], attrs) for x in numbers)
        yield from (Case([numbers[0][:0].reshape(shape)], attrs) for shape in ((0, 3), (2, 0)))
        yield Case([numbers[0].reshape(-1, 1)[:5]], attrs)

    return cases


def binary(*numbers: np.ndarray, **more: np.ndarray) -> Callable[[], Iterator[Case]]:
    """Each number with each other one, which are `right` if they are given."""

    def cases() -> Iterator[Case]:
        for x in numbers:
            yield Case([x[:, None], x])
        if more:
            yield Case([more["left"][:, None], more["right"]])
        x = numbers[0]
        for a, b in [((0, 3), (1, 3)), ((2, 0), (2, 1)), ((0,), ()), ((1, 0), (0, 1))]:
            yield Case([np.ones(shape, x.dtype) for shape in (a, b)])
        yield Case([x[:5, None], x[:1]])

    return cases


def floats(witness: Callable[..., Any], **how: Any) -> Row:
    """A function of one float, on all odd ones."""
    return Row(witness, unary(ODD), signed=True, **how)


I32, U8 = whole(np.int32), whole(np.uint8)
BOOL = np.array([False, True])
ORDERED = binary(ODD, I32, U8, BOOL)
# Integers divide by no 0 and not the least by -1: PyTorch raises, or the processor does.
DIVIDE = binary(ODD, left=I32, right=np.array([2, -3, 7, -(2**31), 2**31 - 1], np.int32))


def rest_cases() -> Iterator[Case]:
    """Of floats whose quotient a float can count, and of one that is larger."""
    small = ODD[(np.abs(ODD) > 1e-30) & (np.abs(ODD) < 1e30) | ~np.isfinite(ODD) | (ODD == 0)]
    yield from binary(small, left=I32, right=np.array([2, -3, 7, -(2**31), 2**31 - 1], np.int32))()
    ours = np.full(16, math.fmod(float(np.float32(3e38)), 7), np.float32)
    vector = "the rest is exact; PyTorch's is, too, of one number, and NaN of a vector"
    yield Case([np.full(16, 3e38, np.float32), f32(*[7] * 16)], {}, ours, vector, False)


def _div(a: Any, b: Any) -> Any:
    return torch.div(a, b) if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


SCALAR_ROWS = {
    "add": Row(torch.add, binary(ODD, I32, U8)),
    "sub": Row(torch.sub, binary(ODD, I32, U8)),
    "mul": Row(torch.mul, binary(ODD, I32, U8), signed=True),
    "div": Row(_div, DIVIDE, signed=True),
    "mod": Row(torch.remainder, rest_cases),
    "fmod": Row(torch.fmod, rest_cases),
    "pow": Row(torch.pow, binary(ODD, I32), signed=True),
    "max": Row(torch.maximum, binary(ODD, I32, U8)),
    "min": Row(torch.minimum, binary(ODD, I32, U8)),
    "mul_rounded": Row(torch.mul, binary(ODD), signed=True),
    "neg": Row(torch.neg, unary(ODD, I32), signed=True),
    "abs": Row(torch.abs, unary(ODD, I32, U8), signed=True),
    "sign": Row(np.sign, unary(ODD, I32, U8),
                by="numpy and ONNX: their sign of NaN is NaN. PyTorch's is 0, see its rule"),
    "relu": Row(torch.relu, unary(ODD, I32)),
    "exp": floats(torch.exp),
    "log": floats(torch.log),
    "sqrt": floats(torch.sqrt),
    "rsqrt": floats(torch.rsqrt),
    "reciprocal": floats(torch.reciprocal),
    "sigmoid": floats(torch.sigmoid),
    "tanh": floats(torch.tanh),
    "erf": floats(torch.erf),
    "sin": floats(torch.sin),
    "cos": floats(torch.cos),
    "tan": floats(torch.tan),
    "asin": floats(torch.asin),
    "acos": floats(torch.acos),
    "atan": floats(torch.atan),
    "sinh": floats(torch.sinh),
    "cosh": floats(torch.cosh),
    "asinh": floats(torch.asinh),
    "acosh": floats(torch.acosh),
    "atanh": floats(torch.atanh),
    "floor": floats(torch.floor),
    "ceil": floats(torch.ceil),
    "round": floats(torch.round),
    "eq": Row(torch.eq, ORDERED),
    "ne": Row(torch.ne, ORDERED),
    "lt": Row(torch.lt, ORDERED),
    "le": Row(torch.le, ORDERED),
    "gt": Row(torch.gt, ORDERED),
    "ge": Row(torch.ge, ORDERED),
    "isnan": Row(torch.isnan, unary(ODD)),
    "isinf": Row(torch.isinf, unary(ODD)),
    "and": Row(torch.logical_and, binary(BOOL)),
    "or": Row(torch.logical_or, binary(BOOL)),
    "xor": Row(torch.logical_xor, binary(BOOL)),
    "not": Row(torch.logical_not, unary(BOOL)),
    "bit_and": Row(torch.bitwise_and, binary(I32, U8)),
    "bit_or": Row(torch.bitwise_or, binary(I32, U8)),
    "bit_xor": Row(torch.bitwise_xor, binary(I32, U8)),
    "bit_not": Row(torch.bitwise_not, unary(I32, U8)),
}  # fmt: skip


def select_cases() -> Iterator[Case]:
    yield Case([np.array([[True], [False]]), ODD, -ODD])
    yield Case([np.zeros((0, 1), bool), ODD, ODD])


def cast_cases() -> Iterator[Case]:
    for x, names in [
        (ODD, ("bool", "f64")),
        (f32(0.0, -0.9, 127.5, -3.7), ("i8", "i32", "i64")),
        (I32, ("i8", "u8", "i64", "f32", "bool")),
        (BOOL, ("f32", "i8")),
        (ODD[:0].reshape(2, 0), ("i32",)),
    ]:
        yield from (Case([x], {"dtype": name}) for name in names)
    saturates = "C leaves a float beyond the integers open, and PyTorch with it; ours saturates"
    beyond = np.array([0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31)], np.int32)
    yield Case([f32(NAN, INF, -INF, 3e38, -3e38)], {"dtype": "i32"}, beyond, saturates, False)


def _cast(x: Any, dtype: str) -> Any:
    names = {"bool": "bool", "i8": "int8", "u8": "uint8", "i32": "int32", "i64": "int64",
             "f32": "float32", "f64": "float64"}  # fmt: skip
    return x.to(getattr(torch, names[dtype]))


# ── reductions ──

ROWS = np.stack([ODD, np.full_like(ODD, -INF), np.full_like(ODD, -0.0), TAME[[10] * len(ODD)]])


def empties(*shape: int) -> Iterator[np.ndarray]:
    """The shape with no element along each of its axes, one after the other."""
    for axis in range(len(shape)):
        yield np.zeros((*shape[:axis], 0, *shape[axis + 1 :]), np.float32)


def reduction_cases(nothing: Any = None, why: str = "") -> Iterator[Case]:
    """`nothing`: what is left of no elements where PyTorch refuses."""
    yield Case([ROWS], {"axes": (1,)})
    yield Case([ROWS[:, [2, 3]]], {"axes": (0,), "keepdims": True})
    yield Case([ODD], {"axes": None})
    yield Case([ODD[:, None]], {"axes": (1,)})
    for x in empties(2, 3):
        left = 0 if x.shape[1] else 2
        ours = np.full(left, nothing, np.float32) if nothing is not None and left else None
        yield Case([x], {"axes": (1,)}, ours, why if ours is not None else "")


def whole_reduction_cases(**extreme: Any) -> Iterator[Case]:
    yield from reduction_cases(**extreme)
    yield Case([I32.reshape(3, 3)], {"axes": (1,)})


def _over(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of PyTorch with our attributes, in the type of the operand."""

    def witness(x: Any, axes: Any, keepdims: bool = False) -> Any:
        dims = list(range(x.ndim)) if axes is None else list(axes)
        return reduce(x, dims, keepdims).to(x.dtype)

    return witness


def _prod(x: Any, dims: list[int], keepdims: bool) -> Any:
    for dim in sorted(dims, reverse=True):
        x = torch.prod(x, dim, keepdims)
    return x


NO_EXTREME = "PyTorch refuses; in ONNX, the maximum of nothing is what no maximum is below"


def extreme_cases(nothing: float) -> Callable[[], Iterator[Case]]:
    return lambda: whole_reduction_cases(nothing=nothing, why=NO_EXTREME)


def arg_cases() -> Iterator[Case]:
    for last in (False, True):
        yield Case([ROWS], {"axis": 1, "last": last})
        yield Case([I32.reshape(3, 3)], {"axis": 0, "last": last})
    yield Case([f32([NAN, 1, NAN], [INF, INF, 0])], {"axis": 1, "keepdims": True})
    yield Case([np.zeros((0, 3), np.float32)], {"axis": 1})
    yield Case([np.zeros((2, 0), np.float32)], {"axis": 1}, "refused", "so does PyTorch")


def _arg(best: Callable[..., Any], x: Any, axis: int, keepdims: bool = False, last: bool = False):
    found = best(x.flip(axis) if last else x, dim=axis, keepdim=keepdims)
    return x.shape[axis] - 1 - found if last else found


def cumsum_cases() -> Iterator[Case]:
    for attrs in ({}, {"exclusive": True}, {"reverse": True}):
        yield Case([ROWS], {"axis": 1, **attrs})
        yield from (Case([x], {"axis": 1, **attrs}) for x in empties(2, 3))
    yield Case([I32.reshape(3, 3)], {"axis": 1})


def _cumsum(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
    x = x.flip(axis) if reverse else x
    if exclusive and x.shape[axis]:
        kept = x.narrow(axis, 0, x.shape[axis] - 1)
        x = torch.cat([torch.zeros_like(x.narrow(axis, 0, 1)), kept], axis)
    total = torch.cumsum(x, axis, dtype=x.dtype)
    return total.flip(axis) if reverse else total


# ── products and windows ──


def matmul_cases() -> Iterator[Case]:
    for a, b in [((2, 0), (0, 3)), ((0, 4), (4, 3)), ((4, 3), (3, 0)), ((0, 2, 3), (3, 2)),
                 ((2, 3, 0), (2, 0, 1)), ((1, 1), (1, 1))]:  # fmt: skip
        yield Case([some(*a), some(*b)])
    yield Case([f32([0, 1], [INF, 1], [NAN, 0]), f32([INF, 0, 1], [1, 1, 1])])
    yield Case([np.full((2, 3), 2**31 - 1, np.int32), np.full((3, 2), 2, np.int32)])


IMAGE = some(1, 2, 5, 4)
IMAGE[0, 0, 0, 0], IMAGE[0, 0, 4, 3], IMAGE[0, 1, 2, 2] = INF, -INF, NAN


def conv_cases() -> Iterator[Case]:
    for x, w, attrs in [
        (IMAGE, some(3, 2, 2, 2), {}),
        (IMAGE, some(2, 1, 3, 3), {"groups": 2, "pads": (1, 1, 1, 1), "strides": (2, 1)}),
        (IMAGE[:0], some(3, 2, 2, 2), {}),
        (IMAGE, some(3, 2, 1, 1), {}),
        (IMAGE[..., :1], some(1, 2, 1, 1), {}),
    ]:
        yield Case([x, w], attrs)
    takes = "PyTorch refuses an image without channels; a sum of no products is 0"
    zeros = np.zeros((1, 3, 4, 3), np.float32)
    yield Case([IMAGE[:, :0], np.zeros((3, 0, 2, 2), np.float32)], {}, zeros, takes)


def _conv(x: Any, w: Any, pads: Sequence[int] = (0, 0), strides: Any = 1, groups: int = 1) -> Any:
    return F.conv2d(x, w, None, strides, tuple(pads[:2]), 1, groups)


def in_layout_cases() -> Iterator[Case]:
    layouts = {"layouts": ("nhwc", "ohwi", "nhwc")}
    image, weights = IMAGE.transpose(0, 2, 3, 1).copy(), some(3, 2, 2, 2)
    yield Case([image, weights], layouts)
    yield Case([image[:0], weights], layouts)


def _conv_in_layout(x: Any, w: Any, layouts: Any) -> Any:
    """PyTorch's convolution of permuted images."""
    return F.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def pool_cases(**attrs: Any) -> Iterator[Case]:
    yield Case([IMAGE], {"kernel": (2, 2), **attrs})
    yield Case([IMAGE], {"kernel": (3, 2), "pads": (1, 1, 1, 1), "strides": (2, 2), **attrs})
    yield Case([IMAGE[:0]], {"kernel": (2, 2), **attrs})
    yield Case([np.full((1, 1, 3, 1), -INF, np.float32)], {"kernel": (2, 1), **attrs})


def avg_pool_cases() -> Iterator[Case]:
    yield from pool_cases()
    yield from pool_cases(count_include_pad=True)
    outside = f32(NAN, NAN, 1, 1, NAN, NAN).reshape(1, 1, 6, 1)
    pads = "PyTorch refuses so much padding; ONNX's reference gives the mean of nothing, NaN"
    attrs = {"kernel": (1, 1), "pads": (2, 0, 2, 0)}
    yield Case([np.ones((1, 1, 2, 1), np.float32)], attrs, outside, pads)


def pool_in_layout_cases() -> Iterator[Case]:
    image, attrs = IMAGE.transpose(0, 2, 3, 1).copy(), {"layouts": ("nhwc", "nhwc")}
    yield Case([image], {"kernel": (2, 2), **attrs})
    yield Case([image[:0]], {"kernel": (2, 2), **attrs})


def _max_pool(x: Any, kernel: Any, pads: Any = (0, 0, 0, 0), strides: Any = 1) -> Any:
    return F.max_pool2d(x, kernel, strides, tuple(pads[:2]))


def _avg_pool(x: Any, kernel: Any, pads: Any = (0, 0, 0, 0), strides: Any = 1,
              count_include_pad: bool = False) -> Any:  # fmt: skip
    return F.avg_pool2d(x, kernel, strides, tuple(pads[:2]), count_include_pad=count_include_pad)


def _sum_pool(x: Any, kernel: Any, **where: Any) -> Any:
    return _avg_pool(x, kernel, **where, count_include_pad=True) * (kernel[0] * kernel[1])


def _permuted(pool: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, layouts, **how: pool(x.permute(0, 3, 1, 2), **how).permute(0, 2, 3, 1)


def conv_transpose_cases() -> Iterator[Case]:
    for x in (IMAGE, IMAGE[:0], IMAGE[..., :1]):
        yield Case([x, some(2, 3, 2, 2)], {"strides": (2, 1)})


def _conv_transpose(x: Any, w: Any, strides: Any) -> Any:
    return F.conv_transpose2d(x, w, None, strides)


def tiles_cases() -> Iterator[Case]:
    for shape in ((1, 4, 6, 2), (0, 4, 4, 2), (1, 4, 4, 0)):
        yield Case([some(*shape)], {"tile": 2})


def _tiles(x: np.ndarray, tile: int) -> np.ndarray:
    """Bt d B of each square d: [16, squares, channels]."""
    matrix, (n, h, w, c) = np.array(PIXELS[tile], np.float32), x.shape
    places = product(range(n), range(0, h - 2, tile), range(0, w - 2, tile))
    squares = [x[i, r : r + tile + 2, s : s + tile + 2] for i, r, s in places]
    made = [np.einsum("ap,pqc,bq->abc", matrix, d, matrix) for d in squares]
    side = tile + 2
    return np.stack(made, 2).reshape(side * side, -1, c) if made and c else (
        np.zeros((side * side, len(made), c), np.float32))  # fmt: skip


def pixels_cases() -> Iterator[Case]:
    for shape, rows, columns in (((16, 2, 3), 1, 2), ((16, 0, 3), 1, 2), ((16, 2, 0), 2, 1)):
        yield Case([some(*shape)], {"tile": 2, "rows": rows, "columns": columns})


def _pixels(x: np.ndarray, tile: int, rows: int, columns: int) -> np.ndarray:
    """At m A of each square m, side by side in an image: [n, height, width, channels]."""
    matrix, (_, squares, c) = np.array(RESULTS[tile], np.float32), x.shape
    m = x.reshape(tile + 2, tile + 2, squares // (rows * columns), rows, columns, c)
    made = np.einsum("ap,pqnrsc,bq->nrasbc", matrix, m, matrix)
    return made.reshape(squares // (rows * columns), rows * tile, columns * tile, c)


def dft_cases() -> Iterator[Case]:
    for attrs in ({}, {"inverse": True}, {"onesided": True}, {"length": 3}, {"length": 7}):
        yield Case([some(2, 5, 1)], attrs)
    yield Case([some(0, 5, 1)], {}, np.zeros((0, 5, 2), np.float32), "PyTorch's library refuses it")
    apart = "a NaN is in every sum; PyTorch keeps the imaginary parts, which are 0, apart"
    yield Case([f32(1, NAN, 2).reshape(1, 3, 1)], {}, np.full((1, 3, 2), NAN, np.float32), apart)
    yield Case([some(2, 1, 2)])


def _dft(x: Any, length: int | None = None, inverse: bool = False, onesided: bool = False) -> Any:
    z = torch.view_as_complex(torch.cat([x, torch.zeros_like(x)], -1)) if x.shape[-1] == 1 else (
        torch.view_as_complex(x))  # fmt: skip
    kind = torch.fft.ifft if inverse else torch.fft.fft
    y = torch.view_as_real(kind(z, length, dim=1))
    return y[:, : y.shape[1] // 2 + 1] if onesided else y


# ── movement ──


def moving(*cases: tuple[np.ndarray, dict[str, Any]]) -> Callable[[], Iterator[Case]]:
    return lambda: (Case([x], attrs) for x, attrs in cases)


EMPTY = np.zeros((2, 0, 3), np.float32)


def concat_cases() -> Iterator[Case]:
    for parts in ([(2, 3), (2, 0)], [(2, 0), (2, 0)], [(0, 3), (0, 1)], [(2, 1), (2, 1)]):
        yield Case([some(*shape) for shape in parts], {"axis": 1})
    yield Case([ODD, -ODD], {"axis": 0})


def pad_cases() -> Iterator[Case]:
    for value in (-INF, NAN, -0.0):
        yield Case([ROWS], {"low": (1, 0), "high": (0, 2), "value": value})
    yield Case([EMPTY], {"low": (0, 1, 0), "high": (0, 1, 1), "value": 2.0})
    yield Case([ODD[:0]], {"low": (1,), "high": (1,)})


def _pad(x: Any, low: Any, high: Any, value: float = 0.0) -> Any:
    widths = [n for pair in zip(reversed(low), reversed(high), strict=True) for n in pair]
    return F.pad(x, widths, value=value)


def _slice(x: Any, starts: Any, stops: Any, steps: Any) -> Any:
    """Of a tensor that numpy slices: PyTorch has no negative steps."""
    cut = [slice(a, None if b < 0 else b, s) for a, b, s in zip(starts, stops, steps, strict=True)]
    return torch.from_numpy(x.numpy()[tuple(cut)].copy())


def gather_cases() -> Iterator[Case]:
    none = np.zeros((0, 2), np.int64)
    yield Case([ROWS, np.array([[0, -1], [3, 2]])], {"axis": 0})
    yield Case([ROWS, none], {"axis": 1})
    yield Case([EMPTY, none], {"axis": 1})
    yield Case([EMPTY, np.array([1, 0])], {"axis": 2})
    yield Case([EMPTY, np.array([0])], {"axis": 1}, "refused", "so does PyTorch")


def _gather(x: Any, indices: Any, axis: int) -> Any:
    return x[(slice(None),) * axis + (indices,)]


def gather_elements_cases() -> Iterator[Case]:
    yield Case([ROWS, np.array([[2, 3], [0, 1]])], {"axis": 1})
    yield Case([ROWS, np.zeros((0, 2), np.int64)], {"axis": 0})
    yield Case([np.zeros((2, 0), np.float32), np.zeros((2, 0), np.int64)], {"axis": 1})


def scatter_cases() -> Iterator[Case]:
    x, indices = ROWS[:, :4], np.array([[0, 1, 1, 3], [3, 1, 1, 0]])
    updates = f32([INF, NAN, 1, -INF], [-INF, 2, -0.0, NAN])
    for reduction in ("none", "add", "mul", "max", "min"):
        once = indices if reduction != "none" else np.array([[0, 1, 2, 3], [3, 1, 2, 0]])
        yield Case([x, once, updates], {"axis": 1, "reduction": reduction})
    yield Case([x, indices[:0], updates[:0]], {"axis": 1, "reduction": "add"})


KINDS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _scatter(x: Any, indices: Any, updates: Any, axis: int, reduction: str) -> Any:
    if reduction == "none":
        return x.scatter(axis, indices, updates)
    return x.scatter_reduce(axis, indices, updates, KINDS[reduction])


def scatter_nd_cases() -> Iterator[Case]:
    updates = f32([INF, NAN], [-INF, 2])
    for reduction in ("none", "add"):
        yield Case([ROWS[:, :2], np.array([[3], [1]]), updates], {"reduction": reduction})
    none = np.zeros((0, 1), np.int64)
    yield Case([ROWS[:, :2], none, updates[:0]], {"reduction": "add"})
    yield Case([np.zeros((0, 2), np.float32), none, updates[:0]], {"reduction": "none"})


def _scatter_nd(x: Any, indices: Any, updates: Any, reduction: str) -> Any:
    return x.index_put((indices[:, 0],), updates, accumulate=reduction == "add")


def grid_cases() -> Iterator[Case]:
    image = some(1, 2, 4, 3)
    far = f32(0, 1, -1, 1.5, -1e9, 0.5, 0.1, 0.2).reshape(1, 2, 2, 2)
    for mode, padding in product(("nearest", "linear"), ("zeros", "border")):
        yield Case([image, far], {"mode": mode, "padding": padding})
    outside = "what lies outside is 0; PyTorch multiplies this 0 by an infinite weight"
    farthest, zeros = f32(0, INF, 3e38, 0).reshape(1, 1, 2, 2), np.zeros((1, 2, 1, 2), np.float32)
    yield Case([image, farthest], {"mode": "linear"}, zeros, outside, False)
    yield Case([image, far[:, :0]], {"mode": "linear"})
    yield Case([image[:0], far[:0]], {"mode": "linear"})


def _grid_sample(x: Any, grid: Any, mode: str, padding: str = "zeros") -> Any:
    mode = {"linear": "bilinear"}.get(mode, mode)
    return F.grid_sample(x, grid, mode, padding, align_corners=False)


def argsort_cases() -> Iterator[Case]:
    ties = f32([NAN, 1, -INF, NAN, INF, 1], [0.0, -0.0, -1, 0.0, INF, INF])
    for descending in (False, True):
        for x in (ties, I32.reshape(3, 3), BOOL[None], *empties(2, 3)):
            yield Case([x], {"axis": 1, "descending": descending})
        yield Case([ties], {"axis": 1, "descending": descending, "first": 2})
        yield Case([ties], {"axis": 1, "descending": descending, "first": 0})
        yield Case([ROWS[:, :0]], {"axis": 1, "descending": descending, "first": 0})


def _argsort(x: Any, axis: int, descending: bool, first: int | None = None) -> Any:
    order = torch.sort(x, dim=axis, descending=descending, stable=True)[1]
    return order if first is None else order.narrow(axis, 0, first)


def _iota(shape: Any, axis: int = 0, dtype: str = "i64") -> Any:
    along = torch.arange(shape[axis]).reshape([-1] + [1] * (len(shape) - axis - 1))
    return _cast(along, dtype).expand(shape)


# ── what is defined by other ops ──


def softmax_cases() -> Iterator[Case]:
    yield Case([ROWS], {"axis": 1})
    yield Case([f32([-INF, -INF], [INF, 0], [NAN, 0], [-INF, 3e38], [-0.0, 1e-45])], {"axis": 1})
    yield Case([ODD[:, None]], {"axis": 1})
    yield from (Case([x], {"axis": 1}) for x in empties(2, 3))


NORMAL = np.concatenate([some(1, 6), f32([INF, 0, 0, 0, 0, 0], [NAN, 0, 0, 0, 0, 0], [0] * 6)])


def norm_cases(shape: Sequence[int], channels: int, **attrs: Any) -> Iterator[Case]:
    x = NORMAL.reshape(shape)
    yield Case([x, some(channels), some(channels)], attrs)
    yield Case([x[:0], some(channels), some(channels)], attrs)


def layer_norm_cases() -> Iterator[Case]:
    yield from norm_cases((4, 6), 6)
    yield Case([TAME[:, None], some(1), some(1)])
    yield Case([np.zeros((2, 0), np.float32), some(0), some(0)])


def batch_norm_cases() -> Iterator[Case]:
    yield Case([IMAGE, some(2), some(2), some(2), f32(0.5, 0.0)])
    yield Case([IMAGE[:0], some(2), some(2), some(2), f32(1, 1)])
    yield Case([IMAGE, f32(INF, 1), f32(0, NAN), f32(0, INF), f32(INF, 1)])


def _scan_cases() -> Iterator[Case]:
    h, x = inp("h", "f32[2]"), inp("x", "f32[2]")
    body = Graph.of([h, x], [h * x], "step")
    for steps in (0, 1, 3):
        yield Case([f32(INF, 1), f32([0, NAN], [-0.0, 1], [2, 1])[:steps]], {"body": body})


def _scan(h: Any, xs: Any, body: Graph) -> Any:
    history = []
    for x in xs:
        h = h * x
        history.append(h)
    return torch.stack(history) if history else xs.new_zeros((0, *h.shape))


WIDE = "gelu(inf) is inf; PyTorch's vectorized kernel computes inf * 0 there"


def gelu_cases() -> Iterator[Case]:
    finite = TAME[TAME != INF]
    yield from unary(finite)()
    yield Case([finite], {"approximate": "tanh"})
    yield Case([np.full(16, INF, np.float32)], {}, np.full(16, INF, np.float32), WIDE, False)


def clamp_cases() -> Iterator[Case]:
    yield from unary(ODD, min=-0.5, max=2.0)()
    yield Case([ODD], {"min": 2.0, "max": -1.0})
    yield Case([ODD], {"min": -INF})
    yield Case([I32], {"min": -1, "max": 2})


CHIP = "numpy, one rounding at a time: PyTorch multiplies by 1 / scale, which rounds otherwise"
SCALE = np.asarray(0.1, np.float32)


def quantize_cases() -> Iterator[Case]:
    yield Case([ODD, SCALE])
    yield Case([ODD, SCALE], {"dtype": "i32"})
    yield Case([ODD[:0], SCALE])
    yield Case([f32([0.5, -0.5], [1.5, 2.5]), f32(1, 1)], {"axis": 1})


def _rounded(x: np.ndarray, low: float, high: float, dtype: Any) -> np.ndarray:
    """Whole numbers, halves to even, limited; NaN is the least."""
    steps = np.rint(x).astype(np.float64)
    return np.clip(np.where(np.isnan(steps), low, steps), low, high).astype(dtype)


def _quantize(x: np.ndarray, scale: np.ndarray, axis: int = 1, dtype: str = "i8") -> np.ndarray:
    limits = np.iinfo({"i8": np.int8, "i32": np.int32}[dtype])
    return _rounded(x / scale, limits.min, limits.max, limits.dtype)


def dequantize_cases() -> Iterator[Case]:
    yield Case([whole(np.int8), SCALE])
    yield Case([I32, SCALE])
    yield Case([I32[:0], SCALE])


def requantize_cases() -> Iterator[Case]:
    yield Case([I32, SCALE], {"low": 0, "high": 60})
    yield Case([I32, np.asarray(INF, np.float32)])
    yield Case([I32[:0], SCALE])


def _requantize(x: np.ndarray, scale: np.ndarray, low: int = -128, high: int = 127) -> np.ndarray:
    return _rounded(x.astype(np.float32) * scale, low, high, np.int8)


def add_quantized_cases() -> Iterator[Case]:
    x = whole(np.int8)
    yield Case([x, x[::-1].copy(), SCALE, np.asarray(3, np.float32)], {"low": 0})
    yield Case([x[:0], x[:0], SCALE, SCALE])


def _add_quantized(x: Any, y: Any, a: Any, b: Any, low: int = -128) -> np.ndarray:
    return _rounded(x.astype(np.float32) * a + y.astype(np.float32) * b, low, 127, np.int8)


STEP = "numpy: a step of Winograd's algorithm, which no framework has as an op"
SMOOTH = (1e-5, 1e-6)  # exp and log far from where they are exact
TABLE: dict[str, Row] = {
    **SCALAR_ROWS,
    "select": Row(torch.where, select_cases, signed=True),
    "cast": Row(_cast, cast_cases),
    "reduce_sum": Row(_over(torch.sum), whole_reduction_cases),
    "reduce_prod": Row(_over(_prod), whole_reduction_cases),
    "reduce_max": Row(_over(torch.amax), extreme_cases(-INF)),
    "reduce_min": Row(_over(torch.amin), extreme_cases(INF)),
    "argmax": Row(partial(_arg, torch.argmax), arg_cases),
    "argmin": Row(partial(_arg, torch.argmin), arg_cases),
    "cumsum": Row(_cumsum, cumsum_cases),
    "matmul": Row(torch.matmul, matmul_cases),
    "conv": Row(_conv, conv_cases, close=SMOOTH),
    "conv_in_layout": Row(_conv_in_layout, in_layout_cases, close=SMOOTH),
    "max_pool": Row(_max_pool, pool_cases),
    "sum_pool": Row(_sum_pool, pool_cases, close=SMOOTH),
    "avg_pool": Row(_avg_pool, avg_pool_cases, close=SMOOTH),
    "max_pool_in_layout": Row(_permuted(_max_pool), pool_in_layout_cases),
    "sum_pool_in_layout": Row(_permuted(_sum_pool), pool_in_layout_cases, close=SMOOTH),
    "conv_transpose": Row(_conv_transpose, conv_transpose_cases, close=SMOOTH),
    "winograd_tiles": Row(_tiles, tiles_cases, STEP, close=SMOOTH),
    "winograd_pixels": Row(_pixels, pixels_cases, STEP, close=SMOOTH),
    "dft": Row(_dft, dft_cases, close=SMOOTH),
    "reshape": Row(torch.reshape, moving((EMPTY, {"shape": (0, 5)}), (ODD, {"shape": (1, -1)})),
                   signed=True),
    "transpose": Row(torch.permute, moving((EMPTY, {"perm": (1, 2, 0)}), (ROWS, {"perm": (1, 0)})),
                     signed=True),
    "relayout": Row(lambda x, src, dst: x.permute(0, 2, 3, 1),
                    moving((IMAGE, {"src": "nchw", "dst": "nhwc"}),
                           (IMAGE[:0], {"src": "nchw", "dst": "nhwc"}))),
    "expand": Row(lambda x, shape: x.expand(shape),
                  moving((ODD[:, None], {"shape": (2, 16, 3)}), (ODD[:1], {"shape": (0,)}),
                         (EMPTY, {"shape": (4, 2, 0, 3)})), signed=True),
    "slice": Row(_slice, moving(
        (ROWS, {"starts": (3, 0), "stops": (-1, 16), "steps": (-1, 3)}),
        (ROWS, {"starts": (2, 0), "stops": (2, 16), "steps": (1, 1)}),
        (EMPTY, {"starts": (0, 0, 1), "stops": (2, 0, 3), "steps": (1, 1, 2)})), signed=True),
    "concat": Row(lambda *parts, axis: torch.cat(parts, axis), concat_cases, signed=True),
    "pad": Row(_pad, pad_cases, signed=True),
    "gather": Row(_gather, gather_cases, signed=True),
    "gather_elements": Row(lambda x, i, axis: torch.gather(x, axis, i), gather_elements_cases),
    "scatter_elements": Row(_scatter, scatter_cases),
    "scatter_nd": Row(_scatter_nd, scatter_nd_cases),
    "grid_sample": Row(_grid_sample, grid_cases, close=SMOOTH),
    "argsort": Row(_argsort, argsort_cases),
    "iota": Row(_iota, lambda: (Case([], {"shape": s, "axis": 1, "dtype": d})
                                for s in ((2, 0), (0, 3), (2, 1)) for d in ("i8", "f32"))),
    "scan": Row(_scan, _scan_cases),
    "mean": Row(_over(torch.mean), reduction_cases, close=SMOOTH),
    "softmax": Row(lambda x, axis: F.softmax(x, axis), softmax_cases),
    "log_softmax": Row(lambda x, axis: F.log_softmax(x, axis), softmax_cases),
    "layer_norm": Row(lambda x, w, b: F.layer_norm(x, w.shape, w, b), layer_norm_cases,
                      close=SMOOTH),
    "group_norm": Row(lambda x, w, b, groups: F.group_norm(x, groups, w, b),
                      lambda: norm_cases((4, 2, 3), 2, groups=2), close=SMOOTH),
    "batch_norm": Row(lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b), batch_norm_cases,
                      close=SMOOTH),
    "gelu": Row(lambda x, approximate="none": F.gelu(x, approximate=approximate), gelu_cases,
                close=SMOOTH),
    "clamp": Row(lambda x, min=None, max=None: torch.clamp(x, min, max), clamp_cases),
    "hard_sigmoid": Row(F.hardsigmoid, unary(ODD), close=SMOOTH),
    "silu": Row(F.silu, unary(ODD), signed=True, close=SMOOTH),
    "hard_swish": Row(F.hardswish, unary(TAME), close=SMOOTH),
    "softsign": Row(F.softsign, unary(ODD), close=SMOOTH),
    "mish": Row(F.mish, unary(ODD), close=SMOOTH),
    "softplus": Row(F.softplus, unary(ODD), close=SMOOTH),
    "elu": Row(F.elu, unary(ODD), close=SMOOTH),
    "leaky_relu": Row(F.leaky_relu, unary(ODD), signed=True),
    "quantize": Row(_quantize, quantize_cases, CHIP),
    "dequantize": Row(lambda x, s: x.astype(np.float32) * s, dequantize_cases, CHIP),
    "requantize": Row(_requantize, requantize_cases, CHIP),
    "add_quantized": Row(_add_quantized, add_quantized_cases, CHIP),
}  # fmt: skip
BY_HAND = {  # no op of their own to compare
    "input": "a value that the caller gives",
    "constant": "a value that stands in the graph",
    "fused": "a group of the ops above, in one kernel: tests/passes/test_fusion.py",
}


def test_every_op_of_the_table_has_a_witness() -> None:
    assert set(OPS) == set(TABLE) | set(BY_HAND)


@pytest.mark.parametrize("op", TABLE)
def test_an_op_means_at_its_edges_what_the_witness_says(op: str) -> None:
    row = TABLE[op]
    cases = [case for case in row.cases() if not _refused(op, case)]
    graph, arrays = _graph(op, cases)
    wanted = [_wanted(row, case) for case in cases]
    plain = everywhere(graph, decompose)
    levels = {
        "numpy": run(graph, arrays),
        "loops": run_program(lower(plain), arrays),
        "machine code": compile(graph, passes=[], threads=1).run(arrays),
    }
    for level, results in levels.items():
        for case, want, got in zip(cases, wanted, results, strict=True):
            _same(row, got, want, f"{op}, {level}: {case}")


def _refused(op: str, case: Case) -> bool:
    """Is this a case that we must refuse, and do?"""
    if not isinstance(case.ours, str):
        return False
    assert case.ours == "refused" and case.why
    with pytest.raises(ValueError):
        apply(op, *(inp(f"x{k}", type_of(x)) for k, x in enumerate(case.operands)), **case.attrs)
    return True


def _graph(op: str, cases: Sequence[Case]) -> tuple[Graph, list[np.ndarray]]:
    """One graph with an output for each case."""
    inputs: list[Node] = []
    outputs: list[Node] = []
    for case in cases:
        own = [inp(f"x{len(inputs) + k}", type_of(x)) for k, x in enumerate(case.operands)]
        inputs += own
        outputs.append(apply(op, *own, **case.attrs))
    return Graph.of(inputs, outputs, op), [x for case in cases for x in case.operands]


def _wanted(row: Row, case: Case) -> np.ndarray:
    """What is right. Where we differ on purpose, the witness must differ, or refuse."""
    try:
        said = _ask(row, case)
    except (RuntimeError, IndexError, ValueError):
        assert case.ours is not None, f"the witness refuses {case}"
        return case.ours
    if case.ours is None:
        return said
    differs = not np.array_equal(said, case.ours, equal_nan=True)
    assert case.why and (differs or not case.always), f"the witness agrees by now: {case}"
    return case.ours


def _ask(row: Row, case: Case) -> np.ndarray:
    with np.errstate(all="ignore"):
        if row.by:
            return row.witness(*case.operands, **case.attrs)
        tensors = [torch.from_numpy(x.copy()) for x in case.operands]
        attrs = {{"shape": "shape", "perm": "dims"}.get(k, k): v for k, v in case.attrs.items()}
        return np.asarray(row.witness(*tensors, **attrs))


def _same(row: Row, got: np.ndarray, want: np.ndarray, where: str) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape), where
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, where)
        return
    np.testing.assert_allclose(got, want, *row.close, equal_nan=True, err_msg=where)
    if row.signed:
        zero = (want == 0) & (got == 0)
        np.testing.assert_array_equal(np.signbit(got)[zero], np.signbit(want)[zero], where)
