"""Walking over loop nests: everything that a statement holds, found or replaced.

    accesses(body)                  every read and write, in program order
    substitute(body, {"i": ..})     loop variables replaced:    i  ==>  16*io + ii

Next room: `polyhedra/points.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from operator import is_
from typing import NamedTuple, Union

from course_lib.ir.expr import Affine, Expr, Load, loads, transform, transform_point
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Stmt, Store, Write

V = Affine.var


def statements(body: tuple[Stmt, ...]) -> list[Stmt]:
    """Every statement, outside first."""
    stmts: list[Stmt] = []
    for stmt in body:
        stmts.append(stmt)
        if isinstance(stmt, Loop):
            stmts += statements(stmt.body)
    return stmts


def loops(body: tuple[Stmt, ...]) -> list[Loop]:
    """Every loop of a body, outside first."""
    return [s for s in statements(body) if isinstance(s, Loop)]


def dealt_out(kernel: Kernel) -> list[Loop]:
    """The `parallel` loops whose iterations threads share: those at the top, beside loops only.

    Of any other one it is known that its iterations are independent, and one thread runs them, as
    OpenMP does by default where a parallel loop stands in another.
    """
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, Loop)]
    alone = len(outermost) == len(kernel.body)
    return [loop for loop in outermost if alone and loop.kind == "parallel"]


def nest_of(body: Sequence[Stmt], var: str) -> tuple[Loop, ...]:
    """The loop over `var` and the loops around it, outermost first; () if there is none."""
    for loop in (s for s in body if isinstance(s, Loop)):
        inside = nest_of(loop.body, var)
        if inside or loop.var == var:
            return (loop, *inside)
    return ()


def accumulators(body: tuple[Stmt, ...]) -> set[str]:
    """The buffers that a reduction combines its values in."""
    return {s.buffer for s in statements(body) if isinstance(s, Accumulate)}


def rewrite(body: tuple[Stmt, ...], fn: Callable[[Stmt], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    """Rebuild bottom-up: `fn` gives the statements that take each statement's place."""
    result: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = with_body(stmt, rewrite(stmt.body, fn))
        result.extend(fn(stmt))
    return tuple(result)


def with_body(loop: Loop, body: tuple[Stmt, ...]) -> Loop:
    """The loop around other statements; the same loop where they are the same."""
    if len(body) == len(loop.body) and all(map(is_, body, loop.body)):
        return loop
    return Loop(loop.var, loop.start, loop.stop, body, loop.kind, loop.above, loop.below)


def on_writes(
    body: tuple[Stmt, ...],
    index: Callable[[Affine], Affine] = lambda a: a,
    load: Callable[[Load], Expr] = lambda e: e,
) -> tuple[Stmt, ...]:
    """Every affine index and every load of the statements that write, passed through a function.

    What an `Accumulate` reads of its own buffer is no load.
    """

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(stmt, Write):
            return (stmt,)
        indices = transform_point(stmt.indices, index, load)
        value = transform(stmt.value, index, load)
        if indices is stmt.indices and value is stmt.value:
            return (stmt,)
        if isinstance(stmt, Store):
            return (Store(stmt.buffer, indices, value),)
        return (Accumulate(stmt.buffer, indices, stmt.op, value),)

    return rewrite(body, one)


def on_loads(body: tuple[Stmt, ...], load: Callable[[Load], Expr]) -> tuple[Stmt, ...]:
    """Replace every load of a body."""
    return on_writes(body, load=load)


def substitute(body: tuple[Stmt, ...], values: Mapping[str, Affine]) -> tuple[Stmt, ...]:
    """Replace loop variables by affine expressions, everywhere in a body."""

    def bounds(stmt: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(stmt, Loop):
            return (stmt,)
        if not stmt.bounded_by & values.keys():
            return (stmt,)
        starts = [start.substitute(values) for start in stmt.starts]
        return (bounded(stmt, starts, [stop.substitute(values) for stop in stmt.stops]),)

    return rewrite(on_writes(body, lambda index: index.substitute(values)), bounds)


def bounded(loop: Loop, starts: Sequence[Affine], stops: Sequence[Affine]) -> Loop:
    """The loop with other bounds. Of those that differ by a number only the strongest is kept."""

    def strongest(bounds: Sequence[Affine], pick: Callable[[int, int], int]) -> list[Affine]:
        constants: dict[tuple, int] = {}
        for bound in bounds:
            constants[bound.terms] = pick(constants.get(bound.terms, bound.const), bound.const)
        return [Affine(terms, const) for terms, const in constants.items()]

    (start, *above), (stop, *below) = strongest(starts, max), strongest(stops, min)
    return replace(loop, start=start, stop=stop, above=tuple(above), below=tuple(below))


def renamed(body: tuple[Stmt, ...], names: Mapping[str, str]) -> tuple[Stmt, ...]:
    """The body with other names for some buffers that it uses."""

    def name(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Write):
            stmt = replace(stmt, buffer=names.get(stmt.buffer, stmt.buffer))
        return (stmt,)

    loads = on_loads(body, lambda e: replace(e, buffer=names.get(e.buffer, e.buffer)))
    return rewrite(loads, name)


def names_of(kernel: Kernel) -> list[str]:
    """The names that a kernel gives: to its parameters, and to locals and loops in their order."""
    given = [b.name for b in kernel.params]
    for stmt in statements(kernel.body):
        match stmt:
            case Local(buffer):
                given.append(buffer.name)
            case Loop(var):
                given.append(var)
    return given


def fresh_name(name: str, taken: Collection[str]) -> str:
    """The name, or the first of name_2, name_3, ... that is not taken.

    Nor are those names that `split` would give to parts of it: n is not free while there is an no.
    """
    numbered = (f"{original(name)}_{k}" for k in count(2))
    free = (n for n in chain([name], numbered) if not any(n + p in taken for p in ("", *"oit")))
    return next(free)


def original(name: str) -> str:
    """What a copy was called at first: i for i, i_2 and i_3."""
    return re.sub(r"_\d+$", "", name)


def named_apart(kernel: Kernel, others: Collection[str] = ()) -> Kernel:
    """The same kernel, with every name given once: the second loop over i is called i_2.

    A primitive that copies statements ends with this, so that a loop is found by its name. No local
    or loop has one of the names in `others` afterwards.
    """
    given = names_of(kernel)
    if len(set(given)) == len(given) and not others:
        return kernel
    taken = {*given, *others}
    seen = {*(b.name for b in kernel.params), *others}

    def fresh(name: str) -> str:
        new = fresh_name(name, taken) if name in seen else name
        seen.add(new)
        taken.add(new)
        return new

    def block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        while body:
            stmt, body = body[0], body[1:]
            match stmt:
                case Local(Buffer(name, type)):
                    new = fresh(name)
                    stmt = Local(Buffer(new, type))
                    end = next((k for k, s in enumerate(body) if _gives(s, name)), len(body))
                    body = (*renamed(body[:end], {name: new}), *body[end:])
                case Loop(var):
                    new = fresh(var)
                    if new != var:
                        stmt = replace(stmt, var=new, body=substitute(stmt.body, {var: V(new)}))
                    stmt = with_body(stmt, block(stmt.body))
            done.append(stmt)
        return tuple(done)

    return replace(kernel, body=block(kernel.body))


def _gives(stmt: Stmt, name: str) -> bool:
    """Is this another local of that name? What follows means the new one."""
    return isinstance(stmt, Local) and stmt.buffer.name == name


class Access(NamedTuple):
    """A "read" or a "write" of an element."""

    way: str
    buffer: str
    indices: tuple[Union[Affine, Expr], ...]


def accesses(body: tuple[Stmt, ...]) -> list[Access]:
    """Every access of a body, in program order. An `Accumulate` reads and writes its element."""
    accessed: list[Access] = []
    for stmt in statements(body):
        if isinstance(stmt, Write):
            if isinstance(stmt, Accumulate):
                accessed.append(Access("read", stmt.buffer, stmt.indices))
            read = [i for i in stmt.indices if not isinstance(i, Affine)] + [stmt.value]
            accessed += [Access("read", e.buffer, e.indices) for r in read for e in loads(r)]
            accessed.append(Access("write", stmt.buffer, stmt.indices))
    return accessed


def span(index: Affine, first: Mapping[str, int], last: Mapping[str, int]) -> tuple[int, int]:
    """The smallest and the largest value of an index whose variables run over these numbers, each
    for itself. A variable that is in neither stands still, and is left out: i + 4*k, with i in
    0..4, spans 0 to 3."""
    least = most = index.const
    for var, coefficient in index.terms:
        if var in first:
            ends = coefficient * first[var], coefficient * last[var]
            least, most = least + min(ends), most + max(ends)
    return least, most


def extreme(index: Affine, around: Sequence[Loop], sign: int) -> Affine:
    """The largest (`sign` +1) or smallest (-1) value of an index while these loops run.

    around   loops in the order of `loops`: what the bounds of one use stands before it

    for i in 0..8 { for j in i..8 { .. j - i .. } }     largest: 7, smallest: 0

    Returns a number, or an affine index of variables of other loops. For a loop that runs at least
    once wherever it stands, this is exact. Of several bounds of a loop, the one that says most.
    """
    for place in reversed(range(len(around))):
        loop = around[place]
        if not index.terms:
            break
        if not (coefficient := index.coefficient(loop.var)):
            continue
        ends = loop.stops if coefficient * sign > 0 else loop.starts
        last = -coefficient if coefficient * sign > 0 else 0  # one before the stop
        candidates = [index.substitute({loop.var: end}) + last for end in ends]
        if len(candidates) > 1:
            candidates = [extreme(i, around[:place], sign) for i in candidates]
            return min(candidates, key=lambda f: (len(f.terms), f.const * sign))
        index = candidates[0]
    return index
