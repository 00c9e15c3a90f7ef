"""A kernel as C++: the same loops in another language, for a compiler that is not ours.

    for i in 0..8 { out[i] += 2.0 * x[i] }        x, out: f32[8]
    ==>
    extern "C" void k(const float *__restrict x, float *__restrict out) {
      for (long i = 0; i < 8; ++i) {
        out[i] += 2.0f * x[i];
      }
    }

Indices are written out, row-major. A `vector` loop is marked with `omp simd` and an `unroll` loop
with GCC's pragma: promises of ours that the C++ compiler may use or not; `parallel` is a plain
loop. Floating-point arithmetic of f32 and f64 is all that there is. `bridges/gxx.py` compiles it.
Next room: `loop_interp.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.ir.expr import Affine, Call, Const, Expr, Load, Point
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.scalar import SCALARS, spelled
from course_lib.ir.types import DType

TYPES = {"f32": ("float", "f"), "f64": ("double", "")}


def cpp(kernel: Kernel) -> str:
    """The kernel as a C++ function of its name. ValueError for what has no such form."""
    const = {b.name: "const " * (b != kernel.out) for b in kernel.params}
    params = [f"{const[b.name]}{_ctype(b.type.dtype)} *__restrict {b.name}" for b in kernel.params]
    lines = [f'extern "C" void {kernel.name}({", ".join(params)}) {{']
    for stmt in kernel.body:
        lines += _stmt(stmt, kernel.buffers, "  ")
    needed = ["<algorithm>"] * any("::max<" in s or "::min<" in s for s in lines) + ["<cmath>"]
    return "\n".join([*(f"#include {name}" for name in needed), "", *lines, "}"]) + "\n"


def _ctype(dtype: DType) -> str:
    if dtype.name not in TYPES:
        raise ValueError(f"C++ is made for {' and '.join(TYPES)} only, not for {dtype}")
    return TYPES[dtype.name][0]


def _stmt(stmt: Stmt, buffers: dict[str, Buffer], indent: str) -> list[str]:
    match stmt:
        case Local(buffer):
            size = buffer.type.numel
            return [f"{indent}alignas(64) {_ctype(buffer.type.dtype)} {buffer.name}[{size}];"]
        case Store(name, indices, value):
            return [f"{indent}{_element(name, indices, buffers)} = {_expr(value, buffers)};"]
        case Accumulate(name, indices, op, value):
            place, new = _element(name, indices, buffers), _expr(value, buffers)
            word = spelled(op, "cpp", buffers[name].type.dtype)
            if _is_sign(word):
                return [f"{indent}{place} {word}= {new};"]
            return [f"{indent}{place} = {word}({place}, {new});"]
        case Loop(var, body=body, kind=kind):
            start, stop = _end("max", stmt.starts), _end("min", stmt.stops)
            head = f"{indent}for (long {var} = {start}; {var} < {stop}; ++{var}) {{"
            inner = [line for s in body for line in _stmt(s, buffers, indent + "  ")]
            return [*_pragma(kind, stmt.extent, indent), head, *inner, f"{indent}}}"]
    raise AssertionError(stmt)


def _end(function: str, bounds: Sequence[Affine]) -> str:
    """Where a loop starts or stops."""
    given = ", ".join(map(str, bounds))
    return f"std::{function}<long>({{{given}}})" if len(bounds) > 1 else given


def _pragma(kind: str, extent: int | None, indent: str) -> list[str]:
    if kind == "vector":
        return [f"{indent}#pragma omp simd"]
    return [f"{indent}#pragma GCC unroll {extent}"] if kind == "unroll" and extent else []


def _element(name: str, indices: Point, buffers: dict[str, Buffer]) -> str:
    at = Affine()
    for index, size in zip(indices, buffers[name].type.dims, strict=True):
        if not isinstance(index, Affine):
            raise ValueError(f"data decides which element of {name} is meant: there is no C++ yet")
        at = at * size + index
    return f"{name}[{at}]"


def _expr(expr: Expr, buffers: dict[str, Buffer]) -> str:
    match expr:
        case Const(value, dtype):
            _ctype(dtype)
            return f"{float(value)!r}{TYPES[dtype.name][1]}"
        case Load(name, indices, _):
            return _element(name, indices, buffers)
        case Call(fn, args, dtype) if fn in SCALARS:
            _ctype(dtype)
            word, operands = spelled(fn, "cpp", dtype), [_expr(a, buffers) for a in args]
            if not _is_sign(word):
                return f"{word}({', '.join(operands)})"
            if len(args) > 1:
                return f"({f' {word} '.join(operands)})"
            negative = operands[0].startswith(word)  # `--1.0f` is another thing
            return f"({word}({operands[0]}))" if negative else f"({word}{operands[0]})"
    raise ValueError(f"there is no C++ for {expr} yet")


def _is_sign(word: str) -> bool:
    """+ stands between its operands, `std::fmax` in front of them."""
    return not word.startswith("std::")
