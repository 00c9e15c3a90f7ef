"""Row-stationary and no local reuse: dataflows that this array does not have, as counts.

    row_stationary(Window(filters=64, channels=64, height=56, width=56, rows=3, cols=3), 12, 14)
    no_local_reuse(12544, 147, 64, SystolicArray(32, 32))      ->   {"a": Access(...), "b": ...}
    relative_energy(accesses(...), macs)                       ->   {"registers": 5.1e8, ...}

Chen, Emer and Sze ("Eyeriss: a spatial architecture for energy-efficient dataflow", ISCA 2016)
compare dataflows by where their numbers come from. Counted is as in `access.py`: words, at the
SRAM, from cell to cell, and in registers. These are models of the counts; they have no cycles.

No local reuse: a cell has no register for an operand, and reads none. Rows are k and columns n, as
with "ws"; a number of `a` goes to all used columns of its row, a weight comes from the SRAM for
each multiply-accumulate, and partial sums go down through the used rows.

Row-stationary: a cell keeps one row of a filter, and slides one row of the image past it. Cell
(i, j) makes, from filter row i and image row j + i, its share of output row j; shares add up
downwards.

    assumed   a filter row fits into a cell, and so do the pixels under it; one filter and one
              channel at a time. As many channels as fit lie above each other, and a cell goes on
              with the sum from the cell above it. A read that reaches several cells counts once;
              each further cell that it goes to is a hop. Padding counts as pixels

Their table of energies, for 65 nm and relative to a multiply-accumulate, also prices what moves
inside the array: a register file of 0.5 kB 1, a wire from cell to cell 2, an SRAM above 100 kB 6,
DRAM 200. Our cells have single registers and short wires, which cost less: it is good for comparing
dataflows, and says nothing about our chip. Next room: `dram.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from course_lib.accelerator.array.access import Access
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.systolic import SystolicArray

REGISTER, HOP, SRAM = 1, 2, 6  # energy of an access, relative to a multiply-accumulate


@dataclass(frozen=True)
class Window:
    """A convolution: `height` x `width` outputs of `filters` filters, `rows` x `cols` each, over
    `channels` channels of `images` images. ValueError if one of them is below 1."""

    filters: int
    channels: int
    height: int
    width: int
    rows: int
    cols: int
    stride: int = 1
    images: int = 1

    def __post_init__(self) -> None:
        for one in fields(self):
            if getattr(self, one.name) < 1:
                got = getattr(self, one.name)
                raise ValueError(f"a convolution needs at least 1 of {one.name}, got {got}")

    @property
    def macs(self) -> int:
        weights = self.filters * self.channels * self.rows * self.cols
        return self.images * self.height * self.width * weights


def relative_energy(accesses: Mapping[str, Access], macs: int) -> dict[str, float]:
    """What a product costs by what used it, in multiply-accumulates; DRAM is not part of it."""
    each = accesses.values()
    return {
        "multiply-accumulate": macs,
        "registers": sum(access.register_reads + access.register_writes for access in each)
        * REGISTER,
        "cell to cell": sum(access.hops for access in each) * HOP,
        "SRAM": sum(access.sram_reads + access.sram_writes for access in each) * SRAM,
    }


def no_local_reuse(m: int, k: int, n: int, array: SystolicArray) -> dict[str, Access]:
    """The accesses of [m, k] x [k, n] where only neighbours, and no cell, use a number again.

    The array gives rows and columns; its own dataflow does not matter.
    """
    folding = Folding(SystolicArray(array.rows, array.cols, dataflow="ws"), m, k, n)
    reads = m * k * folding.folds_across
    sums = m * n * folding.folds_down
    return {
        "a": Access(reads, 0, m * k * n - reads, 0, 0),
        "b": Access(folding.macs, 0, 0, 0, 0),
        "c": Access(sums - m * n, sums, folding.macs - sums, folding.macs - sums, folding.macs),
    }


def row_stationary(window: Window, rows: int, cols: int) -> dict[str, Access]:
    """The accesses to "a" (the image), "b" (the filters) and "c" (the sums) on rows x cols cells.

    ValueError if a filter has more rows than the array.
    """
    if window.rows > rows or cols < 1:
        raise ValueError(
            f"a column of cells holds all rows of a filter: {window.rows} x 1 cells at least, "
            f"got {rows} x {cols}"
        )
    planes = window.images * window.filters * window.channels  # one filter on one channel each
    strips = [min(cols, window.height - top) for top in range(0, window.height, cols)]
    across = _covered(window.width, window.cols, window.stride)  # pixels of an image row
    image_rows = sum(_covered(strip, window.rows, window.stride) for strip in strips)
    cells = planes * window.rows * window.height  # pairs of a filter row and an output row
    a_reads = planes * image_rows * across
    b_reads = planes * len(strips) * window.rows * window.cols
    outputs = window.images * window.filters * window.height * window.width
    groups = -(-window.channels // (rows // window.rows))  # of channels above each other
    shares = cells * window.width
    return {
        "a": Access(a_reads, 0, cells * across - a_reads, window.macs, cells * across),
        "b": Access(b_reads, 0, cells * window.cols - b_reads, window.macs, cells * window.cols),
        "c": Access(
            outputs * (groups - 1),
            outputs * groups,
            shares - outputs * groups,
            window.macs - outputs * groups,
            window.macs,
        ),
    }


def _covered(steps: int, length: int, stride: int) -> int:
    """How many places a window of some length sees in so many steps."""
    return min(stride, length) * (steps - 1) + length
