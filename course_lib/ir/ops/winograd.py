"""Rows for Winograd's convolution: an image as the factors of its products, and back.

    %1 = winograd_tiles(%0) {tile = 2} : f32[16,784,64]              // %0: f32[1,58,58,64]
    %2 = matmul(%1, %u) : f32[16,784,64]
    %3 = winograd_pixels(%2) {rows = 28, columns = 28, tile = 2} : f32[1,56,56,64]

A convolution with windows of 3x3 takes nine products for each pixel and pair of channels.
Winograd's F(2x2,3x3) takes four: a tile of 2x2 results reads a square d of 4x4 pixels, and is

    At ((G g Gt) * (Bt d B)) A               g: the filter, 3x3;  *: element by element

which has 16 products where there were 36. What stands before and behind them are additions. For all
tiles and channels at once, each place in the square is one matrix product of its own. F(4x4,3x3)
has 36 products where there were 144, but multiplies by up to 8 on the way, and loses a digit.

Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016. Next room:
`movement.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, Expr, LoopForm, call, literal
from course_lib.ir.graph.build import concat, matmul, reshape, transpose
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import Op, register
from course_lib.ir.types import DType, TensorType

V = Affine.var
WINDOW = 3  # rows and columns of the filters

# For each tile: Bt, which takes a column of pixels apart; G, the same for a column of a filter;
# At, which puts a column of results together.
PIXELS: dict[int, list[list[float]]] = {
    2: [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]],
    4: [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ],
}
FILTERS: dict[int, list[list[float]]] = {
    2: [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
    4: [
        [1 / 4, 0, 0],
        [-1 / 6, -1 / 6, -1 / 6],
        [-1 / 6, 1 / 6, -1 / 6],
        [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6],
        [0, 0, 1],
    ],
}
RESULTS: dict[int, list[list[float]]] = {
    2: [[1, 1, 1, 0], [0, 1, -1, -1]],
    4: [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]],
}
TILE = Attr("int", 2, least=2)


def squares(size: int, tile: int) -> int:
    """How many tiles there are along an axis of this many pixels, which they have to cover."""
    side = tile + WINDOW - 1
    if size < side or (size - side) % tile:
        raise ValueError(f"squares of {side} pixels, {tile} apart, do not cover {size}")
    return (size - side) // tile + 1


def _side(attrs: Attrs, what: str) -> int:
    """Of the squares of pixels that the tiles read."""
    if attrs["tile"] not in PIXELS:
        raise ValueError(f"{what}: a tile is 2 or 4 pixels wide, not {attrs['tile']}")
    return attrs["tile"] + WINDOW - 1


def _check(x: TensorType, rank: int, axes: str, what: str) -> None:
    if x.rank != rank or not x.dtype.is_float or not x.is_static:
        raise ValueError(f"{what}: needs floats {axes} of known sizes, got {x}")


# ── one element of `matrix @ s @ matrix.T` ──


def _factors(matrix: list[list[float]], at: tuple[int, int]) -> dict[tuple[int, int], float]:
    """How often each element of s is in it; positive ones first, for the sum begins with them."""
    rows, columns = matrix[at[0]], matrix[at[1]]
    places = product(range(len(rows)), range(len(columns)))
    factors = {(i, j): float(rows[i] * columns[j]) for i, j in places if rows[i] and columns[j]}
    return dict(sorted(factors.items(), key=lambda item: item[1] < 0))


def _element(
    matrix: list[list[float]], at: tuple[int, int], read: Callable[[int, int], Expr], dtype: DType
) -> Expr:
    """It as an expression; `read(i, j)` is s[i, j]. A factor of 1 or -1 costs no product."""
    total: Expr | None = None
    for (i, j), factor in _factors(matrix, at).items():
        element = read(i, j)
        term = element if abs(factor) == 1 else call("mul", element, literal(abs(factor), dtype))
        if total is None:
            total = term if factor > 0 else call("neg", term)
        else:
            total = call("add" if factor > 0 else "sub", total, term)
    assert total is not None, "no row of the matrices is zero"
    return total


def _operations(matrix: list[list[float]]) -> int:
    """Additions and products of all elements for one s."""
    places = product(range(len(matrix)), range(len(matrix)))
    many = [_factors(matrix, at).values() for at in places]
    return sum(len(some) - 1 + sum(abs(factor) != 1 for factor in some) for some in many)


# ── winograd_tiles: the pixels, taken apart ──


def _tiles_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,) = types
    side = _side(attrs, "winograd_tiles")
    _check(x, 4, "[n, h, w, c]", "winograd_tiles")
    n, h, w, c = x.dims
    return x.with_shape((side * side, n * squares(h, attrs["tile"]) * squares(w, attrs["tile"]), c))


def _tiles(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    (x,) = arrays
    tile, side = attrs["tile"], _side(attrs, "winograd_tiles")
    windows = sliding_window_view(x, (side, side), (1, 2))[:, ::tile, ::tile]  # type: ignore[call-overload]
    matrix = np.array(PIXELS[tile], x.dtype)
    transformed = np.einsum("ai,nhwcij,bj->abnhwc", matrix, windows, matrix)
    count = math.prod(transformed.shape[2:5])
    return transformed.reshape(side * side, count, x.shape[-1]).astype(x.dtype)


def _tiles_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """One nest, in which each square is read once and gives all its sums."""
    tile, side = attrs["tile"], _side(attrs, "winograd_tiles")
    n, h, w, c = ins[0].dims
    rows, columns = squares(h, tile), squares(w, tile)
    domain = (("n", n), ("o0", rows), ("o1", columns), ("c", c))
    which = V("n") * (rows * columns) + V("o0") * columns + V("o1")

    def form(at: tuple[int, int]) -> LoopForm:
        def body(load: Callable[..., Expr]) -> Expr:
            def read(i: int, j: int) -> Expr:
                return load(0, V("n"), V("o0") * tile + i, V("o1") * tile + j, V("c"))

            return _element(PIXELS[tile], at, read, out.dtype)

        return LoopForm(domain, (Affine.of(at[0] * side + at[1]), which, V("c")), body)

    first, *others = [form((i, j)) for i, j in product(range(side), range(side))]
    return [replace(first, also=tuple(others))]


def _tiles_in_simple_ops(operands: Sequence[Node], attrs: Attrs) -> Node:
    """All pixels at one place of their squares as a row; their sums are one matrix product."""
    (x,) = operands
    tile, side = attrs["tile"], _side(attrs, "winograd_tiles")
    n, h, w, c = x.type.dims
    rows, columns = squares(h, tile), squares(w, tile)
    count = n * rows * columns

    def place(i: int, j: int) -> Node:
        stops = (n, i + tile * (rows - 1) + 1, j + tile * (columns - 1) + 1, c)
        cut = apply("slice", x, starts=(0, i, j, 0), stops=stops, steps=(1, tile, tile, 1))
        return reshape(cut, (1, count * c))

    pixels = concat([place(i, j) for i, j in product(range(side), range(side))], 0)
    return reshape(matmul(_both(PIXELS[tile], x.type.dtype), pixels), (side * side, count, c))


def _both(matrix: list[list[float]], dtype: DType) -> np.ndarray:
    """What takes a square, as one column, apart along both of its axes."""
    return np.kron(matrix, matrix).astype(dtype.numpy)


def _tiles_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    _, tiles, channels = out.dims
    return _operations(PIXELS[attrs["tile"]]) * tiles * channels


register(
    Op(
        name="winograd_tiles",
        kind="contraction",
        arity=1,
        doc="the squares of an image [n, h, w, c] as factors of Winograd's products",
        attrs={"tile": TILE},
        infer=_tiles_type,
        evaluate=_tiles,
        loops=_tiles_loops,
        decompose=_tiles_in_simple_ops,
        flops=_tiles_flops,
    )
)


# ── winograd_pixels: the products, put together ──


def _pixels_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,) = types
    tile, side = attrs["tile"], _side(attrs, "winograd_pixels")
    _check(x, 3, "[place, tile, c]", "winograd_pixels")
    places, tiles, c = x.dims
    rows, columns = attrs["rows"], attrs["columns"]
    if places != side * side or tiles % (rows * columns):
        raise ValueError(
            f"winograd_pixels: {x} are not {side * side} products for {rows}x{columns} tiles"
        )
    return x.with_shape((tiles // (rows * columns), tile * rows, tile * columns, c))


def _pixels(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    (x,) = arrays
    tile, side = attrs["tile"], _side(attrs, "winograd_pixels")
    rows, columns = attrs["rows"], attrs["columns"]
    matrix = np.array(RESULTS[tile], x.dtype)
    images = x.shape[1] // (rows * columns)
    products = x.reshape(side, side, images, rows, columns, x.shape[-1])
    transformed = np.einsum("ai,ijnhwc,bj->nhawbc", matrix, products, matrix)
    return transformed.reshape(images, tile * rows, tile * columns, x.shape[-1]).astype(x.dtype)


def _pixels_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """One nest, in which the products of a tile are read once and give all its pixels."""
    tile, side = attrs["tile"], _side(attrs, "winograd_pixels")
    rows, columns = attrs["rows"], attrs["columns"]
    domain = (("n", out.dims[0]), ("o0", rows), ("o1", columns), ("c", out.dims[3]))
    which = V("n") * (rows * columns) + V("o0") * columns + V("o1")

    def form(at: tuple[int, int]) -> LoopForm:
        def body(load: Callable[..., Expr]) -> Expr:
            def read(i: int, j: int) -> Expr:
                return load(0, Affine.of(i * side + j), which, V("c"))

            return _element(RESULTS[tile], at, read, out.dtype)

        write = (V("n"), V("o0") * tile + at[0], V("o1") * tile + at[1], V("c"))
        return LoopForm(domain, write, body)

    first, *others = [form((i, j)) for i, j in product(range(tile), range(tile))]
    return [replace(first, also=tuple(others))]


def _pixels_in_simple_ops(operands: Sequence[Node], attrs: Attrs) -> Node:
    (x,) = operands
    tile, rows, columns = attrs["tile"], attrs["rows"], attrs["columns"]
    places, tiles, c = x.type.dims
    n = tiles // (rows * columns)
    sums = matmul(_both(RESULTS[tile], x.type.dtype), reshape(x, (places, tiles * c)))
    pixels = transpose(reshape(sums, (tile, tile, n, rows, columns, c)), (2, 3, 0, 4, 1, 5))
    return reshape(pixels, (n, rows * tile, columns * tile, c))


def _pixels_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    _, tiles, channels = ins[0].dims
    return _operations(RESULTS[attrs["tile"]]) * tiles * channels


register(
    Op(
        name="winograd_pixels",
        kind="contraction",
        arity=1,
        doc="Winograd's products as an image [n, h, w, c] of rows x columns tiles",
        attrs={"rows": Attr("int", least=1), "columns": Attr("int", least=1), "tile": TILE},
        infer=_pixels_type,
        evaluate=_pixels,
        loops=_pixels_loops,
        decompose=_pixels_in_simple_ops,
        flops=_pixels_flops,
    )
)
