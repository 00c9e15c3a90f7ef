"""Integer expressions as rows, what one row computes, and a student's bounds inside tinygrad.

    [("between", 0, 7), ("between", 3, 3), ("mul", 0, 1)]      8 numbers, times 3

An operation of tinygrad is asked for its bounds by almost every pass. `asked` lets a function of
rows give the answer: each question is one row and its operands' bounds. A sum or product of
8 or 16 bits wraps around, so a cast follows it. Next room: boundaries.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Row = tuple[Any, ...]
Bounds = tuple[int, int]
TYPES: dict[str, Bounds] = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767),
                            "uint16": (0, 65535)}  # fmt: skip
TEXT = {"add": "{} + {}", "mul": "{} * {}", "floordiv": "{} // {}", "mod": "{} % {}",
        "lt": "{} < {}", "max": "max({}, {})", "cast": "{1}({0})"}  # fmt: skip


def wrapped(value: int, kind: str) -> int:
    """A number as a type of so few bits has it."""
    low, high = TYPES[kind]
    return (value - low) % (high - low + 1) + low


def computed(row: Row, operands: Sequence[int]) -> int:
    """The value of a row that is no leaf, from those of its operands."""
    op, last = row[0], row[-1]
    if op in ("floordiv", "mod"):
        return operands[0] // last if op == "floordiv" else operands[0] % last
    if op == "cast":
        return wrapped(operands[0], last)
    x, y = operands
    return {"add": x + y, "mul": x * y, "max": max(x, y), "lt": int(x < y)}[op]


def reads(row: Row) -> tuple[int, ...]:
    """The rows that a row reads."""
    if row[0] == "between":
        return ()
    return row[1:-1] if row[0] in ("floordiv", "mod", "cast") else row[1:]


def shown(rows: Sequence[Row], bounds: Sequence[Any] = ()) -> str:
    """The rows as text, one in a line, with their bounds if there are any."""
    lines = []
    for at, row in enumerate(rows):
        if row[0] == "between":
            text = f"{row[1]} .. {row[2]}" if row[1] != row[2] else f"{row[1]}"
        else:
            operands = [f"%{operand}" for operand in reads(row)]
            text = TEXT[row[0]].format(*operands, *row[len(operands) + 1 :])
        lines.append(f"%{at:<2} = {text:<22}  " + (f"{bounds[at]}" if at < len(bounds) else ""))
    return "\n".join(line.rstrip() for line in lines)


@contextmanager
def asked(bounds: Callable[[list[Row]], list[Bounds]]) -> Iterator[list[tuple[str, Any, Any]]]:
    """tinygrad with these bounds of integers in place of its own; and where they differed: the
    operation, tinygrad's bounds, these."""
    from tinygrad.helpers import Context
    from tinygrad.uop.ops import UOp

    before = UOp.__dict__["_min_max"]
    known: dict[Any, Any] = {}
    differences: list[tuple[str, Any, Any]] = []

    def bounds_of(self: Any) -> Any:
        if self not in known:
            own = known[self] = before.func(self)
            if (row := _row(self)) is not None:
                op, many, *more = row
                rows: list[Row] = [("between", *map(int, u._min_max)) for u in self.src[:many]]
                rows.append((op, *range(many), *more))
                if op in ("add", "mul") and (kind := _kind(self)):
                    rows.append(("cast", many, kind))
                low, high = map(int, bounds(rows)[-1])  # of numpy, or a truth value
                pair = low, high
                known[self] = tuple(map(bool, pair)) if op == "lt" else pair
                if known[self] != own:
                    differences.append((op, own, known[self]))
        return known[self]

    UOp._min_max = property(bounds_of)  # type: ignore
    try:
        with Context(SCACHE=0):
            yield differences
    finally:
        UOp._min_max = before  # type: ignore


def _row(u: Any) -> tuple[Any, ...] | None:
    """The operation in our words, how many operands it has, and what else it takes; None if its
    bounds are not asked of a student."""
    from tinygrad.dtype import dtypes
    from tinygrad.uop import Ops

    plain = {Ops.ADD: "add", Ops.MUL: "mul", Ops.MAX: "max", Ops.CMPLT: "lt"}
    if not all(dtypes.is_int(one.dtype) for one in u.src):
        return None
    if u.op in plain:
        return plain[u.op], 2
    if u.op in (Ops.FLOORDIV, Ops.FLOORMOD):
        low, high = u.src[1]._min_max
        op = "floordiv" if u.op is Ops.FLOORDIV else "mod"
        return (op, 1, int(low)) if low == high > 0 else None
    if u.op is Ops.CAST:
        return ("cast", 1, kind) if (kind := _kind(u)) else None
    return None


def _kind(u: Any) -> str | None:
    """The name of its type, if numbers of it wrap around at limits that are in `TYPES`."""
    from tinygrad.dtype import dtypes

    return next((name for name in TYPES if u.dtype is getattr(dtypes, name)), None)
