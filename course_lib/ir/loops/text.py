"""The text form of level 2: printed so that it parses back (`parse.py` has the grammar).

    kernel @relu(x: f32[4], out: f32[4]) {
      for i in 0..4 {
        out[i] = max(x[i], 0.0)
      }
    }

Sums, differences, products and quotients are infix, every other scalar function is a call. A
literal is f32 if it is written with a point and i64 if not; other types are spelled out, as in
`1.0:f64`. Next room: `parse.py`.
"""

from __future__ import annotations

import json
from typing import Union

from course_lib.ir.expr import Affine, Call, Const, Expr, Iter, Load
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Stmt, Store

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
LEVEL = {"add": 1, "sub": 1, "mul": 2, "div": 2}  # how tightly an operator binds


def print_kernel(kernel: Kernel) -> str:
    """The kernel as text; `parse_kernel` reads it back."""
    params = ", ".join(f"{b.name}: {b.type}" for b in kernel.params)
    packed = "".join(f" pack({p.param}, {p.axis}, {p.factor})" for p in kernel.packed)
    where = f" loc({', '.join(json.dumps(o) for o in kernel.origin)})" if kernel.origin else ""
    lines = [f"kernel @{kernel.name}({params}){packed}{where} {{"]
    for stmt in kernel.body:
        lines += _stmt(stmt, "  ")
    return "\n".join([*lines, "}"]) + "\n"


def _stmt(stmt: Stmt, indent: str) -> list[str]:
    match stmt:
        case Local(buffer):
            return [f"{indent}local {buffer.name}: {buffer.type}"]
        case Store(buffer, indices, value):
            return [f"{indent}{buffer}[{_indices(indices)}] = {print_expr(value)}"]
        case Accumulate(buffer, indices, op, value):
            sign = INFIX.get(op, op)
            return [f"{indent}{buffer}[{_indices(indices)}] {sign}= {print_expr(value)}"]
        case Loop(var, start, stop, body, kind):
            inner = [line for s in body for line in _stmt(s, indent + "  ")]
            return [f"{indent}{kind} {var} in {start}..{stop} {{", *inner, f"{indent}}}"]
    raise AssertionError(stmt)


def _indices(indices: tuple[Union[Affine, Expr], ...]) -> str:
    return ", ".join(str(i) if isinstance(i, Affine) else print_expr(i) for i in indices)


def print_expr(expr: Expr, level: int = 0) -> str:
    """An expression, with parentheses only where they are needed."""
    match expr:
        case Const(value, dtype):
            if dtype.name == "bool":
                return "true" if value else "false"
            plain = {"f32": float, "i64": int}.get(dtype.name)
            text = repr(value)
            return text if plain is not None else f"{text}:{dtype}"
        case Iter(index):
            return f"index({index})"
        case Load(buffer, indices, _):
            return f"{buffer}[{_indices(indices)}]"
        case Call("cast", (arg,), dtype):
            return f"cast({print_expr(arg)}, {dtype})"
        case Call(fn, (a, b), _) if fn in INFIX:
            mine = LEVEL[fn]
            text = f"{print_expr(a, mine)} {INFIX[fn]} {print_expr(b, mine + 1)}"
            return f"({text})" if mine < level else text
        case Call(fn, args, _):
            return f"{fn}({', '.join(print_expr(a) for a in args)})"
    raise AssertionError(expr)
