"""The array alone as a matrix unit: what a compiler sees that knows tiles and no layers.

    sums of int8[rows, rows] x int8[rows, cols]  ->  int32[rows, cols]

    program = tile_program(TileWork([[(0, 0), (1, 1)]], 2, 2), PRESETS["teaching"])
    ->  lda; ldw; lda; ldw; preload; matmul; preload; matmul add=1; stacc; halt

This is the second half of the chip's description; `support.py` is the first. Work is a list of
chains: a chain is one tile of the result, the sum of products of a tile of `a` with a tile of `b`.
The sums of a chain stay in the accumulators, and a tile that is still in its SRAM is not loaded
again (`slots.py`). Tiles lie in DRAM one after another: those of `a`, of `b`, of the result. Next
room: `partition.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.accelerator.chip import ACCS, ACTS, WEIGHTS, Chip
from course_lib.accelerator.compile.emit import Program, Work, ahead, in_turns
from course_lib.accelerator.compile.slots import Placed, may_run_ahead, placed
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.execute import Matmul, Preload
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.load import Lda, Ldw
from course_lib.accelerator.isa.store import Stacc

Chain = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class MatrixUnit:
    """a[m, k] x b[k, n] + c[m, n], element types by name; m is as large as k, so that the array
    works as long on a tile as it takes to load the next weights."""

    m: int
    k: int
    n: int
    takes: str = "i8"
    gives: str = "i32"

    @staticmethod
    def of(chip: Chip) -> MatrixUnit:
        """What the array of this chip does in one go."""
        return MatrixUnit(chip.rows, chip.rows, chip.cols)


@dataclass(frozen=True)
class TileWork:
    """Chains of pairs (tile of a, tile of b), and how many tiles of each there are."""

    chains: Sequence[Chain]
    a: int
    b: int

    def places(self, chip: Chip) -> tuple[int, int, int]:
        """Where the tiles of b and of the result begin in DRAM, and where DRAM ends, in bytes."""
        unit = MatrixUnit.of(chip)
        b = self.a * unit.m * unit.k
        c = b + self.b * unit.k * unit.n
        return b, c, c + 4 * len(self.chains) * unit.m * unit.n

    @property
    def products(self) -> int:
        """Products of two tiles."""
        return sum(map(len, self.chains))


def tile_program(work: TileWork, chip: Chip, origin: tuple[str, ...] = ()) -> Program:
    """The instructions, with tokens and `halt`. They depend on no value."""
    unit = MatrixUnit.of(chip)
    pairs = [pair for chain in work.chains for pair in chain]
    a = placed([left for left, _ in pairs], _slots(chip, ACTS, unit.m * unit.k))
    b = placed([right for _, right in pairs], _slots(chip, WEIGHTS, unit.k * unit.n))
    steps = list(_steps(work, chip, a, b, origin))
    order = ahead if may_run_ahead(a) and may_run_ahead(b) else in_turns
    return [*synchronize(order(steps), chip, work.places(chip)[2]), Halt()]


def _steps(
    work: TileWork, chip: Chip, a: Placed, b: Placed, origin: tuple[str, ...]
) -> Iterator[Work]:
    """For each pair of tiles what is loaded and computed; behind a chain's last its sums leave."""
    unit, places = MatrixUnit.of(chip), zip(a, b, strict=True)
    b_start, c_start, _ = work.places(chip)
    left_size, right_size = unit.m * unit.k, unit.k * unit.n
    sums = _slots(chip, ACCS, unit.m * chip.cols)
    for number, chain in enumerate(work.chains):
        accs = _at(chip, ACCS, number % sums, unit.m * chip.cols) // chip.cols
        for position, (left, right) in enumerate(chain):
            step, ((left_slot, load_left), (right_slot, load_right)) = Work(), next(places)
            acts = _at(chip, ACTS, left_slot, left_size)
            weights = _at(chip, WEIGHTS, right_slot, right_size)
            if load_left:
                step.loads.append(Lda(dram=left * left_size, acts=acts, h=1, w=unit.m, bytes=unit.k,
                                      step=unit.k, line=left_size, origin=origin))  # fmt: skip
            if load_right:
                dram = b_start + right * right_size
                step.loads.append(Ldw(dram=dram, weights=weights, rows=unit.k, bytes=unit.n,
                                      pitch=unit.n, origin=origin))  # fmt: skip
            step.rest += [
                Preload(weights=weights, k=unit.k, n=unit.n, pitch=unit.n, origin=origin),
                Matmul(acts=acts, h=1, w=unit.m, step=unit.k, line=left_size, k=unit.k, n=unit.n,
                       accs=accs, add=int(position > 0), origin=origin),
            ]  # fmt: skip
            if position == len(chain) - 1:
                dram = c_start + 4 * number * unit.m * unit.n
                step.rest.append(Stacc(accs=accs, dram=dram, rows=unit.m, n=unit.n,
                                       pitch=4 * unit.n, origin=origin))  # fmt: skip
            yield step


def _slots(chip: Chip, memory: str, size: int) -> int:
    """How many tiles of so many elements fit into a memory; none lies in two banks. ValueError if
    none fits."""
    banks = chip.bank_count(memory)
    slots = chip.size(memory) // banks // size * banks
    if not slots:
        raise ValueError(f"{chip.name}: a bank of {memory} has no room for a tile of {size}")
    return slots


def _at(chip: Chip, memory: str, slot: int, size: int) -> int:
    """Where a slot begins. Neighbours are in different banks, so that the load of one does not
    stop the work on the other."""
    banks = chip.bank_count(memory)
    return slot % banks * (chip.size(memory) // banks) + slot // banks * size


def run_tiles(
    program: Program, work: TileWork, chip: Chip, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, Run]:
    """int8[tiles, m, k] and int8[tiles, k, n]  ->  int32[chains, m, n], and the run on the chip."""
    unit = MatrixUnit.of(chip)
    b_start, c_start, end = work.places(chip)
    dram = np.zeros(end, np.int8)
    dram[:b_start], dram[b_start:c_start] = a.ravel(), b.ravel()
    run = simulate(program, dram, chip)
    sums = dram[c_start:end].view("<i4").reshape(len(work.chains), unit.m, unit.n)
    return sums.astype(np.int32), run
