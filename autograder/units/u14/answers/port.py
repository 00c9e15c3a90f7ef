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
    chip     `chip.macs` is how many products of two numbers it makes in a clock, `chip.dma_bytes`
             how many bytes cross the port in a clock, in one direction or the other
    returns  two whole numbers of clocks, exactly, each rounded up. First, the border is around the
             layer: product, bias and rescaling are on the chip. Second, it is around the product
             alone

    Everything that the chip reads or gives crosses the port once. Bias and scale have one number
    for each of the n outputs. Arithmetic and transfers overlap, so only the slower one counts.
    """
    array = -(-m * k * n // chip.macs)
    operands = m * k + k * n
    layer = operands + 4 * n + 4 * n + m * n
    product = operands + 4 * m * n
    return max(array, -(-layer // chip.dma_bytes)), max(array, -(-product // chip.dma_bytes))
