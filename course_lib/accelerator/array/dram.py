"""What a product moves between DRAM and the SRAMs of the chip, for SRAMs of given sizes.

    dram_bytes(197, 768, 768, array, Memories(acts=65536, weights=131072, accs=131072))
    ->   {"a": (151296, 0), "b": ..., "c": ...}      bytes read, bytes written

The rule, for the order of folds in `dataflow.py` (down the rows first): a matrix that crosses the
edge of the array more than once comes from DRAM once, if what has to be kept until it is used again
fits in its SRAM; otherwise it comes again for each pass.

    stays   crosses once
    right   used again for the next block of columns: the whole matrix has to fit
    down    used again in the next fold: one block of columns has to fit. Partial sums in int32 that
            do not fit are written to DRAM and read again

The whole SRAM counts; with double buffering, give half of it. Next room: `timeline.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.accelerator.array.access import passes, size
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.systolic import SystolicArray

OPERAND, SUM = 1, 4  # bytes of an int8 and of an int32
RULE = (
    "operands 1 byte, results 4; once if what is used again fits in its SRAM, else again for each "
    "pass over the array"
)


@dataclass(frozen=True)
class Memories:
    """Bytes of the SRAMs for activations (a), weights (b) and sums (c)."""

    acts: int
    weights: int
    accs: int

    def __post_init__(self) -> None:
        for name in ("acts", "weights", "accs"):
            if getattr(self, name) < 0:
                raise ValueError(f"an SRAM has at least 0 bytes, got {name} {getattr(self, name)}")


def dram_bytes(
    m: int, k: int, n: int, array: SystolicArray, memories: Memories
) -> dict[str, tuple[int, int]]:
    """Bytes (read from, written to) DRAM for "a", "b" and "c" of [m, k] x [k, n]."""
    folding = Folding(array, m, k, n)
    sizes = {"a": memories.acts, "b": memories.weights, "c": memories.accs}
    traffic = {}
    for name, sram in sizes.items():
        width = SUM if name == "c" else OPERAND
        times = 1 if width * _kept(name, folding) <= sram else passes(name, folding)
        whole = width * size(name, folding)
        traffic[name] = ((times - 1) * whole, times * whole) if name == "c" else (times * whole, 0)
    return traffic


def _kept(name: str, folding: Folding) -> int:
    """How many numbers of a matrix wait on the chip until they are used again."""
    if name == folding.flow.stays:
        return 0
    if name == folding.flow.right:
        return size(name, folding) if folding.folds_across > 1 else 0
    block = min(folding.cols, folding.array.cols) * folding.time
    return block if folding.folds_down > 1 else 0
