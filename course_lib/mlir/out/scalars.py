"""What each scalar function becomes in MLIR, operations of `arith` and `math`: its word in
`ir/scalar.py`.

    scalar(w, "relu", [%x], [f32], f32)     ->     %c = arith.constant 0.0 : f32
                                                   %t0 = arith.cmpf ugt, %x, %c : f32
                                                   %t1 = arith.select %t0, %x, %c : f32

`arith` knows a sign for each operation and none for a type, so there is a word for each kind of
number, as for LLVM. Integers are guarded where `arith` leaves the result open: x / 0,
the lowest / -1. Next room: `floats.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from course_lib.ir.scalar import spelled
from course_lib.ir.types import DType, f16, f32
from course_lib.mlir.out import floats, integers
from course_lib.mlir.out.casts import cast
from course_lib.mlir.out.writer import Value, Writer

Emit = Callable[..., Value]  # (writer, *arguments) -> result


def scalar(
    w: Writer, fn: str, args: Sequence[Value], kinds: Sequence[DType], result: DType
) -> Value:
    """The operations of one scalar function. `kinds` are the element types of `args`.

    f16 is computed in f32 and rounded, as everywhere in this compiler. ValueError if there is no
    such function of this type.
    """
    if fn == "select":
        return w.select(args[0], args[1], args[2])
    if fn == "cast":
        return cast(w, args[0], kinds[0], result)
    if kinds[0] == f16:
        wide = [cast(w, a, f16, f32) for a in args]
        value = _emit(spelled(fn, "mlir", f32))(w, *wide)
        return cast(w, value, f32, f16) if result == f16 else value
    return _emit(spelled(fn, "mlir", kinds[0]))(w, *args)


@cache
def _emit(word: str) -> Emit:
    """What a word of the column `mlir` in `ir/scalar.py` means."""
    room, _, name = word.rpartition(".")
    if room in ("floats", "integers"):  # more than one operation: a function of that file
        return getattr(floats if room == "floats" else integers, name)
    if room in ("cmpf", "cmpi"):
        return lambda w, a, b: w.compare(name, a, b)
    return lambda w, *args: w.op(word if room else f"arith.{word}", *args)
