"""What a product reads and writes: at the SRAM, from cell to cell, and in the registers of a cell.

    accesses(8, 8, 8, SystolicArray(4, 4, dataflow="ws"))["a"].sram_reads   ->   128

Numbers (words), not bytes, and useful ones only: zeros that fill a ragged fold are not read. What
moves right is read again for every fold across, what moves down for every fold down, what stays is
read once: that is the whole difference between the dataflows.

    sram      at the edge of the array; filling an SRAM from DRAM is not part of it (`dram.py`).
              Partial sums that leave at the bottom are written for every fold, and read for every
              fold but the first
    hops      from a cell to its neighbour, also on the way through cells that the fold does not use
    register  writes: a number is latched in a cell. Reads: a multiply-accumulate takes it; the
              sum of the first one in a fold (or in the top row) starts from zero and is not read

Chen, Emer and Sze count in the same places ("Eyeriss", ISCA 2016, section VI). Next room:
`eyeriss.py`, two dataflows that this array does not have.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.accelerator.array.dataflow import AXES, Folding
from course_lib.accelerator.systolic import SystolicArray


@dataclass(frozen=True)
class Access:
    """How often numbers of one matrix are read and written in each place."""

    sram_reads: int = 0
    sram_writes: int = 0
    hops: int = 0
    register_reads: int = 0
    register_writes: int = 0


def accesses(m: int, k: int, n: int, array: SystolicArray) -> dict[str, Access]:
    """The accesses to "a", "b" and "c" of [m, k] x [k, n]; ValueError if a size is below 1."""
    folding = Folding(array, m, k, n)
    counted = {"a": _operand, "b": _operand, "c": _sums}
    return {name: count(name, folding) for name, count in counted.items()}


def passes(name: str, folding: Folding) -> int:
    """How often each number of a matrix crosses the edge of the array."""
    flow = folding.flow
    return {flow.stays: 1, flow.right: folding.folds_across, flow.down: folding.folds_down}[name]


def size(name: str, folding: Folding) -> int:
    first, second = AXES[name]
    return getattr(folding, first) * getattr(folding, second)


def _operand(name: str, folding: Folding) -> Access:
    array, reads = folding.array, size(name, folding) * passes(name, folding)
    if name == folding.flow.stays:
        hops = _rows_above(folding)  # the weight of row i goes through i cells before it
        latched = hops + reads * (2 if array.shadow else 1)
    else:
        length = array.cols if name == folding.flow.right else array.rows
        hops, latched = reads * (length - 1), reads * length
    return Access(reads, 0, hops, folding.macs, latched)


def _sums(name: str, folding: Folding) -> Access:
    array, results = folding.array, size(name, folding)
    writes = results * passes(name, folding)
    if name == folding.flow.down:
        hops = writes * (array.rows - 1)
        return Access(writes - results, writes, hops, folding.macs - writes, writes * array.rows)
    hops = results * (array.rows - 1) - _rows_above(folding)  # row i leaves through those below it
    copied = 0 if array.drain else results  # into the second accumulator
    return Access(0, writes, hops, folding.macs - results, folding.macs + copied + hops)


def _rows_above(folding: Folding) -> int:
    """Over all cells that keep something: how many rows there are above its own."""
    whole, rest = divmod(folding.rows, folding.array.rows)
    rows = folding.array.rows
    return folding.cols * (whole * rows * (rows - 1) + rest * (rest - 1)) // 2
