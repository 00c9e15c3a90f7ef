"""Sites: what is computed in one go before its result is rounded to 8 bits.

    %0 = conv(%x, %w)
    %1 = add(%0, %bias)       ==>   Site(root = %2, anchor = %0, bias = %bias, low = 0.0)
    %2 = relu(%1)

On the chip, the sums of a convolution stay in i32 accumulators while bias and ReLU are applied;
rounding in between would lose digits for nothing. The same shapes are looked for in the float graph
(`quantize.py`) and in one with quantize-dequantize pairs (`integers.py`). Next room: `quantize.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.order import topological_order
from course_lib.ir.registry import normal_axes

PRODUCTS = ("conv", "matmul")  # sums of products: they may have weights and a bias
# Order and identity of numbers is all that these need: on integers they do what they do on floats.
MOVES = ("reshape", "transpose", "slice", "expand", "max_pool", "relu")


@dataclass(frozen=True, eq=False)
class Site:
    """An op that integers can compute, with what its result goes through before it is rounded.

    anchor     conv, matmul, add (of two values) or mean
    root       the last node; the anchor itself if nothing follows
    bias       a constant for each output channel, and the node that adds it; None without
    low, high  the limits of a ReLU, ReLU6 or clamp
    """

    root: Node
    anchor: Node
    bias: Node | None = None
    biased: Node | None = None
    low: float = -math.inf
    high: float = math.inf

    @property
    def inner(self) -> list[Node]:
        """The nodes before the root."""
        return [n for n in (self.anchor, self.biased) if n is not None and n is not self.root]


def sites(graph: Graph) -> list[Site]:
    """The sites of a float graph, none inside another. A value that two nodes read, or that is an
    output, is the last one of its site."""
    users, taken, disjoint = graph.users(), set(), []
    for node in reversed(graph.ops):
        site = None if node in taken else site_of(node)
        if site is None:
            continue
        shared = [n for n in site.inner if len(users[n]) > 1 or n in graph.outputs]
        if not shared:
            disjoint.append(site)
            taken.update(site.inner)
    return disjoint[::-1]


def site_of(root: Node) -> Site | None:
    """The site that ends with this node, if there is one; who else reads its nodes is not asked."""
    low, high = -math.inf, math.inf
    node = root
    if node.type.dtype.is_float and node.op in ("relu", "clamp"):
        low, high = limits(node)
        node = node.inputs[0]
    if _is_sum(node) or _is_pooling(node) or node.op in PRODUCTS:
        return Site(root, node, low=low, high=high)
    for product, bias in (node.inputs, node.inputs[::-1]) if node.op == "add" else ():
        if product.op in PRODUCTS and constant(bias) and per_channel(bias, product):
            return Site(root, product, bias, node, low, high)
    return None


def limits(node: Node) -> tuple[float, float]:
    """Between which numbers the results of a relu or a clamp are."""
    if node.op == "relu":
        return 0.0, math.inf
    low, high = node.attrs["min"], node.attrs["max"]
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def _is_sum(node: Node) -> bool:
    """Is it the sum of two tensors of one shape, as where a residual block ends?"""
    if node.op != "add" or any(constant(i) for i in node.inputs):
        return False
    return all(i.type == node.type for i in node.inputs)


def _is_pooling(node: Node) -> bool:
    """Is it the mean of each channel of images? Other means stay in floats: that of a layer norm
    needs its digits."""
    if node.op != "mean" or node.inputs[0].type.rank != 4:
        return False
    return normal_axes(node.attrs["axes"], 4, "mean") == (2, 3)


def constant(node: Node) -> bool:
    """Does the value depend on no input?"""
    return all(n.op != "input" for n in topological_order([node]))


def sums_fit(anchor: Node) -> bool:
    """Do the sums of a product of i8 stay within half of i32, whatever the numbers are?"""
    if anchor.op not in PRODUCTS:
        return True
    x, w = (i.type.dims for i in anchor.inputs[:2])
    length = math.prod(w[1:]) if anchor.op == "conv" else x[-1]
    return length * 128 * 128 <= 1 << 30


def channel_axis(product: Node) -> int:
    """Along which axis of the result each position has weights of its own."""
    return 1 if product.op == "conv" else product.type.rank - 1


def weight_axis(product: Node) -> int:
    """Along which axis of the weights the output channels lie."""
    return 0 if product.op == "conv" else product.inputs[1].type.rank - 1


def per_channel(bias: Node, product: Node) -> bool:
    """Has `bias`, added to `product`, one number for each output channel?"""
    axis, shape = channel_axis(product), product.type.shape
    aligned: Sequence = (1,) * (len(shape) - bias.type.rank) + bias.type.shape
    wanted = tuple(size if a == axis else 1 for a, size in enumerate(shape))
    return aligned == wanted
