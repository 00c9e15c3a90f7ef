"""The execute engine: the array, weight-stationary or output-stationary.

    preload weights=0 k=4 n=4 pitch=4
    matmul  acts=0 h=1 w=9 step=4 line=36 k=4 n=4 accs=0     ->   accs[0:9] = acts @ weights

Next room: `store.py`.

Reading path of the chip, 9 of 12; next: `accelerator/compile/tokens.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.chip import WEIGHTS, Chip
from course_lib.accelerator.isa.addresses import pixels, sums
from course_lib.accelerator.isa.instruction import EXECUTE, Instruction, bits, count, row
from course_lib.accelerator.isa.region import Region
from course_lib.accelerator.isa.state import State

EXACT = 1024  # a sum of so many products of two int8 is exact in float32: 1024 * 128 * 128 = 2**24


@row(EXECUTE)
class Preload(Instruction):
    """cells[k, n] = weights[k, n], `pitch` bytes from a row to the next; the other cells get 0.
    Takes `rows` clocks. With shadow weights it runs beside the product before it, and the next
    product begins with the new weights."""

    weights: int = bits(24)
    k: int = count(12)
    n: int = count(12)
    pitch: int = bits(16)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return (Region(WEIGHTS, self.weights, (self.k, self.n), (self.pitch, 1)),)

    def most(self, chip: Chip) -> dict[str, int]:
        return {"k": chip.rows, "n": chip.cols}

    def run(self, state: State) -> None:
        held = np.zeros((state.chip.rows, state.chip.cols), np.float32)
        held[: self.k, : self.n] = state.view(self.reads(state.chip)[0])
        state.held = held

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return chip.rows, 0


@row(EXECUTE)
class Matmul(Instruction):
    """accs[h * w, n] (+)= acts[h * w, k] @ cells[k, n], weight-stationary: one pixel enters in a
    clock, and the last sum leaves rows + cols - 2 clocks after the last pixel. `add` = 1 adds to
    what stands in the accumulators, 0 overwrites it. Sums wrap at 32 bits."""

    acts: int = bits(24)
    h: int = count(12)
    w: int = count(12)
    step: int = bits(24)
    line: int = bits(24)
    k: int = count(12)
    n: int = count(12)
    accs: int = bits(16)
    add: int = bits(1, default=0)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return pixels(self, self.k), sums(self, chip, self.add)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (sums(self, chip),)

    def most(self, chip: Chip) -> dict[str, int]:
        return {"k": chip.rows, "n": chip.cols}

    def run(self, state: State) -> None:
        x = state.view(pixels(self, self.k)).reshape(-1, self.k)
        _accumulate(self, state, x, state.held[: self.k, : self.n])

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return self.h * self.w, chip.rows + chip.cols - 2


@row(EXECUTE)
class MatmulOs(Instruction):
    """accs[h * w, n] (+)= acts[h * w, k] @ weights[k, n], output-stationary: h * w pixels, one to
    a row of cells, against k weights in each column. Takes k + rows + cols - 2 clocks; `rows` later
    its sums are in the accumulators. Where the chip counts that drain, the array waits for it. The
    weights in the cells stay."""

    acts: int = bits(24)
    h: int = count(12)
    w: int = count(12)
    step: int = bits(24)
    line: int = bits(24)
    k: int = count(16)
    n: int = count(12)
    weights: int = bits(24)
    pitch: int = bits(16)
    accs: int = bits(16)
    add: int = bits(1, default=0)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        weights = Region(WEIGHTS, self.weights, (self.k, self.n), (self.pitch, 1))
        return pixels(self, self.k), weights, sums(self, chip, self.add)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (sums(self, chip),)

    def most(self, chip: Chip) -> dict[str, int]:
        return {"m": chip.rows, "n": chip.cols}

    def run(self, state: State) -> None:
        x, weights = (state.view(r) for r in self.reads(state.chip)[:2])
        _accumulate(self, state, x.reshape(-1, self.k), weights)

    @property
    def m(self) -> int:
        return self.h * self.w

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return self.k, chip.rows + chip.cols - 2 + chip.rows


def _accumulate(i: Matmul | MatmulOs, state: State, x: np.ndarray, w: np.ndarray) -> None:
    """Sums of int8 products are exact in float32 up to EXACT of them, in float64 here always."""
    kind = np.float32 if i.k <= EXACT else np.float64
    product = (x.astype(kind) @ w.astype(kind)).astype(np.int32)
    target = state.view(i.writes(state.chip)[0])
    target[...] = state.add(target, product) if i.add else product
