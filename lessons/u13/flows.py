"""Layers with a good tile for each dataflow, and what a choice among the two takes.

    FLOWS[0]               a layer, a chip, clocks with weights that stay, with sums that stay
    flows_table(choose)    those layers, and what `choose` takes for them

The clocks are those of our tile for each dataflow: a test simulates them again.
Next room: `course_lib/accelerator/compile/search.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.product import Product, matrix
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from lessons.u13.tables import square

Chooser = Callable[[Product, Chip], str]


class Flow(NamedTuple):
    """A layer on a chip, and its clocks by dataflow."""

    name: str
    product: Product
    chip: Chip
    ws: int
    os: int

    def clocks(self, flow: str) -> int:
        return {"ws": self.ws, "os": self.os}[flow]


PLAIN, SHADOW = PRESETS["scalesim"], PRESETS["npu"]
FLOWS = [
    Flow("3x3, 14x14, 256 channels", square(256, 14, 256), PLAIN, 168_712, 268_058),
    Flow("3x3, 7x7, 512 channels", square(512, 7, 512), PLAIN, 330_409, 313_923),
    Flow(
        "depthwise 3x3, 14x14, 384 channels",
        square(384, 14, 384, depthwise=True),
        PLAIN,
        32_992,
        72_632,
    ),
    Flow(
        "depthwise 3x3, 7x7, 960 channels",
        square(960, 7, 960, depthwise=True),
        PLAIN,
        39_547,
        52_279,
    ),
    Flow("[196, 384] x [384, 64]", matrix(196, 384, 64), PLAIN, 8_498, 9_026),
    Flow("[49, 960] x [960, 160]", matrix(49, 960, 160), PLAIN, 22_039, 15_250),
    Flow("[49, 320] x [320, 1280]", matrix(49, 320, 1280), PLAIN, 57_709, 36_543),
    Flow("[1, 1280] x [1280, 1000]", matrix(1, 1280, 1000), PLAIN, 121_864, 82_039),
    Flow("[128, 256] x [256, 1024]", matrix(128, 256, 1024), PLAIN, 57_974, 44_208),
    Flow("[64, 2048] x [2048, 64]", matrix(64, 2048, 64), PLAIN, 20_838, 25_154),
    Flow("[64, 512] x [512, 512]", matrix(64, 512, 512), PLAIN, 41_062, 23_246),
    Flow("[100, 64] x [64, 640]", matrix(100, 64, 640), PLAIN, 8_626, 12_766),
    Flow("[128, 64] x [64, 1024]", matrix(128, 64, 1024), PLAIN, 15_270, 21_212),
    Flow("[49, 32] x [32, 4096]", matrix(49, 32, 4096), PLAIN, 25_193, 30_353),
    Flow("3x3, 7x7, 512 channels", square(512, 7, 512), SHADOW, 162_851, 301_807),
    Flow("[49, 320] x [320, 1280]", matrix(49, 320, 1280), SHADOW, 31_481, 38_312),
    Flow("[128, 256] x [256, 1024]", matrix(128, 256, 1024), SHADOW, 35_042, 49_846),
]


def share(flows: list[Flow], choose: Chooser) -> float:
    """The fewest clocks of a layer, divided by those of the choice: the mean of all layers."""
    shares = [min(f.ws, f.os) / f.clocks(choose(f.product, f.chip)) for f in flows]
    return sum(shares) / len(shares)


def flows_table(choose: Chooser) -> Picture:
    """The clocks of each layer with either dataflow, and the one that was chosen."""
    rows: list[list[str | int]] = [
        [flow.name, "with" if flow.chip.shadow else "without", flow.ws, flow.os,
         choose(flow.product, flow.chip)]
        for flow in FLOWS
    ]  # fmt: skip
    total = sum(flow.clocks(choose(flow.product, flow.chip)) for flow in FLOWS)
    rows.append(["all", "", sum(f.ws for f in FLOWS), sum(f.os for f in FLOWS), f"{total:,}"])
    headers = ["layer", "shadow weights", "weights stay (clocks)", "sums stay (clocks)", "yours"]
    return table(rows, headers, "Which dataflow for which layer", exact=headers[2:4])
