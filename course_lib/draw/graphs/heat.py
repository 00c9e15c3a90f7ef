"""Where the work of a graph is: floating-point operations, or bytes moved.

    amounts(values, outputs, "flops")    ->  {conv: 236027904, relu: 802816, ...}
    amounts(values, outputs, "traffic")  ->  bytes; inside a fused kernel they stay in registers

Next room: `layout.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from course_lib.draw.base.units import binary, scaled
from course_lib.draw.graphs.flatten import Value
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import flops

MEASURES: dict[str, Callable[[float], str]] = {
    "flops": lambda value: scaled(value, "FLOP"),
    "traffic": binary,
}


def amounts(values: list[Value], outputs: list[Value], measure: str) -> dict[Value, int]:
    """How much of it each value costs. Symbolic sizes count as 0: they are known at run time."""
    if measure == "traffic":
        return _traffic(values, outputs)
    return {v: flops(v.node) if _is_static(v.node) else 0 for v in values}


def _traffic(values: list[Value], outputs: list[Value]) -> dict[Value, int]:
    """Bytes that each op reads and writes.

    What stays inside a fused kernel costs nothing; what a kernel reads twice is counted where it
    is first read.
    """
    kernel = {v: v.regions[0] if v.regions else v for v in values}
    leaves = set(outputs)
    leaves |= {o for v in values for o in v.operands if kernel[o] is not kernel[v]}
    read: set[tuple[Value | Node, Value]] = set()
    result = {}
    for v in values:
        is_op = v.node.op not in ("input", "constant")
        fetched = [
            o
            for o in dict.fromkeys(v.operands)
            if (o.node.op == "constant" or kernel[o] is not kernel[v])
            and (kernel[v], o) not in read
        ]
        read |= {(kernel[v], o) for o in fetched}
        written = [v] if v in leaves or not v.regions else []
        result[v] = sum(_nbytes(o.node) for o in (*fetched, *written)) if is_op else 0
    return result


def _is_static(node: Node) -> bool:
    return node.type.is_static and all(i.type.is_static for i in node.inputs)


def _nbytes(node: Node) -> int:
    return node.type.nbytes if node.type.is_static else 0
