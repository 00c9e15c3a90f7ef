"""stage: what some loops read of a local is copied first, and read from the copy.

    unroll r { vector l { out[l, r] = f(acc[r, l]) } }
    ==>  stage(kernel, "r", "acc")
    local stage: f32[6,16]
    unroll r_2 { vector l_2 { stage[r_2, l_2] = acc[r_2, l_2] } }
    unroll r { vector l { out[l, r] = f(stage[r, l]) } }

Now `acc` can stay in registers, because nothing but numbers indexes it, and the loops that read
`stage` may change places: memory may be read in any order. Halide and TVM call this a cache stage.
Next room: `compute_at.py`.
"""

from __future__ import annotations

from course_lib.ir.expr import Affine, Load
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.loops.walk import accesses, fresh_name, names_of, renamed
from course_lib.schedule.primitives.at import Place, at_loop, copying, perfect_nest


def stage(kernel: Kernel, var: str, buffer: str) -> Kernel:
    """Copy the local `buffer` for the loop over `var` and the loops that are all its body has.

    They must read it at one place, where only their own variables index it, and not write it.
    """
    if buffer not in kernel.buffers or kernel.buffers[buffer] in kernel.params:
        raise ValueError(f"stage: kernel @{kernel.name} has no local {buffer!r}")
    taken = set(names_of(kernel))
    copy = Buffer(fresh_name("stage", taken), kernel.buffers[buffer].type)

    def staged(loop: Loop) -> tuple[Stmt, ...]:
        place = _place(loop, buffer)
        store = Store(copy.name, place, Load(buffer, place, copy.type.dtype))
        before = copying(perfect_nest(loop), store, taken)
        return (Local(copy), *before, *renamed((loop,), {buffer: copy.name}))

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
