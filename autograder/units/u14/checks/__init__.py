"""Visible checks of unit 14, Plug into real compilers.

Here: the fewest clocks of a layer. table.py: rows of the chip's table. plans.py: regions.
costs.py: what to offload. Next room: table.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import PRESETS, Chip

NPU, TEACHING = PRESETS["npu"], PRESETS["teaching"]
WIDE = replace(NPU, name="npu with a port of 64 bytes", dma_bytes=64)
PAIR = "two exact whole numbers of clocks, each rounded up"
LAYER = "For the first, the border is around the layer: product, bias and rescaling are on the chip"
PRODUCT = "For the second, it is around the product alone"
ONCE = "Everything that the chip reads or writes crosses the port once"
VECTORS = "Bias and scale have one number for each of the n outputs"
SLOWER = "Arithmetic and transfers overlap, so only the slower one counts"
FORM = ["A lower bound on the clocks of a dense layer, for two borders",
        "m, k, n  the product is i8[m, k] · i8[k, n]",
        "`chip.macs` is the number of multiply-accumulates per clock, `chip.dma_bytes` the number "
        "of bytes that cross the port per clock, both directions together"]  # fmt: skip

KNOWN = [  # m, k, n, a chip, the bounds for both borders, and what decides the first
    ((128, 256, 1024), NPU, (32_768, 51_200), "The array decides."),
    ((128, 256, 256), NPU, (8_320, 14_336), "The port decides."),
    ((1, 784, 512), NPU, (25_425, 25_265), "The port decides, and nearly all it moves is weights."),
    ((128, 256, 1024), WIDE, (32_768, 32_768), "The array decides."),
    ((5, 3, 7), TEACHING, (32, 44), "The port decides, and its last clock is not full."),
    ((64, 512, 512), TEACHING, (1_048_576, 1_048_576), "The array decides."),
]


@checks("u14.least", spec=[PAIR, LAYER, PRODUCT, ONCE, VECTORS, SLOWER, *FORM])
def known_layers(least):
    """Layers of the models, on three chips."""
    for shape, chip, due, why in KNOWN:
        as_it_must(least, shape, chip, due, why)
    return f"{len(KNOWN)} layers"


def as_it_must(
    least: Any, shape: tuple[int, int, int], chip: Chip, due: tuple[int, int], why: str = ""
) -> None:
    """The answer for one layer on one chip is this pair."""
    m, k, n = shape
    layer = f"i8[{m}, {k}] · i8[{k}, {n}] on {chip.name}: {chip.macs:,} multiply-accumulates and "
    layer += f"{chip.dma_bytes} bytes per clock"
    wrong, got = partial(Wrong, program=layer), least(m, k, n, chip)
    if not isinstance(got, (tuple, list, np.ndarray)) or len(got) != 2:
        answer = returned(got)
        raise wrong("The answer must be two numbers.", got=answer, spec=PAIR)
    if not all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in got):
        raise wrong("The clocks must be whole numbers.", got=repr(got)[:200], spec=PAIR)
    for which, (have, want) in enumerate(zip(got, due, strict=True)):
        if int(have) != want:
            border = "the product alone" if which else "the layer"
            hint = f" {why}" if why and not which else ""
            port = want * chip.macs >= m * k * n + chip.macs  # the array would be ready before
            raise wrong(f"With the border around {border}, this is not the bound.{hint}",
                        got=_clocks(have, chip, port), expected=_clocks(want, chip, port),
                        spec=PRODUCT if which else LAYER)  # fmt: skip


def _clocks(clocks: int, chip: Chip, port: bool) -> str:
    text = f"{clocks:,} clocks"
    return f"{text}, in which {clocks * chip.dma_bytes:,} bytes cross the port" if port else text
