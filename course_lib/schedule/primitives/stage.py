"""stage: what some loops read of a local is copied first, and read from the copy.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> turned = parse_kernel('''
... kernel @turned(x: f32[4,6], out: f32[4,6]) {
...   local acc: f32[6,4]
...   for a in 0..6 { for b in 0..4 { acc[a, b] = x[b, a] } }
...   unroll r in 0..6 { vector l in 0..4 { out[l, r] = exp(acc[r, l]) } }
... }''')
>>> stage(turned, "r", "acc")
kernel @turned(x: f32[4,6], out: f32[4,6]) {
  local acc: f32[6,4]
  for a in 0..6 {
    for b in 0..4 {
      acc[a, b] = x[b, a]
    }
  }
  local stage: f32[6,4]
  unroll r_2 in 0..6 {
    vector l_2 in 0..4 {
      stage[r_2, l_2] = acc[r_2, l_2]
    }
  }
  unroll r in 0..6 {
    vector l in 0..4 {
      out[l, r] = exp(stage[r, l])
    }
  }
}
<BLANKLINE>

Now `acc` can stay in registers, because nothing but numbers indexes it, and the loops that read
`stage` may change places: memory may be read in any order. TVM calls this `cache_read`, and Halide
`Func::in`.

It is illegal where the loops write the local or read it at several places, for the copy would be
out of date or not enough, and where a loop around them says which part they read.

>>> stage(turned, "a", "acc")
Traceback (most recent call last):
ValueError: stage: the loop over a must read acc at one place only

Next room: `compute_at.py`.
"""

from __future__ import annotations

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Load
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.loops.walk import accesses, fresh_name, names_of, renamed
from course_lib.schedule.primitives.at import Place, at_loop, copying, perfect_nest


@takes
def stage(kernel: Kernel, var: str, local: str) -> Kernel:
    """Copy the local `local` for the loop over `var` and the loops that are all its body has.

    They must read it at one place, where only their own variables index it, and not write it.
    """
    if local not in kernel.buffers or kernel.buffers[local] in kernel.params:
        raise ValueError(f"stage: kernel @{kernel.name} has no local {local!r}")
    taken = set(names_of(kernel))
    copy = Buffer(fresh_name("stage", taken), kernel.buffers[local].type)

    def staged(loop: Loop) -> tuple[Stmt, ...]:
        place = _place(loop, local)
        store = Store(copy.name, place, Load(local, place, copy.type.dtype))
        before = copying(perfect_nest(loop), store, taken)
        return (Local(copy), *before, *renamed((loop,), {local: copy.name}))

    return at_loop(kernel, var, staged)


def _place(loop: Loop, buffer: str) -> Place:
    """The one place where the loops read the buffer."""
    touched = [a for a in accesses((loop,)) if a.buffer == buffer]
    place = tuple(i for i in touched[0].indices if isinstance(i, Affine)) if touched else ()
    if not touched or any(a.way == "write" or a.indices != place for a in touched):
        raise ValueError(f"stage: the loop over {loop.var} must read {buffer} at one place only")
    own = [inner.var for inner in perfect_nest(loop)]
    if any(var not in own for index in place for var in index.vars):
        raise ValueError(f"stage: {loop.var} does not read {buffer} by its own variables only")
    return place
