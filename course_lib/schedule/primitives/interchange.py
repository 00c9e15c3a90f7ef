"""interchange: two loops change places.

    for i { for j { out[i, j] = x[i, j] } }
    ==>  interchange(kernel, "i", "j")
    for j { for i { out[i, j] = x[i, j] } }

It is illegal if a dependence leads to a later i and an earlier j: it would run backwards.

    for i { for j { out[i + 1, j] = out[i, j + 1] } }      refused

Next room: `fission.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.ir.loops.dependence import prevents_interchange
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.schedule.primitives.at import at_loop, find_loop


def interchange(kernel: Kernel, outer: str, inner: str) -> Kernel:
    """The loop over `inner`, all that the body of `outer` has, goes outside. Kinds go along."""
    what, inside = f"interchange {outer}, {inner}", find_loop(kernel, inner)

    def swapped(loop: Loop) -> tuple[Stmt, ...]:
        if loop.body != (inside,):
            raise ValueError(f"{what}: {inner} must be all that the body of {outer} has")
        if outer in (*inside.start.vars, *inside.stop.vars):
            raise ValueError(f"{what}: the bounds of {inner} depend on {outer}")
        backwards = prevents_interchange(loop, inside)
        if backwards is not None:
            raise ValueError(f"{what}: {backwards} would run backwards")
        return (replace(inside, body=(replace(loop, body=inside.body),)),)

    return at_loop(kernel, outer, swapped)
