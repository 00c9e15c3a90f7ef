"""promote: accumulate in registers. What a loop combines in memory is kept in a local meanwhile.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> product = parse_kernel('''
... kernel @product(x: f32[6,5], w: f32[5,8], out: f32[6,8]) {
...   for io in 0..3 {
...     for k in 0..5 { for i in 0..2 { for j in 0..8 {
...       out[i + 2*io, j] += x[i + 2*io, k] * w[k, j]
...     } } }
...   }
... }''')
>>> promote(product, "out", "k")
kernel @product(x: f32[6,5], w: f32[5,8], out: f32[6,8]) {
  for io in 0..3 {
    local acc: f32[2,8]
    for i_2 in 0..2 {
      for j_2 in 0..8 {
        acc[i_2, j_2] = 0.0
      }
    }
    for k in 0..5 {
      for i in 0..2 {
        for j in 0..8 {
          acc[i, j] += x[i + 2*io, k] * w[k, j]
        }
      }
    }
    for i_3 in 0..2 {
      for j_3 in 0..8 {
        out[i_3 + 2*io, j_3] += acc[i_3, j_3]
      }
    }
  }
}
<BLANKLINE>

With i unrolled and j a vector the sums are in registers all the while k runs. What was in memory is
added in the end, so that nothing waits for it in the beginning; anything but a sum is loaded first
and stored last. It is illegal if the loop reads or writes the buffer anywhere else.

>>> promote(parse_kernel('''
... kernel @prefix(x: f32[8], out: f32[9]) {
...   for k in 0..8 { out[k + 1] = out[k] + x[k] }
... }'''), "out", "k")
Traceback (most recent call last):
ValueError: promote out, k: the loop must touch out at one place only, not at out[k] and out[k + 1]

Next room: `demote.py`, the other way.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Load, literal, print_indices
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import (
    Accumulate,
    Buffer,
    Kernel,
    Local,
    Loop,
    Stmt,
    Store,
    Write,
)
from course_lib.ir.loops.walk import (
    accesses,
    fresh_name,
    loops,
    names_of,
    on_loads,
    rewrite,
    statements,
)
from course_lib.ir.types import TensorType
from course_lib.schedule.primitives.at import Place, affine, at_loop, copying, demand_numbers


@takes
def promote(kernel: Kernel, buffer: str, var: str) -> Kernel:
    """Keep the elements of `buffer` that the loop over `var` changes in a local while it runs.

    The loop must touch the buffer at one place, and move there by loops inside it only, each of
    which reaches other elements. The local is called `acc`.
    """
    what = f"promote {buffer}, {var}"
    if buffer not in kernel.buffers:
        raise ValueError(f"{what}: kernel @{kernel.name} has no {buffer!r}")
    taken = set(names_of(kernel))
    dtype = kernel.buffers[buffer].type.dtype

    def promoted(loop: Loop) -> tuple[Stmt, ...]:
        place = _place(loop, buffer, what)
        nest = [inner for inner in loops(loop.body) if any(i.coefficient(inner.var) for i in place)]
        shape = tuple(demand_numbers(inner, what) for inner in nest)
        acc = Buffer(fresh_name("acc", taken), TensorType(dtype, shape))
        here = tuple(Affine.var(inner.var) - inner.start for inner in nest)
        kept = Load(acc.name, here, dtype)
        if _is_sum(loop, buffer):
            first, last = literal(0, dtype), Accumulate(buffer, place, "add", kept)
        else:
            first, last = Load(buffer, place, dtype), Store(buffer, place, kept)
        before = copying(nest, Store(acc.name, here, first), taken)
        after = copying(nest, last, taken)
        for stmt in (s for s in loops(after) if carried(s)):
            raise ValueError(f"{what}: {stmt.var} reaches the same element several times")
        (inside,) = _in_local(loop, buffer, acc.name, here)
        return (Local(acc), *before, inside, *after)

    return at_loop(kernel, var, promoted)


def _place(loop: Loop, buffer: str, what: str) -> Place:
    """The one place where the loop touches the buffer."""
    touched = dict.fromkeys(a.indices for a in accesses((loop,)) if a.buffer == buffer)
    if len(touched) != 1:
        where = " and ".join(f"{buffer}[{print_indices(place)}]" for place in touched)
        at = f", not at {where}" if touched else ""
        raise ValueError(f"{what}: the loop must touch {buffer} at one place only{at}")
    (place,) = touched
    if any(i.coefficient(loop.var) for i in affine(place, what)):
        raise ValueError(f"{what}: each iteration has elements of its own")
    if not any(a.way == "write" for a in accesses((loop,)) if a.buffer == buffer):
        raise ValueError(f"{what}: the loop does not write {buffer}")
    return affine(place, what)


def _is_sum(loop: Loop, buffer: str) -> bool:
    """Does the loop only add to the buffer?"""
    changes = [s for s in statements((loop,)) if isinstance(s, Write) and s.buffer == buffer]
    reads = [a for a in accesses((loop,)) if a.buffer == buffer and a.way == "read"]
    adding = all(isinstance(s, Accumulate) and s.op == "add" for s in changes)
    return adding and len(reads) == len(changes)


def _in_local(loop: Loop, buffer: str, local: str, here: Place) -> tuple[Stmt, ...]:
    """The loop, with every access to the buffer at its place in the local."""

    def write(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Write) and stmt.buffer == buffer:
            stmt = replace(stmt, buffer=local, indices=here)
        return (stmt,)

    def load(e: Load) -> Load:
        return replace(e, buffer=local, indices=here) if e.buffer == buffer else e

    return rewrite(on_loads((loop,), load), write)
