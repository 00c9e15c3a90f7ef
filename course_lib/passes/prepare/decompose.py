"""Decomposition: spell composites out in ops that have loops.

    %0 = softmax(%x) {axis = -1} : f32[1,10]
    ==>
    %0 = reduce_max(%x) {axes = [1], keepdims = true} : f32[1,1]
    %1 = sub(%x, %0) : f32[1,10]
    %2 = exp(%1) : f32[1,10]
    %3 = reduce_sum(%2) {axes = [1], keepdims = true} : f32[1,1]
    %4 = div(%2, %3) : f32[1,10]

Passes that recognise a composite (`bn_fold`) run before this one; everything after it handles few
kinds of ops. Next room: `specialize.py`.
"""

from __future__ import annotations

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row
from course_lib.passes.infra.contract import contract
from course_lib.passes.infra.rewrite import rewrite


@contract(wants=["no groups"], gives=["plain ops"], ends=["composites"])
@takes
def decompose(graph: Graph) -> Graph:
    """Replace each composite by its definition, and those in it, until none is left.

    Windows with padding become `pad` and the same window without, so that no loop has to test
    whether it is still inside its buffer. What is left has loop forms, except a few ops that only
    the interpreter's numpy computes. Every new node keeps the origin of the composite.

    >>> from course_lib.ir.graph.build import trace
    >>> from course_lib.ir.graph.node import apply
    >>> window = dict(kernel=[3, 3], pads=[1, 1, 1, 1])
    >>> decompose(trace(lambda x: apply("max_pool", x, **window), "f32[1,8,6,6]"))
    graph @main(%x0: f32[1,8,6,6]) -> (f32[1,8,6,6]) {
      %0 = pad(%x0) {low = [0, 0, 1, 1], high = [0, 0, 1, 1], value = -inf} : f32[1,8,8,8]
      %1 = max_pool(%0) {kernel = [3, 3]} : f32[1,8,6,6]
      return %1
    }
    <BLANKLINE>
    """
    return rewrite(graph, [definition])


def definition(node: Node) -> Node | None:
    """What the op table says that this node stands for; None if it stands for itself."""
    row = op_row(node.op)
    padded_window = any(node.attrs.get("pads") or ())
    if row.decompose is None or not (row.kind == "composite" or padded_window):
        return None
    return row.decompose(node.inputs, node.attrs)
