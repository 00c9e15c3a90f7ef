"""Numbers as people read them: at most three significant digits, with their unit.

digits(1234.5)           -> "1,230"          binary(2_408_448)  -> "2.3 MiB"
scaled(3.6e9, "FLOP")    -> "3.6 GFLOP"

Next room: `svg.py`.
"""

from __future__ import annotations

import math

_DECIMAL = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]
_BINARY = [(2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")]


def digits(value: float, exactly: bool = False) -> str:
    """At most three significant digits (`exactly` keeps zeros at the end: 2.00)."""
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    if value == 0:
        return "0.00" if exactly else "0"
    size = math.floor(math.log10(abs(value)))
    rounded = round(value, 2 - size)
    if not -4 <= size < 9:
        return f"{rounded:.3g}"
    text = f"{rounded:,.{max(0, 2 - size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text and not exactly else text


def scaled(value: float, unit: str) -> str:
    """With a decimal prefix: 3.6 GFLOP, 120 MB/s."""
    factor, prefix = _step(value, _DECIMAL)
    return f"{digits(value / factor)} {prefix}{unit}"


def binary(nbytes: float) -> str:
    """With a binary prefix: 1 KiB is 1024 bytes."""
    factor, unit = _step(nbytes, _BINARY)
    return f"{digits(nbytes / factor)} {unit}"


def binary_unit(largest: float) -> tuple[float, str]:
    """The unit in which an axis up to `largest` bytes is best labelled, and its size in bytes."""
    return _step(largest, _BINARY)


def _step(value: float, steps: list[tuple[float, str]]) -> tuple[float, str]:
    return next((s for s in steps if abs(value) >= s[0] * 0.9995), steps[-1])
