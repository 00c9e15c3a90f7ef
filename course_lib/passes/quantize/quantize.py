"""Quantization as pairs: where a value will have 8 bits, round it to those and go on in floats.

    %0 = conv(%x, %w)             %0 = quantize(%x, %s)        %1 = dequantize(%0, %s)
    %1 = add(%0, %bias)    ==>    %2 = dequantize(%w8, %sw)    // w8: i8, a scale for each channel
    %2 = relu(%1)                 %3 = conv(%1, %2)
                                  %4 = dequantize(%b32, %sb)   // sb = s * sw
                                  %5 = relu(add(%3, %4)), and a pair of its own behind it

This is the form in which tools exchange quantized models (ONNX: QDQ). It still runs in floats, so
it shows what quantization costs in accuracy. Next room: `integers.py`, where it becomes integers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.types import f32
from course_lib.passes.quantize.calibrate import Range
from course_lib.passes.quantize.site import (
    MOVES,
    PRODUCTS,
    Site,
    channel_axis,
    constant,
    sites,
    sums_fit,
    weight_axis,
)

I32 = np.iinfo(np.int32)
BIAS = 1 << 30  # half of i32 for the bias; the other half is for the products (`sums_fit`)


def quantize(graph: Graph, ranges: Mapping[Node, Range]) -> Graph:
    """The graph with a quantize-dequantize pair behind every value that integers will hold.

    These are what the sites of the graph read and give, and what is moved between them (reshape,
    max_pool, ...), which keeps its scale. Weights get a scale for each output channel, a bias the
    scale of the sums. `ranges` must know every value that is quantized (ValueError), as
    `calibrate(graph, ...)` does. f32 alone is quantized; what no site can compute stays as it is.
    """
    return _Quantizer(graph, ranges).graph()


class _Quantizer:
    def __init__(self, graph: Graph, ranges: Mapping[Node, Range]) -> None:
        self.old, self.ranges = graph, ranges
        fitting = [site for site in sites(graph) if _fits(site)]
        self.anchors = {site.anchor: site for site in fitting}
        self.biased = {site.biased: site for site in fitting if site.biased is not None}
        self.roots = {site.root for site in fitting}
        self.pairs: dict[Node, Node] = {}  # float value -> its pair
        self.new: dict[Node, Node] = {}  # anchor -> what became of it

    def graph(self) -> Graph:
        return self.old.rebuild(self.visit)

    def visit(self, node: Node, inputs: tuple[Node, ...]) -> Node:
        rebuilt = node.with_inputs(inputs)
        if node in self.anchors:
            rebuilt = self.new[node] = self.anchor(node, inputs)
        elif node in self.biased:
            rebuilt = self.with_bias(node, self.biased[node], inputs)
        elif node.op in MOVES and inputs and _scale(inputs[0]) is not None:
            return _pair(rebuilt, inputs[0].inputs[1])
        if node in self.roots:
            return self.pair(node, rebuilt)
        return rebuilt

    def anchor(self, node: Node, inputs: tuple[Node, ...]) -> Node:
        """The anchor of a site, on quantized operands."""
        x, *others = inputs
        operands = [self.pair(node.inputs[0], x)]
        for old, new in zip(node.inputs[1:], others, strict=True):
            weights = node.op in PRODUCTS and old.op == "constant"
            if weights:
                least = _least_scale(self.anchors[node], operands[0].inputs[1].value)
                operands.append(_weights(new, weight_axis(node), least))
            else:
                operands.append(self.pair(old, new))
        return node.with_inputs(operands)

    def with_bias(self, node: Node, site: Site, inputs: tuple[Node, ...]) -> Node:
        """The bias in steps of the sums; as it is if those are too small for it."""
        assert site.bias is not None
        product = self.new[site.anchor]
        scale = np.atleast_1d(sum_scale(*(operand.inputs[1].value for operand in product.inputs)))
        scale = np.broadcast_to(scale, (product.type.dims[channel_axis(product)],))
        old = inputs[node.inputs.index(site.bias)]
        shape = old.type.dims
        axis = next((a for a, size in enumerate(shape) if size > 1), 0)
        steps = in_steps(old.value, scale)
        if steps is None:
            return node.with_inputs([product, old])
        whole_bias = const(steps, name=old.name)
        scale = scale if shape else scale[0]
        bias = apply("dequantize", whole_bias, const(scale), axis=axis, origin=node.origin)
        return node.with_inputs([product, bias])

    def pair(self, old: Node, new: Node) -> Node:
        """The value behind a quantize-dequantize pair; itself if it stands behind one."""
        if _scale(new) is not None:
            return new
        if new not in self.pairs:
            if old not in self.ranges:
                raise ValueError(f"no range is known for {old!r}: was another graph calibrated?")
            self.pairs[new] = _pair(new, const(self.ranges[old].scale))
        return self.pairs[new]


def _fits(site: Site) -> bool:
    """Does it compute f32 of something that is not known before, in sums that i32 can hold?"""
    floats = site.root.type.dtype == f32 and not constant(site.anchor.inputs[0])
    return floats and sums_fit(site.anchor)


def sum_scale(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """What one step of a sum of products is worth, in f32 as onnxruntime computes it."""
    return np.asarray(x, np.float32) * np.asarray(w, np.float32)


def whole(x: np.ndarray) -> np.ndarray:
    """The nearest numbers of i32, halves to even."""
    return np.clip(np.rint(x), I32.min, I32.max).astype(np.int32)


def in_steps(bias: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
    """A bias in whole steps of `scale`; None if it leaves the half of i32 that it has, as behind a
    product of two activations (`_least_scale` can do something about weights only)."""
    steps = bias.ravel() / scale.astype(np.float64)
    fits = np.abs(steps).max(initial=0) <= 1.005 * BIAS  # _least_scale is rounded to f32
    return whole(steps).reshape(bias.shape) if fits else None


def _scale(node: Node) -> Node | None:
    return node.inputs[1] if node.op == "dequantize" else None


def _pair(x: Node, scale: Node) -> Node:
    return apply("dequantize", apply("quantize", x, scale, origin=x.origin), scale, origin=x.origin)


def _least_scale(site: Site, x_scale: np.ndarray) -> np.ndarray:
    """How large the scale of each channel's weights must be for its bias to have BIAS steps at
    most. Weights of a channel that hardly reacts (or not at all) are so small that its bias, in
    steps of its sums, would not fit into i32."""
    if site.bias is None:
        return np.zeros(1)
    return np.abs(site.bias.value.ravel().astype(np.float64)) / (np.float64(x_scale) * BIAS)


def _weights(w: Node, axis: int, least: np.ndarray) -> Node:
    """Constant weights as i8 with a scale, `least` or more, for each output channel; dequantized.
    A channel of zeros without a bias has the scale 1."""
    rest = tuple(a for a in range(w.type.rank) if a != axis)
    largest = np.maximum(np.abs(w.value).max(rest, initial=0) / 127, least).astype(np.float32)
    scale = np.where(largest > 0, largest, np.float32(1))
    along = scale.reshape([-1 if a == axis else 1 for a in range(w.type.rank)])
    steps = np.clip(np.rint(w.value / along), -127, 127).astype(np.int8)
    return apply("dequantize", const(steps, name=w.name), const(scale), axis=axis, origin=w.origin)
