"""What a kernel really executes: its operations, counted in the loops.

    op table   exp(v) : f32[10]                      10 operations, wherever it stands
    loops      exp fused behind an expand to [1000,10]:
               for i in 0..1000 { for j in 0..10 { out[i, j] = exp(x0[j]) } }    10,000 of them

The op table says what a program has to compute. Fusion can make a kernel compute the same value
again and again, and only its loops show that. Next room: `memory/liveness.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.ir.expr import Call, walk
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.nest import Accumulate, Kernel, Loop, Stmt, Write
from course_lib.ir.registry import flops, traffic
from course_lib.ir.scalar import SCALARS

FREE = ("cast", "select")
WORTH_A_THREAD = 100_000  # operations and bytes of a kernel, from which a second thread pays


def worth_a_thread(node: Node) -> bool:
    """Is there enough to do that a second thread gains more than handing work over costs?"""
    return flops(node) + traffic(node) > WORTH_A_THREAD


def operations(kernel: Kernel) -> int:
    """Scalar operations in one run of a kernel: every function of every statement, in every
    iteration.

    Each counts what its row in `ir/scalar.py` says; a choice or a change of element type counts
    nothing, as in the op table. The bounds of the loops must be numbers, as `lower` makes them; a
    schedule with ragged tiles raises ValueError.
    """
    return _operations(kernel.body)


def _operations(body: Sequence[Stmt]) -> int:
    total = 0
    for stmt in body:
        if isinstance(stmt, Loop):
            if stmt.extent is None:
                raise ValueError(f"the loop over {stmt.var} has no fixed number of iterations")
            total += stmt.extent * _operations(stmt.body)
        elif isinstance(stmt, Write):
            calls = [e.fn for e in walk(stmt.value) if isinstance(e, Call) and e.fn not in FREE]
            calls += [stmt.op] if isinstance(stmt, Accumulate) else []
            total += sum(SCALARS[fn].flops for fn in calls)
    return total
