"""demote: a sum is kept in the result itself, and not in a local.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> sums = parse_kernel('''
... kernel @sums(x: f32[10,3], bias: f32[10], out: f32[10]) {
...   for i in 0..10 {
...     local acc: f32[]
...     acc[] = 0.0
...     for k in 0..3 { acc[] += x[i, k] }
...     out[i] = acc[] + bias[i]
...   }
... }''')
>>> demote(sums, "acc")
kernel @sums(x: f32[10,3], bias: f32[10], out: f32[10]) {
  for i in 0..10 {
    out[i] = 0.0
    for k in 0..3 {
      out[i] += x[i, k]
    }
    out[i] = out[i] + bias[i]
  }
}
<BLANKLINE>

Nothing ties the loops together any more: `fission` can part the three statements without an array
of sums, the reduction can be cut into pieces, and `promote` brings a tile of sums back into
registers. It is illegal if the result is needed meanwhile: if it is an operand too, over which it
is written.

>>> demote(parse_kernel('''
... kernel @onto(x: f32[10,3], out: f32[10]) {
...   for i in 0..10 {
...     local acc: f32[]
...     acc[] = 0.0
...     for k in 0..3 { acc[] += x[i, k] }
...     out[i] = acc[] + out[i]
...   }
... }'''), "acc")
Traceback (most recent call last):
ValueError: demote acc: out is touched elsewhere while acc is in use

Next room: `pad.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Load
from course_lib.ir.loops.nest import Kernel, Local, Stmt, Store, Write
from course_lib.ir.loops.walk import accesses, on_loads, rewrite
from course_lib.schedule.primitives.at import affine, at_local


@takes
def demote(kernel: Kernel, local: str) -> Kernel:
    """Let the local live where the result is stored that is made of it.

    The local is one number. The last statement of its block that uses it stores the result, which
    has its type; nothing else in the block touches the result.
    """
    what = f"demote {local}"

    def demoted(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        using = [s for s in block if any(a.buffer == local for a in accesses((s,)))]
        final = using[-1] if using else None
        if not isinstance(final, Store) or final.buffer != kernel.out.name:
            raise ValueError(f"{what}: the result is not what {local} is used for in the end")
        if kernel.buffers[local].type.dims or kernel.buffers[local].type.dtype != final.value.dtype:
            raise ValueError(f"{what}: {local} is not one number of the result's type")
        touched = [a for a in accesses(block) if a.buffer == final.buffer]
        affine(final.indices, what)
        if len(touched) > 1:
            raise ValueError(f"{what}: {final.buffer} is touched elsewhere while {local} is in use")
        own = {s.buffer.name: s for s in block if isinstance(s, Local)}
        kept = (s for s in block if s is not own[local])
        body = tuple(s for s in kept if s is not final or not _only(final, local))
        return _renamed(body, local, final)

    return at_local(kernel, local, demoted, what)


def _only(store: Store, local: str) -> bool:
    """Does it store the local as it is?"""
    return isinstance(store.value, Load) and store.value.buffer == local


def _renamed(body: tuple[Stmt, ...], local: str, final: Store) -> tuple[Stmt, ...]:
    """The body, with the place of the result for the local."""

    def write(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Write) and stmt.buffer == local:
            stmt = replace(stmt, buffer=final.buffer, indices=final.indices)
        return (stmt,)

    def load(e: Load) -> Load:
        return replace(e, buffer=final.buffer, indices=final.indices) if e.buffer == local else e

    return rewrite(on_loads(body, load), write)
