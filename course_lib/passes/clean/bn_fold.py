"""Batch-norm folding: a convolution followed by a batch norm is another convolution, plus a bias.

    %0 = conv(%x, %w) : f32[1,64,56,56]                       %0 = conv(%x, %w2) : f32[1,64,56,56]
    %1 = batch_norm(%0, %scale, %shift, %mean, %var) : ...    %1 = add(%0, %bias) : f32[1,64,56,56]

In inference, a batch norm multiplies each channel by one number and adds another; scaled weights
and a bias do the same. Not bit-exact: the product with the factor is rounded once in each weight,
before the sum, instead of once in each result. On ResNet-18 and MobileNetV2 the outputs differ by
less than 1e-6 of the largest one. Source: Jacob et al. 2018, section 3.2. Next room:
`passes/prepare/decompose.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.arrays import aligned_empty
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.dce import keep
from course_lib.passes.infra.contract import contract


@contract(wants=["composites", "no groups"])
@exercise("passes.bn_fold", unit=3, points=3, baseline=keep, further=True)
def bn_fold(graph: Graph) -> Graph:
    """Fold each batch norm into the convolution before it.

        batch_norm(conv(x, w), scale, shift, mean, var)
        ->  add(conv(x, w'), b')
            with  w'[oc] = w[oc] * factor[oc]           factor = scale / sqrt(var + eps)
                  b'[oc] = (b[oc] - mean[oc]) * factor[oc] + shift[oc]

    Between the two there may be the convolution's own bias, `add(conv(x, w), b)` in either order,
    where b is a constant with one number for each channel (or one for all); without it b is 0.
    `convolution_before(norm)` finds the convolution, and returns None if there is none, or if the
    weights or one of its four vectors are not constants.

    A batch norm stays as it is if the convolution, or the add, has another user or is an output. Of
    two norms in a row the first folds; the second may stay.

    Images are 1-D, 2-D or 3-D. Grouped and depthwise convolutions fold in the same way: axis 0 of w
    is always the output channel. w' and b' are new constants of w's element type.
    The new conv and add carry the origins of both; dead constants are left for `dce`.

    >>> from course_lib.ir.graph.build import trace
    >>> from course_lib.passes.clean.dce import dce
    >>> def block(x):
    ...     y = apply("conv", x, const(np.ones((2, 1, 1, 1), np.float32)))
    ...     scale, shift = const([6.0, 6.0]), const([0.0, 1.0])
    ...     mean, variance = const([1.0, 1.0]), const([4.0, 9.0])
    ...     return apply("batch_norm", y, scale, shift, mean, variance, eps=0.0)
    >>> dce(bn_fold(trace(block, "f32[1,1,8,8]")))
    graph @main(%x0: f32[1,1,8,8]) -> (f32[1,2,8,8]) {
      %0 = constant dense<[[[[3.0]]], [[[2.0]]]]> : f32[2,1,1,1]
      %1 = conv(%x0, %0) : f32[1,2,8,8]
      %2 = constant dense<[[[[-3.0]], [[-1.0]]]]> : f32[1,2,1,1]
      %3 = add(%1, %2) : f32[1,2,8,8]
      return %3
    }
    <BLANKLINE>
    """
    users, outputs = graph.users(), set(graph.outputs)

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        rebuilt = node.with_inputs(inputs)
        old, new = convolution_before(node), convolution_before(rebuilt)
        if old is None or new is None:
            return rebuilt
        if any(len(users[n]) > 1 or n in outputs for n in old.nodes):
            return rebuilt
        return _folded(rebuilt, new)

    return graph.rebuild(visit)


def _folded(norm: Node, before: Convolution) -> Node:
    x, w = before.conv.inputs
    scale, shift, mean, variance = (v.value.astype(np.float64) for v in norm.inputs[1:])
    factor = scale / np.sqrt(variance + norm.attrs["eps"])
    weights = aligned_empty(w.type.dims, w.value.dtype)
    column = factor.reshape(-1, *[1] * (w.type.rank - 1))
    np.multiply(w.value, column, out=weights, casting="unsafe")  # in float64, then rounded
    bias = ((before.bias - mean) * factor + shift).reshape(1, -1, *[1] * (w.type.rank - 2))
    origin = origins(*before.nodes, norm)
    w2 = replace(const(weights, given=True), name=w.name, origin=origins(w, norm))
    b2 = replace(const(bias, w.type.dtype), name=norm.inputs[2].name, origin=origin)
    conv = apply("conv", x, w2, name=before.conv.name, origin=origin, **before.conv.attrs)
    return apply("add", conv, b2, name=norm.name, origin=origin)


@dataclass(frozen=True)
class Convolution:
    """What a batch norm reads: `conv(x, w)`, or `add(conv(x, w), b)`.

    bias    what is added to each channel, as float64[oc]; zeros if there is no add
    nodes   the convolution, and the add if there is one
    """

    conv: Node
    bias: np.ndarray
    nodes: tuple[Node, ...]


def convolution_before(norm: Node) -> Convolution | None:
    """The convolution that `norm` could be folded into, as far as these few nodes tell.

    None if `norm` is not a batch norm, if its vectors or the weights are not constants, or if
    something else stands before it. Other users are not looked at.
    """
    if norm.op != "batch_norm" or any(v.op != "constant" for v in norm.inputs[1:]):
        return None
    first = norm.inputs[0]
    conv, other = first, const(0.0)
    if first.op == "add":
        conv, other = first.inputs if first.inputs[0].op == "conv" else first.inputs[::-1]
    if conv.op != "conv" or conv.inputs[1].op != "constant" or other.op != "constant":
        return None
    per_channel = (1, conv.inputs[1].type.dims[0], *[1] * (conv.type.rank - 2))
    if np.broadcast_shapes(other.value.shape, per_channel) != per_channel:
        return None
    bias = np.broadcast_to(other.value, per_channel).astype(np.float64).ravel()
    return Convolution(conv, bias, (conv,) if first is conv else (conv, first))
