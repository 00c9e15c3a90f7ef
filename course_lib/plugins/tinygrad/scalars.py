"""The scalar operations of a listing, by numpy: one row for each.

    compute(Line(4, "add", "i32", (3, 3)), [2, 2])   ->   4

Whole numbers wrap, `cdiv` and `cmod` round towards zero as C does, and `shr` keeps the sign of a
signed number. Next room: `cores.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.plugins.tinygrad.listing import Line


def compute(line: Line, operands: Sequence[Any]) -> Any:
    """The value of a line from those of its operands."""
    if line.op == "cast":
        return _cast(np.asarray(operands[0]), line.dtype)
    if line.op == "bitcast":
        return np.ascontiguousarray(operands[0]).view(line.dtype)
    result = ROWS[line.op](*map(np.asarray, operands))
    return result.astype(line.dtype, copy=False)


def literal(line: Line) -> Any:
    """The number that a `const` stands for."""
    number = float(line.more) if line.dtype.kind == "f" else int(line.more)
    return np.array(number).astype(line.dtype)[()]


def _cast(x: np.ndarray, to: np.dtype) -> np.ndarray:
    """Whole numbers wrap. Of a float the whole part as 64 bits, the nearest that there is (NaN is
    0), and that wraps as well."""
    if x.dtype.kind != "f" or to.kind not in "iu":
        return x.astype(to)
    wide = np.dtype(np.uint64 if to == np.uint64 else np.int64)
    low, high = np.iinfo(wide).min, np.iinfo(wide).max
    inside = np.where((x > float(low)) & (x < float(high)), x, 0).astype(wide)
    edges = np.where(x >= float(high), high, np.where(x <= float(low), low, inside))
    return edges.astype(wide).astype(to)


def _cdiv(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, (x - np.fmod(x, y)) // np.where(y == 0, 1, y))


ROWS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "neg": np.negative,
    "fdiv": np.divide, "cdiv": _cdiv, "cmod": np.fmod, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift, "cmplt": np.less,
    "cmpne": np.not_equal, "cmpeq": np.equal, "sqrt": np.sqrt, "reciprocal": np.reciprocal,
    "trunc": np.trunc, "exp2": np.exp2, "log2": np.log2, "sin": np.sin, "where": np.where,
}  # fmt: skip
