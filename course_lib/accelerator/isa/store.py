"""The store engine: from int32 sums to int8 bytes, between images, and out to DRAM.

    act  accs=0 n=4 params=0 acts=512 h=1 w=9 step=4 line=36 low=0     ->   requantized, ReLU

A store is done when its last byte has left the chip; the port keeps the order. Next room:
`instructions.py`, the whole table.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.chip import ACCS, ACTS, DRAM, PARAMS, Chip
from course_lib.accelerator.isa.addresses import copy, pixels, sums, transfer
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import STORE, Instruction, bits, count, real, row
from course_lib.accelerator.isa.region import Region, packed
from course_lib.accelerator.isa.state import State


@row(STORE)
class Act(Instruction):
    """acts[h, w, n] = clamp(int8(round((accs[h * w, n] + bias) * scale)), low, high), a row in a
    clock. Bias int32 (the sum wraps) and scale float32 of each channel are entry `params`; the
    sum is rounded to float32, the product too, then half to even, then to -128..127. ReLU is low=0,
    ReLU6 also high = what 6.0 is. (Gemmini scales accumulators by a float32 too.)"""

    accs: int = bits(16)
    n: int = count(12)
    params: int = bits(12)
    acts: int = bits(24)
    h: int = count(12)
    w: int = count(12)
    step: int = bits(24)
    line: int = bits(24)
    low: int = bits(8, signed=True, default=-128)
    high: int = bits(8, signed=True, default=127)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_limits(self)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        entry = Region(PARAMS, self.params * 2 * chip.cols, (2, self.n), (chip.cols, 1))
        return (sums(self, chip), entry)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (pixels(self, self.n),)

    def most(self, chip: Chip) -> dict[str, int]:
        return {"n": chip.cols}

    def run(self, state: State) -> None:
        total, (bias, scale) = (state.view(r) for r in self.reads(state.chip))
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = state.add(total, bias).astype(np.float32) * scale.view(np.float32)
        result = rounded(scaled, self.low, self.high)
        state.view(self.writes(state.chip)[0])[...] = result.reshape(self.h, self.w, self.n)

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return self.h * self.w, 0


@row(STORE)
class Vadd(Instruction):
    """acts[size] = clamp(int8(round(a * sa + b * sb)), low, high): the residual sum of two int8
    images, `cols` bytes in a clock. Each product is rounded to float32, then their sum."""

    a: int = bits(24)
    b: int = bits(24)
    acts: int = bits(24)
    size: int = count(24)
    sa: float = real()
    sb: float = real()
    low: int = bits(8, signed=True, default=-128)
    high: int = bits(8, signed=True, default=127)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_limits(self)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return packed(ACTS, self.a, self.size), packed(ACTS, self.b, self.size)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (packed(ACTS, self.acts, self.size),)

    def run(self, state: State) -> None:
        a, b = (state.view(r).astype(np.float32) for r in self.reads(state.chip))
        with np.errstate(over="ignore", invalid="ignore"):
            summed = a * np.float32(self.sa) + b * np.float32(self.sb)
        state.view(self.writes(state.chip)[0])[...] = rounded(summed, self.low, self.high)

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return -(-self.size // chip.cols), 0


@row(STORE)
class Vmax(Instruction):
    """acts[h, w, bytes] = the greatest of kh x kw pixels of `src`: max pooling. The window of
    result (y, x) begins at src + y * line + x * step; inside it, a row is `kline` bytes further
    and a pixel `bytes`. No gap in the result; a pixel of `cols` bytes in a clock."""

    src: int = bits(24)
    acts: int = bits(24)
    h: int = count(12)
    w: int = count(12)
    bytes: int = count(16)
    step: int = bits(24)
    line: int = bits(24)
    kh: int = count(4)
    kw: int = count(4)
    kline: int = bits(24)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        counts = self.h, self.w, self.kh, self.kw, self.bytes
        return (Region(ACTS, self.src, counts, (self.line, self.step, self.kline, self.bytes, 1)),)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (packed(ACTS, self.acts, self.h, self.w, self.bytes),)

    def run(self, state: State) -> None:
        windows = state.view(self.reads(state.chip)[0])
        state.view(self.writes(state.chip)[0])[...] = windows.max(axis=(2, 3))

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return self.h * self.w * self.kh * self.kw * -(-self.bytes // chip.cols), 0


@row(STORE)
class St(Instruction):
    """dram[h, w, bytes] = acts[h, w, bytes]: no gap in SRAM; in DRAM `step` bytes from a pixel to
    the next, `line` from a row to the next."""

    acts: int = bits(24)
    dram: int = bits(32)
    h: int = count(12)
    w: int = count(12)
    bytes: int = count(16)
    step: int = bits(24)
    line: int = bits(24)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return (packed(ACTS, self.acts, self.h, self.w, self.bytes),)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        counts = self.h, self.w, self.bytes
        return (Region(DRAM, self.dram, counts, (self.line, self.step, 1)),)

    def run(self, state: State) -> None:
        copy(self, state)

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return transfer(chip, *self.writes(chip))[0], 0


@row(STORE)
class Stacc(Instruction):
    """dram[rows, n] = accs[rows, n] as int32: `pitch` bytes from a row to the next in DRAM."""

    accs: int = bits(16)
    dram: int = bits(32)
    rows: int = count(16)
    n: int = count(12)
    pitch: int = bits(24)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return (Region(ACCS, self.accs * chip.cols, (self.rows, self.n), (chip.cols, 1)),)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (Region(DRAM, self.dram, (self.rows, 4 * self.n), (self.pitch, 1)),)

    def most(self, chip: Chip) -> dict[str, int]:
        return {"n": chip.cols}

    def run(self, state: State) -> None:
        words = np.ascontiguousarray(state.view(self.reads(state.chip)[0]), "<i4")
        state.view(self.writes(state.chip)[0])[...] = words.view(np.int8)

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return transfer(chip, *self.writes(chip))[0], 0


def rounded(values: np.ndarray, low: int, high: int) -> np.ndarray:
    """float32 to int8: half to even, saturated, then between `low` and `high`. NaN is `low`."""
    return np.fmin(np.fmax(np.rint(values), low), high).astype(np.int8)


def _check_limits(i: Act | Vadd) -> None:
    if i.low > i.high:
        look = "who computed the limits; ReLU is low=0"
        raise Fault("field", f"{i.name}: low is at most high, got {i.low} and {i.high}", look)
