"""prefetch: while a block of an operand is used, the next one comes into the caches.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> product = parse_kernel('''
... kernel @product(x: f32[9,64], w: f32[4,64,32], out: f32[4,9,32]) {
...   for o in 0..4 { for r in 0..9 { for i in 0..64 { vector l in 0..32 {
...     out[o, r, l] += x[r, i] * w[o, i, l]
...   } } } }
... }''')
>>> ahead = prefetch(product, "w", "o", "i")
>>> print(ahead)
kernel @product(x: f32[9,64], w: f32[4,64,32], out: f32[4,9,32]) prefetch(w, o, i) {
  for o in 0..4 {
    for r in 0..9 {
      for i in 0..64 {
        vector l in 0..32 {
          out[o, r, l] += x[r, i] * w[o, i, l]
        }
      }
    }
  }
}
<BLANKLINE>

It changes no statement: the kernel only says that each iteration of i shall ask for a part of the
block w[o + 1], which the nine rows that read w[o] leave time for. That part begins at element

>>> from course_lib.ir.loops.prefetch import positions
>>> positions(ahead, ahead.prefetched[0])[0]
4*i + 2048*o + 256*r + 2048

It is legal wherever each iteration reads a block of its own, from end to end; it computes nothing:

>>> prefetch(product, "x", "o", "i")
Traceback (most recent call last):
ValueError: kernel @product: prefetch x, o, i: o does not move along x

Next room: `course_lib/schedule/steps.py`, where each primitive is a step of a schedule.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel, Prefetched
from course_lib.ir.loops.verify import verify_kernel


@takes
def prefetch(kernel: Kernel, operand: str, loop: str, within: str) -> Kernel:
    """Fetch the part of `operand` that the next iteration of `loop` reads while this one runs, an
    equal share in each iteration of the loop `within`, which stands inside.

    A step for the end of a schedule: the loops keep their names from here on.
    """
    asked = (*kernel.prefetched, Prefetched(operand, loop, within))
    return verify_kernel(replace(kernel, prefetched=asked))
