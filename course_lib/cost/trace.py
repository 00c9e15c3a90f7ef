"""Which bytes a kernel touches, in the order in which it touches them.

    for i in 0..2 { out[i] = x[i] }         x at 0, out at 64:   [0, 64, 4, 68]

One address for each access of an element, as the loops run when every kind of loop is a `for`. What
stands in registers touches no memory: a local counts as such if only `unroll` and `vector` loops
move in it (their indices are numbers once they are written out), as long as all of these locals
together have no more bytes than the registers that are left for them. Whether a register allocator
manages that, the assembly says and not the trace. Instructions are not in it. Bounds may move with
the loops around, as those of a skewed loop do. Next room: `reuse.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from course_lib.cost.machine import Machine
from course_lib.cost.tile import SPARE
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Local, Loop, Stmt
from course_lib.ir.loops.walk import Access, accesses, extreme, loops, statements

LINE = 64  # every buffer begins at the start of a line of 64 bytes
REGISTERS = (Machine().registers - SPARE) * Machine().vector_bytes  # bytes, as in `tile.py`

MOST = 50_000_000  # accesses: each takes some dozens of bytes
NOTHING = -1  # where a loop has fewer iterations than another time


@dataclass(frozen=True)
class Trace:
    """addresses   int64[accesses]: bytes, in the order of the program
    places      the bytes of each buffer that is in memory: parameters one after the other, then
                locals, each of which has the same place every time its block is entered
    """

    addresses: np.ndarray
    places: Mapping[str, range]


def trace(kernel: Kernel, registers: int = REGISTERS) -> Trace:
    """The accesses of one run. ValueError where data decide what is touched, and if there are more
    than `MOST` of them (loops count with the most iterations that they ever have)."""
    if (count := _count(kernel.body)) > MOST:
        raise ValueError(f"@{kernel.name} touches memory {count:,} times, too many to keep")
    kept = in_registers(kernel, registers)
    places: dict[str, range] = {}
    end = 0
    for buffer in kernel.buffers.values():
        if buffer.name not in kept:
            places[buffer.name] = range(end, end + buffer.type.nbytes)
            end += -(-buffer.type.nbytes // LINE) * LINE
    run = _Run(kernel, places)
    touched = run.block(kernel.body, {}, 1)[0]
    return Trace(touched[touched != NOTHING], places)


def _count(body: tuple[Stmt, ...], around: tuple[Loop, ...] = ()) -> int:
    """How often the statements touch memory at most, registers included."""
    return sum(
        _most(stmt, around) * _count(stmt.body, (*around, stmt))
        if isinstance(stmt, Loop)
        else len(accesses((stmt,)))
        for stmt in body
    )


def _most(loop: Loop, around: tuple[Loop, ...]) -> int:
    """The most iterations that a loop has, wherever those around it stand."""
    sizes = (extreme(end - start, around, +1) for start in loop.starts for end in loop.stops)
    return max(min(size.const for size in sizes), 0)


def in_registers(kernel: Kernel, registers: int = REGISTERS) -> set[str]:
    """The locals that need no memory, the first ones in the text as long as they fit."""
    moving = {loop.var for loop in loops(kernel.body) if loop.kind not in ("unroll", "vector")}
    touched = accesses(kernel.body)
    kept: set[str] = set()
    for stmt in statements(kernel.body):
        if isinstance(stmt, Local) and stmt.buffer.type.nbytes <= registers:
            of = [a for a in touched if a.buffer == stmt.buffer.name]
            if not any(_moves(a, moving) for a in of):
                kept.add(stmt.buffer.name)
                registers -= stmt.buffer.type.nbytes
    return kept


def _moves(access: Access, loops: set[str]) -> bool:
    """Does one of these loops, or data, decide which element this is?"""
    return any(not isinstance(i, Affine) or loops & {*i.vars} for i in access.indices)


@dataclass(frozen=True)
class _Run:
    """All iterations at once: a loop variable is an array of the values that it has, in order."""

    kernel: Kernel
    places: Mapping[str, range]

    def block(self, body: tuple[Stmt, ...], at: Mapping[str, np.ndarray], runs: int) -> np.ndarray:
        """int64[runs, accesses] of a block that is entered `runs` times."""
        parts = [self.statement(stmt, at, runs) for stmt in body if not isinstance(stmt, Local)]
        return np.concatenate([np.zeros((runs, 0), np.int64), *parts], axis=1)

    def statement(self, stmt: Stmt, at: Mapping[str, np.ndarray], runs: int) -> np.ndarray:
        if not isinstance(stmt, Loop):
            touched = [a for a in accesses((stmt,)) if a.buffer in self.places]
            columns = [self.address(a, at, runs) for a in touched]
            return np.stack(columns, axis=1) if columns else np.zeros((runs, 0), np.int64)
        start = np.max([self.value(bound, at, runs) for bound in stmt.starts], axis=0)
        stop = np.min([self.value(bound, at, runs) for bound in stmt.stops], axis=0)
        iterations = np.maximum(stop - start, 0)
        there = np.arange(iterations.max(initial=0)) < iterations[:, None]  # [runs, iterations]
        inside = {var: np.repeat(value, iterations) for var, value in at.items()}
        inside[stmt.var] = (start[:, None] + np.arange(there.shape[1]))[there]
        addresses = self.block(stmt.body, inside, int(iterations.sum()))
        every = np.full((*there.shape, addresses.shape[1]), NOTHING, np.int64)
        every[there] = addresses
        return every.reshape(runs, there.shape[1] * addresses.shape[1])

    def value(self, affine: Affine, at: Mapping[str, np.ndarray], runs: int) -> np.ndarray:
        """int64[runs]: what a bound is each time."""
        values = np.full(runs, affine.const, np.int64)
        for var, coefficient in affine.terms:
            values += at[var] * coefficient
        return values

    def address(self, access: Access, at: Mapping[str, np.ndarray], runs: int) -> np.ndarray:
        buffer = self.kernel.buffers[access.buffer]
        element = Affine()
        for index, size in zip(access.indices, buffer.type.dims, strict=True):
            if not isinstance(index, Affine):
                raise ValueError(f"@{self.kernel.name}: data decides which {buffer.name} is meant")
            element = element * size + index
        return self.places[buffer.name].start + self.value(element, at, runs) * (
            buffer.type.dtype.size
        )
