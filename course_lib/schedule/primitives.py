"""Loops -> loops. Each primitive changes the order of the work and never the values it combines.

    split(kernel, "i", 4)       for i in 0..10 { .. i .. }
                                ==>  for io in 0..2 { for ii in 0..4 { .. 4*io + ii .. } }
                                     for it in 8..10 { .. it .. }
    sink(kernel, "i")           for i { acc = 0; for k { acc += .. }; out[i] = acc }
                                ==>  for i { acc[i] = 0 }
                                     for k { for i { acc[i] += .. } }
                                     for i { out[i] = acc[i] }
    annotate(kernel, "i", "vector")
    pack(kernel, "w", 0, 16)    w[16*oo + oi, k]  ==>  w[oo, k, oi]

What would change the meaning is refused: the iterations of a loop that moves, or that runs in
parallel or as lanes, must not depend on each other (`conflict`). Next room: `choose.py`, which
decides what to apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from course_lib.ir.expr import Affine, Expr, Load
from course_lib.ir.loops.nest import (
    LOOP_KINDS,
    Accumulate,
    Buffer,
    Kernel,
    Local,
    Loop,
    Packing,
    Stmt,
    Store,
    Write,
    accesses,
    accumulators,
    loops,
    on_loads,
    rewrite,
    statements,
    substitute,
    verify_kernel,
)
from course_lib.ir.types import TensorType

V = Affine.var


def find_loop(kernel: Kernel, var: str) -> Loop:
    """The loop over `var`; an error that lists the loops there are."""
    for loop in loops(kernel):
        if loop.var == var:
            return loop
    have = ", ".join(loop.var for loop in loops(kernel))
    raise ValueError(f"kernel @{kernel.name} has no loop {var!r}; it has: {have}")


def _with_body(kernel: Kernel, body: tuple[Stmt, ...]) -> Kernel:
    return verify_kernel(replace(kernel, body=body))


def _on_loop(kernel: Kernel, var: str, fn) -> Kernel:
    find_loop(kernel, var)
    is_it = lambda stmt: isinstance(stmt, Loop) and stmt.var == var  # noqa: E731
    return _with_body(kernel, rewrite(kernel.body, lambda s: fn(s) if is_it(s) else (s,)))


def annotate(kernel: Kernel, var: str, kind: str) -> Kernel:
    """Change how a loop runs: one of `LOOP_KINDS`."""
    if kind not in LOOP_KINDS:
        raise ValueError(f"unknown loop kind {kind!r}; known: {', '.join(LOOP_KINDS)}")

    def one(loop: Loop) -> tuple[Stmt, ...]:
        if kind in ("parallel", "vector"):
            _refuse_conflict(loop, f"{kind} {var}")
        return (replace(loop, kind=kind),)

    return _on_loop(kernel, var, one)


def conflict(loop: Loop) -> str | None:
    """A buffer through which the iterations of a loop depend on each other; None if there is none.

    It names the first one that the loop writes; there may be others. So "it is not `out`" does not
    say that the iterations leave `out` alone: only None says that.

    They are independent if no element that one iteration writes (unless it is local to that
    iteration) is touched by another. That is sure if along some axis a step of the loop goes
    further than all accesses of one iteration are apart. `out[16*i + j]` with j below 16 will do;
    `acc[]`, `out[i + j]` and `out[i] = out[i - 1]` will not.
    """
    inside = list(statements(loop.body))
    private = {s.buffer.name for s in inside if isinstance(s, Local)}
    ranges = _ranges(s for s in inside if isinstance(s, Loop))
    touched = accesses(loop.body)
    for name in dict.fromkeys(name for way, name, _ in touched if way == "write"):
        axes = zip(*(point for _, n, point in touched if n == name), strict=True)
        if name not in private and not any(_apart(loop.var, axis, ranges) for axis in axes):
            return name
    return None


def _ranges(some: Iterable[Loop]) -> dict[str, tuple[int, int] | None]:
    """The first and the last value of each loop variable; None if they are not numbers."""
    ranges: dict[str, tuple[int, int] | None] = {}
    for loop in some:
        first, last = loop.start.const, max(loop.stop.const - 1, loop.start.const)
        other = ranges.get(loop.var, (first, last))
        if other is None or loop.start.terms or loop.stop.terms:
            ranges[loop.var] = None
        else:
            ranges[loop.var] = min(first, other[0]), max(last, other[1])
    return ranges


def _apart(var: str, axis: Iterable[Affine | Expr], ranges: Mapping) -> bool:
    """Do these indices differ by less than one step of `var`, whatever the loops inside do?"""
    ends: list[int] = []
    outside: set[tuple[tuple[str, int], ...]] = set()  # `var` and the loops around it
    for index in axis:
        if not isinstance(index, Affine) or any(ranges.get(v, ()) is None for v in index.vars):
            return False
        moving = [(c * ranges[v][0], c * ranges[v][1]) for v, c in index.terms if v in ranges]
        ends.append(index.const + sum(min(m) for m in moving))
        ends.append(index.const + sum(max(m) for m in moving))
        outside.add(tuple((v, c) for v, c in index.terms if v not in ranges))
    step = dict(next(iter(outside))).get(var, 0)
    return len(outside) == 1 and max(ends) - min(ends) < abs(step)


def _refuse_conflict(loop: Loop, what: str) -> None:
    name = conflict(loop)
    if name is not None:
        raise ValueError(
            f"{what}: the iterations of {loop.var} depend on each other through {name}"
        )


def split(kernel: Kernel, var: str, factor: int) -> Kernel:
    """Iterate over blocks of `factor`, then inside a block; what does not fill a block comes after.

    The new loops are called `<var>o`, `<var>i` and (only if something is left over) `<var>t`.
    """
    if factor < 1:
        raise ValueError(f"split needs a factor of at least 1, got {factor}")

    def blocks(loop: Loop) -> tuple[Stmt, ...]:
        extent = loop.extent
        if extent is None or loop.start.terms:
            raise ValueError(f"split: the bounds of {var} must be numbers")
        whole, start = extent // factor, loop.start.const
        outer, inner, tail = f"{var}o", f"{var}i", f"{var}t"
        point = V(outer) * factor + V(inner) + start
        inside = Loop(inner, Affine(), Affine((), factor), substitute(loop.body, {var: point}))
        result: list[Stmt] = []
        if whole:
            result.append(Loop(outer, Affine(), Affine((), whole), (inside,), loop.kind))
        if extent % factor or not extent:
            rest = substitute(loop.body, {var: V(tail)})
            result.append(Loop(tail, Affine((), start + whole * factor), loop.stop, rest))
        return tuple(result)

    return _on_loop(kernel, var, blocks)


def sink(kernel: Kernel, var: str) -> Kernel:
    """Move a loop inward, past everything that its body holds, to the stores.

    Each statement of the body gets the loop for itself; an inner loop takes it in; a local becomes
    an array with one element for each iteration. So the iterations must be independent, as those
    of a loop over result elements are.
    """
    if any(var in (*s.start.vars, *s.stop.vars) for s in loops(kernel)):
        raise ValueError(f"sink: the bounds of a loop inside {var} depend on it")

    def one(loop: Loop) -> tuple[Stmt, ...]:
        if loop.extent is None or loop.start.terms:
            raise ValueError(f"sink: the bounds of {var} must be numbers")
        _refuse_conflict(loop, "sink")
        return _inward(loop, loop.body, {})

    return _on_loop(kernel, var, one)


def _inward(loop: Loop, body: tuple[Stmt, ...], private: dict[str, Affine]) -> tuple[Stmt, ...]:
    """`body` with `loop` around each run of stores. `private` locals have a slot per iteration."""
    slot = V(loop.var) - loop.start
    done: list[Stmt] = []
    run: list[Stmt] = []

    def close_run() -> None:
        if run:
            done.append(replace(loop, body=tuple(run)))
            run.clear()

    for stmt in body:
        match stmt:
            case Local(Buffer(name, type)):
                private = {**private, name: slot}
                shape = (*type.dims, loop.extent or 0)
                done.append(Local(Buffer(name, TensorType(type.dtype, shape))))
            case Loop():
                close_run()
                done.append(replace(stmt, body=_inward(loop, stmt.body, private)))
            case Store() | Accumulate():
                run += _in_slots(stmt, private)
    close_run()
    return tuple(done)


def _in_slots(store: Write, private: dict[str, Affine]) -> tuple[Stmt, ...]:
    """The statement, with the iteration's slot appended to every access to a private local."""

    def load(e: Load) -> Load:
        return replace(e, indices=(*e.indices, private[e.buffer])) if e.buffer in private else e

    (moved,) = on_loads((store,), load)
    assert isinstance(moved, Write)
    if store.buffer in private:
        moved = replace(moved, indices=(*moved.indices, private[store.buffer]))
    return (moved,)


def store_rows(kernel: Kernel, lane: str, row: str) -> Kernel:
    """Where results are stored, go along `row` instead of `lane`: the order of the memory.

    unroll row { vector lane { out[lane, row] = f(acc[row, lane]) } }
    ==>
    unroll row { vector lane { tile[row, lane] = acc[row, lane] } }
    for lane { vector row { out[lane, row] = f(tile[row, lane]) } }

    The accumulators stay in registers, because nothing but constants indexes them; the copy in
    `tile` is memory, which may be read in any order. Where the same loops still compute `acc`
    (nothing is reduced), the kernel stays as it is.
    """

    sums = accumulators(kernel)

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        match stmt:
            case Loop(body=(Loop() as inner,)) if stmt.var == row and inner.var == lane:
                written = {s.buffer for s in inner.body if isinstance(s, Write)}
                if kernel.out.name in written and len(sums) == 1 and sums.isdisjoint(written):
                    return _through_tile(kernel, stmt, inner, *sums)
        return (stmt,)

    return _with_body(kernel, rewrite(kernel.body, one))


def _through_tile(kernel: Kernel, outer: Loop, inner: Loop, name: str) -> tuple[Stmt, ...]:
    acc = kernel.buffers[name].type
    at = (V(outer.var), V(inner.var))
    copy = Store("tile", at, Load(name, at, acc.dtype))
    to_tile = replace(outer, body=(replace(inner, body=(copy,)),))

    def from_tile(load: Load) -> Load:
        return replace(load, buffer="tile") if load.buffer == name else load

    rows = replace(outer, kind="vector", body=on_loads(inner.body, from_tile))
    tile = Local(Buffer("tile", TensorType(acc.dtype, (outer.extent or 0, inner.extent or 0))))
    return (tile, to_tile, replace(inner, kind="for", body=(rows,)))


def pack(kernel: Kernel, param: str, axis: int, factor: int) -> Kernel:
    """Store an operand in blocks: axis `axis` splits by `factor`; the outer part goes first, the
    inner part last. So what one block of lanes reads is one run of bytes: f32[784,512], axis 1 in
    blocks of 32, becomes f32[16,784,32].

    Every access must be `factor * outer + inner` along that axis, which is what `split` leaves
    behind. The caller of the kernel must rearrange the bytes: it finds the request in `packed`.
    """
    buffer = next((b for b in kernel.params[:-1] if b.name == param), None)
    if buffer is None:
        raise ValueError(f"kernel @{kernel.name} has no operand {param!r}")
    sizes = buffer.type.dims
    if not 0 <= axis < len(sizes) or factor < 1:
        raise ValueError(f"pack: {param} has {len(sizes)} axes, got axis {axis} by {factor}")
    if sizes[axis] % factor:
        raise ValueError(f"pack: {sizes[axis]} does not divide into blocks of {factor}")
    ranges = _ranges(loops(kernel))

    def block(load: Load) -> Load:
        if load.buffer != param:
            return load
        index = load.indices[axis]
        outer, inner = _quotient(index, factor, ranges, param)
        return replace(
            load, indices=(outer, *load.indices[:axis], *load.indices[axis + 1 :], inner)
        )

    shape = (sizes[axis] // factor, *sizes[:axis], *sizes[axis + 1 :], factor)
    packed = Buffer(param, TensorType(buffer.type.dtype, shape))
    params = tuple(packed if b.name == param else b for b in kernel.params)
    body = on_loads(kernel.body, block)
    done = replace(
        kernel, params=params, body=body, packed=(*kernel.packed, Packing(param, axis, factor))
    )
    return verify_kernel(done)


def _quotient(index, factor: int, ranges: Mapping, param: str) -> tuple[Affine, Affine]:
    """Divide an index by the block size: exact if the remainder stays inside a block."""
    if isinstance(index, Affine) and index.const % factor == 0:
        outer = [(v, c // factor) for v, c in index.terms if c % factor == 0]
        inner = [(v, c) for v, c in index.terms if c % factor]
        known = all(c > 0 and ranges[v] is not None and ranges[v][0] >= 0 for v, c in inner)
        if known and sum(c * ranges[v][1] for v, c in inner) < factor:
            return Affine(tuple(outer), index.const // factor), Affine(tuple(inner))
    raise ValueError(f"pack: {param} is read at {index}, which is not {factor} * outer + inner")
