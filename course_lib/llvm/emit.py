"""Kernel -> LLVM IR. An interpreter of loop nests that emits instructions where the other computes.

    for i in 0..4 { out[i] = x0[i] * 2.0 }
    ==>
    define i64 @k(ptr noalias %x0, ptr noalias %out, i64 %lo, i64 %hi) {
      ...
      %value = load float, ptr %address
      %product = fmul contract float %value, 2.0
      ...
      ret i64 0

A function runs the iterations number `lo .. hi` of a loop at the top of the kernel (`parts.py`). It
returns 1 if an index that it read from memory (a gather's) was outside its buffer, else 0. In a
`vector` loop an index moves in lanes: an access that does not move is loaded once, one that moves
is a vector. A loop inside runs for all lanes at once, and a local inside has an element for each of
them. Next room: `lanes.py`.

Reading path, 11 of 12; next: `llvm/entry.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from course_lib.ir.expr import Affine, Call, Const, Expr, Iter, Load
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Stmt, Store, Write
from course_lib.ir.loops.prefetch import positions
from course_lib.ir.loops.walk import substitute
from course_lib.ir.types import DType, TensorType, bool_
from course_lib.llvm.lanes import Lanes, vectorizable
from course_lib.llvm.parts import Part, functions_of, only_fills, only_loop
from course_lib.llvm.scalars import emit_scalar
from course_lib.llvm.values import I32, I64, call, constant, like, memory_type

MAX_STACK = 1 << 20  # bytes of one local; a thread has a few megabytes for all of them


def emit_kernel(
    kernel: Kernel, module: ir.Module, emitter: type[Emitter] | None = None
) -> list[Part]:
    """Add the kernel's functions to the module and say how to call them, in order.

    emitter  which emitter writes them; None: the one below (`inspect/source.py` has another)
    """
    bodies, parts = functions_of(kernel), []
    for number, body in enumerate(bodies):
        symbol = kernel.name if len(bodies) == 1 else f"{kernel.name}.{number}"
        written = (emitter or Emitter)(kernel, module, symbol)
        if len(bodies) > 1 and only_fills(body):  # LLVM would write such loops out, for nothing
            written.fn.attributes.add("optsize")
        parts.append(written.function(body))
    return parts


class Emitter:
    """One function of a kernel, statement by statement."""

    def __init__(self, kernel: Kernel, module: ir.Module, symbol: str) -> None:
        self.kernel, self.module, self.symbol = kernel, module, symbol
        pointers = [ir.PointerType()] * len(kernel.params)
        signature = ir.FunctionType(I64, [*pointers, I64, I64])
        self.fn = ir.Function(module, signature, symbol)
        self.lo, self.hi = self.fn.args[-2:]
        self.lo.name, self.hi.name = "lo", "hi"
        self.pointer: dict[str, ir.Value] = {}
        self.buffer: dict[str, Buffer] = {}
        for param, argument in zip(kernel.params, self.fn.args, strict=False):
            argument.name = param.name
            for attribute in ("noalias", "nonnull"):
                argument.add_attribute(attribute)
            self.pointer[param.name], self.buffer[param.name] = argument, param
        self.entry = self.fn.append_basic_block("entry")
        self.b = ir.IRBuilder(self.fn.append_basic_block("body"))
        self.at: dict[str, ir.Value] = {}  # loop variables that are running
        self.sums: dict[tuple, ir.Value] = {}  # parts of indices that have been computed
        self.lanes: Lanes | None = None
        self.of_a_lane: set[str] = set()  # locals of which each lane has its own
        self.outside: ir.Value | None = None  # where it is kept that an index was outside

    def function(self, body: tuple[Stmt, ...]) -> Part:
        first = self.fn.blocks[1]
        outermost = only_loop(body)
        if outermost is None:
            self.block(body)
        else:
            start = self.index(outermost.start)
            self.loop(outermost, self.b.add(self.lo, start), self.b.add(self.hi, start))
        self.b.ret(self.status())
        ir.IRBuilder(self.entry).branch(first)
        iterations = 1 if outermost is None else outermost.extent or 0
        parallel = outermost is not None and outermost.kind == "parallel"
        return Part(self.symbol, iterations, self.outside is not None, parallel)

    def status(self) -> ir.Value:
        """What the function returns: was an index outside its buffer?"""
        return I64(0) if self.outside is None else self.b.zext(self.b.load(self.outside), I64)

    # ── statements ──

    def block(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case Local(buffer):
                    self.local(buffer)
                case Store():
                    self.store(stmt, self.expr(stmt.value))
                case Accumulate():
                    self.store(stmt, self.combined(stmt))
                case Loop(kind="unroll"):
                    self.unroll(stmt)
                case Loop(kind="vector"):
                    self.vector(stmt)
                case Loop():
                    self.loop(stmt, self.end(stmt.starts, ">"), self.end(stmt.stops, "<"))

    def local(self, buffer: Buffer) -> None:
        """Stack memory, reserved once in the entry block; LLVM turns it into registers. In a vector
        loop, what the lanes have at the same place lies side by side."""
        if self.lanes is not None:
            self.of_a_lane.add(buffer.name)
            shape = (*buffer.type.dims, self.lanes.width)
            buffer = Buffer(buffer.name, TensorType(buffer.type.dtype, shape))
        if buffer.type.nbytes > MAX_STACK:
            raise ValueError(
                f"@{self.kernel.name}: the local {buffer.name} takes {buffer.type.nbytes:,} bytes "
                "of the stack; split the loops that it has a slot for into small blocks first"
            )
        element = memory_type(buffer.type.dtype)
        slot = ir.IRBuilder(self.entry).alloca(ir.ArrayType(element, buffer.type.numel))
        slot.align = 64
        slot.type = ir.PointerType()  # llvmlite still gives alloca a typed pointer; LLVM has none
        self.pointer[buffer.name], self.buffer[buffer.name] = slot, buffer

    def end(self, bounds: Sequence[Affine], sign: str) -> ir.Value:
        """Where a loop starts or stops: the largest (">") or smallest ("<") of some bounds."""
        end, *others = map(self.index, bounds)
        for other in others:
            end = self.b.select(self.b.icmp_signed(sign, end, other), end, other)
        return end

    def loop(self, loop: Loop, start: ir.Value, stop: ir.Value) -> None:
        """while (i < stop) { body; i += 1 }"""
        before = self.b.block
        head = self.fn.append_basic_block(f"{loop.var}.head")
        body = self.fn.append_basic_block(f"{loop.var}.body")
        done = self.fn.append_basic_block(f"{loop.var}.done")
        self.b.branch(head)
        self.b.position_at_end(head)
        i = self.b.phi(I64, loop.var)
        i.add_incoming(start, before)
        self.b.cbranch(self.b.icmp_signed("<", i, stop), body, done)
        self.b.position_at_end(body)
        self.at[loop.var], outside = i, dict(self.sums)
        self.prefetch(loop)
        self.block(loop.body)
        del self.at[loop.var]
        self.sums = outside  # what the loop has computed is not known behind it
        i.add_incoming(self.b.add(i, I64(1), flags=("nsw",)), self.b.block)
        self.b.branch(head)
        self.b.position_at_end(done)

    def prefetch(self, loop: Loop) -> None:
        """Ask for what the kernel says is needed soon. The numbers tell `llvm.prefetch`: for
        reading, into the nearest cache, data and not code."""
        for asked in (p for p in self.kernel.prefetched if p.within == loop.var):
            for place in positions(self.kernel, asked):
                element = memory_type(self.buffer[asked.param].type.dtype)
                where = self.b.gep(
                    self.pointer[asked.param], [self.index(place)], source_etype=element
                )
                say = [where, I32(0), I32(3), I32(1)]
                call(self.b, "llvm.prefetch.p0", say, ir.VoidType())

    def unroll(self, loop: Loop) -> None:
        if loop.extent is None or loop.start.terms:
            raise ValueError(
                f"@{self.kernel.name}: unroll {loop.var} needs bounds that are numbers"
            )
        for i in range(loop.start.const, loop.start.const + loop.extent):
            self.block(substitute(loop.body, {loop.var: Affine((), i)}))

    def vector(self, loop: Loop) -> None:
        """One pass over the body for all lanes, if each statement of it can be a vector."""
        if self.lanes is not None or not vectorizable(loop):
            return self.unroll(loop)
        self.lanes = Lanes(loop.var, loop.extent or 0)
        self.block(substitute(loop.body, {loop.var: Affine.var(loop.var) + loop.start}))
        self.lanes = None
        self.of_a_lane.clear()

    def combined(self, stmt: Accumulate) -> ir.Value:
        """What is there, combined with the value. LLVM may turn the loop around it into lanes."""
        dtype = self.buffer[stmt.buffer].type.dtype
        update = Call(stmt.op, (Load(stmt.buffer, stmt.indices, dtype), stmt.value), dtype)
        return self.expr(update, reassociate=self.lanes is None)

    def store(self, stmt: Write, value: ir.Value) -> None:
        dtype = self.buffer[stmt.buffer].type.dtype
        base, step = self.address(stmt.buffer, stmt.indices)
        if self.lanes is None:
            self.b.store(self.to_memory(value, dtype), base, align=dtype.size)
        else:
            value = self.to_memory(self.spread(value), dtype)
            self.lanes.store(self.b, value, base, step, dtype)

    # ── addresses ──

    def index(self, affine: Affine) -> ir.Value:
        """The value of an affine index, in lane 0 of a vector loop."""
        terms = tuple(term for term in affine.terms if not self.lanes or term[0] != self.lanes.var)
        if not terms:
            return I64(affine.const)
        total = self.sum_of(terms)
        return self.b.add(total, I64(affine.const), flags=("nsw",)) if affine.const else total

    def sum_of(self, terms: tuple[tuple[str, int], ...]) -> ir.Value:
        """The sum of loop variables times numbers, computed once: unrolled accesses share it."""
        if terms not in self.sums:
            *before, (var, coefficient) = terms
            last = self.at[var]
            if coefficient != 1:
                last = self.b.mul(last, I64(coefficient), flags=("nsw",))
            total = self.b.add(self.sum_of((*before,)), last, flags=("nsw",)) if before else last
            self.sums[terms] = total
        return self.sums[terms]

    def address(self, name: str, indices: tuple[Affine | Expr, ...]) -> tuple[ir.Value, int]:
        """Pointer to the element (in lane 0), and how many elements apart the lanes are."""
        dims = self.buffer[name].type.dims
        if self.lanes is not None and name in self.of_a_lane:
            indices = (*indices, Affine.var(self.lanes.var))
        parts, computed, stride = [], None, 1
        for index, size in zip(reversed(indices), reversed(dims), strict=True):
            if isinstance(index, Affine):
                parts.append((index, stride))
            else:
                picked = self.b.mul(self.inside(index, size), I64(stride), flags=("nsw",))
                computed = picked if computed is None else self.b.add(computed, picked)
            stride *= size
        linear = Affine.sum(parts)
        position = self.index(linear)
        position = position if computed is None else self.b.add(position, computed)
        element = memory_type(self.buffer[name].type.dtype)
        pointer = self.b.gep(self.pointer[name], [position], True, source_etype=element)
        return pointer, linear.coefficient(self.lanes.var) if self.lanes else 0

    def inside(self, index: Expr, size: int) -> ir.Value:
        """A data-dependent index. If it is outside, that is noted and 0 taken instead: no input can
        make us read elsewhere. The note is a register in the end, and an `or` of lanes in a vector.
        """
        value = self.expr(index)
        outside = self.b.icmp_unsigned(">=", value, I64(size))
        if self.outside is None:
            entry = ir.IRBuilder(self.entry)
            self.outside = entry.alloca(outside.type)
            entry.store(outside.type(0), self.outside)
        self.b.store(self.b.or_(self.b.load(self.outside), outside), self.outside)
        return self.b.select(outside, I64(0), value)

    # ── expressions: a scalar, or a vector with one element for each lane ──

    def expr(self, expr: Expr, reassociate: bool = False) -> ir.Value:
        match expr:
            case Const(value, dtype):
                return constant(value, dtype)
            case Iter(index):
                return self.iteration(index)
            case Load():
                return self.load(expr)
            case Call(fn, args, dtype):
                values = [self.expr(a) for a in args]
                if any(isinstance(v.type, ir.VectorType) for v in values):
                    values = [self.spread(v) for v in values]
                kinds = [a.dtype for a in args]
                return emit_scalar(self.b, fn, values, kinds, dtype, reassociate)
        raise AssertionError(expr)

    def iteration(self, index: Affine) -> ir.Value:
        first = self.index(index)
        step = index.coefficient(self.lanes.var) if self.lanes else 0
        if not step or self.lanes is None:
            return first
        return self.b.add(self.spread(first), self.lanes.ramp(step))

    def load(self, load: Load) -> ir.Value:
        base, step = self.address(load.buffer, load.indices)
        if self.lanes is None or step == 0:
            value = self.b.load(base, align=load.dtype.size, typ=memory_type(load.dtype))
        else:
            value = self.lanes.load(self.b, base, step, load.dtype)
        return self.from_memory(value, load.dtype)

    def spread(self, value: ir.Value) -> ir.Value:
        """The same number in every lane, in a vector loop."""
        return value if self.lanes is None else self.lanes.spread(self.b, value)

    def from_memory(self, value: ir.Value, dtype: DType) -> ir.Value:
        """A bool is a byte in memory and one bit in a register."""
        if dtype != bool_:
            return value
        return self.b.icmp_unsigned("!=", value, like(value, 0))

    def to_memory(self, value: ir.Value, dtype: DType) -> ir.Value:
        if dtype != bool_:
            return value
        byte = memory_type(bool_)
        if isinstance(value.type, ir.VectorType):
            byte = ir.VectorType(byte, value.type.count)
        return self.b.zext(value, byte)
