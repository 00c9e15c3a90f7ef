"""Graph -> loops, in textbook order: every node or fused group becomes a kernel.

    %0 = matmul(%a, %b) : f32[8,16]           step 0: matmul_0(a, b) -> 0
    %1 = reshape(%0) : f32[128]         ==>   view 1 of 0: a reshape moves nothing
    %2 = relu(%1) : f32[128]                  step 1: relu_0(1) -> 2

Next room: `lowering.py`, where one group becomes loops.
"""

from __future__ import annotations

from course_lib.arguments import takes
from course_lib.ir.graph.build import alone
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.program import Program, Step
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import named_apart
from course_lib.ir.registry import op as op_row
from course_lib.lower.lowering import Lowering
from course_lib.lower.rows import Rowwise
from course_lib.lower.scans import lower_scan, with_operands


@takes
def lower(graph: Graph) -> Program:
    """The whole graph as a program of kernels in the graph's own order."""
    graph = with_operands(graph)
    names = value_names(graph)
    views: dict[str, str] = {}
    steps: list[Step] = []
    used: dict[str, int] = {}
    for node in graph.nodes:
        if node.op in ("input", "constant"):
            continue
        if node.op == "reshape":
            views[names[node]] = names[node.inputs[0]]
            continue
        reads = tuple(names[i] for i in node.inputs)
        steps.append(Step(node, lower_node(node, _unique(_title(node), used)), reads, names[node]))
    return Program(
        name=graph.name,
        inputs=tuple(names[n] for n in graph.inputs),
        outputs=tuple(names[n] for n in graph.outputs),
        types={names[n]: n.type for n in graph.nodes},
        constants={names[n]: n.value for n in graph.constants},
        views=views,
        steps=tuple(steps),
    )


def _title(node: Node) -> str:
    """A kernel's name says what it does: conv_add_relu."""
    if node.op != "fused":
        return node.op
    return "_".join(n.op for n in node.attrs["body"].ops)[:48]


def _unique(name: str, used: dict[str, int]) -> str:
    used[name] = used.get(name, -1) + 1
    return f"{name}_{used[name]}"


def lower_node(node: Node, name: str) -> Kernel | None:
    """The kernel of one node; None if its op has no loop form (then its numpy meaning runs)."""
    if node.op == "scan":
        kernel = lower_scan(node, name, lower_node)
        return kernel and verify_kernel(named_apart(kernel))
    group = node.attrs["body"] if node.op == "fused" else alone(node)
    if any(op_row(n.op).loops is None for n in group.ops):
        return None
    lowering = Rowwise if node.attrs.get("kind") == "rowwise" else Lowering
    return verify_kernel(named_apart(lowering(group, name, node.origin).kernel()))
