"""The op table is complete: each row means the same at every level, for every type it accepts.

Each op has a list of cases: operands and attributes. All cases of an op are outputs of one graph,
which `levels_agree` runs with numpy, as loops, as scheduled loops and as machine code.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.check.levels import MACHINES, levels_agree
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.registry import OPS
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import DTYPES, DType, TensorType, type_of

Case = tuple[list[Any], dict[str, Any]]
FLOATS = [d for d in DTYPES.values() if d.is_float]
INTEGERS = [d for d in DTYPES.values() if d.kind in ("int", "uint")]
NUMBERS = [*FLOATS, *INTEGERS]
ALL = list(DTYPES.values())
RNG = np.random.default_rng(7)


def some(shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Ordinary numbers: sums of a few hundred of them stay in range and keep their digits."""
    if dtype.is_float:
        return RNG.uniform(-2, 2, shape).astype(dtype.numpy)
    if dtype.kind == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    return RNG.integers(0 if dtype.kind == "uint" else -9, 10, shape).astype(dtype.numpy)


def special(dtype: DType) -> np.ndarray:
    """The numbers at which functions go wrong, as one axis."""
    if dtype.kind == "bool":
        return np.array([False, True])
    if dtype.is_float:
        info = np.finfo(dtype.numpy)
        odd = [0.0, np.inf, np.nan, info.max, info.tiny, 0.5, 1.0, 2.5, 88.5]
        return np.array([*odd, *(-v for v in odd)]).astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    odd = {0, 1, 2, 3, 10, 65, info.max, info.min}
    signed = [-1, -2, -7] if info.min else []
    return np.array(sorted({*(v for v in odd if v <= info.max), *signed}), dtype.numpy)


def elementwise_cases(arity: int, dtypes: list[DType]) -> Iterator[Case]:
    for dtype in dtypes:
        odd = special(dtype)
        yield ([odd] if arity == 1 else [odd[:, None], odd]), {}  # each with each
    shapes = [(3, 19)] if arity == 1 else [(4, 1), (2, 1, 9)]
    yield [some(shape, dtypes[0]) for shape in shapes], {}
    yield [some((), dtypes[0])] * arity, {}
    yield [some((0, 3), dtypes[-1])] * arity, {}


def select_cases() -> Iterator[Case]:
    for dtype in ALL:
        condition = np.array([[True], [False], [True]])
        yield [condition, some((4,), dtype), some((3, 1), dtype)], {}


def cast_cases() -> Iterator[Case]:
    for old in ALL:
        for new in ALL:
            yield [special(old)], {"dtype": new.name}


def reduction_cases(dtypes: list[DType]) -> Iterator[Case]:
    for dtype in dtypes:
        yield [some((3, 20), dtype)], {"axes": (0,)}
        yield [some((3, 5), dtype)], {"axes": (-1,), "keepdims": True}
    for dtype in (dtypes[0], dtypes[-1]):
        yield [some((2, 0, 3), dtype)], {"axes": (1,)}
    f32 = DTYPES["f32"]
    for axes in (None, (1,), (0, 2), ()):
        for keepdims in (False, True):
            yield [some((3, 4, 5), f32)], {"axes": axes, "keepdims": keepdims}
    yield [some((0, 3), f32)], {"axes": (1,)}
    yield [some((), f32)], {"axes": None}
    yield [some((1, 2, 1, 3, 2, 2), f32)], {"axes": (0, 3, 5)}
    yield [some((1, 40), f32)], {"axes": (0,)}


def extreme_cases() -> Iterator[Case]:
    yield from reduction_cases([*NUMBERS, DTYPES["bool"]])
    for dtype in ALL:
        yield [special(dtype)], {"axes": (0,)}


def cumsum_cases() -> Iterator[Case]:
    for dtype in NUMBERS:
        yield [some((3, 6), dtype)], {"axis": 1, "exclusive": True}
        yield [some((4, 3), dtype)], {"axis": -2, "reverse": True}
    for exclusive in (False, True):
        for reverse in (False, True):
            attrs = {"exclusive": exclusive, "reverse": reverse}
            yield [some((2, 7), DTYPES["f32"])], {"axis": 1, **attrs}
            yield [some((0, 3), DTYPES["f32"])], {"axis": 0, **attrs}
    yield [np.array([np.inf, 1, 2], np.float32)], {"axis": 0, "exclusive": True}
    yield [some((3, 1100), DTYPES["f32"])], {"axis": 0}  # wider than a block of columns


def matmul_cases() -> Iterator[Case]:
    shapes = [
        ((5, 7), (7, 3)), ((1, 33), (33, 35)), ((47, 8), (8, 16)), ((2, 3, 4), (4, 5)),
        ((4, 1, 2, 3), (5, 3, 6)), ((3, 0), (0, 4)), ((0, 4), (4, 3)), ((4, 3), (3, 0)),
        ((1, 1), (1, 1)), ((3, 1), (1, 40)),
    ]  # fmt: skip
    for a, b in shapes:
        yield [some(a, DTYPES["f32"]), some(b, DTYPES["f32"])], {}
    for dtype in ALL:
        yield [some((5, 7), dtype), some((7, 18), dtype)], {}


def sums_cases() -> Iterator[Case]:
    """Narrow integers with wider sums, the largest ones among them; sums of i32 that wrap."""
    for name, wide in (("i8", "i32"), ("i8", "i16"), ("u8", "i32"), ("i16", "i64"), ("i8", None)):
        limits = np.iinfo(DTYPES[name].numpy)
        operands = [
            RNG.integers(limits.min, limits.max + 1, shape) for shape in ((5, 40), (40, 18))
        ]
        yield [o.astype(limits.dtype) for o in operands], {"sums": wide}
    yield [np.full(shape, 2**17, np.int32) for shape in ((2, 3), (3, 2))], {}


def conv_sums_cases() -> Iterator[Case]:
    for x, w, attrs in [
        ((1, 3, 9, 8), (16, 3, 3, 3), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
        ((2, 6, 5, 4), (6, 1, 3, 3), {"groups": 6, "pads": (1, 0, 2, 1)}),
    ]:
        operands = [RNG.integers(-128, 128, shape).astype(np.int8) for shape in (x, w)]
        yield operands, {**attrs, "sums": "i32"}


QUANTA = np.array([0.5, 0.1, 3.0], np.float32)  # scales


def quantize_cases() -> Iterator[Case]:
    odd = np.array([0.0, -0.0, 0.25, 0.75, -0.25, 63.4, 1e9, -1e9, np.inf, -np.inf, np.nan])
    for name in ("i8", "u8", "i16", "i32"):
        yield [odd.astype(np.float32), QUANTA[:1].reshape(())], {"dtype": name}
    yield [some((2, 3, 4), DTYPES["f32"]), QUANTA], {}
    yield [some((4, 3), DTYPES["f32"]), QUANTA], {"axis": -1}
    yield [RNG.uniform(-50, 50, (4, 200)).astype(np.float32), QUANTA[1:2].reshape(())], {}


def dequantize_cases() -> Iterator[Case]:
    for name in ("i8", "u8", "i16", "u16", "i32"):
        yield [special(DTYPES[name]), QUANTA[1:2].reshape(())], {}
    yield [some((3, 4), DTYPES["i8"]), QUANTA], {"axis": 0}


def requantize_cases() -> Iterator[Case]:
    sums = RNG.integers(-(10**6), 10**6, (2, 3, 100)).astype(np.int32)
    yield [sums, QUANTA * np.float32(1e-4)], {}
    yield [sums, QUANTA * np.float32(1e-4)], {"low": 0, "high": 60}
    yield [special(DTYPES["i32"]), QUANTA[:1].reshape(())], {"low": -127}


def add_quantized_cases() -> Iterator[Case]:
    pairs = [RNG.integers(-128, 128, 600).astype(np.int8) for _ in range(2)]
    for a, b in RNG.uniform(0.01, 2, (2, 2)).astype(np.float32):
        yield [*pairs, np.asarray(a), np.asarray(b)], {"low": 0}


def conv_cases() -> Iterator[Case]:
    for dtype in NUMBERS:
        yield [some((2, 3, 5, 4), dtype), some((3, 3, 3, 2), dtype)], {}
    f32 = DTYPES["f32"]
    for x, w, attrs in [
        ((1, 3, 9), (5, 3, 3), {"strides": (2,), "pads": (1, 1)}),
        ((1, 2, 4, 4, 4), (3, 2, 2, 2, 2), {}),
        ((1, 4, 5, 4), (6, 2, 3, 3), {"groups": 2, "pads": (1, 0, 2, 1)}),
        ((2, 8, 4, 3), (8, 1, 3, 3), {"groups": 8, "pads": (1, 1, 1, 1)}),
        ((1, 3, 11, 11), (2, 3, 3, 3), {"strides": (2, 3), "dilations": (2, 1)}),
        ((1, 3, 4, 5), (33, 3, 1, 1), {}),
        ((1, 1, 5, 19), (17, 1, 2, 3), {"strides": (1, 2)}),
        ((0, 3, 5, 5), (2, 3, 3, 3), {}),
        ((1, 2, 1, 1), (2, 2, 1, 1), {}),
    ]:
        yield [some(x, f32), some(w, f32)], attrs


def winograd_tiles_cases() -> Iterator[Case]:
    for shape, tile in [((2, 6, 4, 17), 2), ((1, 6, 10, 3), 4)]:
        yield [some(shape, DTYPES["f32"])], {"tile": tile}


def winograd_pixels_cases() -> Iterator[Case]:
    for shape, rows, columns, tile in [((16, 12, 5), 3, 2, 2), ((36, 2, 3), 1, 2, 4)]:
        attrs = {"rows": rows, "columns": columns, "tile": tile}
        yield [some(shape, DTYPES["f32"])], attrs


def conv_in_layout_cases() -> Iterator[Case]:
    for x, w, layouts, attrs in [
        ((1, 7, 6, 3), (5, 2, 3, 3), ("nhwc", "ohwi", "nhwc"), {"strides": (2, 1)}),
        ((1, 2, 4, 5, 8), (2, 2, 3, 3, 8, 16), ("nchw8c", "oihw8i16o", "nchw16c"), {}),
        ((1, 3, 4, 7), (1, 3, 3, 3, 16), ("nchw", "ohwi16o", "nchw16c"), {}),
        ((1, 3, 3, 4), (1, 3, 3, 3, 16), ("nchw", "ohwi16o", "nchw16c"), {"pads": (1, 1, 1, 0)}),
        ((1, 1, 4, 4, 16), (5, 1, 1, 1, 16), ("nchw16c", "oihw16i", "nchw"), {}),
        ((1, 6, 6, 4), (3, 3, 1, 4), ("nhwc", "hwio", "nhwc"), {"groups": 4, "dilations": (2, 1)}),
        ((1, 2, 4, 5, 8), (2, 1, 3, 3, 8), ("nchw8c", "oihw8o", "nchw8c"), {"groups": 16}),
        ((1, 2, 4, 5, 8), (16, 1, 3, 3), ("nchw8c", "oihw", "nhwc"), {"groups": 16}),
    ]:
        operands = [some(x, DTYPES["f32"]), some(w, DTYPES["f32"])]
        yield operands, {"layouts": layouts, **attrs}


def relayout_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((1, 6, 2, 3), dtype)], {"src": "nchw", "dst": "nchw2c"}
    for shape, src, dst in [
        ((2, 3, 4, 5), "nchw", "nhwc"),
        ((1, 3, 2, 3, 2), "nchw2c", "nchw"),
        ((1, 4, 3, 5, 8), "nchw8c", "nchw16c"),
        ((1, 2, 3, 5, 16), "nchw16c", "nchw8c"),
        ((1, 2, 3, 5, 16), "nchw16c", "nhwc"),
        ((32, 16, 3, 3), "oihw", "oihw16i16o"),
        ((2, 16, 3, 1, 16), "oihw16o", "hwio"),
        ((4, 6), "mk", "km"),
        ((1, 0, 3, 5, 8), "nchw8c", "nchw"),
    ]:
        yield [some(shape, DTYPES["f32"])], {"src": src, "dst": dst}


def pool_cases(dtypes: list[DType]) -> Iterator[Case]:
    pads = {"pads": (1, 1, 0, 1), "strides": (2, 1)}
    for dtype in dtypes:
        yield [some((2, 1, 4, 5), dtype)], {"kernel": (3, 3), **pads}
    yield [some((1, 2, 6, 7), dtypes[0])], {"kernel": (2, 3), "strides": (2, 2)}
    yield [some((1, 2, 9), dtypes[0])], {"kernel": (3,), "dilations": (2,), "pads": (2, 1)}
    yield [some((0, 2, 4), dtypes[0])], {"kernel": (2,)}


def pool_in_layout_cases() -> Iterator[Case]:
    f32, pads = DTYPES["f32"], {"pads": (1, 0, 1, 1)}
    for x, layouts, attrs in [
        ((1, 5, 4, 3), ("nhwc", "nhwc"), pads),
        ((1, 5, 4, 3), ("nhwc", "nhwc"), {"dilations": (2, 1)}),
        ((1, 2, 5, 4, 8), ("nchw8c", "nchw8c"), {"strides": (2, 1)}),
        ((1, 2, 5, 4, 8), ("nchw8c", "nhwc"), {}),
    ]:
        yield [some(x, f32)], {"kernel": (3, 2), "layouts": layouts, **attrs}


def avg_pool_cases() -> Iterator[Case]:
    for k, (operands, attrs) in enumerate(pool_cases(FLOATS)):
        yield operands, {**attrs, "count_include_pad": k % 4 == 1}


def conv_transpose_cases() -> Iterator[Case]:
    f32, f64 = DTYPES["f32"], DTYPES["f64"]
    x, w = some((1, 4, 4, 3), f32), some((4, 2, 3, 3), f32)
    yield [x, w], {}
    yield [x, w], {"strides": (2, 2), "pads": (1, 1, 1, 1), "output_padding": (1, 1)}
    yield [x, w], {"groups": 2, "dilations": (1, 2), "strides": (1, 3)}
    yield [x, some((4, 1, 1, 1), f32)], {"pads": (1, 0, 1, 0)}
    for dtype in (f32, f64):
        yield [some((2, 3, 6), dtype), some((3, 2, 4), dtype)], {"strides": (3,)}


def reshape_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((2, 3, 4), dtype)], {"shape": (4, -1)}
    yield [some((1, 1), DTYPES["f32"])], {"shape": ()}
    yield [some((0, 3), DTYPES["f32"])], {"shape": (3, 0)}


def transpose_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((17, 5), dtype)], {"perm": (1, 0)}
    yield [some((2, 3, 4), DTYPES["f32"])], {"perm": (2, 0, 1)}
    yield [some((), DTYPES["f32"])], {"perm": ()}
    yield [some((2, 1, 3, 2, 1, 2), DTYPES["f32"])], {"perm": (5, 3, 1, 0, 2, 4)}


def expand_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((3, 1), dtype)], {"shape": (2, 3, 5)}
    yield [some((), DTYPES["f32"])], {"shape": (4,)}
    yield [some((1,), DTYPES["f32"])], {"shape": (0,)}


def slice_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((6, 7), dtype)], {"starts": (5, 6), "stops": (-1, 0), "steps": (-2, -1)}
    x = some((6, 7), DTYPES["f32"])
    yield [x], {"starts": (1, 2), "stops": (5, 7)}
    yield [x], {"starts": (0, 0), "stops": (6, 7), "steps": (2, 3)}
    yield [x], {"starts": (3, 2), "stops": (3, 7)}


def concat_cases() -> Iterator[Case]:
    for dtype in ALL:
        a, b = some((2, 3), dtype), some((2, 5), dtype)
        yield [a, b, a], {"axis": 1}
    a = some((2, 3), DTYPES["f32"])
    yield [a, some((0, 3), DTYPES["f32"])], {"axis": -2}
    yield [a], {"axis": 0}


def pad_cases() -> Iterator[Case]:
    for dtype in ALL:
        frame = {"low": (1, 0), "high": (2, 2), "interior": (1, 2), "value": 1}
        yield [some((3, 2), dtype)], frame
    yield [some((3, 2), DTYPES["f32"])], {"low": (1, 0), "high": (0, 2)}
    yield [some((0, 2), DTYPES["f32"])], {"low": (1, 0), "high": (0, 0), "interior": (1, 0)}
    yield [some((2,), DTYPES["f32"])], {"low": (1,), "high": (1,), "value": -np.inf}


def gather_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((3, 5), dtype), np.array([[0, -1], [4, -5]])], {"axis": 1}
    for kind in INTEGERS:
        last = np.array([0, 9], kind.numpy)
        yield [some((10, 2), DTYPES["f32"]), last], {"axis": 0}
        yield [some((300,), DTYPES["f32"]), np.array([0, 100], kind.numpy)], {"axis": -1}
        yield [some((2, 3), DTYPES["i16"]), np.array(1, kind.numpy)], {"axis": 1}
    yield [some((300,), DTYPES["f32"]), np.array([-128, -1, 127], np.int8)], {}
    yield [some((3, 2), DTYPES["f32"]), np.zeros((0, 2), np.int64)], {"axis": 0}


def gather_elements_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [some((3, 4), dtype), np.array([[0, -1], [3, 2]])], {"axis": 1}
    for kind in INTEGERS:
        yield [some((300, 1), DTYPES["f32"]), np.array([[0], [100]], kind.numpy)], {"axis": 0}
    yield [some((300,), DTYPES["f32"]), np.array([-128, -1], np.int8)], {}


def grid_sample_cases() -> Iterator[Case]:
    """Positions inside, at the edge, and so far outside that no integer holds them."""
    far = np.array([0, 1, -1, 0.999, -1.4, 2.6, 1e9, -1e30], np.float32)
    for mode in ("nearest", "linear", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            attrs = {"mode": mode, "padding": padding, "aligned": padding != "border"}
            yield [some((2, 3, 5, 4), DTYPES["f32"]), some((2, 3, 7, 2), DTYPES["f32"])], attrs
            yield [some((1, 2, 4, 3), DTYPES["f32"]), far.reshape(1, 2, 2, 2)], attrs
    for dtype in FLOATS:
        yield [some((1, 2, 6), dtype), some((1, 9, 1), dtype)], {"padding": "border"}
        yield [some((1, 1, 3, 2, 4), dtype), some((1, 2, 2, 3, 3), dtype)], {"aligned": True}
    yield [some((1, 2, 4), DTYPES["f32"]), np.full((1, 2, 1), np.nan, np.float32)], {}
    alone = {"padding": "reflection", "aligned": True}
    yield [some((1, 2, 1), DTYPES["f32"]), some((1, 5, 1), DTYPES["f32"])], alone


def dft_cases() -> Iterator[Case]:
    for dtype in FLOATS:
        yield [some((2, 6, 1), dtype)], {"onesided": True}
        yield [some((6, 3, 2), dtype)], {"axis": 0, "inverse": True}
    f32 = DTYPES["f32"]
    yield [some((1, 70, 2), f32)], {}
    yield [some((1, 5, 2), f32)], {"inverse": True, "onesided": True}
    yield [some((1, 5, 2), f32)], {"inverse": True, "onesided": True, "length": 7}
    yield [some((1, 5, 1), f32)], {"length": 8}
    yield [some((1, 5, 1), f32)], {"length": 3}
    yield [some((0, 4, 1), f32)], {}


def scatter_elements_cases() -> Iterator[Case]:
    indices = np.array([[0, 1], [-1, 1]])
    for dtype in NUMBERS:
        for reduction in ("none", "add", "mul", "max", "min"):
            attrs = {"axis": 0, "reduction": reduction}
            yield [some((3, 2), dtype), indices, some((2, 2), dtype)], attrs
    rows = np.repeat(RNG.integers(-5, 5, (40, 1)), 3, 1)
    yield [some((5, 4), DTYPES["f32"]), rows, some((40, 3), DTYPES["f32"])], {"reduction": "add"}
    yield [some((2, 3), DTYPES["f32"]), np.zeros((0, 3), int), np.zeros((0, 3), np.float32)], {}
    narrow = [some((200,), DTYPES["f32"]), np.array([-100, 100], np.int8), np.ones(2, np.float32)]
    yield narrow, {}


def scatter_nd_cases() -> Iterator[Case]:
    indices = np.array([[1], [-1], [1]])
    for dtype in NUMBERS:
        for reduction in ("none", "add", "max"):
            yield [some((3, 2), dtype), indices, some((3, 2), dtype)], {"reduction": reduction}
    yield [some((2, 2), DTYPES["f32"]), np.array([[0, 1]], np.uint8), np.ones(1, np.float32)], {}


def argsort_cases() -> Iterator[Case]:
    for dtype in ALL:
        for descending in (False, True):
            yield [some((2, 7), dtype)], {"axis": 1, "descending": descending}
            yield [some((5, 2), dtype)], {"axis": -2, "descending": descending}
            yield [some((2, 3, 7), dtype)], {"axis": 1, "descending": descending, "first": 2}


def arg_cases() -> Iterator[Case]:
    for dtype in ALL:
        yield [special(dtype)], {"axis": 0, "last": dtype.is_float}
    for keepdims in (False, True):
        yield [some((6, 2), DTYPES["f32"])], {"axis": 0, "keepdims": keepdims}
    for last in (False, True):
        yield [some((3, 18), DTYPES["i8"])], {"axis": 1, "last": last}
    yield [np.full((2, 3), -np.inf, np.float32)], {"axis": 1}


def iota_cases() -> Iterator[Case]:
    for dtype in NUMBERS:
        yield [], {"shape": (3, 4), "axis": 1, "dtype": dtype.name}
        yield [], {"shape": (300, 1), "axis": 0, "dtype": dtype.name}


def float_cases(shape: tuple[int, ...], *attrs: dict[str, Any]) -> Iterator[Case]:
    for dtype in FLOATS:
        for each in attrs or ({},):
            yield [some(shape, dtype)], each


def activation_cases(*attrs: dict[str, Any]) -> Iterator[Case]:
    """As for elementwise ops, without the numbers whose products overflow."""
    for dtype in FLOATS:
        tame = np.array([0, -0.0, np.nan, 1e-3, -1e-3, 0.5, -0.5, 6, -6, 20, -20], dtype.numpy)
        for each in attrs or ({},):
            yield [tame], each
    yield [some((3, 5), FLOATS[0])], {}


def clamp_cases() -> Iterator[Case]:
    for dtype in INTEGERS:
        yield [special(dtype)], {"min": 1, "max": 5}
    for dtype in FLOATS:
        yield [special(dtype)], {"min": -0.5}
        yield [special(dtype)], {"max": 2.0}
        yield [special(dtype)], {}


def norm_cases(first: tuple[int, ...], channels: int, *attrs: dict[str, Any]) -> Iterator[Case]:
    for dtype in FLOATS:
        for each in attrs:
            yield [some(first, dtype), *(some((channels,), dtype) for _ in range(2))], each
    x, scale = some(first, FLOATS[0]), some((channels,), FLOATS[0])
    yield [x], attrs[0]
    yield [x, scale], attrs[0]


def batch_norm_cases() -> Iterator[Case]:
    for dtype in FLOATS:
        vectors = [some((3,), dtype) for _ in range(3)]
        variance = np.array([0.5, 1.0, 2.0], dtype.numpy)
        yield [some((2, 3, 2, 2), dtype), *vectors, variance], {}
    for shape in ((2, 3), (1, 3, 4)):
        yield [some(shape, dtype), *vectors, variance], {}


def scan_cases() -> Iterator[Case]:
    """Every element type; an element may have axes or none, and there may be no step at all."""
    for dtype in ALL:
        for shape, reverse in (((2, 3), False), ((), True)):
            state, x = (inp(name, TensorType(dtype, shape)) for name in ("state", "x"))
            goes = inp("goes", "bool[]")
            body = Graph.of([state, x, goes], [apply("select", goes, x, state)], "step")
            operands = [some(shape, dtype), some((4, *shape), dtype), some((4,), DTYPES["bool"])]
            yield operands, {"body": body, "sequences": 2, "reverse": reverse}
    h, x, w = inp("h", "f32[2]"), inp("x", "f32[3]"), inp("w", "f32[2]")
    body = Graph.of([h, x, w], [h * w + apply("reduce_sum", x)], "step")
    for steps in (0, 1, 5):
        yield [some(shape, DTYPES["f32"]) for shape in ((2,), (steps, 3), (2,))], {"body": body}


F32_UP = [DTYPES["f32"], DTYPES["f64"], *INTEGERS]
CASES: dict[str, Callable[[], Iterable[Case]]] = {
    "select": select_cases,
    "cast": cast_cases,
    "reduce_sum": lambda: reduction_cases(ALL),
    "reduce_prod": lambda: reduction_cases([*F32_UP, DTYPES["bool"]]),
    "reduce_max": extreme_cases,
    "reduce_min": extreme_cases,
    "cumsum": cumsum_cases,
    "matmul": lambda: (*matmul_cases(), *sums_cases()),
    "conv": lambda: (*conv_cases(), *conv_sums_cases()),
    "conv_in_layout": conv_in_layout_cases,
    "winograd_tiles": winograd_tiles_cases,
    "winograd_pixels": winograd_pixels_cases,
    "max_pool": lambda: pool_cases(ALL),
    "sum_pool": lambda: pool_cases(ALL),
    "max_pool_in_layout": pool_in_layout_cases,
    "sum_pool_in_layout": pool_in_layout_cases,
    "avg_pool": avg_pool_cases,
    "conv_transpose": conv_transpose_cases,
    "reshape": reshape_cases,
    "transpose": transpose_cases,
    "relayout": relayout_cases,
    "expand": expand_cases,
    "slice": slice_cases,
    "concat": concat_cases,
    "pad": pad_cases,
    "gather": gather_cases,
    "gather_elements": gather_elements_cases,
    "grid_sample": grid_sample_cases,
    "dft": dft_cases,
    "scatter_elements": scatter_elements_cases,
    "scatter_nd": scatter_nd_cases,
    "argsort": argsort_cases,
    "argmax": arg_cases,
    "argmin": arg_cases,
    "iota": iota_cases,
    "scan": scan_cases,
    "mean": lambda: float_cases((3, 4), {}, {"axes": (1,)}, {"axes": (-2,), "keepdims": True}),
    "softmax": lambda: float_cases((3, 8), {}, {"axis": 0}),
    "log_softmax": lambda: float_cases((3, 8), {}, {"axis": 0}),
    "layer_norm": lambda: norm_cases((2, 3, 4), 4, {}, {"axis": 2, "eps": 1e-3}),
    "group_norm": lambda: norm_cases((2, 6, 3), 6, {"groups": 2}, {"groups": 6}, {"groups": 1}),
    "batch_norm": batch_norm_cases,
    "gelu": lambda: activation_cases({}, {"approximate": "tanh"}),
    "clamp": clamp_cases,
    "hard_sigmoid": lambda: activation_cases({}, {"alpha": 0.2}),
    "elu": lambda: activation_cases({}, {"alpha": 0.5}),
    "leaky_relu": lambda: activation_cases({}, {"slope": 0.2}),
    "quantize": quantize_cases,
    "dequantize": dequantize_cases,
    "requantize": requantize_cases,
    "add_quantized": add_quantized_cases,
}
for _op, _row in OPS.items():  # composites of one operand without attributes need no more
    if (_row.kind, _row.arity, _row.attrs) == ("composite", 1, {}):
        CASES.setdefault(_op, activation_cases)
EXACT = {
    "dequantize",
    "div",
    "reciprocal",
    "select",
    "cast",
    "clamp",
    "leaky_relu",
}  # no sums inside


def cases_of(op: str) -> list[Case]:
    if op in SCALARS:
        accepted = [d for d in ALL if d.kind in SCALARS[op].accepts]
        return list(elementwise_cases(SCALARS[op].arity, accepted))
    return list(CASES[op]())


def graph_of(op: str, cases: list[Case]) -> tuple[Graph, list[np.ndarray]]:
    """One graph with an output for each case, and its inputs."""
    inputs: list[Node] = []
    arrays: list[np.ndarray] = []
    outputs: list[Node] = []
    for operands, attrs in cases:
        own = [inp(f"x{len(inputs) + k}", type_of(a)) for k, a in enumerate(operands)]
        inputs, arrays = inputs + own, arrays + operands
        outputs.append(apply(op, *own, **attrs))
    return Graph.of(inputs, outputs, op), arrays


def test_every_row_of_the_table_has_cases() -> None:
    by_hand = {"input", "constant", "fused"}  # no cases of their own: every other test has them
    assert set(OPS) == set(SCALARS) | set(CASES) | by_hand


@pytest.mark.parametrize("op", [*SCALARS, *CASES])
def test_op_means_the_same_at_every_level(op: str) -> None:
    graph, arrays = graph_of(op, cases_of(op))
    """On all machines where tiles differ most; the others take turns."""
    turn = list(OPS).index(op) % len(MACHINES)
    machines = MACHINES if op in ("matmul", "conv") else MACHINES[turn : turn + 1]
    levels_agree(graph, arrays, sums=op not in SCALARS and op not in EXACT, machines=machines)
