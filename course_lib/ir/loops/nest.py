"""Level 2: loop nests over buffers. A kernel is what one function of machine code will do.

    kernel @scaled_sum(x: f32[8,4], out: f32[8]) {
      parallel i in 0..8 {
        local acc: f32[]
        acc[] = 0.0
        for r in 0..4 {
          acc[] += x[i, r] * 0.5
        }
        out[i] = acc[]
      }
    }

Buffers are row-major. The bounds of a loop are affine in the loops around it. A loop's kind is a
promise about how it may run, not what it computes: every kind has the meaning of `for`.
Next room: `text.py` (this text form) and `interp.py` (its meaning).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Union

from course_lib.ir.expr import Affine, Expr, Load, loads, transform
from course_lib.ir.types import TensorType

LOOP_KINDS = {
    "for": "one iteration after another",
    "parallel": "iterations may run at the same time, on several threads",
    "vector": "iterations become the lanes of vector instructions",
    "unroll": "the body is written out once for each iteration",
}
COMBINE = ("add", "mul", "max", "min")  # what an `Accumulate` may combine values with


@dataclass(frozen=True)
class Buffer:
    """A named block of memory that holds a row-major tensor."""

    name: str
    type: TensorType


@dataclass(frozen=True)
class Store:
    """buffer[indices] = value"""

    buffer: str
    indices: tuple[Union[Affine, Expr], ...]
    value: Expr


@dataclass(frozen=True)
class Accumulate:
    """buffer[indices] = op(buffer[indices], value): one step of a reduction.

    `op` is one of `COMBINE`; as text `acc[] += x`, `acc[] *= x`, `acc[] max= x`, `acc[] min= x`.
    Code generation may combine the values of a loop in another order.
    """

    buffer: str
    indices: tuple[Union[Affine, Expr], ...]
    op: str
    value: Expr


@dataclass(frozen=True)
class Local:
    """A buffer that lives until the end of the enclosing block: registers or stack, never heap."""

    buffer: Buffer


@dataclass(frozen=True)
class Loop:
    """for var in start..stop { body }"""

    var: str
    start: Affine
    stop: Affine
    body: tuple[Stmt, ...]
    kind: str = "for"

    @property
    def extent(self) -> int | None:
        """How many iterations, if that is a number."""
        size = self.stop - self.start
        return None if size.terms else size.const


Write = Store | Accumulate
Stmt = Union[Write, Local, Loop]


@dataclass(frozen=True)
class Kernel:
    """A function over buffers: operands first, then the one buffer that it writes.

    origin  the operations of the user's model that it computes
    packed  operands whose bytes must be rearranged before the kernel may read them
    """

    name: str
    params: tuple[Buffer, ...]
    body: tuple[Stmt, ...]
    origin: tuple[str, ...] = ()
    packed: tuple[Packing, ...] = ()

    @property
    def out(self) -> Buffer:
        return self.params[-1]

    @property
    def buffers(self) -> dict[str, Buffer]:
        """Parameters and locals by name."""
        found = {b.name: b for b in self.params}
        found.update(
            {s.buffer.name: s.buffer for s in statements(self.body) if isinstance(s, Local)}
        )
        return found

    def __repr__(self) -> str:
        from course_lib.ir.loops.text import print_kernel

        return print_kernel(self)


@dataclass(frozen=True)
class Packing:
    """An operand in blocks: axis `axis` is split by `factor`; outer part first, inner part last."""

    param: str
    axis: int
    factor: int


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement, outside first."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, Loop):
            yield from statements(stmt.body)


def loops(kernel: Kernel) -> list[Loop]:
    return [s for s in statements(kernel.body) if isinstance(s, Loop)]


def accumulators(kernel: Kernel) -> set[str]:
    """The buffers that a reduction combines its values in."""
    return {s.buffer for s in statements(kernel.body) if isinstance(s, Accumulate)}


def rewrite(body: tuple[Stmt, ...], fn: Callable[[Stmt], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    """Rebuild bottom-up: `fn` gives the statements that take each statement's place."""
    result: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = replace(stmt, body=rewrite(stmt.body, fn))
        result.extend(fn(stmt))
    return tuple(result)


def substitute(body: tuple[Stmt, ...], values: dict[str, Affine]) -> tuple[Stmt, ...]:
    """Replace loop variables by affine expressions, everywhere in a body."""

    def index(affine: Affine) -> Affine:
        return affine.substitute(values)

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        match stmt:
            case Store(_, indices, value) | Accumulate(_, indices, _, value):
                new = tuple(
                    index(i) if isinstance(i, Affine) else transform(i, index) for i in indices
                )
                return (replace(stmt, indices=new, value=transform(value, index)),)
            case Loop():
                return (replace(stmt, start=index(stmt.start), stop=index(stmt.stop)),)
        return (stmt,)

    return rewrite(body, one)


def on_loads(body: tuple[Stmt, ...], fn: Callable[[Load], Expr]) -> tuple[Stmt, ...]:
    """Replace every load of a body. (What an `Accumulate` reads of its own buffer is no load.)"""

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(stmt, Write):
            return (stmt,)
        indices = tuple(i if isinstance(i, Affine) else transform(i, load=fn) for i in stmt.indices)
        return (replace(stmt, indices=indices, value=transform(stmt.value, load=fn)),)

    return rewrite(body, one)


def accesses(body: tuple[Stmt, ...]) -> list[tuple[str, str, tuple[Union[Affine, Expr], ...]]]:
    """Every ("read" | "write", buffer, indices) of a body, in program order."""
    found = []
    for stmt in statements(body):
        if isinstance(stmt, Write):
            if isinstance(stmt, Accumulate):
                found.append(("read", stmt.buffer, stmt.indices))
            read = [i for i in stmt.indices if not isinstance(i, Affine)] + [stmt.value]
            found += [("read", e.buffer, e.indices) for r in read for e in loads(r)]
            found.append(("write", stmt.buffer, stmt.indices))
    return found


def verify_kernel(kernel: Kernel) -> Kernel:
    """Names defined before use, ranks that fit, distinct loop variables on every path."""

    def fail(message: str) -> ValueError:
        return ValueError(f"kernel @{kernel.name}: {message}")

    def check_index(index: Union[Affine, Expr], live: set[str], scope: dict[str, Buffer]) -> None:
        if not isinstance(index, Affine):
            check_expr(index, live, scope)
            return
        unbound = [v for v in index.vars if v not in live]
        if unbound:
            raise fail(f"index {index} uses {unbound[0]}, which no loop around it defines")

    def check_access(name: str, indices, live: set[str], scope: dict[str, Buffer]) -> None:
        if name not in scope:
            raise fail(f"{name} is not a parameter or a local in scope")
        if len(indices) != scope[name].type.rank:
            raise fail(f"{name} has {scope[name].type.rank} axes, indexed with {len(indices)}")
        for index in indices:
            check_index(index, live, scope)

    def check_expr(expr: Expr, live: set[str], scope: dict[str, Buffer]) -> None:
        from course_lib.ir.expr import Iter, walk

        for e in walk(expr):
            if isinstance(e, Load):
                check_access(e.buffer, e.indices, live, scope)
            elif isinstance(e, Iter):
                check_index(e.index, live, scope)

    def check(body: tuple[Stmt, ...], live: set[str], scope: dict[str, Buffer]) -> None:
        scope = dict(scope)
        for stmt in body:
            match stmt:
                case Local(buffer):
                    scope[buffer.name] = buffer
                case Store(name, indices, value) | Accumulate(name, indices, _, value):
                    if isinstance(stmt, Accumulate) and stmt.op not in COMBINE:
                        raise fail(f"{name} cannot accumulate with {stmt.op}: {', '.join(COMBINE)}")
                    check_access(name, indices, live, scope)
                    check_expr(value, live, scope)
                case Loop(var, start, stop, inner, kind):
                    if var in live:
                        raise fail(f"loop variable {var} is already in use around it")
                    if kind not in LOOP_KINDS:
                        raise fail(f"unknown loop kind {kind!r}; known: {', '.join(LOOP_KINDS)}")
                    check_index(start, live, scope)
                    check_index(stop, live, scope)
                    check(inner, live | {var}, scope)

    check(kernel.body, set(), {b.name: b for b in kernel.params})
    return kernel
