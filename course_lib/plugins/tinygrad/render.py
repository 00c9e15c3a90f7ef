"""tinygrad's operations of a kernel, in order, as a listing.

    SPECIAL lidx0, CAST(CONST 3), INDEX(PARAM, SPECIAL), LOAD, ...     ->     `listing.py`

A literal is two operations in tinygrad, a number without a type and a cast; here it is one. A WMMA
says in its line whether its operands are certain to be what the chip's cells take. tinygrad knows
of each value between which bounds it lies, so that `x.cast("int32")` of an int8 is certain, and so
is `x.cast("int32") - 128` of a uint8. Next room: `uop_interp.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinygrad.dtype import AddrSpace, DType, dtypes
from tinygrad.uop import Ops
from tinygrad.uop.ops import UOp

from course_lib.plugins.tinygrad.listing import BINARY, UNARY, Line, print_listing

KINDS: dict[DType, str] = {
    dtypes.bool: "bool", dtypes.int8: "i8", dtypes.int16: "i16", dtypes.int32: "i32",
    dtypes.int64: "i64", dtypes.uint8: "u8", dtypes.uint16: "u16", dtypes.uint32: "u32",
    dtypes.uint64: "u64", dtypes.float16: "f16", dtypes.float32: "f32", dtypes.float64: "f64",
}  # fmt: skip
SILENT = (Ops.CONST, Ops.NOOP, Ops.GROUP, Ops.SINK, Ops.BARRIER)
PLAIN = {op.upper(): op for op in (*BINARY, *UNARY, "where", "cast", "bitcast", "load", "stack")}
CERTAIN, UNCERTAIN = "chip", "host"


def render(uops: Sequence[UOp]) -> str:
    """The text of a kernel. NotImplementedError names an operation that it does not know."""
    names: dict[UOp, int] = {}
    lines: list[Line] = []
    title = "kernel"
    for u in uops:
        if u.op is Ops.SINK and u.arg is not None:
            title = u.arg.function_name
        if u.op in SILENT or (u.op is Ops.STACK and not u.src):  # an empty shape
            continue
        if u.op is Ops.AFTER:  # the same memory, later
            names[u] = names[u.src[0]]
            continue
        line = _line(u, len(lines), names)
        names[u] = line.name
        lines.append(line)
    return print_listing(title, lines)


def _line(u: UOp, number: int, names: dict[UOp, int]) -> Line:
    args = tuple(names[s] for s in u.src if s in names)
    if u.op in (Ops.STORE, Ops.IF, Ops.ENDIF, Ops.END):
        return _statement(u, names)
    kind, size = kind_of(u), 1
    op, more = PLAIN.get(u.op.name, ""), ""
    if u.op is Ops.CAST and u.src[0].op is Ops.CONST:
        op, args, more = "const", (), _number(u.src[0].val, kind)
    elif u.op is Ops.PARAM and u.addrspace is AddrSpace.ALU:
        op, args, more = "value", (), f"{u.expr}@{u.arg.slot}"
    elif u.op is Ops.PARAM:
        op, args, more, size = "param", (), str(u.arg.slot), u.max_numel()
    elif u.op is Ops.BUFFER and u.addrspace is AddrSpace.REG:
        op, args, size = "register", (), u.max_numel()
    elif u.op is Ops.SPECIAL:
        op, args, more = "special", (), f"{u.arg}={u.src[0].vmax}"
    elif u.op is Ops.RANGE:
        op, args = "range", args[:1]
    elif u.op is Ops.INDEX:
        op = "pick" if u.src[0].addrspace is AddrSpace.ALU else "index"
    elif u.op is Ops.WMMA:
        (n, m, k), where = u.arg[0], CERTAIN if fits(u.src[0]) and fits(u.src[1]) else UNCERTAIN
        op, more, size = "wmma", f"{m}x{k}x{n},{u.arg[3]},{where}", u.max_numel()
    elif u.op is Ops.STACK:
        size = len(u.src)
    if not op:
        raise NotImplementedError(f"{u.op} of type {u.dtype} has no line of its own")
    return Line(number, op, kind, args, size, more)


def _statement(u: UOp, names: dict[UOp, int]) -> Line:
    """What has no result: a store, the end of a loop, a condition."""
    wanted = {Ops.STORE: u.src[:2], Ops.IF: u.src[:1], Ops.END: u.src[1:2], Ops.ENDIF: ()}[u.op]
    return Line(-1, u.op.name.lower(), "", tuple(names[s] for s in wanted))


def _number(value: Any, kind: str) -> str:
    return repr(float(value)) if kind[0] == "f" else str(int(value))


def kind_of(u: UOp) -> str:
    """Its element type by our name."""
    if u.dtype not in KINDS:
        raise NotImplementedError(
            f"{u.op} has type {u.dtype}; known are {', '.join(map(str, KINDS))}"
        )
    return KINDS[u.dtype]


def fits(operand: UOp) -> bool:
    """Is every number of a WMMA's operand certain to be in -128 .. 127?"""
    return all(s.vmin >= -128 and s.vmax <= 127 for s in operand.src)
