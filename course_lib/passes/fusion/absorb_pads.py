"""Absorbing pads: a kernel writes its result into the middle of the padded one.

    %0 = fused(%x, %w) {body = conv, relu}        %0 = fused(%x, %w) {body = conv, relu, pad}
    %1 = pad(%0) {low = ..., high = ...}     ==>

The copy disappears; what is left of the pad is filling the border. Next room:
`passes/infra/bodies.py`.
"""

from __future__ import annotations

from course_lib.arguments import takes
from course_lib.ir.graph.build import alone
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.graph.provenance import origins
from course_lib.passes.fusion.groups import kind_of
from course_lib.passes.infra.contract import contract


@contract(wants=["groups"], ends=["no groups"])
@takes
def absorb_pads(graph: Graph) -> Graph:
    """Put each pad into the kernel that computes what it pads, after `fuse`.

    Only if nothing else reads the unpadded value: it is in memory no longer. The kernel has to be
    elementwise or an epilogue, with one loop nest that writes each result once. The new `fused`
    node keeps the kind of the kernel, and carries the origins of both; the old one is left for
    `dce`.

    >>> from course_lib.ir.graph.build import relu, trace
    >>> frame = dict(low=[1, 1], high=[1, 1])
    >>> graph = absorb_pads(trace(lambda x: apply("pad", relu(x), **frame), "f32[4,4]"))
    >>> [n.op for n in graph.outputs[0].attrs["body"].ops]
    ['relu', 'pad']
    """
    users, outputs = graph.users(), set(graph.outputs)

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.op != "pad" or len(users[node.inputs[0]]) > 1 or node.inputs[0] in outputs:
            return None
        return _together(inputs[0], node)

    return graph.rebuild(visit)


def _together(kernel: Node, pad: Node) -> Node | None:
    """The kernel with the pad at its end; None if it is of a kind that cannot have one."""
    body = kernel.attrs["body"] if kernel.op == "fused" else alone(kernel)
    kind = kernel.attrs["kind"] if kernel.op == "fused" else kind_of([kernel])
    if kind not in ("elementwise", "epilogue") or body.outputs[0].op == "pad":
        return None
    inside = pad.with_inputs(body.outputs)
    whole = Graph.of(body.inputs, [inside], f"{body.name}_pad")
    operands, where = kernel.inputs, origins(kernel, pad)
    return apply("fused", *operands, kind=kind, body=whole, name=pad.name, origin=where)
