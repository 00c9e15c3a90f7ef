"""The matrix products that a model is made of: what a systolic array has to do.

    products(resnet18)[0]  ->  Product(origin=("conv1",), count=1, m=12544, k=147, n=64)

A convolution is a matrix product of its windows, one to a row, with its filters, one to a column:

    conv  x: f32[1,3,224,224]  w: f32[64,3,7,7]  ->  f32[1,64,112,112]
    m = 112 * 112 windows,  k = 3 * 7 * 7 numbers in each,  n = 64 filters

Next room: `look.py`, the pictures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from course_lib.accelerator.array import closed
from course_lib.accelerator.systolic import SystolicArray, cycles
from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.ops.in_layout import plain_types


@dataclass(frozen=True)
class Product:
    """`count` products of [m, k] and [k, n]; `origin` is where in the model they come from."""

    origin: tuple[str, ...]
    count: int
    m: int
    k: int
    n: int

    @property
    def macs(self) -> int:
        return self.count * self.m * self.k * self.n

    def cycles(self, array: SystolicArray) -> int:
        count = cycles if array.dataflow == "os" else closed.cycles  # the first is an exercise
        return self.count * count(self.m, self.k, self.n, array)


@takes
def products(graph: Graph) -> list[Product]:
    """Every matmul and convolution of the graph, in order, also inside fused nodes, and of a loop
    as often as it runs."""
    all_products = []
    for node in graph.ops:
        if node.op == "fused":
            all_products += products(node.attrs["body"])
        elif node.op == "scan":
            steps = node.type.dims[0]
            all_products += [
                replace(p, count=steps * p.count) for p in products(node.attrs["body"])
            ]
        elif node.op == "matmul":
            all_products.append(_of_matmul(node))
        elif node.op in ("conv", "conv_in_layout"):
            all_products.append(_of_conv(node))
    return all_products


@takes
def total_cycles(parts: Iterable[Product], array: SystolicArray) -> int:
    """One product after another, nothing overlapped."""
    return sum(part.cycles(array) for part in parts)


@takes
def utilization(parts: Sequence[Product], array: SystolicArray) -> float:
    """Part of all cell-clocks in which a cell does a useful multiply-accumulate."""
    if not parts:
        raise ValueError("utilization: there are no products, and so no clocks to fill")
    cells = array.rows * array.cols
    return sum(part.macs for part in parts) / (total_cycles(parts, array) * cells)


def _of_matmul(node: Node) -> Product:
    *batch, m, n = node.type.dims
    k = node.inputs[0].type.dims[-1]
    return Product(node.origin, math.prod(batch), m, k, n)


def _of_conv(node: Node) -> Product:
    *_, filters, result = plain_types(node)
    images, channels, *positions = result.dims
    groups = node.attrs["groups"]
    _, *window = filters.dims  # numbers that each filter reads
    m = images * math.prod(positions)
    return Product(node.origin, groups, m, math.prod(window), channels // groups)
