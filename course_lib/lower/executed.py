"""What the kernels of a graph really execute: lowered one by one, and counted in the loops.

Next room: `cost/work.py`, which counts one kernel.
"""

from course_lib.cost.work import operations
from course_lib.ir.graph.graph import Graph
from course_lib.ir.registry import flops
from course_lib.lower.lower import lower_node


def executed(graph: Graph) -> int:
    """Scalar operations that the kernels of a graph execute, one kernel for each of its nodes.

    A node without loops (numpy runs it) counts what the op table says.
    """
    kernels = [(node, lower_node(node, node.op)) for node in graph.ops if node.op != "reshape"]
    return sum(operations(kernel) if kernel else flops(node) for node, kernel in kernels)
