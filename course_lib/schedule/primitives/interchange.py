"""interchange: two loops change places; the smallest `reorder`.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> copy = parse_kernel('''
... kernel @copy(x: f32[4,5], out: f32[4,5]) {
...   for i in 0..4 { for j in 0..5 { out[i, j] = x[i, j] } }
... }''')
>>> interchange(copy, "i", "j")
kernel @copy(x: f32[4,5], out: f32[4,5]) {
  for j in 0..5 {
    for i in 0..4 {
      out[i, j] = x[i, j]
    }
  }
}
<BLANKLINE>

It is illegal if a dependence leads to a later i and an earlier j: it would run backwards.

>>> interchange(parse_kernel('''
... kernel @skewed(out: f32[9,9]) {
...   for i in 0..8 { for j in 0..8 { out[i + 1, j] = out[i, j + 1] } }
... }'''), "i", "j")
Traceback (most recent call last):
ValueError: interchange i, j: a flow dependence through out would run backwards: it leads from an \
iteration to (i +1, j -1): iteration (i=1, j=0) reads out[1, 1], which (i=0, j=1) has to write first

Next room: `skew.py`.
"""

from __future__ import annotations

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.primitives.at import find_loop
from course_lib.schedule.primitives.reorder import reordered


@takes
def interchange(kernel: Kernel, outer: str, inner: str) -> Kernel:
    """The loop over `inner`, all that the body of `outer` has, goes outside. Kinds go along."""
    what = f"interchange {outer}, {inner}"
    if find_loop(kernel, outer).body != (find_loop(kernel, inner),):
        raise ValueError(f"{what}: {inner} must be all that the body of {outer} has")
    return reordered(kernel, (inner, outer), what)
