"""Batch-norm folding: a convolution followed by a batch norm is another convolution, plus a bias.

    %0 = conv(%x, %w) : f32[1,64,56,56]                       %0 = conv(%x, %w2) : f32[1,64,56,56]
    %1 = batch_norm(%0, %scale, %shift, %mean, %var) : ...    %1 = add(%0, %bias) : f32[1,64,56,56]

A trained batch norm multiplies each channel by one number and adds another; so does a convolution
with scaled weights. Next room: `decompose.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.build import apply, const
from course_lib.ir.graph import Graph, Node
from course_lib.passes.dce import keep
from course_lib.passes.provenance import origins


@exercise(
    "passes.bn_fold",
    unit=3,
    points=3,
    baseline=keep,
    hints=(
        "Write batch_norm(y) per channel as y * factor + offset. Where can the factor go if y is "
        "a convolution? And if y is a convolution plus a bias?",
        "factor = scale / sqrt(var + eps), one number per output channel: multiply w[oc, ...] by "
        "it. The new bias is (old bias - mean) * factor + shift, of shape [1, oc, 1, 1].",
        "graph.rebuild(visit): for batch_norm, look through an add with a constant for the conv; "
        "check with graph.users() that conv (and add) have one user and are no outputs; then "
        "add(conv(x, w * factor.reshape(-1, 1, 1, 1)), bias.reshape(1, -1, 1, 1)).",
    ),
)
def bn_fold(graph: Graph) -> Graph:
    """Fold each batch norm into the convolution before it.

        batch_norm(conv(x, w), scale, shift, mean, var)
        ->  add(conv(x, w'), b')
            with  w'[oc] = w[oc] * factor[oc]           factor = scale / sqrt(var + eps)
                  b'[oc] = (b[oc] - mean[oc]) * factor[oc] + shift[oc]

    Between the two there may be the convolution's own bias, `add(conv(x, w), b)` in either order,
    where b is a constant with one number for each channel (or one for all); without it b is 0.

    A batch norm stays as it is (and `decompose` makes a multiplication and an addition of it)
    - if the weights or one of its four vectors are not constants;
    - if the convolution, or the add, has another user or is an output: that user needs the old
      value, so both convolutions would have to run.

    Grouped and depthwise convolutions fold in the same way: axis 0 of w is always the output
    channel. w' and b' are computed in float64 and rounded once. Not bit-exact: the products are
    rounded before the sum instead of after it. A relative error of about 1e-6 in f32 is expected.

    The new nodes carry the origins of both; dead constants are left for `dce`. Source: Jacob et
    al. 2018, section 3.2.

    >>> from course_lib.ir.build import trace
    >>> from course_lib.passes.dce import dce
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
    users = graph.users()

    def private(node: Node) -> bool:
        return len(users[node]) == 1 and node not in graph.outputs

    old_of: dict[Node, Node] = {}  # new node -> the node of `graph` whose place it takes

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = node.with_inputs(inputs)
        parts = _parts(made) if node.op == "batch_norm" else None
        if parts and all(private(old_of.get(part, part)) for part in parts):
            made = _folded(made, *parts)
            old_of[made.inputs[0]] = old_of.get(parts[0], parts[0])
        old_of[made] = node
        return made

    return graph.rebuild(visit)


def _parts(norm: Node) -> tuple[Node, ...] | None:
    """(conv,) or (conv, add) before a batch norm whose weights are all constants, else None."""
    before, *vectors = norm.inputs
    if any(v.op != "constant" for v in vectors):
        return None
    add = before if before.op == "add" else None
    conv = before
    if add is not None:
        conv = next((i for i in add.inputs if i.op == "conv"), before)
    if conv.op != "conv" or conv.inputs[1].op != "constant":
        return None
    if add is None:
        return (conv,)
    return (conv, add) if conv.type == add.type and _bias(conv, add) is not None else None


def _bias(conv: Node, add: Node) -> np.ndarray | None:
    """What `add` adds to each channel of `conv`, as float64 numbers; None if it is not that."""
    other = add.inputs[1] if add.inputs[0] is conv else add.inputs[0]
    shape = (1, conv.inputs[1].type.dims[0], *[1] * (conv.type.rank - 2))
    if other.op != "constant" or np.broadcast_shapes(other.value.shape, shape) != shape:
        return None
    return np.broadcast_to(other.value, shape).astype(np.float64).ravel()


def _folded(norm: Node, conv: Node, add: Node | None = None) -> Node:
    x, w = conv.inputs
    scale, shift, mean, variance = (v.value.astype(np.float64) for v in norm.inputs[1:])
    bias = None if add is None else _bias(conv, add)
    factor = scale / np.sqrt(variance + norm.attrs["eps"])
    per_output = (-1, *[1] * (w.type.rank - 1))
    per_channel = (1, -1, *[1] * (w.type.rank - 2))
    weights = w.value * factor.reshape(per_output)
    offset = ((0.0 if bias is None else bias) - mean) * factor + shift
    origin = origins(conv, *([add] if add else []), norm)
    new = [
        replace(const(value, w.type.dtype), name=old.name, origin=origins(old, norm))
        for value, old in ((weights, w), (offset.reshape(per_channel), norm.inputs[2]))
    ]
    product = apply("conv", x, new[0], name=conv.name, origin=origin, **conv.attrs)
    return apply("add", product, new[1], name=norm.name, origin=origin)
