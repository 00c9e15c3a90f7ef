"""compute_at: what a local holds is computed where it is needed, a part of it at a time.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> blur = parse_kernel('''
... kernel @blur(x: f32[10], out: f32[8]) {
...   local twice: f32[10]
...   for i in 0..10 { twice[i] = x[i] + x[i] }
...   for j in 0..8 { out[j] = twice[j] + twice[j + 2] }
... }''')
>>> compute_at(blur, "twice", "j")
kernel @blur(x: f32[10], out: f32[8]) {
  for j in 0..8 {
    local twice: f32[3]
    for i in 0..3 {
      twice[i] = x[i + j] + x[i + j]
    }
    out[j] = twice[0] + twice[2]
  }
}
<BLANKLINE>

Less memory and what is read is still in the cache or in registers; in exchange, what several
iterations need is computed several times (Halide: `compute_at`). It is illegal if the loops that
compute it must run from first to last, or if what they read may change before it is needed.

>>> compute_at(parse_kernel('''
... kernel @prefix(x: f32[8], out: f32[8]) {
...   local sum: f32[9]
...   sum[0] = 0.0
...   for i in 0..8 { sum[i + 1] = sum[i] + x[i] }
...   for j in 0..8 { out[j] = sum[j + 1] }
... }'''), "sum", "j")
Traceback (most recent call last):
ValueError: compute_at sum, j: i: the loop carries a flow dependence through sum: iteration (i=1) \
reads sum[1], which (i=0) has to write first

Next room: `cache.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Load
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Stmt, Write
from course_lib.ir.loops.walk import (
    Access,
    accesses,
    extreme,
    loops,
    nest_of,
    on_loads,
    rewrite,
    statements,
    substitute,
)
from course_lib.ir.types import TensorType
from course_lib.schedule.primitives.at import (
    affine,
    at_local,
    demand_independent,
    demand_numbers,
    find_loop,
    inside_of,
    region,
)

Part = list[tuple[Affine, int]]  # along each axis: the first element, and how many


@takes
def compute_at(kernel: Kernel, local: str, var: str) -> Kernel:
    """Move the declaration of `local` and all that writes it to where the body of `var` begins.

    What writes it must write nothing else. Its loops run over the part only that one iteration of
    `var` reads; to that end, loops without a dependence index the local, a loop for each axis.
    """
    what = f"compute_at {local}, {var}"
    find_loop(kernel, var)

    def moved(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        producer = [s for s in block if _touches(s, local, "write")]
        users = [s for s in block if _touches(s, local, "read") and s not in producer]
        if len(users) != 1 or var not in [loop.var for loop in loops((users[0],))]:
            raise ValueError(f"{what}: {local} must be read in the loop over {var} only")
        _demand_still_there(block, producer, users[0], local, what)
        (declared,) = (s for s in block if isinstance(s, Local) and s.buffer.name == local)
        for loop in loops(tuple(producer)):
            if any(_moves(a, local, loop.var) for a in accesses(loop.body)):
                around = nest_of(kernel.body, loop.var)[:-1]
                demand_independent(loop, f"{what}: {loop.var}", around)
        user = _at(users[0], var, declared.buffer, producer, what)
        rest = (s for s in block if s not in producer and s is not declared)
        return tuple(user if s is users[0] else s for s in rest)

    return at_local(kernel, local, moved, what)


def _touches(stmt: Stmt, name: str, way: str) -> bool:
    return any(a.buffer == name and a.way == way for a in accesses((stmt,)))


def _moves(access: Access, local: str, var: str) -> bool:
    """Does an access reach another element of the local in the next iteration?"""
    indices = (i for i in access.indices if isinstance(i, Affine))
    return access.buffer == local and any(i.coefficient(var) for i in indices)


def _demand_still_there(
    block: tuple[Stmt, ...], producer: Sequence[Stmt], user: Stmt, local: str, what: str
) -> None:
    """Refuse if the producer writes anything else, or if what it reads is written after it."""
    own = {s.buffer.name for s in statements(tuple(producer)) if isinstance(s, Local)} | {local}
    touched = accesses(tuple(producer))
    for access in touched:
        if access.way == "write" and access.buffer not in own:
            raise ValueError(f"{what}: what computes {local} writes {access.buffer} too")
    if not producer or block.index(producer[-1]) > block.index(user):
        raise ValueError(f"{what}: {local} is not computed before the loop over {var_of(user)}")
    reads = {a.buffer for a in touched if a.way == "read"} - own
    after = block[block.index(producer[0]) : block.index(user) + 1]
    for access in accesses(tuple(s for s in after if s not in producer)):
        if access.way == "write" and access.buffer in reads:
            raise ValueError(f"{what}: {local} is made of {access.buffer}, which changes meanwhile")


def var_of(stmt: Stmt) -> str:
    """The variable of a statement that is a loop."""
    return stmt.var if isinstance(stmt, Loop) else "?"


def _at(user: Stmt, var: str, buffer: Buffer, producer: Sequence[Stmt], what: str) -> Stmt:
    """The statement that reads the local, with the producer in its loop over `var`."""
    total = [a for a in accesses((user,)) if a.buffer == buffer.name]
    around: list[Loop] = loops((user,))

    def change(stmt: Stmt) -> tuple[Stmt, ...]:
        def moved(e: Load) -> Load:
            here = e.buffer == buffer.name
            return replace(e, indices=inside_of(e.indices, part, what)) if here else e

        if not isinstance(stmt, Loop) or stmt.var != var:
            return (stmt,)
        reads = [a for a in accesses(stmt.body) if a.buffer == buffer.name]
        if len(reads) < len(total):
            raise ValueError(f"{what}: {buffer.name} is read outside the loop over {var} too")
        part = region([affine(a.indices, what) for a in reads], loops(stmt.body), what)
        computed = [_restricted(s, buffer.name, part, around, what) for s in producer]
        shape = TensorType(buffer.type.dtype, tuple(size for _, size in part))
        there = (Local(Buffer(buffer.name, shape)), *computed)
        return (replace(stmt, body=(*there, *on_loads(stmt.body, moved))),)

    (result,) = rewrite((user,), change)
    return result


def _restricted(stmt: Stmt, name: str, part: Part, around: Sequence[Loop], what: str) -> Stmt:
    """A statement of the producer that computes one part only: its loops begin at 0."""
    touched = [a.indices for a in accesses((stmt,)) if a.buffer == name]
    place = affine(touched[0], what)
    if any(indices != place for indices in touched):
        raise ValueError(f"{what}: a statement before it must touch {name} at one place only")
    own = {loop.var: loop for loop in loops((stmt,))}
    values, sizes = {}, {}
    for index, (first, size) in zip(place, part, strict=True):
        axis = Affine(index.terms)
        loop = own.get(axis.vars[0]) if len(axis.vars) == 1 else None
        if loop is None or axis != Affine.var(loop.var) or loop.var in values:
            raise ValueError(f"{what}: no loop of its own computes {name} along the index {index}")
        demand_numbers(loop, what)
        least = extreme(first, around, -1) - index.const
        most = extreme(first, around, +1) - index.const + size
        inside = least.const >= loop.start.const and most.const <= loop.stop.const
        if least.terms or most.terms or not inside:
            raise ValueError(f"{what}: more of {name} is read than {loop.var} computes")
        values[loop.var] = Affine.var(loop.var) + first - index.const
        sizes[loop.var] = size
    return _resized(stmt, name, values, sizes)


def _resized(stmt: Stmt, name: str, values: dict[str, Affine], sizes: dict[str, int]) -> Stmt:
    """The statement with new values for the variables of some loops, which run over 0..size."""
    index = tuple(map(Affine.var, values))

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Loop) and stmt.var in sizes:
            stmt = replace(stmt, start=Affine(), stop=Affine((), sizes[stmt.var]))
        if isinstance(stmt, Write) and stmt.buffer == name:
            stmt = replace(stmt, indices=index)
        return (stmt,)

    moved = substitute((stmt,), values)
    moved = on_loads(moved, lambda e: replace(e, indices=index) if e.buffer == name else e)
    (result,) = rewrite(moved, one)
    return result
