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

Buffers are row-major. The bounds of a loop are affine in the loops around it; where several hold at
once, as at the rim of a tile, it is `for i in max(0, 4 - j)..min(8, n - j)`. A loop's kind is a
promise about how it may run, not what it computes: every kind has the meaning of `for`.

As text, sums, differences, products and quotients are infix, every other scalar function is a call.
A literal is f32 if it is written with a point and i64 if not; other types are spelled out, as in
`1.0:f64`. `parse.py` reads the text back. Next room: `walk.py`.

Reading path, 8 of 12; next: `lower/lowering.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Union

from course_lib.ir.expr import INFIX, Affine, Expr, print_expr, print_indices
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
    """for var in start..stop { body }

    above  further bounds: for var in max(start, *above)..
    below  and those on the other side: ..min(stop, *below)
    """

    var: str
    start: Affine
    stop: Affine
    body: tuple[Stmt, ...]
    kind: str = "for"
    above: tuple[Affine, ...] = ()
    below: tuple[Affine, ...] = ()

    @property
    def extent(self) -> int | None:
        """How many iterations, if that is a number."""
        if self.above or self.below or self.start.terms != self.stop.terms:
            return None
        return self.stop.const - self.start.const

    @property
    def starts(self) -> tuple[Affine, ...]:
        """The variable is at least each of these."""
        return (self.start, *self.above)

    @property
    def stops(self) -> tuple[Affine, ...]:
        """The variable is less than each of these."""
        return (self.stop, *self.below)

    @property
    def bounded_by(self) -> set[str]:
        """The variables in its bounds."""
        return {var for bound in (*self.starts, *self.stops) for var in bound.vars}


Write = Store | Accumulate
Stmt = Union[Write, Local, Loop]


@dataclass(frozen=True)
class Kernel:
    """A function over buffers: operands first, then the one buffer that it writes.

    origin      the operations of the user's model that it computes
    packed      operands whose bytes must be rearranged before the kernel may read them
    prefetched  operands of which the next block is fetched into the caches while one is used
    """

    name: str
    params: tuple[Buffer, ...]
    body: tuple[Stmt, ...]
    origin: tuple[str, ...] = ()
    packed: tuple[Packing, ...] = ()
    prefetched: tuple[Prefetched, ...] = ()

    @property
    def out(self) -> Buffer:
        return self.params[-1]

    @property
    def buffers(self) -> dict[str, Buffer]:
        """Parameters and locals by name."""
        return {b.name: b for b in (*self.params, *_locals(self.body))}

    @cached_property
    def text(self) -> str:
        """Its statements as text, printed once: a kernel never changes."""
        return "\n".join(line for stmt in self.body for line in _stmt(stmt, "  "))

    def __repr__(self) -> str:
        return print_kernel(self)


def _locals(body: tuple[Stmt, ...]) -> list[Buffer]:
    buffers: list[Buffer] = []
    for stmt in body:
        if isinstance(stmt, Local):
            buffers.append(stmt.buffer)
        elif isinstance(stmt, Loop):
            buffers += _locals(stmt.body)
    return buffers


@dataclass(frozen=True)
class Packing:
    """An operand in blocks: axis `axis` is split by `factor`; outer part first, inner part last."""

    param: str
    axis: int
    factor: int


@dataclass(frozen=True)
class Prefetched:
    """While an iteration of `loop` runs, fetch the block of `param` that the next one reads: an
    equal part in each iteration of the loop `within` (`prefetch.py`). It computes nothing."""

    param: str
    loop: str
    within: str


def print_kernel(kernel: Kernel) -> str:
    """The kernel as text; `parse_kernel` reads it back."""
    params = ", ".join(f"{b.name}: {b.type}" for b in kernel.params)
    packed = "".join(f" pack({p.param}, {p.axis}, {p.factor})" for p in kernel.packed)
    ahead = "".join(f" prefetch({p.param}, {p.loop}, {p.within})" for p in kernel.prefetched)
    where = f" loc({', '.join(json.dumps(o) for o in kernel.origin)})" if kernel.origin else ""
    return f"kernel @{kernel.name}({params}){packed}{ahead}{where} {{\n{kernel.text}\n}}\n"


def _stmt(stmt: Stmt, indent: str) -> list[str]:
    match stmt:
        case Local(buffer):
            return [f"{indent}local {buffer.name}: {buffer.type}"]
        case Store(buffer, indices, value):
            return [f"{indent}{buffer}[{print_indices(indices)}] = {print_expr(value)}"]
        case Accumulate(buffer, indices, op, value):
            sign = INFIX.get(op, op)
            return [f"{indent}{buffer}[{print_indices(indices)}] {sign}= {print_expr(value)}"]
        case Loop(var, body=body, kind=kind):
            inner = [line for s in body for line in _stmt(s, indent + "  ")]
            return [f"{indent}{kind} {var} in {print_bounds(stmt)} {{", *inner, f"{indent}}}"]
    raise AssertionError(stmt)


def print_bounds(loop: Loop) -> str:
    """0..8, or max(0, 4 - j)..min(8, n - j)"""
    start = f"max({', '.join(map(str, loop.starts))})" if loop.above else loop.start
    stop = f"min({', '.join(map(str, loop.stops))})" if loop.below else loop.stop
    return f"{start}..{stop}"
