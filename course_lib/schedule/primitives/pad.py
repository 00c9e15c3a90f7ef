"""pad: an axis of a local grows, and the loops that fill it run to its new end.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> odd = parse_kernel('''
... kernel @odd(x: f32[9], out: f32[7]) {
...   local t: f32[7]
...   for i in 0..7 { t[i] = 0.0 }
...   for k in 0..3 { for j in 0..7 { t[j] += x[k] } }
...   for l in 0..7 { out[l] = t[l] }
... }''')
>>> pad(odd, "t", 0, 8)
kernel @odd(x: f32[9], out: f32[7]) {
  local t: f32[8]
  for i in 0..8 {
    t[i] = 0.0
  }
  for k in 0..3 {
    for j in 0..8 {
      t[j] += x[k]
    }
  }
  for l in 0..7 {
    out[l] = t[l]
  }
}
<BLANKLINE>

Eight lanes fill a vector register of 256 bits, seven do not. What the new elements hold reaches no
other one, as every loop that does anything but fill the local stays as it was. It is illegal where
a loop that fills it would leave another buffer.

>>> pad(parse_kernel('''
... kernel @copy(x: f32[7], out: f32[7]) {
...   local t: f32[7]
...   for i in 0..7 { t[i] = x[i] }
...   for l in 0..7 { out[l] = t[l] }
... }'''), "t", 0, 8)
Traceback (most recent call last):
ValueError: pad t: kernel @copy: x[i] is outside f32[7]: i runs from 0 to 7

Next room: `pack.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Stmt, Write
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import loops, rewrite, statements
from course_lib.ir.types import TensorType


@takes
def pad(kernel: Kernel, local: str, axis: int, size: int) -> Kernel:
    """Let axis `axis` of a local have `size` elements.

    A loop over all of the axis in which only the local is written, at the loop's own variable, runs
    over all of the new one.
    """
    what = f"pad {local}"
    buffer = kernel.buffers.get(local)
    if buffer is None or buffer in kernel.params:
        raise ValueError(f"{what}: kernel @{kernel.name} has no local {local!r}")
    dims = buffer.type.dims
    if not 0 <= axis < len(dims) or size < dims[axis]:
        raise ValueError(f"{what}: its type is {buffer.type}, got axis {axis} of {size}")
    shape = TensorType(buffer.type.dtype, (*dims[:axis], size, *dims[axis + 1 :]))

    def grown(stmt: Stmt) -> tuple[Stmt, ...]:
        if stmt == Local(buffer):
            return (Local(Buffer(local, shape)),)
        if isinstance(stmt, Loop) and _fills(stmt, local, axis, dims[axis]):
            return (replace(stmt, stop=Affine((), size)),)
        return (stmt,)

    try:
        return verify_kernel(replace(kernel, body=rewrite(kernel.body, grown)))
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


def _fills(loop: Loop, local: str, axis: int, size: int) -> bool:
    """Does it run over a whole axis of the local, and write nothing else?"""
    writes = [s for s in statements(loop.body) if isinstance(s, Write)]
    whole = (loop.start, loop.extent) == (Affine(), size)
    own = all(w.buffer == local and w.indices[axis] == Affine.var(loop.var) for w in writes)
    bounds = any(loop.var in inner.bounded_by for inner in loops(loop.body))
    return whole and own and bool(writes) and not bounds
