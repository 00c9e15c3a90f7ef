"""Fusion: compute several ops in one kernel, so that what is between them never goes to memory.

    %0 = conv(%x, %w) : f32[1,64,56,56]
    %1 = add(%0, %b) : f32[1,64,56,56]      ==>      %0 = fused(%x, %w, %b) {kind = "epilogue", ...}
    %2 = relu(%1) : f32[1,64,56,56]

Three questions, three places: may these nodes be one node of the graph? (here) Can one kernel hold
them? (`groups.py`) Does it pay? (`should_fuse.py`)

Why no cycle can appear: two members may be connected by a path through nodes outside, such as
exp -> conv -> pad -> add beside exp -> add. If exp and add were one kernel, it would have to run
before pad and after it. That all users are in the group excludes it: exp has a user, conv, that is
not. Next room: `regroup.py`.

Reading path, 6 of 12; next: `targets/cpu.py`.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.passes.clean.dce import keep
from course_lib.passes.fusion import should_fuse as heuristic
from course_lib.passes.fusion.groups import as_kernels, fits
from course_lib.passes.infra.asks import asks
from course_lib.passes.infra.contract import contract

making_groups = contract(needs=["plain ops"], gives=["groups"], ends=["no groups"])


@asks("groups")  # `regroup.py` replays them
@making_groups
@exercise("passes.fuse", unit=3, points=4, baseline=keep)
def fuse(graph: Graph) -> Graph:
    """Put connected nodes into groups; each group of two or more becomes one `fused` node.

    A node joins the group of its users if
    - it has users, *all* of them are in the same group, and it is not an output of the graph:
      our kernels write only one value each;
    - one kernel can hold the group with it: `fits(node, group)`, with the group's users first;
    - it pays for each of its users: `heuristic.should_fuse(node, user)`.
    Otherwise it begins a group of its own. `as_kernels` writes the groups down.

    "Its only user" would be stricter than "all of its users": in x * sigmoid(x), both users of x
    are in one group. The result is the same bit for bit, provided that the target computes each op
    in the same way.

    >>> from course_lib.ir.graph.build import relu, sigmoid, trace
    >>> def swish(x, w):
    ...     y = x @ w
    ...     return relu(y * sigmoid(y))
    >>> fuse(trace(swish, "f32[8,4]", "f32[4,4]"))
    graph @main(%x0: f32[8,4], %x1: f32[4,4]) -> (f32[8,4]) {
      %0 = fused(%x0, %x1) {body = graph @matmul_sigmoid_mul_relu(%x0: f32[8,4], %x1: f32[4,4]) -> (f32[8,4]) {
        %0 = matmul(%x0, %x1) : f32[8,4]
        %1 = sigmoid(%0) : f32[8,4]
        %2 = mul(%0, %1) : f32[8,4]
        %3 = relu(%2) : f32[8,4]
        return %3
      }, kind = "epilogue"} : f32[8,4]
      return %0
    }
    <BLANKLINE>
    """  # noqa: E501 (the printed form of a node is one line)
    users, outputs = graph.users(), set(graph.outputs)
    group_of: dict[Node, list[Node]] = {}
    for node in reversed(graph.nodes):
        readers = users[node]
        group = group_of[readers[0]] if readers else []
        joins = (
            bool(readers)
            and node not in outputs
            and all(group_of[reader] is group for reader in readers)
            and fits(node, group)
            and all(heuristic.should_fuse(node, reader) for reader in readers)
        )
        group_of[node] = group if joins else []
        group_of[node].append(node)
    return as_kernels(graph, group_of)
