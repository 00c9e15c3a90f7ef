"""Unit 14, Plug into real compilers: its exercises.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u14/annotate.py.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from autograder.check.rubrics import Rubric, Sample
from course_lib.accelerator.chip import Chip
from course_lib.exercises import exercise
from course_lib.ir.graph.build import neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from lessons.u14.offload import FOREVER, crossing, minimum_cut
from lessons.u14.regions import neighbours, started


@exercise("u14.rows", unit=14, points=2, kind="implement")
def rows() -> list[tuple]:
    """Write two rows for the table of a newer chip.

    Return a list of two patterns, in this order. In each, a name stands for one operand.

    The first is for a lookup table of 256 bytes. An i8 value becomes a float, may go through a
    gelu, and becomes i8 again; both scales are constants.
    The second is for a dense layer whose relu comes before the rescaling. The weights, the bias and
    the scale are constants, and the bias is added before the relu. The bias may be missing, and so
    may the relu.
    """
    return [
        ("quantize", ("gelu?", ("dequantize", "x", "*scale")), "*new_scale"),
        ("requantize", ("relu?", ("add?", ("matmul", "x", "*weights"), "*bias")), "*scale"),
    ]


@exercise("u14.chosen", unit=14, points=4, kind="budget", further=True)
def chosen(graph: Graph, chip: dict[Node, int], host: dict[Node, int]) -> list[Node]:
    """Choose the chip's operations so that the whole program takes few clocks.

    graph    a program
    chip     the clocks of each operation that the chip can do
    host     the clocks of each operation on the processor
    returns  some of the operations in `chip`, each once, in any order

    What counts is `total(graph, chip, host, plan)`. Your points depend on the fewest possible
    clocks divided by yours, averaged over several programs. A mean of 0.99 or more earns all
    points, and each hundredth below that costs 10 % of them, down to nothing.
    """
    links: dict[tuple[Any, Any], float] = {}
    for node in graph.ops:  # whoever cuts this pays for the node on the processor, or on the chip
        links["chip", node] = host[node]
        links[node, "host"] = chip.get(node, FOREVER)
    for value, users in graph.users().items():
        if value.op != "constant":
            ends = [value if value in graph.ops else "host", *users]
            ends += ["host"] if value in graph.outputs else []
            links[(value, "in"), (value, "out")] = crossing(value)
            for end in ends:  # with one end at the chip and one at the host, only this can be cut
                links[end, (value, "in")] = links[(value, "out"), end] = FOREVER
    cut = minimum_cut(links, "chip", "host")
    return [node for node in chip if node in cut]


@exercise("u14.deadlock", unit=14, points=3, kind="inverse")
def deadlock() -> Graph:
    """Write a program for which `joined` makes regions that wait for each other.

    Return a graph of at most 8 operations. The chip takes its `add` and `relu`, and everything else
    runs on the processor. `joined(graph, units(graph))` makes convex regions of it, and yet this
    plan never ends: some of its regions never start.
    """
    return trace(_crossed, "f32[4]", "f32[4]", name="crossed")


def _crossed(x: Node, y: Node) -> list[Node]:
    a, b = relu(x), relu(y)
    return [a + neg(b), b + neg(a)]


@exercise("u14.merged", unit=14, points=4, kind="implement")
def merged(graph: Graph, pieces: list[list[Node]]) -> list[list[Node]]:
    """Join the pieces of the chip into regions, so that the plan still runs to its end.

    graph    a program
    pieces   lists of its nodes, without overlap; the chip computes each piece in one go.
             Everything else runs on the processor, one operation at a time
    returns  the regions: lists of nodes

    Each piece lies whole in one region, and nothing else is in a region. Only neighbours are
    joined: a region is a piece, or two smaller regions of which one reads a value of the other. The
    plan runs to its end. No two neighbours are left that could be joined without a deadlock.
    """
    regions = [list(piece) for piece in pieces]
    while (better := _one_fewer(graph, regions)) is not None:
        regions = better
    return regions


def _one_fewer(graph: Graph, regions: list[list[Node]]) -> list[list[Node]] | None:
    """A plan in which two neighbours are one region; None if all such plans get stuck."""
    inside = {node for region in regions for node in region}
    alone = sum(node not in inside for node in graph.ops)
    for a, b in combinations(regions, 2):
        if neighbours(a, b):
            plan = [region for region in regions if region is not a and region is not b] + [a + b]
            if len(started(graph, plan)) == len(plan) + alone:
                return plan
    return None


@exercise("u14.least", unit=14, points=2, kind="number")
def least(m: int, k: int, n: int, chip: Chip) -> tuple[int, int]:
    """A lower bound on the clocks of a dense layer, for two borders.

    m, k, n  the product is i8[m, k] · i8[k, n]
    chip     `chip.macs` is the number of multiply-accumulates per clock, `chip.dma_bytes` the
             number of bytes that cross the port per clock, both directions together
    returns  two exact whole numbers of clocks, each rounded up. For the first, the border is around
             the layer: product, bias and rescaling are on the chip. For the second, it is around
             the product alone

    Everything that the chip reads or writes crosses the port once. Bias and scale have one number
    for each of the n outputs. Arithmetic and transfers overlap, so only the slower one counts.
    """
    array = -(-m * k * n // chip.macs)
    operands = m * k + k * n
    layer = operands + 4 * n + 4 * n + m * n
    product = operands + 4 * m * n
    return max(array, -(-layer // chip.dma_bytes)), max(array, -(-product // chip.dma_bytes))


@exercise("u14.more", unit=14, points=2, kind="explain")
def more() -> Rubric:
    """You connect your chip to a new compiler. Its report says that 100 % of the
    multiply-accumulates are offloaded; before, it was 92 %, and the chip needed 40 % fewer clocks.
    Your manager wants to advertise the 100 %. Say what that share does not count, and which two
    columns of the tables in sections 2 and 3 show why the chip got slower. Then name one change in
    the compiler and one in the chip that would lower the clocks with all products still on the
    chip. Write four to six sentences; each of the four answers is worth half a point.
    """
    return Rubric(
        criteria="0.5 points: the share counts products alone, neither the values that cross nor "
        "the number of crossings (nor the work of the host). "
        "0.5 points: bytes over the port, and clocks layer by layer (or the type of what crosses): "
        "the same layers have more bytes, because sums leave as i32, 4 bytes instead of 1, and "
        "the port is busy nearly all the time (2,949,120 / 16 = 184,320 of 205,104 clocks); "
        "half of this for bytes and starts of the chip, because the starts cost little here. "
        "0.5 points: in the compiler, a border around whole layers (bias, rescaling and rounding "
        "go to the chip with their product), or neighbours joined, if the answer says that the "
        "compiler must also keep the value between them in the chip's SRAMs. "
        "0.5 points: in the chip, a wider port, or the output pipeline (bias, rescaling, rounding) "
        "behind every product, including that of two computed operands. A table of 256 bytes or a "
        "softmax counts with the change of the compiler that brings i8 there: behind a border "
        "around products, it takes no byte off the port. Half of each of these for a change that "
        "would not lower the bytes, with a reason.",
        samples=(
            Sample(2, "The share counts multiply-accumulates, so it says nothing about the bytes "
                   "that cross for them. The report has 2.9 million bytes over the port instead "
                   "of 1.7, and the six products that were offloaded before need 54,000 clocks "
                   "more than they did: their sums leave as i32, and mlp.0 needs at least 51,200 "
                   "clocks of port for 32,768 of arithmetic. The compiler should hand over the "
                   "product with its bias and rescaling, so that i8 leaves. A chip that also "
                   "rescales products of two computed operands could do the same for attention; "
                   "with 32 bytes a clock, even the border around products would be cheap."),
            Sample(1, "100 % is only the multiplications. More data is transferred between the "
                   "processor and the chip, which one sees in the DRAM bytes, and that takes "
                   "longer than what the multiplications save. The compiler should fuse more."),
            Sample(0, "The two products of attention are too small for a 32 × 32 array, so its "
                   "cells idle. They should stay on the processor, and the share is then 92 %."),
        ),
    )  # fmt: skip
