"""fission: a loop is distributed over the statements of its body, with scalar expansion.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> sums = parse_kernel('''
... kernel @sums(x: f32[10,3], out: f32[10]) {
...   for i in 0..10 {
...     local acc: f32[]
...     acc[] = 0.0
...     for k in 0..3 { acc[] += x[i, k] }
...     out[i] = acc[]
...   }
... }''')
>>> fission(sums, "i")
kernel @sums(x: f32[10,3], out: f32[10]) {
  local acc: f32[10]
  for i in 0..10 {
    acc[i] = 0.0
  }
  for k in 0..3 {
    for i_2 in 0..10 {
      acc[i_2] += x[i_2, k]
    }
  }
  for i_3 in 0..10 {
    out[i_3] = acc[i_3]
  }
}
<BLANKLINE>

That is what makes lanes of a loop over results: afterwards the reduction is outside, and each of
its steps is one vector operation.

It is illegal if the loop carries a dependence, or bounds a loop inside.

>>> fission(parse_kernel('''
... kernel @chain(x: f32[8], out: f32[9]) { for i in 0..8 { out[i + 1] = out[i] + x[i] } }
... '''), "i")
Traceback (most recent call last):
ValueError: fission i: the loop carries a flow dependence through out: iteration (i=1) reads \
out[1], which (i=0) has to write first

Next room: `vectorize.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Load
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Stmt, Store, Write
from course_lib.ir.loops.walk import loops, nest_of, on_loads
from course_lib.ir.types import TensorType
from course_lib.schedule.primitives.at import at_loop, demand_independent, demand_numbers


@takes
def fission(kernel: Kernel, var: str) -> Kernel:
    """The loop goes inward, past everything that its body holds, to the statements that write.

    Neighbouring ones share a loop, an inner loop takes it in, and a local becomes an array with one
    element for each iteration (scalar expansion). The first loop keeps the name, the next ones are
    called `<var>_2`, ...; all keep the kind. Legal if the loop carries no dependence.
    """

    def distributed(loop: Loop) -> tuple[Stmt, ...]:
        what = f"fission {var}"
        demand_numbers(loop, what)
        if any(var in inner.bounded_by for inner in loops(loop.body)):
            raise ValueError(f"{what}: the bounds of a loop inside depend on it")
        demand_independent(loop, what, nest_of(kernel.body, var)[:-1])
        return _inward(loop, loop.body, {})

    return at_loop(kernel, var, distributed)


def _inward(loop: Loop, body: tuple[Stmt, ...], private: dict[str, Affine]) -> tuple[Stmt, ...]:
    """`body` with `loop` around each run of writes. `private` locals have a slot per iteration."""
    slot = Affine.var(loop.var) - loop.start
    done: list[Stmt] = []
    run: list[Stmt] = []

    def close_run() -> None:
        if run:
            done.append(replace(loop, body=tuple(run)))
            run.clear()

    for stmt in body:
        match stmt:
            case Local(Buffer(name, type)):
                private = {**private, name: slot}
                shape = (*type.dims, loop.extent or 0)
                done.append(Local(Buffer(name, TensorType(type.dtype, shape))))
            case Loop():
                close_run()
                done.append(replace(stmt, body=_inward(loop, stmt.body, private)))
            case Store() | Accumulate():
                run += _in_slots(stmt, private)
    close_run()
    return tuple(done)


def _in_slots(stmt: Write, private: dict[str, Affine]) -> tuple[Stmt, ...]:
    """The statement, with the iteration's slot appended to every access to a private local."""

    def load(e: Load) -> Load:
        return replace(e, indices=(*e.indices, private[e.buffer])) if e.buffer in private else e

    if stmt.buffer in private:
        stmt = replace(stmt, indices=(*stmt.indices, private[stmt.buffer]))
    return on_loads((stmt,), load)
