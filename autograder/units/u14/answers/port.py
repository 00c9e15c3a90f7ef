"""The border in bytes and clocks: a dense layer, and the product in it.

    least(128, 256, 1024, PRESETS["npu"])   ->   (32768, 51200)

Next room: reports.py, what the doors said of the block.
"""

from __future__ import annotations

from course_lib.accelerator.chip import Chip
from course_lib.exercises import exercise


@exercise("u14.least", unit=14, points=2, kind="number")
def least(m: int, k: int, n: int, chip: Chip) -> tuple[int, int]:
    """A lower bound on the clocks of a dense layer, for two borders.

    m, k, n  the product is i8[m, k] · i8[k, n]
    chip     `chip.macs` is the number of multiply-accumulates per clock, `chip.dma_bytes` the
             number of bytes that cross the port per clock, both directions together
    returns  two exact whole numbers of clocks, each rounded up. For the first, the border is around
             the layer: product, bias and rescaling are on the chip. For the second, it is around
             the product alone

    Everything that the chip reads or writes crosses the port once. Bias and scale have one number
    for each of the n outputs. Arithmetic and transfers overlap, so only the slower one counts.
    """
    array = -(-m * k * n // chip.macs)
    operands = m * k + k * n
    layer = operands + 4 * n + 4 * n + m * n
    product = operands + 4 * m * n
    return max(array, -(-layer // chip.dma_bytes)), max(array, -(-product // chip.dma_bytes))
