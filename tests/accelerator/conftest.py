"""Programs for the tests of the chip, as fixtures.

program, dram, where = product(chip, m=30, k=6, n=7)     # tiled, double-buffered, with tokens
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.execute import Matmul, Preload
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.store import Act, St


@pytest.fixture(scope="session")
def folds() -> Callable[..., list]:
    """folds(m, count): `count` tiles of `m` pixels."""
    return _folds


@pytest.fixture(scope="session")
def product() -> Callable[..., tuple[list, np.ndarray, slice]]:
    """product(chip, m, k, n): see below."""
    return _product


@pytest.fixture(scope="session")
def expected() -> Callable[..., np.ndarray]:
    """expected(dram, m, k, n, cols): what such a product computes."""
    return _expected


def _folds(m: int, count: int) -> list:
    """`count` tiles of `m` pixels that lie in the SRAMs already."""
    pixels = dict(acts=0, h=1, w=m, step=0, line=0, k=1, n=1, accs=0)
    pair = [Preload(weights=0, k=1, n=1, pitch=1), Matmul(**pixels)]
    return [*pair * count, Halt()]


def _product(chip: Chip, m: int, k: int, n: int, seed: int = 0) -> tuple[list, np.ndarray, slice]:
    """[m, k] @ [k, n] -> int8 with scale 1/64 and ReLU, by row blocks, double-buffered. Returns
    the program, DRAM and where the result lies in it. k and n need not fill the array."""
    parts = _parts(chip, m, k, n, seed)
    at = np.cumsum([0, *(len(p) for p in parts)])
    rows = min(chip.accs // 2, chip.acts // 2 // (k + n), m)
    program: list = [
        Ldw(dram=int(at[1]), weights=0, rows=k, bytes=n, pitch=n),
        Ldb(dram=int(at[2]), params=0, count=-(-n // chip.cols)),
    ]
    for job, top in enumerate(range(0, m, rows)):
        height, half = min(rows, m - top), job % 2 * (chip.acts // 2)
        program.append(Lda(
            dram=top * k, acts=half, h=1, w=height, bytes=k, step=k, line=0, signal=("execute",),
            wait=("execute",) if job >= 2 else (), origin=(f"rows {top}",),
        ))  # fmt: skip
        out = half + rows * k
        program += _products(chip, k, n, job, height, half, out, f"rows {top}")
        program.append(St(
            acts=out, dram=int(at[3]) + top * n, h=1, w=height, bytes=n, step=n, line=0,
        ))  # fmt: skip
    return [*program, Halt()], np.concatenate(parts), slice(int(at[3]), int(at[4]))


def _parts(chip: Chip, m: int, k: int, n: int, seed: int) -> list[np.ndarray]:
    """What lies in DRAM: both operands, biases and scales, room for the result."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-128, 128, s, dtype=np.int8) for s in ((m, k), (k, n)))
    wide = -(-n // chip.cols)
    bias = np.zeros((wide, 2, chip.cols), "<i4")
    bias[:, 0] = rng.integers(-99, 99, (wide, chip.cols))
    bias[:, 1] = np.full(chip.cols, 1 / 64, "<f4").view("<i4")
    return [a.ravel(), b.ravel(), bias.view(np.int8).ravel(), np.zeros(m * n, np.int8)]


def _products(
    chip: Chip, k: int, n: int, job: int, height: int, acts: int, out: int, origin: str
) -> Iterator:
    """The products of one block of rows, tile by tile, and their sums as int8."""
    tiles = [(k0, n0) for n0 in range(0, n, chip.cols) for k0 in range(0, k, chip.rows)]
    for number, (k0, n0) in enumerate(tiles):
        kk, nn = min(chip.rows, k - k0), min(chip.cols, n - n0)
        first, last, done = number == 0, number == len(tiles) - 1, k0 + chip.rows >= k
        # of sums, counted over all jobs; every other one has the other accumulators
        column = job * -(-n // chip.cols) + n0 // chip.cols
        accs = column % 2 * (chip.accs // 2)
        yield Preload(
            weights=k0 * n + n0, k=kk, n=nn, pitch=n, wait=("load",) if first else (),
        )  # fmt: skip
        yield Matmul(
            acts=acts + k0, h=1, w=height, step=k, line=0, k=kk, n=nn, accs=accs, add=int(k0 > 0),
            wait=("store",) if k0 == 0 and column >= 2 else (),
            signal=(("store",) if done else ()) + (("load",) if last else ()), origin=(origin,),
        )  # fmt: skip
        if done:
            yield Act(
                accs=accs, n=nn, params=n0 // chip.cols, acts=out + n0, h=1, w=height, step=n,
                line=0, low=0, wait=("execute",), signal=("execute",),
            )  # fmt: skip


def _expected(dram: np.ndarray, m: int, k: int, n: int, cols: int) -> np.ndarray:
    """What `product` computes, in numpy."""
    a, b = dram[: m * k].reshape(m, k), dram[m * k : m * k + k * n].reshape(k, n)
    wide = -(-n // cols)
    params = dram[m * k + k * n :][: wide * 8 * cols].copy().view("<i4").reshape(wide, 2, cols)
    sums = a.astype(np.int32) @ b + params[:, 0].ravel()[:n]
    return np.clip(np.rint(sums.astype(np.float32) / np.float32(64)), 0, 127).astype(np.int8)
