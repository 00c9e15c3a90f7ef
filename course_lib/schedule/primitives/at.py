"""What all primitives share: finding the loop, putting something in its place, refusing in words.

    at_loop(kernel, "i", lambda loop: (replace(loop, kind="unroll"),))

Next room: `course_lib/schedule/legality.py`, or `split.py`, the first primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from course_lib.ir.expr import Affine, Expr
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Kernel, Local, Loop, Stmt, Write, print_bounds
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import extreme, fresh_name, loops, named_apart, rewrite, substitute

Place = tuple[Affine, ...]  # the indices of one access


def find_loop(kernel: Kernel, var: str) -> Loop:
    """The loop over `var`; an error that lists the loops there are."""
    for loop in loops(kernel.body):
        if loop.var == var:
            return loop
    variables = [loop.var for loop in loops(kernel.body)]
    raise ValueError(
        f"kernel @{kernel.name} has no loop {var!r}; it has: {', '.join(variables)}"
        f"{_only_a_rest(var, variables)}"
    )


def _only_a_rest(var: str, variables: Sequence[str]) -> str:
    """Why there is no `no`, if there is `nt` and no `no`: the split was wider than the loop."""
    whole, part = var[:-1], var[-1:]
    if part not in ("o", "i") or f"{whole}t" not in variables or f"{whole}o" in variables:
        return ""
    return (
        f". Of {whole} there is only {whole}t, the rest of a split: the factor is larger than the "
        "number of iterations"
    )


def at_loop(kernel: Kernel, var: str, change: Callable[[Loop], tuple[Stmt, ...]]) -> Kernel:
    """The kernel with `change(loop)` in the place of the loop over `var`, verified."""
    find_loop(kernel, var)

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        return change(stmt) if isinstance(stmt, Loop) and stmt.var == var else (stmt,)

    return verify_kernel(named_apart(replace(kernel, body=rewrite(kernel.body, one))))


def at_local(
    kernel: Kernel, name: str, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]], what: str
) -> Kernel:
    """The kernel with `change(block)` for the block that declares the local, verified."""
    if name not in kernel.buffers or kernel.buffers[name] in kernel.params:
        raise ValueError(f"{what}: kernel @{kernel.name} has no local {name!r}")

    def block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        if any(isinstance(s, Local) and s.buffer.name == name for s in body):
            return change(body)
        inner = (replace(s, body=block(s.body)) if isinstance(s, Loop) else s for s in body)
        return tuple(inner)

    return verify_kernel(named_apart(replace(kernel, body=block(kernel.body))))


def perfect_nest(loop: Loop) -> list[Loop]:
    """The loop, and the loops that are all that the body of the one before has."""
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(nest[-1].body[0], Loop):
        nest.append(nest[-1].body[0])
    return nest


def copying(nest: Sequence[Loop], store: Write, taken: Collection[str]) -> tuple[Stmt, ...]:
    """The loops of a nest, under names that are not taken, around a statement."""
    body: tuple[Stmt, ...] = (store,)
    new: dict[str, str] = {}
    for loop in reversed(nest):
        body = (replace(loop, body=body),)
        new[loop.var] = fresh_name(loop.var, {*taken, *new.values()})

    def rename(stmt: Stmt) -> tuple[Stmt, ...]:
        return (replace(stmt, var=new[stmt.var]) if isinstance(stmt, Loop) else stmt,)

    return rewrite(substitute(body, {v: Affine.var(name) for v, name in new.items()}), rename)


def affine(indices: Sequence[Affine | Expr], what: str) -> Place:
    """The indices, if none of them is data."""
    known = tuple(index for index in indices if isinstance(index, Affine))
    if len(known) < len(indices):
        raise ValueError(f"{what}: an index is data")
    return known


def region(places: Sequence[Place], inside: Sequence[Loop], what: str) -> list[tuple[Affine, int]]:
    """What some accesses touch while the loops `inside` run: (first, how many) along each axis.

    for i in 0..4 { .. x[i + 4*io, 3] .. }     inside [i]: (4*io, 4), (3, 1)

    The first one is an index by the variables of other loops. Refuses if the number depends on them
    or if the accesses do not move together.
    """
    box = []
    for indices in zip(*places, strict=True):
        least = [extreme(index, inside, -1) for index in indices]
        most = [extreme(index, inside, +1) for index in indices]
        if len({end.terms for end in (*least, *most)}) > 1:
            raise ValueError(f"{what}: how much lies from {least[0]} to {most[-1]} is no number")
        low, high = min(end.const for end in least), max(end.const for end in most)
        box.append((Affine(least[0].terms, low), high - low + 1))
    return box


def inside_of(
    indices: Sequence[Affine | Expr], part: Sequence[tuple[Affine, int]], what: str
) -> Place:
    """Where an access stands, counted from where a region begins."""
    return tuple(i - first for i, (first, _) in zip(affine(indices, what), part, strict=True))


def demand_independent(loop: Loop, what: str, around: Sequence[Loop] = ()) -> None:
    """Refuse if the loop carries a dependence; `around` it stand these loops."""
    for dependence in carried(loop, around):
        if dependence.point is None:
            raise ValueError(f"{what}: {dependence.witness}, so it is refused")
        raise ValueError(f"{what}: the loop carries {dependence}: {dependence.witness}")


def demand_numbers(loop: Loop, what: str) -> int:
    """How many iterations the loop has; refuse if that, or where it starts, is not a number."""
    if loop.extent is None or loop.start.terms:
        raise ValueError(f"{what}: its bounds must be numbers, not {print_bounds(loop)}")
    return loop.extent
