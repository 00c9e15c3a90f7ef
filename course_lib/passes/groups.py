"""Groups of nodes that become one kernel: what fits into one, and how it is written down.

    %0 = matmul(%x, %w) : f32[8,4]
    %1 = add(%0, %b) : f32[8,4]
    ==>
    %0 = fused(%x, %w, %b) {kind = "epilogue", body = graph @matmul_add(...) {...}} : f32[8,4]

Next room: `should_fuse.py`, then `fuse.py`, which forms the groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.ir.build import apply, inp
from course_lib.ir.graph import Graph, Node, topological_order
from course_lib.ir.ops import op as op_row
from course_lib.passes.provenance import origins

# Ops that combine many elements into one: at most one of them to a kernel.
REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min")
ANCHORS = frozenset(["conv", "matmul", "max_pool", "sum_pool", *REDUCTIONS])
# Movement that is only another index, so that it can happen inside any expression.
MOVES = frozenset(["expand", "transpose", "slice", "iota"])
LARGEST = 40  # nodes in a group: beyond that the values no longer fit into registers


def pointwise(node: Node) -> bool:
    """Does each element of the result come from one element of each operand?"""
    return op_row(node.op).kind == "elementwise" or node.op in MOVES


def fits(node: Node, group: Sequence[Node], users: Sequence[Node]) -> bool:
    """Can one kernel compute `node`, all of whose users are in `group`, and this group?

    There are two kinds of kernels.
    - *elementwise*: every member is pointwise. One loop nest over the elements of the last one.
    - *epilogue*: one anchor (a contraction, reduction or pool) and elementwise members of its
      shape, which finish each element while it is in a register. What an anchor reads is not
      computed in its kernel: it would be computed again for each use.
    """
    if len(group) >= LARGEST or not all(pointwise(user) for user in users):
        return False
    anchor = next((n for n in group if n.op in ANCHORS), None)
    if node.op in ANCHORS:
        return anchor is None and all(_finishes(member, node) for member in group)
    return pointwise(node) and (anchor is None or _finishes(node, anchor))


def _finishes(node: Node, anchor: Node) -> bool:
    return op_row(node.op).kind == "elementwise" and node.type.shape == anchor.type.shape


def as_kernels(graph: Graph, group_of: Mapping[Node, Sequence[Node]]) -> Graph:
    """The graph with a `fused` node for each group of two or more nodes.

    `group_of[node]` lists the members of the node's group, the one whose value is used outside
    (its root) first and every other after all of its users. A `fused` node stands where the root
    stood. Its operands are what the members read from outside, in order of first use, and are the
    inputs of its body; single numbers are written into the body instead.
    """
    new: dict[Node, Node] = {node: node for node in graph.nodes if node.op in ("input", "constant")}
    order: list[Node] = []
    placed: set[Node] = set()
    for node in graph.nodes:
        if node.op != "constant" and group_of[node][0] is node:
            members = group_of[node]
            if node.op != "input":
                alone = len(members) == 1
                new[node] = _moved(node, new) if alone else _fused(members[::-1], new)
            order.extend(topological_order([new[node]], placed))
    outputs = tuple(new[node] for node in graph.outputs)
    order.extend(topological_order(outputs, placed))
    return Graph(graph.name, graph.inputs, tuple(order), outputs, graph.attrs)


def _moved(node: Node, new: Mapping[Node, Node]) -> Node:
    return node.with_inputs([new[i] for i in node.inputs])


def _fused(members: Sequence[Node], new: Mapping[Node, Node]) -> Node:
    """One node for these members, which are in topological order."""
    operands: list[Node] = []
    parameters: list[Node] = []
    inside: dict[Node, Node] = {}
    for member in members:
        for operand in member.inputs:
            if operand in inside:
                continue
            if operand.op == "constant" and operand.value.size == 1:
                inside[operand] = operand
            else:
                inside[operand] = inp(f"x{len(operands)}", operand.type)
                parameters.append(inside[operand])
                operands.append(new[operand])
        inside[member] = _moved(member, inside)
    root = members[-1]
    body = Graph.of(parameters, [inside[root]], _title(members))
    kind = "epilogue" if any(n.op in ANCHORS for n in members) else "elementwise"
    fused = apply("fused", *operands, kind=kind, body=body, origin=origins(*members))
    return fused if not root.name else Node(**{**vars(fused), "name": root.name})


def _title(members: Sequence[Node]) -> str:
    """conv_add_relu; a long group is named after its ends."""
    ops = [n.op for n in members]
    return "_".join(ops if len(ops) <= 6 else [*ops[:3], f"{len(ops) - 5}_more", *ops[-2:]])
