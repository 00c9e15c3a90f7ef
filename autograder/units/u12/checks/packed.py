"""Visible checks of u12.pack: the layer takes the fewest cycles."""

from __future__ import annotations

from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.check.properties import a_number
from course_lib.accelerator.array import closed
from course_lib.accelerator.systolic import SystolicArray

COUNTED = (
    "it is [m, g * window] x [g * window, g]",
    "Each of the `channels` channels is a product [m, window] x [window, 1]",
    "if channels are left over, a last product of those",
    "`closed.cycles` counts each",
    "so that a depthwise layer takes the fewest cycles",
)
RETURNED = ("Return g, a whole number from 1 to `channels`, exactly",
            "If several values of g take the fewest cycles, any of them will do")  # fmt: skip
# channels, m, window, rows, cols, dataflow, shadow, and the fewest cycles
LAYERS = [
    (6, 20, 4, 8, 8, "ws", False, 126),
    (7, 100, 9, 16, 16, "ws", True, 446),
    (32, 12_544, 9, 32, 32, "ws", True, 112_990),
    (960, 49, 9, 256, 256, "ws", True, 10_940),
    (8, 13, 14, 6, 4, "ws", True, 288),
    (20, 30, 9, 8, 8, "os", False, 888),
    (50, 705, 16, 1, 1, "os", False, 564_000),
    (25, 1302, 24, 8, 3, "is", True, 260_461),
    (2, 1, 29, 2, 1, "is", True, 61),
    (500, 2, 1, 600, 600, "ws", True, 1800),
    (7, 1, 26, 8, 3, "is", False, 471),
]


def together(pack: Any, layer: tuple[int, int, int, int, int, str, bool]) -> int:
    """Cycles of the layer with as many channels in a product as the answer says."""
    channels, m, window, rows, cols, dataflow, shadow = layer
    array = SystolicArray(rows, cols, dataflow=dataflow, shadow=shadow)
    got = a_number(pack(channels, m, window, array), unit="channels")
    if got % 1 or not 1 <= got <= channels:
        raise Wrong(f"The answer must be a whole number from 1 to {channels}.", got=f"{got:g}",
                    program=described(layer), spec=RETURNED[0])  # fmt: skip
    whole, left = divmod(channels, int(got))
    sizes = [int(got)] * whole + [left] * (left > 0)
    return sum(closed.cycles(m, g * window, g, array) for g in sizes)


def described(layer: tuple[int, int, int, int, int, str, bool]) -> str:
    channels, m, window, rows, cols, dataflow, shadow = layer
    kept = f'dataflow="{dataflow}"{", shadow=True" if shadow else ""}'
    return f"pack({channels}, {m}, {window}, SystolicArray({rows}, {cols}, {kept}))"


def takes_the_fewest(pack: Any, layer: tuple[int, int, int, int, int, str, bool], due: int) -> None:
    cycles = together(pack, layer)
    if cycles > due:
        raise Wrong("A different number of channels in a product takes fewer cycles.",
                    program=described(layer), got=f"{cycles:,} cycles", expected=f"{due:,} cycles",
                    spec=COUNTED[4])  # fmt: skip


@checks("u12.pack", spec=[*COUNTED, *RETURNED, "The products run one after another on `array`"])
def fewest_cycles(pack):
    """Layers for which the fewest cycles are known."""
    for *layer, fewest in LAYERS:
        takes_the_fewest(pack, tuple(layer), fewest)  # type: ignore[arg-type]
    return f"{len(LAYERS)} layers"
