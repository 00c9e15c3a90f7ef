"""What a layout costs: a model of convolutions and relayouts, in vector instructions.

    conv_cost(conv)                                 what it costs as it is
    conv_cost(conv, ("nhwc", "ohwi", "nhwc"))       what it would cost in these layouts
    cost(graph)                                     all convolutions, and all relayouts of images
    winograd_pays(conv)                             would Winograd's F(2x2,3x3) cost less?

The unit is one multiply-add of a vector; a core with two units for it does about 8 in a nanosecond.
All take the `Machine` whose vectors these are; without one, it is `AVX512`, never the
processor at hand. Next room: `passes/layout/layout.py`, which compares sums of these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from course_lib.arguments import takes
from course_lib.cost.machine import AVX512, Machine
from course_lib.cost.tile import SPARE
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.ops.in_layout import plain_types
from course_lib.ir.ops.layout import FILTER, IMAGE, Layout
from course_lib.ir.scalar import accumulator

CALL = 8000.0  # for each relayout that runs: a kernel more, about a microsecond
MOVE = 3.0  # for each element that a relayout of an image moves (measured: 2.4 to 4.6)
TRANSPOSE = 20.0  # for each vector of results that has to be turned to be stored in nchw
SPILLED = 1.45  # columns of the window innermost, if the registers run out: see `conv_cost`
PASSED = 28.0  # for each vector that Winograd's convolution stores and loads again
FAR = 40.0  # the same if there are more than `LAST_CACHE` bytes of them
LAST_CACHE = 16 << 20  # bytes of the cache that all cores have together
FETCHED = 30.0  # for each vector of filters that are too many for the cache

CONVOLUTIONS = ("conv", "conv_in_layout")

Layouts = tuple[str, str, str]


@takes
def cost(graph: Graph, machine: Machine = AVX512) -> float:
    """The live convolutions and relayouts of a graph, in vector instructions."""
    relayouts = sum(relayout_cost(n) for n in _live(graph) if n.op == "relayout")
    return convolutions_cost(graph, {}, machine) + relayouts


def convolutions_cost(
    graph: Graph, chosen: Mapping[Node, Layouts], machine: Machine = AVX512
) -> float:
    """The live convolutions alone, each in the layouts chosen for it: relayouts come on top."""
    live = (n for n in _live(graph) if n.op in CONVOLUTIONS)
    return sum(conv_cost(n, chosen.get(n), machine) for n in live)


def _live(graph: Graph) -> list[Node]:
    """What the outputs need, and whose sizes are numbers."""
    return [n for n in Graph.of(graph.inputs, graph.outputs).nodes if n.type.is_static]


def relayout_cost(node: Node) -> float:
    """`CALL`, and `MOVE` for each element; nothing for a constant: that happens at compile time.

    The sizes have to be numbers, here and in `conv_cost`.
    """
    return 0.0 if _is_known(node) else CALL + MOVE * node.type.numel


def _is_known(node: Node) -> bool:
    """Is it a constant, or computed from constants alone?"""
    return node.op == "constant" or (node.inputs != () and all(map(_is_known, node.inputs)))


def conv_cost(node: Node, layouts: Layouts | None = None, machine: Machine = AVX512) -> float:
    """A convolution in these layouts of x, w and the result; None: in those that it has.

        multiply-adds / lanes                        one instruction for a vector of products
        * max(1, 1/rows + 1/vectors)                 or as many loads, if those take longer
        + TRANSPOSE * results / lanes                dense, result in nchw: lanes are channels,
                                                     but neighbours in memory are pixels
        * SPILLED (the first two lines)              dense, result in nchw, filters in oihw and
                                                     wider than 1, stride 1: our innermost loop
                                                     runs over the columns of the window, and LLVM
                                                     unrolls it and keeps the pixels that
                                                     neighbouring windows share in registers, which
                                                     are then too few
        * stride                                     depthwise in nchw: lanes are pixels, of which
                                                     every second is used

    `vectors` times `rows` accumulators are in registers: a vector of weights is loaded for `rows`
    pixels, a pixel for `vectors` vectors. Lanes are the channels of a block, or all channels (for a
    depthwise convolution in nchw: the pixels of a row): full vectors if a vector's length or its
    half divides them. How many lanes and registers there are, the machine says.

    The constants were measured on one core (Zen 5, AVX-512, 7.7 multiply-adds of a vector in a
    nanosecond) and say nothing about another machine; the rest is arithmetic. There, in
    milliseconds, the model and (in brackets) the median of 25 runs:

        input channels, image, kernel, result    nchw           nhwc           nchw16c
        64, 58x58, 3x3, 64                       1.39 (1.34)    0.94 (0.89)    0.97 (0.99)
        64, 58x58, 3x3, stride 2, 128            0.49 (0.51)    0.47 (0.45)    0.49 (0.47)
        512, 9x9, 3x3, 512                       0.94 (1.00)    0.94 (0.92)    1.07 (1.14)
        16, 112x112, 1x1, 96                     0.35 (0.34)    0.16 (0.17)    0.16 (0.19)
        96, 114x114, 3x3, stride 2, depthwise    0.09 (0.33)    0.02 (0.15)    0.02 (0.12)

    Not modelled: caches and memory. A depthwise convolution waits for memory; it is three to seven
    times slower than predicted in every layout.
    """
    *_, filters, result = plain_types(node)
    if result.rank != len(IMAGE):
        return 0.0  # one or three dimensions: no layout applies, so it never matters
    _, of_filters, out = layouts or node.attrs.get("layouts") or (IMAGE, FILTER, IMAGE)
    full = machine.lanes(accumulator(result.dtype))
    channels, width = result.dims[1], result.dims[3]
    in_rows = node.attrs["groups"] == channels and out == IMAGE
    block = Layout.of(out).block("c")
    lanes, vectors = _lanes(width if in_rows else block if block > 1 else channels, full)
    rows = max(min(width, (machine.registers - SPARE) // vectors), 1)
    products = math.prod(result.dims) * math.prod(filters.dims[1:])
    steps = products / lanes * max(1, 1 / rows + 1 / vectors)
    stride = (node.attrs["strides"] or (1, 1))[1]
    if in_rows:
        return steps * stride
    if out != IMAGE:
        return steps
    wanted = rows * vectors + vectors + rows + filters.dims[3] - 1  # sums, weights, pixels
    slides = of_filters == FILTER and filters.dims[3] > 1 and stride == 1
    spills = slides and wanted > machine.registers
    return steps * (SPILLED if spills else 1) + TRANSPOSE * math.prod(result.dims) / full


def _lanes(extent: int, full: int) -> tuple[float, int]:
    """How many of a vector's `full` lanes do work, and how many vectors lie side by side."""
    for lanes, vectors in ((full, 2), (full, 1), (full // 2, 1)):
        if lanes and extent % (lanes * vectors) == 0:
            return lanes, vectors
    return extent / math.ceil(extent / full), 1


def winograd_pays(node: Node, machine: Machine = AVX512) -> bool:
    """Does a 3x3 convolution in nchw cost less by F(2x2,3x3) than directly in its best layout?

        products / lanes                       16 for each tile of 2x2 pixels and pair of channels
        + PASSED * (sums and products) / lanes  both are stored, and loaded again
        + FETCHED * filters / lanes            if they are larger than the second cache

    Directly there are nine filters where there are 16 here: a layer with many channels and few
    pixels waits for its filters, and Winograd makes it wait longer. Channels have to fill vectors.

    Measured beside the direct convolution, relayouts at both ends included: 32 channels 1.25 to 1.5
    of its time; 64 channels 0.7, but 1.1 on images of 112x112 pixels; 128 channels and more 0.6 to
    0.7, but 0.9 to 1.1 on 7x7 pixels.
    """
    lanes = machine.lanes(accumulator(node.type.dtype))
    size = node.type.dtype.size
    n, results, height, width = node.type.dims
    channels = node.inputs[1].type.dims[1]
    if channels % lanes or results % lanes:
        return False
    tiles = n * math.ceil(height / 2) * math.ceil(width / 2)
    passed = 16 * tiles * (channels + results)
    price = 16 * tiles * channels * results + passed * (
        FAR if passed * size > LAST_CACHE else PASSED
    )

    def fetched(filters: int) -> float:
        numbers = filters * channels * results
        return FETCHED * numbers if numbers * size > machine.cache2 else 0.0

    direct = lanes * min(conv_cost(node, of, machine) for of in (None, ("nhwc", "ohwi", "nhwc")))
    return price + fetched(16) < direct + fetched(9)
