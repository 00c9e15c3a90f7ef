"""Layout: let each convolution work on images that lie in memory as it likes them.

    %0 = conv(%x, %w) : f32[1,64,56,56]
    ==>
    %0 = relayout(%x) {src = "nchw", dst = "nhwc"} : f32[1,56,56,64]
    %1 = relayout(%w) {src = "oihw", dst = "ohwi"} : f32[64,3,3,64]
    %2 = conv_in_layout(%0, %1) {layouts = ["nhwc", "ohwi", "nhwc"]} : f32[1,56,56,64]
    %3 = relayout(%2) {src = "nhwc", dst = "nchw"} : f32[1,64,56,56]

The filters are constants, so `fold` rearranges them at compile time. The two relayouts of the
images would cost more than they gain, if they stayed: `sink_relayouts` moves them down until they
meet and cancel. Next room: `sink_relayouts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from course_lib.arguments import takes
from course_lib.cost.layout import Layouts, conv_cost, convolutions_cost, cost
from course_lib.cost.machine import AVX512, Machine
from course_lib.ir.graph.build import relayout
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.layout import FILTER, IMAGE, Layout
from course_lib.ir.types import f32
from course_lib.passes.infra.asks import asks
from course_lib.passes.infra.contract import contract
from course_lib.passes.layout.sink_relayouts import sink_relayouts

NARROW = 8  # an image with fewer channels, such as RGB, is read as it comes


@asks("convolutions")  # of which `winograd.py` computes those that gain, before
@contract(wants=["plain ops", "no groups"], gives=["chosen layouts"], ends=["one layout"])
@takes
def layout(graph: Graph, machine: Machine = AVX512) -> Graph:
    """The graph with its convolutions in the layout that is cheapest on this machine.

    Tried are: everything stays in nchw; and for each of `candidates`, all convolutions that can run
    in it, or only those that are cheaper in it by themselves. Each trial runs through
    `sink_relayouts`, because what it costs depends on which relayouts cancel; the cheapest by
    `cost.layout.cost` wins. Returned is the graph before sinking, with relayouts around every
    convolution; run `sink_relayouts` next. Without sinking, only convolutions with so many
    multiply-adds for each pixel that they pay for two relayouts leave nchw.

    Only two-dimensional convolutions are touched, and only if `layouts_of` allows it.
    """
    best = graph
    lowest = cost(sink_relayouts(graph), machine)
    for name in candidates(machine):
        able = {n: of for n in graph.ops if (of := layouts_of(n, name))}
        willing = {
            n: of
            for n, of in able.items()
            if conv_cost(n, of, machine) < conv_cost(n, None, machine)
        }
        for chosen in [able] if able == willing else [able, willing]:
            if convolutions_cost(graph, chosen, machine) >= lowest:
                continue  # relayouts would come on top
            trial = in_layouts(graph, chosen)
            price = cost(sink_relayouts(trial), machine)
            if price < lowest:
                best, lowest = trial, price
    return best


def candidates(machine: Machine = AVX512) -> tuple[str, ...]:
    """The layouts to choose from, beside nchw: all channels of a pixel side by side, or in blocks
    of one or two vectors of the machine (`nchw16c` and `nchw32c`, if 16 numbers are a vector)."""
    blocks = [machine.lanes(f32) * vectors for vectors in (1, 2)]
    return "nhwc", *(f"nchw{block}c" for block in blocks if block > 1)


def in_layouts(graph: Graph, chosen: Mapping[Node, Layouts]) -> Graph:
    """The graph with `conv_in_layout` for these convolutions (the layouts of x, w and the result).

    Everything else stays as it is, so there are relayouts around each of them. What two
    convolutions read is rearranged once.
    """
    relayouts: dict[tuple[Node, str], Node] = {}

    def moved(x: Node, src: str, dst: str) -> Node:
        if src == dst:
            return x
        if (x, dst) not in relayouts:
            relayouts[x, dst] = replace(relayout(x, src, dst), origin=x.origin)
        return relayouts[x, dst]

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node not in chosen:
            return None
        x, w, out = chosen[node]
        operands = moved(inputs[0], IMAGE, x), moved(inputs[1], FILTER, w)
        attrs = {**node.attrs, "layouts": chosen[node]}
        conv = apply("conv_in_layout", *operands, name=node.name, origin=node.origin, **attrs)
        return moved(conv, out, IMAGE)

    return graph.rebuild(visit)


def layouts_of(node: Node, name: str) -> Layouts | None:
    """The layouts of x, w and the result for a convolution in the layout `name`; None if it cannot.

    It cannot
    - if it is no convolution of images [n, c, h, w];
    - if its result has channels that do not fill the blocks of `name`;
    - if it has groups of more than one channel (groups of one, a depthwise convolution, are fine).
    Its operand stays in nchw if its channels do not fill the blocks, or are fewer than `NARROW`.
    The filters lie in the order in which the loops read them: result channels innermost, because
    those become the lanes of vectors.
    """
    if node.op != "conv" or node.type.rank != 4 or not node.type.is_static:
        return None
    channels, results = node.inputs[0].type.dims[1], node.type.dims[1]
    block = Layout.of(name).block("c")
    depthwise = node.attrs["groups"] == channels == results
    if results % block or (node.attrs["groups"] > 1 and not depthwise):
        return None
    cut = f"{block}o" if block > 1 else ""
    if depthwise:
        return name, f"oihw{cut}" if cut else "hwio", name
    if channels % block or channels < NARROW:
        return IMAGE, f"ohwi{cut}", name
    return name, f"oihw{block}i{cut}" if cut else "ohwi", name
