"""A vector loop in lanes: which loops can be one, and how its numbers come from memory and go back.

    vector i in 0..4 { out[i] = x[2*i] }
    ==>
    %wide = load <7 x float>, ptr %address
    %value = shufflevector <7 x float> %wide, <7 x float> undef, <4 x i32> <0, 2, 4, 6>
    store <4 x float> %value, ptr %out

Lanes that are one element apart are one load or store; those a few apart are a wider load and a
shuffle; all others are read and written one by one. Next room: `scalars.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from course_lib.ir.expr import Affine, loads
from course_lib.ir.loops.nest import Local, Loop, Write
from course_lib.ir.loops.walk import statements
from course_lib.ir.types import DType
from course_lib.llvm.values import I32, I64, memory_type, splat

MAX_SHUFFLE_STRIDE = 4


@dataclass(frozen=True)
class Lanes:
    """The vector loop being emitted: its variable, and how many lanes it has."""

    var: str
    width: int

    def load(self, b: ir.IRBuilder, base: ir.Value, step: int, dtype: DType) -> ir.Value:
        """An element for each lane, as it lies in memory: lane 0 at `base`, the others `step`
        elements apart."""
        element, width = memory_type(dtype), self.width
        if 1 <= step <= MAX_SHUFFLE_STRIDE:
            reach = (width - 1) * step + 1
            wide = b.load(base, align=dtype.size, typ=ir.VectorType(element, reach))
            if step > 1:
                picks = ir.Constant(ir.VectorType(I32, width), [i * step for i in range(width)])
                wide = b.shuffle_vector(wide, ir.Constant(wide.type, ir.Undefined), picks)
            return wide
        vector = ir.Constant(ir.VectorType(element, width), ir.Undefined)
        for lane in range(width):
            address = offset(b, base, lane * step, dtype)
            value = b.load(address, align=dtype.size, typ=element)
            vector = b.insert_element(vector, value, I32(lane))
        return vector

    def store(
        self, b: ir.IRBuilder, value: ir.Value, base: ir.Value, step: int, dtype: DType
    ) -> None:
        """The way back of `load`."""
        if step == 1:
            b.store(value, base, align=dtype.size)
            return
        for lane in range(self.width):
            element = b.extract_element(value, I32(lane))
            b.store(element, offset(b, base, lane * step, dtype), align=dtype.size)

    def spread(self, b: ir.IRBuilder, value: ir.Value) -> ir.Value:
        """The same number in every lane; a vector stays as it is."""
        if isinstance(value.type, ir.VectorType):
            return value
        type = ir.VectorType(value.type, self.width)
        if isinstance(value, ir.Constant):
            return splat(value, self.width)
        undefined = ir.Constant(type, ir.Undefined)
        first = b.insert_element(undefined, value, I32(0))
        return b.shuffle_vector(first, undefined, splat(I32(0), self.width))

    def ramp(self, step: int) -> ir.Constant:
        """How far an index that moves by `step` is ahead in each lane."""
        return ir.Constant(ir.VectorType(I64, self.width), [k * step for k in range(self.width)])


def vectorizable(loop: Loop) -> bool:
    """Can one pass over its body run all iterations, each in a lane?

    Stores must move with the lanes (a local of the body does), indices be known without reading
    memory, and loops inside be as long in all lanes. Of two vector loops, the inner one has lanes.
    """
    if not loop.extent or loop.start.terms:
        return False
    inside = statements(loop.body)
    own = {stmt.buffer.name for stmt in inside if isinstance(stmt, Local)}
    for stmt in inside:
        if isinstance(stmt, Loop) and (stmt.kind == "vector" or loop.var in stmt.bounded_by):
            return False
        if isinstance(stmt, Write):
            moves = any(isinstance(i, Affine) and i.coefficient(loop.var) for i in stmt.indices)
            if not all_affine(stmt) or not (moves or stmt.buffer in own):
                return False
    return True


def all_affine(stmt: Write) -> bool:
    """Are all indices of a statement known without reading memory?"""
    reads = [i for e in loads(stmt.value) for i in e.indices]
    return all(isinstance(i, Affine) for i in (*stmt.indices, *reads))


def offset(b: ir.IRBuilder, pointer: ir.Value, elements: int, dtype: DType) -> ir.Value:
    """The address so many elements further."""
    return b.gep(pointer, [I64(elements)], True, source_etype=memory_type(dtype))
