"""pack: an operand is stored in blocks, so that what a block of lanes reads is one run of bytes.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> columns = parse_kernel('''
... kernel @columns(w: f32[5,8], out: f32[8]) {
...   for no in 0..2 { for k in 0..5 { for ni in 0..4 {
...     out[ni + 4*no] += w[k, ni + 4*no]
...   } } }
... }''')
>>> pack(columns, "w", 1, 4)
kernel @columns(w: f32[2,5,4], out: f32[8]) pack(w, 1, 4) {
  for no in 0..2 {
    for k in 0..5 {
      for ni in 0..4 {
        out[ni + 4*no] += w[no, k, ni]
      }
    }
  }
}
<BLANKLINE>

It is illegal where the loops do not read in such blocks, as an index has no quotient.

>>> pack(columns, "w", 1, 2)
Traceback (most recent call last):
ValueError: pack: w is read at ni + 4*no, which is not 2 * outer + inner

Next room: `prefetch.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Expr, Load
from course_lib.ir.loops.nest import Buffer, Kernel, Loop, Packing
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import extreme, loops, on_loads
from course_lib.ir.types import TensorType


@takes
def pack(kernel: Kernel, param: str, axis: int, factor: int) -> Kernel:
    """Split axis `axis` of an operand by `factor`: the outer part goes first, the inner part last.

    Every access must be `factor * outer + inner` along that axis, which is what `split` leaves
    behind. The caller of the kernel must rearrange the bytes: it finds the request in `packed`.
    """
    buffer = next((b for b in kernel.params[:-1] if b.name == param), None)
    if buffer is None:
        raise ValueError(f"kernel @{kernel.name} has no operand {param!r}")
    sizes = buffer.type.dims
    if not 0 <= axis < len(sizes) or factor < 1:
        raise ValueError(f"pack: {param} has {len(sizes)} axes, got axis {axis} by {factor}")
    if sizes[axis] % factor:
        raise ValueError(f"pack: {sizes[axis]} does not divide into blocks of {factor}")
    around = loops(kernel.body)

    def block(e: Load) -> Load:
        if e.buffer != param:
            return e
        outer, inner = quotient(e.indices[axis], factor, around, f"pack: {param}")
        return replace(e, indices=(outer, *e.indices[:axis], *e.indices[axis + 1 :], inner))

    shape = (sizes[axis] // factor, *sizes[:axis], *sizes[axis + 1 :], factor)
    packed = Buffer(param, TensorType(buffer.type.dtype, shape))
    params = tuple(packed if b.name == param else b for b in kernel.params)
    requests = (*kernel.packed, Packing(param, axis, factor))
    body = on_loads(kernel.body, block)
    return verify_kernel(replace(kernel, params=params, body=body, packed=requests))


def quotient(
    index: Affine | Expr, factor: int, around: Sequence[Loop], what: str
) -> tuple[Affine, Affine]:
    """An index as (number of a block, inside it): exact if the latter never leaves the block."""
    if isinstance(index, Affine):
        blocks = Affine(tuple((v, c // factor) for v, c in index.terms if c % factor == 0))
        least = extreme(index - blocks * factor, around, -1)
        outer = blocks + least.const // factor
        inner = index - outer * factor
        most = extreme(inner, around, +1)
        if not least.terms and not most.terms and most.const < factor:
            return outer, inner
    raise ValueError(f"{what} is read at {index}, which is not {factor} * outer + inner")
