"""Integers: float ops between dequantize and quantize become integer ops, and a rescaling.

    quantize(relu(conv(dequantize(%x, %s), dequantize(%w, %sw)) + dequantize(%b, %sb)), %t)
    ==>
    %0 = conv(%x, %w) {sums = "i32"} : i32[1,64,56,56]
    %1 = add(%0, %b) : i32[1,64,56,56]
    %2 = requantize(%1, %m) {low = 0} : i8[1,64,56,56]       // m = s * sw / t, in f32

What was a sum of floats, rounded at each step, is now exact until the one rounding of `requantize`;
so results may differ by one step from those in floats, and it is these that are right: a chip gives
the same. From here on the compiler works on integers. Next room: `course_lib/accelerator`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import value_of
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.ir.ops.quantize import HIGH, LOW
from course_lib.ir.registry import normal_axes
from course_lib.ir.types import i8
from course_lib.passes.quantize.quantize import in_steps, sum_scale
from course_lib.passes.quantize.site import (
    MOVES,
    PRODUCTS,
    Site,
    channel_axis,
    site_of,
    sums_fit,
    weight_axis,
)


@dataclass(frozen=True, eq=False)
class Steps:
    """Real numbers as whole steps: `node` (i8) times `scale`, f32[] or f32[c] along `axis`."""

    node: Node
    scale: np.ndarray
    axis: int = 0

    @property
    def even(self) -> bool:
        """Has it one scale for all?"""
        return self.scale.ndim == 0


def integers(graph: Graph) -> Graph:
    """Replace float ops by integer ops wherever their operands are dequantized and their result is
    quantized to i8 with one scale.

        quantize(site(dequantize, ...))          -> requantize(sums of i32, factor)
        quantize(a + b)                          -> add_quantized(a, b, sa / t, sb / t)
        quantize(mean(x))                        -> requantize(reduce_sum(cast(x, i32)), ...)
        quantize(max_pool(dequantize(x, s)), s)  -> max_pool(x); the same for what moves numbers
        quantize(dequantize(x, s), t)            -> requantize(cast(x, i32), s / t)

    Scales must be constants. The dequantize ops of values that something else reads in floats stay;
    those that nobody reads any more are left for `dce`, repetitions for `cse`.
    """

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        rebuilt = node.with_inputs(inputs)
        better = _integer(rebuilt) if node.op == "quantize" and node.type.dtype == i8 else None
        return rebuilt if better is None else replace(better, name=node.name or better.name)

    return graph.rebuild(visit)


def _integer(pair: Node) -> Node | None:
    """What computes the value of this quantize op in integers."""
    x, target = pair.inputs
    if target.op != "constant" or target.type.rank:
        return None
    held = steps(x)
    if held is not None and held.even:
        return _rescaled(held, target.value)
    site = site_of(x)
    if site is None:
        return None
    operands = [steps(operand) for operand in site.anchor.inputs]
    known = [operand for operand in operands if operand is not None]
    if len(known) < len(operands) or not known[0].even:
        return None
    if site.anchor.op in PRODUCTS:
        return _product(site, known[0], known[1], target.value)
    if not known[-1].even:
        return None
    rewritten = _added if site.anchor.op == "add" else _averaged
    return rewritten(site, known, target.value)


def steps(node: Node) -> Steps | None:
    """What a float value is in steps of i8, if it is dequantized, or moved since then."""
    if node.op == "dequantize":
        q, scale = node.inputs
        if q.type.dtype != i8 or scale.op != "constant":
            return None
        return Steps(q, scale.value, node.attrs["axis"] % q.type.rank if scale.type.rank else 0)
    held = steps(node.inputs[0]) if node.op in MOVES else None
    if held is None or not (held.even or node.op == "transpose"):
        return None
    axis = 0 if held.even else node.attrs["perm"].index(held.axis)
    return Steps(apply(node.op, held.node, origin=node.origin, **node.attrs), held.scale, axis)


def _rescaled(held: Steps, target: np.ndarray) -> Node:
    if held.scale == target:
        return held.node
    factor = const(np.float32(held.scale / target))
    return apply("requantize", b.cast(held.node, "i32"), factor, origin=held.node.origin)


def _product(site: Site, x: Steps, w: Steps, target: np.ndarray) -> Node | None:
    """conv or matmul in i32, the bias added there, and one rounding."""
    anchor = site.anchor
    if not sums_fit(anchor) or (not w.even and w.axis != weight_axis(anchor)):
        return None
    origin = origins(*site.inner, site.root)
    each = sum_scale(x.scale, w.scale)
    attrs = {**anchor.attrs, "sums": "i32"}
    total = apply(anchor.op, x.node, w.node, name=anchor.name, origin=origin, **attrs)
    if site.bias is not None:
        bias = _bias(site.bias, each)
        if bias is None:
            return None
        total = replace(total + const(bias), origin=origin)
    factor = const(np.asarray(each / target, np.float32))
    axis = channel_axis(anchor) if each.ndim else 1
    return _limited("requantize", [total, factor], site, target, axis=axis)


def _bias(bias: Node, scale: np.ndarray) -> np.ndarray | None:
    """A constant bias in steps of the sums, its own integers if it has the scale of the sums; None
    if it is too large for them."""
    shape, held = bias.type.dims, bias
    while held.op in ("reshape", "transpose"):
        held = held.inputs[0]
    if held.op == "dequantize" and held.inputs[0].op == "constant":
        q, own = (i.value for i in held.inputs)
        if q.dtype == np.int32 and bool(np.all(own == scale)):
            return q.reshape(shape)
    return in_steps(value_of(bias), scale)


def _added(site: Site, operands: list[Steps], target: np.ndarray) -> Node:
    """The sum of two tensors."""
    factors = [const(np.asarray(o.scale / target, np.float32)) for o in operands]
    return _limited("add_quantized", [*(o.node for o in operands), *factors], site, target)


def _averaged(site: Site, operands: list[Steps], target: np.ndarray) -> Node:
    """The mean of one."""
    anchor, (x,) = site.anchor, operands
    axes = normal_axes(anchor.attrs["axes"], x.node.type.rank, "mean")
    count = math.prod(x.node.type.dims[a] for a in axes)
    total = b.reduce_sum(b.cast(x.node, "i32"), axes, anchor.attrs["keepdims"])
    factor = const(np.asarray(x.scale / target / np.float32(count), np.float32))
    return _limited("requantize", [total, factor], site, target)


def _limited(op: str, operands: list[Node], site: Site, target: np.ndarray, **attrs: Any) -> Node:
    """The op that rounds, with the limits of the site in steps of its result."""
    low, high = (np.clip(np.rint(end / target), LOW, HIGH) for end in (site.low, site.high))
    origin = origins(*site.inner, site.root)
    return apply(op, *operands, low=int(low), high=int(high), origin=origin, **attrs)
