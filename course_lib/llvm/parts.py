"""Which functions a kernel becomes: one for each loop at the top.

    for i in 0..64 { out[i, 0] = 0.0 }          @k.0, one function with the next
    for i in 0..64 { out[i, 65] = 0.0 }
    parallel i in 0..64 { .. }                  @k.1, of which threads share the iterations

A function runs the iterations number `lo .. hi` of its loop, so that a caller can share those of a
parallel loop out among threads. (And LLVM, which does not know how many there are, does not write
them out.) The loops that fill the border of an image are one function together. Next room:
`emit.py`, which writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.ir.expr import Const
from course_lib.ir.loops.nest import Kernel, Loop, Stmt, Store, Write
from course_lib.ir.loops.walk import loops, statements


@dataclass(frozen=True)
class Part:
    """One function of a kernel.

    iterations  of its outermost loop; 1 if it has none
    checks      it takes indices from memory, and may return 1
    parallel    several threads may share the iterations
    """

    symbol: str
    iterations: int
    checks: bool = False
    parallel: bool = False


def functions_of(kernel: Kernel) -> list[tuple[Stmt, ...]]:
    """What becomes a function: each of its bodies, but those of one border are one."""
    functions: list[tuple[Stmt, ...]] = []
    for body in bodies_of(kernel):
        if functions and is_border(functions[-1]) and is_border(body):
            functions[-1] += body
        else:
            functions.append(body)
    return functions


def bodies_of(kernel: Kernel) -> list[tuple[Stmt, ...]]:
    """Each loop at the top, or all of a body that has more than loops."""
    if all(isinstance(stmt, Loop) for stmt in kernel.body):
        return [(stmt,) for stmt in kernel.body]
    return [kernel.body]


def is_border(body: tuple[Stmt, ...]) -> bool:
    """Is it a nest that fills, and too small to share out, as beside the pixels of an image?"""
    return only_fills(body) and not any(loop.kind == "parallel" for loop in loops(body))


def only_fills(body: tuple[Stmt, ...]) -> bool:
    """Does it store nothing but constants, as the nests for the border of an image do?"""
    written = [stmt for stmt in statements(body) if isinstance(stmt, Write)]
    return all(isinstance(stmt.value, Const) and isinstance(stmt, Store) for stmt in written)


def only_loop(body: tuple[Stmt, ...]) -> Loop | None:
    """The loop of which a function runs the iterations `lo .. hi`: all that there is in it."""
    match body:
        case (Loop(kind="for" | "parallel") as loop,) if loop.extent is not None:
            return loop
    return None
