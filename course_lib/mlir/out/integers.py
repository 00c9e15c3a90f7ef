"""Scalar functions of integers that are more than one operation of `arith`.

    fmod(w, %a, %d)     ->     %safe = select (%d == 0 or %d == -1), 1, %d
                               arith.remsi %a, %safe

`arith` leaves open what x / 0 and lowest / -1 are. So neither reaches it, and the results are those
of numpy: x / 0 == 0, lowest / -1 == lowest, and the remainders are 0. The same functions for LLVM
are in `llvm/integers.py`. Next room: `body.py`.
"""

from __future__ import annotations

from course_lib.mlir.out.writer import Value, Writer


def neg(w: Writer, a: Value) -> Value:
    return w.op("arith.subi", w.like(a, 0), a)


def relu(w: Writer, a: Value) -> Value:
    return w.op("arith.maxsi", a, w.like(a, 0))


def absolute(w: Writer, a: Value) -> Value:
    """The lowest number has no opposite: it stays."""
    return w.op("arith.maxsi", a, neg(w, a))


def same(w: Writer, a: Value) -> Value:
    """The absolute value and the relu of an unsigned number."""
    return a


def sign(w: Writer, a: Value) -> Value:
    return w.op("arith.maxsi", w.op("arith.minsi", a, w.like(a, 1)), w.like(a, -1))


def not_bool(w: Writer, a: Value) -> Value:
    return w.op("arith.xori", a, w.constant("true", "i1"))


def not_bits(w: Writer, a: Value) -> Value:
    return w.op("arith.xori", a, w.like(a, -1))


def sign_unsigned(w: Writer, a: Value) -> Value:
    return w.op("arith.minui", a, w.like(a, 1))


def div(w: Writer, a: Value, divisor: Value) -> Value:
    """Truncates towards zero."""
    minus_one = w.compare("eq", divisor, w.like(a, -1))
    value = w.select(minus_one, neg(w, a), w.op("arith.divsi", a, _harmless(w, divisor)))
    return w.select(_is_zero(w, divisor), w.like(a, 0), value)


def fmod(w: Writer, a: Value, divisor: Value) -> Value:
    """The remainder has the sign of `a`."""
    return w.op("arith.remsi", a, _harmless(w, divisor))


def mod(w: Writer, a: Value, divisor: Value) -> Value:
    """The remainder has the sign of the divisor."""
    rest, zero = fmod(w, a, divisor), w.like(a, 0)
    signs = w.compare("slt", rest, zero), w.compare("slt", divisor, zero)
    wrong = w.op("arith.andi", w.op("arith.xori", *signs), w.compare("ne", rest, zero))
    return w.select(wrong, w.op("arith.addi", rest, divisor), rest)


def _harmless(w: Writer, divisor: Value) -> Value:
    """1 instead of 0 and -1; the remainder is 0 in all three cases."""
    minus_one = w.compare("eq", divisor, w.like(divisor, -1))
    bad = w.op("arith.ori", _is_zero(w, divisor), minus_one)
    return w.select(bad, w.like(divisor, 1), divisor)


def div_unsigned(w: Writer, a: Value, divisor: Value) -> Value:
    zero = _is_zero(w, divisor)
    safe = w.select(zero, w.like(a, 1), divisor)
    return w.select(zero, w.like(a, 0), w.op("arith.divui", a, safe))


def mod_unsigned(w: Writer, a: Value, divisor: Value) -> Value:
    safe = w.select(_is_zero(w, divisor), w.like(a, 1), divisor)
    return w.op("arith.remui", a, safe)


def _is_zero(w: Writer, a: Value) -> Value:
    return w.compare("eq", a, w.like(a, 0))


def power_unsigned(w: Writer, base: Value, exponent: Value) -> Value:
    """Square and multiply, in a loop over the bits of the exponent."""
    one, zero, type = w.like(base, 1), w.like(base, 0), base.type
    first, last, step = (w.constant(str(n), "index") for n in (0, int(type[1:]), 1))
    bit, power, square, results = (w.fresh() for _ in range(4))
    w.line(f"{results}:2 = scf.for {bit} = {first.name} to {last.name} step {step.name} "
           f"iter_args({power} = {one.name}, {square} = {base.name}) "
           f"-> ({type}, {type}) {{")  # fmt: skip
    with w.indented():
        shift = w.fresh()
        w.line(f"{shift} = arith.index_cast {bit} : index to {type}")
        shifted = w.op("arith.shrui", exponent, Value(shift, type))
        skipped = w.compare("eq", w.op("arith.andi", shifted, one), zero)
        old, twice = Value(power, type), Value(square, type)
        new = w.select(skipped, old, w.op("arith.muli", old, twice))
        squared = w.op("arith.muli", twice, twice)
        w.line(f"scf.yield {new.name}, {squared.name} : {type}, {type}")
    w.line("}")
    return Value(f"{results}#0", type)


def power(w: Writer, base: Value, exponent: Value) -> Value:
    """A negative power is 0, but for those of 1 and -1."""
    zero, one = w.like(base, 0), w.like(base, 1)
    unit = w.compare("eq", absolute(w, base), one)
    even = _is_zero(w, w.op("arith.andi", exponent, one))
    inverse = w.select(unit, w.select(even, one, base), zero)
    negative = w.compare("slt", exponent, zero)
    return w.select(negative, inverse, power_unsigned(w, base, exponent))
