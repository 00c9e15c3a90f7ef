"""Scalar functions of floats that are more than one operation of `arith` and `math`.

    relu(w, %x)     ->     %c = arith.constant 0.0 : f32
                           %t0 = arith.cmpf ugt, %x, %c : f32
                           %t1 = arith.select %t0, %x, %c : f32

The same functions for LLVM are in `llvm/floats.py`. Next room: `integers.py`.
"""

from __future__ import annotations

from course_lib.mlir.out.writer import Value, Writer


def relu(w: Writer, a: Value) -> Value:
    """Unordered: NaN stays; and -0.0 becomes 0.0, as in numpy."""
    zero = w.like(a, 0)
    return w.select(w.compare("ugt", a, zero), a, zero)


def sign(w: Writer, a: Value) -> Value:
    """0 and NaN stay as they are."""
    zero = w.like(a, 0)
    positive = w.select(w.compare("ogt", a, zero), w.like(a, 1), a)
    return w.select(w.compare("olt", a, zero), w.like(a, -1), positive)


def floor_mod(w: Writer, a: Value, divisor: Value) -> Value:
    """The remainder of C, moved by one divisor where the signs differ."""
    rest, zero = w.op("arith.remf", a, divisor), w.like(a, 0)
    signs = w.compare("olt", rest, zero), w.compare("olt", divisor, zero)
    wrong = w.op("arith.andi", w.op("arith.xori", *signs), w.compare("one", rest, zero))
    return w.select(wrong, w.op("arith.addf", rest, divisor), rest)


def reciprocal(w: Writer, a: Value) -> Value:
    return w.op("arith.divf", w.like(a, 1), a)


def rsqrt(w: Writer, a: Value) -> Value:
    return reciprocal(w, w.op("math.sqrt", a))


def sigmoid(w: Writer, a: Value) -> Value:
    e = w.op("math.exp", w.op("arith.negf", a))
    return reciprocal(w, w.op("arith.addf", e, w.like(a, 1)))


def isnan(w: Writer, a: Value) -> Value:
    return w.compare("uno", a, a)


def isinf(w: Writer, a: Value) -> Value:
    """Twice an infinity is itself; of the other numbers only 0 is."""
    twice = w.compare("oeq", w.op("arith.addf", a, a), a)
    return w.op("arith.andi", twice, w.compare("one", a, w.like(a, 0)))
