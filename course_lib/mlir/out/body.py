"""An expression at one point of a loop nest, as operations on single numbers.

    x[oh + kh] * w[kh]     ->     %t0 = arith.mulf %in0, %in1 : f32

What an operation reads at affine indices arrives as an argument of its region (`%in0`, `%in1`; the
maps say from where). Where data decides the index, as in a gather, the region itself reads, with
`tensor.extract`. Next room: `generic.py`, which makes the region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.ir.expr import Affine, Call, Const, Expr, Iter, Load, Point
from course_lib.mlir.out.scalars import scalar
from course_lib.mlir.out.writer import Value, Writer, element, number


class Body:
    """`value(expr)` writes what computes an expression, each part of it once.

    operands   the tensors that the op reads, in order
    reads      the loads whose values are there already
    loops      the loop variables as values of type index; None where `linalg.index` gives them
    """

    def __init__(
        self,
        w: Writer,
        operands: Sequence[Value],
        reads: Mapping[Expr, Value],
        dims: Sequence[str],
        loops: Mapping[str, Value] | None = None,
    ) -> None:
        self.w, self.operands, self.dims = w, operands, list(dims)
        self.known: dict[Expr, Value] = dict(reads)
        self.loops = dict(loops) if loops is not None else None

    def value(self, expr: Expr) -> Value:
        if expr not in self.known:
            self.known[expr] = self._value(expr)
        return self.known[expr]

    def _value(self, expr: Expr) -> Value:
        w = self.w
        match expr:
            case Const(value, dtype):
                return w.constant(number(value, dtype), element(dtype))
            case Iter(index):
                return w.op("arith.index_cast", self.index(index), result="i64")
            case Load(buffer, indices, dtype):
                tensor = self.operands[int(buffer)]
                at = self.point(indices)
                name = w.fresh()
                w.line(f"{name} = tensor.extract {tensor.name}[{at}] : {tensor.type}")
                return Value(name, element(dtype))
            case Call(fn, args, dtype):
                values = [self.value(a) for a in args]
                return scalar(w, fn, values, [a.dtype for a in args], dtype)
        raise AssertionError(expr)

    def point(self, indices: Point) -> str:
        """The indices of one element, as values of type index."""
        values = [self.index(i) if isinstance(i, Affine) else self._cast(i) for i in indices]
        return ", ".join(v.name for v in values)

    def _cast(self, index: Expr) -> Value:
        return self.w.op("arith.index_cast", self.value(index), result="index")

    def index(self, affine: Affine) -> Value:
        """A sum of loop variables."""
        w, total = self.w, None
        for var, coefficient in affine.terms:
            term = self._loop(var)
            if coefficient != 1:
                term = w.op("arith.muli", term, w.constant(str(coefficient), "index"))
            total = term if total is None else w.op("arith.addi", total, term)
        if total is None or affine.const:
            const = w.constant(str(affine.const), "index")
            total = const if total is None else w.op("arith.addi", total, const)
        return total

    def _loop(self, var: str) -> Value:
        if self.loops is not None:
            return self.loops[var]
        name = self.w.fresh()
        self.w.line(f"{name} = linalg.index {self.dims.index(var)} : index")
        return Value(name, "index")
