"""What a scheduled kernel costs, by formula: instructions, cache traffic, loops, threads.

>>> from course_lib.cost.machine import AVX512
>>> from course_lib.ir.loops.parse import parse_kernel
>>> dot = parse_kernel('''kernel @dot(x: f32[16,1000], y: f32[1000], out: f32[16]) {
...   for i in 0..16 { for k in 0..1000 { out[i] += x[i, k] * y[k] } } }''')
>>> print(predict(dot, AVX512))
2,684 clocks (instructions 1,186, into the first cache 2,128, into the second 0)

For each loop we count the instructions of one iteration, those of loops further inside left out,
and take the slowest of what a core does side by side: arithmetic, loads, stores, all instructions
together, and the chain of additions into one sum. `unroll` and `vector` loops are written out, so
they are instructions and no loops; LLVM writes other short loops out, too. A value that does not
change with the innermost loop is loaded in front of it, and LLVM makes lanes of that loop where
neighbours lie side by side. What the caches have to fetch (`footprint.py`) is fetched beside all
this, so the slower of the two decides, and a part of the faster one is seen all the same.

No clock is asked. The same kernel has the same price everywhere, which is what a search needs, and
what an exercise can be graded by. How well prices order kernels is measured by
`benchmarks/prices.py`. Next room: `work.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from course_lib.arguments import takes
from course_lib.cost.footprint import Reach
from course_lib.cost.machine import Machine
from course_lib.cost.tile import SPARE
from course_lib.cost.trace import in_registers
from course_lib.ir.expr import Affine, Call, loads, walk
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Stmt, Write
from course_lib.ir.loops.walk import (
    Access,
    accesses,
    accumulators,
    dealt_out,
    loops,
    rewrite,
    statements,
)
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import f32

LANES = "lanes"  # the kind of a loop that LLVM vectorizes: one vector of it at a time
CLOCK = 3e9  # per second: turns clocks into seconds, and changes no order
ARITHMETIC, LOADS, STORES, ALL = 2, 2, 1, 4  # vector instructions that begin in a clock
LATENCY = 4  # clocks from an addition to the next one into the same sum
CHAINS = 4  # sums that LLVM keeps side by side where it vectorizes a loop
SHORT = 40  # statements of a loop that LLVM writes out
ITERATION, ENTRY = 2, 10  # instructions to count and to jump; clocks to begin and to leave a loop
SLOW = {"div": 8, "sqrt": 8, "rsqrt": 10, "sigmoid": 20, "exp": 12, "tanh": 20, "erf": 20}
BANDWIDTH = (32, 10)  # bytes in a clock from the second cache to the first, and into the second
SHARED = 1.6  # times what one thread reads from memory is all that several threads can
SEEN = 0.3  # of the time that hides behind something slower, this part is seen all the same
KERNEL, THREADS = 200, 6000  # clocks to begin a kernel, and to hand work to other threads


@dataclass(frozen=True)
class Prediction:
    """Clocks of a kernel: the whole, and what its parts would take alone."""

    clocks: float
    instructions: float
    cache1: float
    cache2: float

    @property
    def seconds(self) -> float:
        return self.clocks / CLOCK

    def __str__(self) -> str:
        return (
            f"{self.clocks:,.0f} clocks (instructions {self.instructions:,.0f}, into the first "
            f"cache {self.cache1:,.0f}, into the second {self.cache2:,.0f})"
        )


@takes
def predict(kernel: Kernel, machine: Machine) -> Prediction:
    """The price of one run, all operands in memory that is further away than the second cache
    only where they do not fit there."""
    kernel = replace(kernel, body=written_out(kernel.body, machine.lanes(f32)))
    registers = max(machine.registers - SPARE, 1)
    kept = in_registers(kernel, registers * machine.vector_bytes)
    core = _Core(kernel, machine, Reach.of(kernel, kept), registers)
    total = [0.0, 0.0, 0.0, float(KERNEL)]
    for stmt in kernel.body:
        parts = core.alone(stmt)
        together = max(parts) + SEEN * (sum(parts) - max(parts))
        total = [a + b for a, b in zip(total, (*parts, together), strict=True)]
    if dealt_out(kernel) and machine.threads > 1:
        total[3] += THREADS
    return Prediction(total[3], *total[:3])


@dataclass
class _Work:
    """Vector instructions of each kind in one iteration, and the longest chain of additions."""

    arithmetic: float = 0
    loads: float = 0
    stores: float = 0
    loop: float = 0
    chain: float = 0
    seen: set[object] = field(default_factory=set)  # the loads that are counted

    @property
    def clocks(self) -> float:
        return max(
            self.arithmetic / ARITHMETIC,
            self.loads / LOADS,
            self.stores / STORES,
            (self.arithmetic + self.loads + self.stores + self.loop) / ALL,
            self.chain,
        )


@dataclass(frozen=True)
class _Core:
    """Counts for one kernel. `reach.buffers` are the buffers that are not in registers."""

    kernel: Kernel
    machine: Machine
    reach: Reach
    registers: int

    def alone(self, stmt: Stmt) -> tuple[float, float, float]:
        """Clocks of one statement at the top: instructions, first cache, second cache."""
        work = self.block((stmt,), [])
        whole = sum(self.reach.footprint((stmt,)).values())
        first, second = (
            self.reach.traffic((stmt,), size) / speed if whole > size else 0.0
            for size, speed in zip(
                (self.machine.cache1, self.machine.cache2), BANDWIDTH, strict=True
            )
        )
        count = self.threads(stmt)
        return work / count, first / count, second / min(count, SHARED)

    def threads(self, stmt: Stmt) -> float:
        """How many times faster it is on all threads, if the work can be dealt out evenly."""
        if not isinstance(stmt, Loop) or stmt not in dealt_out(self.kernel):
            return 1.0
        extent = max(self.reach.extents[stmt.var], 1)
        return extent / math.ceil(extent / self.machine.threads)

    def block(self, body: Sequence[Stmt], around: list[Loop]) -> float:
        """Clocks of one run of a body, inside of the loops `around`."""
        work, inside = _Work(), 0.0
        for stmt in body:
            inside += self.statement(stmt, around, [], work)
        return work.clocks + inside

    def statement(self, stmt: Stmt, around: list[Loop], flat: list[Loop], work: _Work) -> float:
        """Add a statement to `work`; the clocks of loops in it are returned. `flat` are the loops
        around it that are written out."""
        if isinstance(stmt, Loop):
            if stmt.kind in ("unroll", "vector"):
                inside = [self.statement(s, around, [*flat, stmt], work) for s in stmt.body]
                return sum(inside)
            return self.times(flat) * self.loop(stmt, [*around, *flat])
        if isinstance(stmt, Write):
            self.write(stmt, around, flat, work)
        return 0.0

    def loop(self, loop: Loop, around: list[Loop]) -> float:
        """Clocks of one run of a loop, the loops in it included."""
        extent = self.reach.extents[loop.var]
        if self.vectorizable(loop):
            work = _Work(loop=ITERATION / CHAINS)
            for stmt in loop.body:
                self.statement(stmt, around, [replace(loop, kind=LANES)], work)
            work.chain /= CHAINS
            return ENTRY + math.ceil(extent / self.lanes(accesses(loop.body))) * work.clocks
        work = _Work(loop=ITERATION)
        inside = sum(self.statement(stmt, [*around, loop], [], work) for stmt in loop.body)
        return ENTRY + extent * (work.clocks + inside)

    def vectorizable(self, loop: Loop) -> bool:
        """Does LLVM make lanes of it: the innermost loop, whose iterations touch neighbours?"""
        touched = accesses(loop.body)
        if loop.kind not in ("for", "parallel") or self.reach.extents[loop.var] < self.lanes(
            touched
        ):
            return False
        if any(inner.kind != "unroll" for inner in loops(loop.body)):
            return False
        sums = accumulators(loop.body)
        return all(
            step == 1 or (step == 0 and (access.way == "read" or access.buffer in sums))
            for access, step in ((access, self.stride(access, loop.var)) for access in touched)
        )

    # ── one statement ──

    def write(self, stmt: Write, around: list[Loop], flat: list[Loop], work: _Work) -> None:
        """Count a statement: its operations for each iteration, its accesses where they differ."""
        target, times = Access("write", stmt.buffer, stmt.indices), self.vectors(flat)
        calls = [e.fn for e in walk(stmt.value) if isinstance(e, Call)]
        if isinstance(stmt, Accumulate):
            calls = calls[1:] if (stmt.op, calls[:1]) == ("add", ["mul"]) else calls  # one FMA
            calls.append(stmt.op)
            if self.goes_on(target, around, flat):
                work.chain = max(work.chain, LATENCY * times / self.vectors(flat, target))
        work.arithmetic += times * sum(map(_cost, calls))
        for load in loads(stmt.value):
            work.loads += self.moved(Access("read", load.buffer, load.indices), around, flat, work)
        stores = self.moved(target, around, flat, work)
        work.stores += stores
        work.loads += stores if isinstance(stmt, Accumulate) else 0

    def moved(self, access: Access, around: list[Loop], flat: list[Loop], work: _Work) -> float:
        """Vectors between memory and registers: none if they stay in registers, if the same was
        loaded before, or if a load can stand in front of the loop, or a store behind it."""
        if access.buffer not in self.reach.buffers or access in work.seen:
            return 0.0
        work.seen.add(access)
        count = self.vectors(flat, access)
        stays = not self.changes(access, around, flat) and count <= self.registers
        return 0.0 if stays else count

    def changes(self, access: Access, around: list[Loop], flat: list[Loop]) -> bool:
        """Is it another element in the next iteration of the innermost loop?"""
        lanes = [loop for loop in flat if loop.kind == LANES]
        innermost = {loop.var for loop in lanes or around[-1:]}
        return not innermost or any(
            not isinstance(i, Affine) or innermost & {*i.vars} for i in access.indices
        )

    def goes_on(self, target: Access, around: list[Loop], flat: list[Loop]) -> bool:
        """Does the next iteration of the innermost loop add to the same sum?"""
        lanes = [loop for loop in flat if loop.kind == LANES]
        begun = {s.buffer.name for loop in lanes or around[-1:]
                 for s in statements(loop.body) if isinstance(s, Local)}  # fmt: skip
        return target.buffer not in begun and not self.changes(target, around, flat)

    # ── lanes ──

    def lanes(self, touched: Sequence[Access]) -> int:
        """Elements that fit a vector, of the widest type."""
        types = [self.kernel.buffers[access.buffer].type.dtype for access in touched]
        return min((self.machine.lanes(dtype) for dtype in types), default=1)

    def times(self, flat: Sequence[Loop]) -> int:
        return math.prod(self.reach.extents[loop.var] for loop in flat)

    def vectors(self, flat: Sequence[Loop], access: Access | None = None) -> float:
        """Instructions for an operation, or for an access, in loops that are written out. An
        element that does not move with one of them is moved once."""
        touched = [access] if access else [Access("write", b, ()) for b in self.kernel.buffers]
        lanes, count = self.lanes(touched), 1.0
        for loop in flat:
            step = self.stride(access, loop.var) if access else 1
            if step == 0 or loop.kind == LANES:  # these take one vector at a time
                continue
            extent = self.reach.extents[loop.var]
            whole = loop.kind == "vector" and step == 1
            count *= math.ceil(extent / lanes) if whole else extent
        return count

    def stride(self, access: Access, var: str) -> int:
        """Elements from one iteration of the loop to the next; -1 where data decides."""
        elements, size = 0, 1
        dims = self.kernel.buffers[access.buffer].type.dims
        for index, extent in zip(reversed(access.indices), reversed(dims), strict=True):
            if not isinstance(index, Affine):
                return -1
            elements += abs(index.coefficient(var)) * size
            size *= extent
        return elements


def written_out(body: tuple[Stmt, ...], lanes: int) -> tuple[Stmt, ...]:
    """LLVM writes short loops out where all of it is short."""

    def one(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Loop) and stmt.kind == "for" and stmt.extent is not None:
            flat = all(inner.kind != "for" for inner in loops(stmt.body))
            if flat and stmt.extent * _length(stmt.body, lanes) <= SHORT:
                return (replace(stmt, kind="unroll"),)
        return (stmt,)

    return rewrite(body, one)


def _length(body: Sequence[Stmt], lanes: int) -> int:
    """Statements, once its loops are written out: one for a vector of lanes."""
    total = 0
    for stmt in body:
        if isinstance(stmt, Loop):
            width = lanes if stmt.kind == "vector" else 1
            total += math.ceil((stmt.extent or 1) / width) * _length(stmt.body, lanes)
        else:
            total += isinstance(stmt, Write)
    return total


def _cost(function: str) -> int:
    """Of a scalar function, in additions. `select` has no row in the table: one blend."""
    row = SCALARS.get(function)
    return SLOW.get(function, max(row.flops, 1) if row else 1)
