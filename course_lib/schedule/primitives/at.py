"""What all primitives share: finding the loop, putting something in its place, refusing in words.

    at_loop(kernel, "i", lambda loop: (replace(loop, kind="unroll"),))

Next room: `split.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import loops, named_apart, rewrite


def find_loop(kernel: Kernel, var: str) -> Loop:
    """The loop over `var`; an error that lists the loops there are."""
    for loop in loops(kernel.body):
        if loop.var == var:
            return loop
    have = ", ".join(loop.var for loop in loops(kernel.body))
    raise ValueError(f"kernel @{kernel.name} has no loop {var!r}; it has: {have}")


def at_loop(kernel: Kernel, var: str, change: Callable[[Loop], tuple[Stmt, ...]]) -> Kernel:
    """The kernel with `change(loop)` in the place of the loop over `var`, verified."""
    find_loop(kernel, var)

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        return change(stmt) if isinstance(stmt, Loop) and stmt.var == var else (stmt,)

    return verify_kernel(named_apart(replace(kernel, body=rewrite(kernel.body, one))))


def demand_independent(loop: Loop, what: str) -> None:
    """Refuse if the loop carries a dependence."""
    for dependence in carried(loop):
        raise ValueError(f"{what}: the loop carries {dependence}")


def demand_numbers(loop: Loop, what: str) -> int:
    """How many iterations the loop has; refuse if that, or where it starts, is not a number."""
    if loop.extent is None or loop.start.terms:
        raise ValueError(f"{what}: its bounds must be numbers, not {loop.start}..{loop.stop}")
    return loop.extent
