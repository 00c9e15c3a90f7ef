"""The verifier of level 2: what every kernel keeps to, before and after each primitive.

    names      each parameter, local and loop has one of its own, and is in scope where it is used
    types      what is stored has the type of the buffer; functions get what they are defined for
    bounds     no affine index leaves its buffer (an index that is data is looked at when it runs)
    promises   the iterations of a `vector` or `parallel` loop are independent

    kernel @k(x: f32[8], out: f32[8]) { for i in 0..9 { out[i] = x[i] } }
    ==>  ValueError: kernel @k: x[i] is outside f32[8]: i runs from 0 to 8

Next room: `parse.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Call, Expr, Iter, Load, print_expr, print_indices, walk
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import (
    COMBINE,
    LOOP_KINDS,
    Accumulate,
    Kernel,
    Local,
    Loop,
    Stmt,
    Write,
    print_bounds,
)
from course_lib.ir.loops.prefetch import positions
from course_lib.ir.loops.walk import extreme, names_of, span
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import TensorType, bool_

Types = Mapping[str, TensorType]  # of the buffers in scope
Around = tuple[Loop, ...]  # the loops around a statement, outermost first


@takes
def verify_kernel(kernel: Kernel) -> Kernel:
    """The kernel itself; a ValueError that says what is wrong with it first, if anything is.

    The range of an index is exact if the loops around it run at least once wherever they stand, as
    all do that `lower` and the primitives make. Where the bounds of an inner loop are such that it
    runs only for some iterations of an outer one, the range may come out too large.
    """
    for problem in _problems(kernel):
        raise ValueError(f"kernel @{kernel.name}: {problem}")
    return kernel


def _problems(kernel: Kernel) -> Iterator[str]:
    given = names_of(kernel)
    for name in sorted(set(given), key=given.index):
        if given.count(name) > 1:
            yield f"the name {name} is given twice; parameters, locals and loops need distinct ones"
    yield from _block(kernel.body, {b.name: b.type for b in kernel.params}, ())
    for asked in kernel.prefetched:
        try:
            positions(kernel, asked)
        except ValueError as error:
            yield str(error)


def _block(body: tuple[Stmt, ...], types: Types, around: Around) -> Iterator[str]:
    for stmt in body:
        match stmt:
            case Local(buffer):
                types = {**types, buffer.name: buffer.type}
            case Loop():
                yield from _loop(stmt, types, around)
            case _:
                yield from _write(stmt, types, around)


def _loop(loop: Loop, types: Types, around: Around) -> Iterator[str]:
    what = f"{loop.kind} {loop.var}"
    if loop.kind not in LOOP_KINDS:
        yield f"unknown loop kind {loop.kind!r}; known: {', '.join(LOOP_KINDS)}"
    for bound in (*loop.starts, *loop.stops):
        yield from _unbound(bound, around)
    if loop.kind in ("vector", "unroll") and (loop.start.terms or loop.extent is None):
        yield f"{what}: its bounds must be numbers, not {print_bounds(loop)}"
    yield from _block(loop.body, types, (*around, loop))
    if loop.kind in ("vector", "parallel"):
        for dependence in carried(loop, around):
            yield f"{what}: the loop carries {dependence}"


def _write(stmt: Write, types: Types, around: Around) -> Iterator[str]:
    yield from _access(stmt.buffer, stmt.indices, types, around)
    for value in (*stmt.indices, stmt.value):
        if not isinstance(value, Affine):
            yield from _expr(value, types, around)
    if isinstance(stmt, Accumulate) and stmt.op not in COMBINE:
        yield f"{stmt.buffer} cannot accumulate with {stmt.op}: {', '.join(COMBINE)}"
    holds, gets = types[stmt.buffer].dtype, stmt.value.dtype
    if holds != gets:
        yield f"{stmt.buffer} holds {holds}, but {print_expr(stmt.value)} is {gets}"


def _expr(expr: Expr, types: Types, around: Around) -> Iterator[str]:
    for e in walk(expr):
        match e:
            case Load(name, indices, dtype):
                yield from _access(name, indices, types, around)
                if types[name].dtype != dtype:
                    yield f"{name} holds {types[name].dtype}, but is read as {dtype}"
            case Iter(index):
                yield from _unbound(index, around)
            case Call():
                yield from _call(e)


def _access(
    name: str, indices: tuple[Affine | Expr, ...], types: Types, around: Around
) -> Iterator[str]:
    if name not in types:
        yield f"{name} is not a parameter or a local in scope"
    if len(indices) != types[name].rank:
        yield f"{name} has {types[name].rank} axes, indexed with {len(indices)}"
    for index, size in zip(indices, types[name].dims, strict=True):
        if isinstance(index, Affine):
            yield from _unbound(index, around)
            least, most = _range(index, around)
            if not (least >= 0 and most < size) and not _never_runs(around):
                place = f"{name}[{print_indices(indices)}] is outside {types[name]}"
                yield f"{place}: {index} runs from {least} to {most}"
        elif index.dtype.kind not in ("int", "uint"):
            yield f"the index {print_expr(index)} of {name} is {index.dtype}, not a whole number"


def _range(index: Affine, around: Around) -> tuple[int, int]:
    """The smallest and the largest value. Where all bounds are numbers, each loop runs for itself;
    else one moves the ends of another, and `extreme` takes longer."""
    loop_of = {loop.var: loop for loop in around}
    moving = [loop_of[var] for var in index.vars]
    if any(loop.start.terms or loop.stop.terms or loop.above or loop.below for loop in moving):
        return extreme(index, around, -1).const, extreme(index, around, +1).const
    first = {loop.var: loop.start.const for loop in moving}
    return span(index, first, {loop.var: loop.stop.const - 1 for loop in moving})


def _never_runs(around: Around) -> bool:
    return any(loop.extent is not None and loop.extent <= 0 for loop in around)


def _unbound(index: Affine, around: Around) -> Iterator[str]:
    if not all(isinstance(n, int) for n in (index.const, *(factor for _, factor in index.terms))):
        yield f"{index} is not made of whole numbers"
    defined = [loop.var for loop in around] if index.terms else []
    for var, _ in index.terms:
        if var not in defined:
            yield f"index {index} uses {var}, which no loop around it defines"


def _call(e: Call) -> Iterator[str]:
    kinds = [arg.dtype for arg in e.args]
    if e.fn == "cast" and len(kinds) == 1:
        return
    if e.fn == "select" and len(kinds) == 3:
        if (kinds[0], kinds[1]) != (bool_, kinds[2]) or e.dtype != kinds[2]:
            yield f"select needs a bool and two values of one type, got {print_expr(e)}"
        return
    row = SCALARS.get(e.fn)
    if row is None or row.arity != len(kinds):
        yield f"no scalar function {e.fn} of {len(kinds)} arguments"
        return
    accepts = (*row.accepts, "bool") if e.fn in COMBINE else row.accepts  # a product of masks
    if len(set(kinds)) > 1 or kinds[0].kind not in accepts:
        yield f"{e.fn} is not defined for {', '.join(map(str, kinds))}: {print_expr(e)}"
    if e.dtype != (bool_ if row.result == "bool" else kinds[0]):
        yield f"{print_expr(e)} is not {e.dtype}"
