"""serial: one iteration after another, as a loop runs that nobody promised anything about.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> serial(parse_kernel('''
... kernel @copy(x: f32[8], out: f32[8]) { vector i in 0..8 { out[i] = x[i] } }'''), "i")
kernel @copy(x: f32[8], out: f32[8]) {
  for i in 0..8 {
    out[i] = x[i]
  }
}
<BLANKLINE>

It is always legal: every loop may run in its own order.

Next room: `stage.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.primitives.at import at_loop


@takes
def serial(kernel: Kernel, var: str) -> Kernel:
    """Take back that a loop is a vector, unrolled or parallel one. Always legal."""
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="for"),))
