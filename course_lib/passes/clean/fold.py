"""Constant folding: compute at compile time what does not depend on an input.

    %0 = constant dense<2.0> : f32[]
    %1 = sqrt(%0) : f32[]               ==>     %0 = constant dense<1.4142135> : f32[]
    %2 = mul(%x, %1) : f32[4]                   %1 = mul(%x, %0) : f32[4]

Next room: `passes/infra/match.py`, the first half of the pattern rewriter.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.graph.node import Node, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.dce import keep

SMALL = 4096  # bytes that a folded constant may take, whatever its operands take


@exercise("passes.fold", unit=2, points=3, baseline=keep)
def fold(graph: Graph) -> Graph:
    """Replace every node whose operands are all constants by a constant.

    The value is the interpreter's: `evaluate(node, operand values)`. Folding cascades: a node whose
    operands were just folded is folded too, in the same walk. An op without operands, such as a
    small `iota`, is folded too. The new constant keeps the node's name, and the origins of the node
    and of its operands. Operands that nothing needs any more are left for `dce`.

    A node stays as it is
    - if its result is big: more than `SMALL` bytes and more bytes than its operands have together.
      An operand that is read twice counts once.
    - if computing it raises an error, as for element 7 of an i32[2]. Folding neither reports the
      error nor hides it.
    - if it is an input or a constant already, or if its size is not known yet. For such a symbolic
      shape, `node.type.is_static` is false, and `node.type.nbytes` raises.

    >>> from course_lib.ir.graph.build import trace
    >>> from course_lib.passes.clean.dce import dce
    >>> dce(fold(trace(lambda x: x + (const(3.0) * 4.0 + 4.0), "f32[4]")))
    graph @main(%x0: f32[4]) -> (f32[4]) {
      %0 = constant dense<16.0> : f32[]
      %1 = add(%x0, %0) : f32[4]
      return %1
    }
    <BLANKLINE>
    """

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        rebuilt = node.with_inputs(inputs)
        if node.op == "constant" or any(i.op != "constant" for i in inputs):
            return rebuilt
        if not node.type.is_static or node.type.nbytes > max(SMALL, _bytes(inputs)):
            return rebuilt
        try:
            value = evaluate(rebuilt, [i.value for i in inputs])
        except (ValueError, TypeError, ArithmeticError):
            return rebuilt
        return replace(const(value), name=node.name, origin=origins(rebuilt, *inputs))

    return graph.rebuild(visit)


def _bytes(nodes: tuple[Node, ...]) -> int:
    return sum(node.type.nbytes for node in set(nodes))
