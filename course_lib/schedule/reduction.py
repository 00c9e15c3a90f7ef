"""What a tile has to know of a kernel: which values it combines, and in which loops.

    for oc, oh, ow { acc = 0; for ic, kh, kw { acc += x[..] * w[..] }; out[ow, oc] = acc }
    ==>  Reduction(around=(oc, oh, ow), reads=(x[..], w[..]), inside=(ic, kh, kw), along="oc")

A kernel that combines nothing, or several things (a softmax), has none. Next room: `candidates.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from course_lib.ir.expr import Affine, Expr, Load, loads
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Stmt, Write
from course_lib.ir.loops.walk import accumulators, loops, statements
from course_lib.ir.types import DType

MAX_STRIDE = 4  # a vector load may pick every second, third or fourth element
Body = tuple[Stmt, ...]


@dataclass(frozen=True)
class Reduction:
    """The one reduction of a kernel, as a tile sees it.

    around  the loops around the accumulator, outermost first
    reads   what the combined values are computed from
    dtype   of the accumulator
    inside  iterations of the loops over what is combined, by their variables
    again   a loop around all of this runs it again and again, so that its operands are in a cache
    along   the loop whose iterations store neighbours in the result; "" if none does
    """

    around: tuple[Loop, ...]
    reads: tuple[Load, ...]
    dtype: DType
    inside: tuple[tuple[str, int], ...] = ()
    again: bool = False
    along: str = ""

    def extent(self, var: str) -> int:
        """Iterations of one of these loops; 1 for any other."""
        return next((loop.extent or 1 for loop in self.around if loop.var == var), 1)

    @property
    def taps(self) -> int:
        """How many values are combined into one."""
        return math.prod(extent for _, extent in self.inside)

    def window(
        self, read: Load, var: str, inside: tuple[tuple[str, int], ...] | None = None
    ) -> tuple[int, int]:
        """How many elements apart the read begins in two neighbouring iterations of the loop over
        `var`, and how many it then spans: (2, 3) for x[2*var + k] with k in 0..3. `inside`: in
        these loops over what is combined, not in all."""
        index = next(i for i in read.indices if isinstance(i, Affine) and i.coefficient(var))
        within = self.inside if inside is None else inside
        span = sum(abs(index.coefficient(name)) * (extent - 1) for name, extent in within)
        return abs(index.coefficient(var)), 1 + span


def nests(kernel: Kernel) -> list[Body]:
    """What has a tile of its own: the whole kernel; of a recurrence, each nest of a step."""

    def within(body: Body) -> list[Body]:
        last = body[-1] if body else None
        if isinstance(last, Loop) and carried(last):
            return [n for stmt in last.body if isinstance(stmt, Loop) for n in within((stmt,))]
        return [body]

    return within(kernel.body)


def reduction(kernel: Kernel, nest: Body | None = None) -> Reduction | None:
    """The reduction of a kernel, or of one of its `nests`; None if there is none, or several (a
    softmax)."""
    body = kernel.body if nest is None else nest
    sums = accumulators(body)
    if len(sums) != 1:
        return None
    (acc,) = sums
    around = _result_loops(body, acc)
    reads = _combined(body)
    affine = all(isinstance(i, Affine) for read in reads for i in read.indices)
    if not around or not reads or not affine:
        return None
    dtype = kernel.buffers[acc].type.dtype
    inside = tuple((loop.var, loop.extent or 1) for loop in loops(around[-1].body))
    again, along = body is not kernel.body, _loop_along_the_result(body, kernel.out.name)
    return Reduction(tuple(around), tuple(reads), dtype, inside, again, along)


def stride(load: Load, var: str) -> int | None:
    """How many elements apart neighbouring lanes read; None if too far for a vector load."""
    steps = [i.coefficient(var) if isinstance(i, Affine) else 0 for i in load.indices]
    near = not any(steps[:-1]) and 0 < steps[-1] <= MAX_STRIDE
    return steps[-1] if near else None


def uses(load: Load, var: str) -> bool:
    """Does the load read elsewhere in the next iteration of the loop?"""
    return any(moves_with(index, var) for index in load.indices)


def moves_with(index: Affine | Expr, var: str) -> bool:
    """Is it another index in the next iteration of the loop? Of what data decides, nobody knows."""
    return isinstance(index, Affine) and index.coefficient(var) != 0


def _result_loops(body: Body, acc: str) -> list[Loop]:
    """The loops around the accumulator, outermost first. Others may fill a border before."""
    nest: list[Loop] = []
    body = body[-1:]
    while len(body) == 1 and isinstance(body[0], Loop):
        nest.append(body[0])
        body = body[0].body
    return nest if any(isinstance(s, Local) and s.buffer.name == acc for s in body) else []


def _loop_along_the_result(body: Body, result: str) -> str:
    """The loop that moves by one along the last axis of what is stored last."""
    last = next((s for s in reversed(statements(body)) if isinstance(s, Write)), None)
    index = last.indices[-1] if last and last.buffer == result and last.indices else None
    moved = [var for var, step in index.terms if step == 1] if isinstance(index, Affine) else []
    return moved[0] if len(moved) == 1 else ""


def _combined(body: Body) -> list[Load]:
    """The memory reads of the statement that combines values; of all, if it reads temporaries."""
    temporary = {s.buffer.name for s in statements(body) if isinstance(s, Local)}
    writes = [s for s in statements(body) if isinstance(s, Write)]
    reads = [e for s in writes if isinstance(s, Accumulate) for e in loads(s.value)]
    if not any(e.buffer in temporary for e in reads):
        return reads
    return [e for s in writes for e in loads(s.value) if e.buffer not in temporary]
