"""Winograd: a 3x3 convolution as 16 matrix products, which multiply four times for nine.

    %0 = conv(%x, %w) : f32[1,64,56,56]                 // %x: f32[1,64,58,58]
    ==>
    %0 = relayout(%x) {src = "nchw", dst = "nhwc"} : f32[1,58,58,64]
    %1 = winograd_tiles(%0) {tile = 2} : f32[16,784,64]
    %2 = matmul(%1, %u) : f32[16,784,64]                // %u, from %w, is a constant: f32[16,64,64]
    %3 = winograd_pixels(%2) {rows = 28, columns = 28, tile = 2} : f32[1,56,56,64]
    %4 = relayout(%3) {src = "nhwc", dst = "nchw"} : f32[1,64,56,56]

The result is another sum, so its last bits differ. Its error is not larger: of normally distributed
numbers, with 64 to 512 channels, the largest error of F(2x2) was less than half of that of the
direct sum, which has nine terms for each channel; that of F(4x4) was five to eight times as large.
So only F(2x2) is ever chosen. The pass is not in `pipeline.DEFAULT`, whose convolutions stay what
they are, but in `pipeline.WINOGRAD`; `tune` measures it, too.

Next room: `layout.py`, which chooses a layout for the convolutions that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from course_lib.arguments import takes
from course_lib.cost.layout import winograd_pays
from course_lib.cost.machine import AVX512, Machine
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.ops.layout import IMAGE
from course_lib.ir.ops.winograd import FILTERS, WINDOW
from course_lib.ir.types import f32
from course_lib.passes.infra.contract import contract
from course_lib.passes.infra.manager import Pass

on_plain_convolutions = contract(wants=["plain ops", "one layout", "no groups"])
PIXELS_LAST = "nhwc"  # the layout in which the tiles are cut out: lanes are channels


@on_plain_convolutions
@takes
def winograd(graph: Graph, machine: Machine = AVX512) -> Graph:
    """The graph with F(2x2,3x3) for each convolution that it can compute and where it pays.

    Run it once padding is an op of its own, and `layout` and `sink_relayouts` next.
    """
    return replaced(graph, lambda node: can(node) and winograd_pays(node, machine))


def winograd_as(look_up: Callable[[Graph], Sequence[str] | None]) -> Pass:
    """The same pass for the convolutions that are known to gain, by their names in this graph; of
    another graph, none."""

    @on_plain_convolutions
    def winograd_(graph: Graph) -> Graph:
        names = look_up(graph)
        if not names:
            return graph
        name_of = value_names(graph)
        return replaced(graph, lambda node: name_of[node] in names and can(node))

    winograd_.__name__ = "winograd"
    return winograd_


def replaced(graph: Graph, wanted: Callable[[Node], bool]) -> Graph:
    """The graph with F(2x2,3x3) for the nodes that are `wanted`."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        return by_winograd(node, inputs, tile=2) if wanted(node) else None

    return graph.rebuild(visit)


def can(node: Node) -> bool:
    """Is it a convolution of f32 images by constant filters of 3x3, step by step, in one group?"""
    if node.op != "conv" or node.type.rank != len(IMAGE) or not node.type.is_static:
        return False
    _, filters = node.inputs
    once = {1} >= {*(node.attrs["strides"] or ()), *(node.attrs["dilations"] or ())}
    dense = node.attrs["groups"] == 1 and not any(node.attrs["pads"] or ())
    window = filters.op == "constant" and filters.type.dims[2:] == (WINDOW, WINDOW)
    return once and dense and window and node.type.dtype == f32


def by_winograd(node: Node, inputs: tuple[Node, ...], tile: int) -> Node:
    """What computes the convolution `node` of these operands in tiles of 2x2 or 4x4 pixels.

    Tiles may reach over the edge of the result: then the image gets a border of zeros there, and
    the result is cut to its size.
    """
    x, filters = inputs
    height, width = node.type.dims[2:]
    rows, columns = -(-height // tile), -(-width // tile)
    make = partial(apply, origin=node.origin)
    image = _with_border(x, rows * tile - height, columns * tile - width)
    image = make("relayout", image, src=IMAGE, dst=PIXELS_LAST)
    tiles = make("winograd_tiles", image, tile=tile)
    products = make("matmul", tiles, const(_taken_apart(filters.attrs["value"], tile)))
    y = make("winograd_pixels", products, rows=rows, columns=columns, tile=tile)
    if y.type.dims[1:3] != (height, width):
        n, _, _, c = y.type.dims
        y = make("slice", y, starts=(0,) * 4, stops=(n, height, width, c), steps=(1,) * 4)
    return make("relayout", y, src=PIXELS_LAST, dst=IMAGE, name=node.name)


def _with_border(x: Node, below: int, right: int) -> Node:
    """With rows of zeros below and columns at the right; padding that is there gets larger."""
    low, high, origin = (0,) * 4, (0, 0, below, right), x.origin
    if not any(high):
        return x
    if x.op == "pad" and x.attrs["value"] == 0 and not any(x.attrs["interior"] or ()):
        low = x.attrs["low"]
        high = tuple(a + b for a, b in zip(x.attrs["high"], high, strict=True))
        (x,) = x.inputs
    return apply("pad", x, low=low, high=high, value=0.0, origin=origin)


def _taken_apart(filters: np.ndarray, tile: int) -> np.ndarray:
    """G g Gt for each filter: [o, i, 3, 3] -> [place, i, o], computed in f64 and rounded once."""
    matrix = np.array(FILTERS[tile])
    transformed = np.einsum("ai,kcij,bj->abck", matrix, filters.astype(np.float64), matrix)
    return transformed.reshape(-1, *transformed.shape[2:]).astype(filters.dtype)
