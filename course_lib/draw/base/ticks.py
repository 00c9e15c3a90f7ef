"""Round numbers for an axis.

ticks(0, 9.3)  ->  [0, 2, 4, 6, 8]          log_ticks(0.3, 400)  ->  [1, 10, 100]

Next room: `draw/plots/timeline.py` and `draw/plots/roofline.py`, which have axes.
"""

from __future__ import annotations

import math


def ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most about `most` of them."""
    if high <= low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two positive numbers; with 2 and 5 between them if those are few."""
    assert 0 < low < high
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**k for k in exponents if low <= 10.0**k <= high]
    if len(tens) >= 3:
        return tens
    return [m * 10.0**k for k in exponents for m in (1, 2, 5) if low <= m * 10.0**k <= high]
