"""isl finds the order of the iterations itself, and its loops come back as ours.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> seidel = parse_kernel('''
... kernel @seidel(x: f32[9], out: f32[9]) {
...   for t in 0..4 { for i in 1..8 { out[i] = out[i - 1] + out[i + 1] + x[i] } }
... }''')
>>> found = scheduled(seidel)
>>> found.kernel
kernel @seidel(x: f32[9], out: f32[9]) {
  for c0 in 0..4 {
    for c1 in c0 + 1..c0 + 8 {
      out[-c0 + c1] = out[-c0 + c1 - 1] + out[-c0 + c1 + 1] + x[-c0 + c1]
    }
  }
}
<BLANKLINE>
>>> from course_lib.schedule.legality import may_tile
>>> print(may_tile(seidel, {"t": 2, "i": 4}))
no: iteration (t=1, i=4) writes out[4], which (t=0, i=5) has to read first
>>> print(may_tile(found.kernel, {"c0": 2, "c1": 4}))
yes

isl (Verdoolaege, 2010) is the library of integer sets in GCC, LLVM's Polly and PPCG. Its scheduler
is given the iterations, and which must stay in order, and solves for affine times in which no
dependence runs backwards in any loop of a band (the algorithm of Pluto; Bondhugula and others,
2008). Such loops may be cut into blocks: here isl has found the skew by itself. It names its loops
c0, c1, .. from the outside. The kernel as we tell it to isl, from which isl's maps compute what
must stay in order, and the bands that it finds can be looked at as text.

>>> print(sets_of(seidel).writes)
{ S0[t, i] -> out[i] }
>>> print(bands(sets_of(seidel))[0].rows)
[{ S0[t, i] -> [(t)] }, { S0[t, i] -> [(t + i)] }]

The package islpy is optional. Next room: `child.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from typing import Any

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Local, Loop, Stmt
from course_lib.ir.loops.polyhedra.domains import Statement, statements_of
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import bounded, named_apart, statements, substitute
from course_lib.packages import need


@dataclass(frozen=True)
class Scheduled:
    """The kernel in the order that isl has found, and isl's schedule tree as text."""

    kernel: Kernel
    tree: str


@dataclass(frozen=True)
class Sets:
    """A kernel in isl's notation: its iterations, what they read and write, and when they run."""

    domain: str
    reads: str
    writes: str
    times: str


@dataclass(frozen=True)
class Band:
    """Nested loops that isl has found.

    rows        what each of them counts, for each statement, the outermost one first
    permutable  may they stand in any order, and be cut into blocks?
    parallel    for each of them, is it 0 in every distance? Then its iterations may run at the same
                time wherever in the band it stands. If not, it may still be parallel as an inner
                loop (`may_parallelize`)
    """

    rows: str
    permutable: bool
    parallel: tuple[bool, ...]


def installed() -> bool:
    """Is islpy there?"""
    return find_spec("islpy") is not None


def scheduled(kernel: Kernel, fuse: bool = False) -> Scheduled:
    """The kernel in the order that isl finds.

    fuse  may statements share loops that do not depend on each other in a circle?

    ValueError in words if islpy is missing, and for what one of the two cannot say: a local, an
    index that is data, bounds with quotients.
    """
    if any(isinstance(stmt, Local) for stmt in statements(kernel.body)):
        raise ValueError(f"@{kernel.name}: isl is not told of locals; `demote` them first")
    isl, all = _isl(), list(statements_of(kernel.body))
    schedule = _schedule(isl, sets_of(kernel), fuse)
    build = isl.AstBuild.from_context(isl.Set("{ : }"))
    body = _block(isl, build.node_from_schedule(schedule), all)
    reordered = verify_kernel(named_apart(replace(kernel, body=body)))
    return Scheduled(reordered, schedule.get_root().to_str())


def sets_of(kernel: Kernel) -> Sets:
    """A kernel in isl's notation; `distances` and `bands` compute from it what must stay in order.

    ValueError if an index is data.
    """
    all = list(statements_of(kernel.body))
    longest = max(len(s.time) for s in all)
    domain, times, touched = [], [], {"read": [], "write": []}
    for number, statement in enumerate(all):
        point = f"S{number}[{', '.join(statement.vars)}]"
        where = [
            f"{start} <= {loop.var} < {stop}"
            for loop in statement.around
            for start, stop in product(loop.starts, loop.stops)
        ]
        domain.append(f"{point} : {' and '.join(where)}" if where else point)
        time = [*map(str, statement.time), *["0"] * (longest - len(statement.time))]
        times.append(f"{point} -> [{', '.join(time)}]")
        for access in statement.accesses:
            if any(not isinstance(index, Affine) for index in access.indices):
                raise ValueError(f"an index of {access.buffer} is data: isl cannot know it")
            place = f"{access.buffer}[{', '.join(map(str, access.indices))}]"
            touched[access.way].append(f"{point} -> {place}")
    reads, writes = (dict.fromkeys(touched[way]) for way in ("read", "write"))
    return Sets(*(f"{{ {'; '.join(part)} }}" for part in (domain, reads, writes, times)))


def bands(sets: Sets, fuse: bool = False) -> list[Band]:
    """The bands of the order that isl finds, those outside first."""
    isl = _isl()

    def below(node: Any) -> list[Band]:
        inside = [band for k in range(node.n_children()) for band in below(node.child(k))]
        if node.get_type() != isl.schedule_node_type.band:
            return inside
        members = range(int(node.band_n_member()))
        parallel = tuple(bool(node.band_member_get_coincident(k)) for k in members)
        rows = str(node.band_get_partial_schedule())
        return [Band(rows, bool(node.band_get_permutable()), parallel), *inside]

    return below(_schedule(isl, sets, fuse).get_root())


def distances(sets: Sets) -> str:
    """The distances between iterations that must stay in order, as a set."""
    return str(_kept(_isl(), sets).deltas().coalesce())


def _schedule(isl: Any, sets: Sets, fuse: bool) -> Any:
    """The second of two iterations that must stay in order comes later (validity), soon after
    (proximity), and as far as is possible not in a later iteration of a loop outside
    (coincidence), so that this loop may run in parallel."""
    kept = _kept(isl, sets)
    given = isl.ScheduleConstraints.on_domain(isl.UnionSet(sets.domain)).set_validity(kept)
    given = given.set_proximity(kept).set_coincidence(kept)
    options = isl.DEFAULT_CONTEXT
    apart = options.get_schedule_serialize_sccs()
    options.set_schedule_serialize_sccs(int(not fuse))
    try:
        return given.compute_schedule()
    finally:
        options.set_schedule_serialize_sccs(apart)


def _kept(isl: Any, sets: Sets) -> Any:
    """From each iteration to those that touch what it touches later, one of the two writing it."""
    read, wrote, before = (isl.UnionMap(text).intersect_domain(isl.UnionSet(sets.domain))
                           for text in (sets.reads, sets.writes, sets.times))  # fmt: skip
    touched = wrote.union(read)
    meet = wrote.apply_range(touched.reverse()).union(touched.apply_range(wrote.reverse()))
    return meet.intersect(before.lex_lt_union_map(before)).coalesce()


def _isl() -> Any:
    need("islpy")
    import islpy

    return islpy


# ── isl's loops as ours ──


def _block(isl: Any, node: Any, all: Sequence[Statement]) -> tuple[Stmt, ...]:
    """The statements of a node of isl's program."""
    kind, kinds = node.get_type(), isl.ast_node_type
    if kind == kinds.block:
        children = node.block_get_children()
        parts = (children.get_at(k) for k in range(children.n_ast_node()))
        return tuple(stmt for part in parts for stmt in _block(isl, part, all))
    if kind == kinds.user:
        name, *values = _arguments(node.user_get_expr())
        statement = all[int(name.get_id().get_name()[1:])]
        at = (_affine(isl, value) for value in values)
        return substitute((statement.write,), dict(zip(statement.vars, at, strict=True)))
    if kind == kinds.for_:
        return _loop(isl, node, all)
    if node.if_has_else_node():
        raise ValueError(f"there is no else in our loops:\n{node.to_C_str()}")
    starts = [Affine(), *(each * -1 for each in _conditions(isl, node.if_get_cond()))]
    once = Loop("once", Affine(), Affine((), 1), _block(isl, node.if_get_then_node(), all))
    return (bounded(once, starts, [once.stop]),)  # it runs if 0 is at least each of its starts


def _loop(isl: Any, node: Any, all: Sequence[Statement]) -> tuple[Stmt, ...]:
    var = node.for_get_iterator().get_id().get_name()
    body, starts = _block(isl, node.for_get_body(), all), _bounds(isl, node.for_get_init(), "max")
    if node.for_is_degenerate():
        return substitute(body, {var: starts[0]})
    until, step = node.for_get_cond(), _affine(isl, node.for_get_inc())
    ops = isl.ast_expr_op_type
    if step != Affine((), 1) or until.get_op_type() not in (ops.le, ops.lt):
        raise ValueError(f"a loop of ours takes steps of 1:\n{node.to_C_str()}")
    stops = [bound + (until.get_op_type() == ops.le)
             for bound in _bounds(isl, _arguments(until)[1], "min")]  # fmt: skip
    return (bounded(Loop(var, Affine(), Affine(), body), starts, stops),)


def _conditions(isl: Any, expr: Any) -> list[Affine]:
    """What has to be at least 0."""
    parts = _arguments(expr)
    if _is(isl, expr, "and_") or _is(isl, expr, "and_then"):
        return [condition for part in parts for condition in _conditions(isl, part)]
    a, b = (_affine(isl, part) for part in parts)
    signs = {
        "eq": [a - b, b - a],
        "le": [b - a],
        "lt": [b - a - 1],
        "ge": [a - b],
        "gt": [a - b - 1],
    }
    for name, conditions in signs.items():
        if _is(isl, expr, name):
            return conditions
    raise ValueError(f"{expr.to_C_str()} cannot be a condition of ours")


def _bounds(isl: Any, expr: Any, function: str) -> list[Affine]:
    """max(a, b, ..) as a list."""
    if _is(isl, expr, function):
        return [bound for part in _arguments(expr) for bound in _bounds(isl, part, function)]
    return [_affine(isl, expr)]


def _affine(isl: Any, expr: Any) -> Affine:
    kinds = isl.ast_expr_type
    if expr.get_type() == kinds.id:
        return Affine.var(expr.get_id().get_name())
    if expr.get_type() == kinds.int:
        return Affine((), expr.get_val().to_python())
    parts = [_affine(isl, part) for part in _arguments(expr)] if _linear(isl, expr) else []
    match parts:
        case [a]:
            return a * -1
        case [a, b] if _is(isl, expr, "add"):
            return a + b
        case [a, b] if _is(isl, expr, "sub"):
            return a - b
        case [a, b] if not a.terms or not b.terms:
            return b * a.const if not a.terms else a * b.const
    raise ValueError(f"{expr.to_C_str()} is no sum of loop variables, as an index of ours must be")


def _linear(isl: Any, expr: Any) -> bool:
    return any(_is(isl, expr, op) for op in ("minus", "add", "sub", "mul"))


def _is(isl: Any, expr: Any, op: str) -> bool:
    is_op = expr.get_type() == isl.ast_expr_type.op
    return is_op and expr.get_op_type() == getattr(isl.ast_expr_op_type, op)


def _arguments(expr: Any) -> list[Any]:
    return [expr.get_op_arg(k) for k in range(expr.get_op_n_arg())]
