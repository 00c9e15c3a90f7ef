"""Visible checks of u12.rows: what a row-stationary array reads. Next room: __init__.py."""

from __future__ import annotations

from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.check.properties import a_number
from autograder.check.shown import returned
from course_lib.accelerator.array.eyeriss import Window, row_stationary

QUESTION = "How many pixels and weights does a row-stationary array read for a depthwise layer"
CHANNELS = "Each of the `channels` channels has a filter"
SHAPE = ("its result has `height` rows of `width` pixels",
         "The windows of neighbouring pixels are one pixel apart")  # fmt: skip
TOGETHER = ("It computes `columns` rows of the result together, and in the end those that are left",
            "The array has `window` rows and `columns` columns of cells")  # fmt: skip
READS = "each row of the image that they need once, as many pixels of it as they need"
WEIGHTS = "it reads all weights of the filter once"
BORDER, PAIR = "Pixels of the border are read like others", "Return (pixels, weights)"

Layer = tuple[int, int, int, int, int]  # channels, height, width, window, columns
# One thing after another becomes more than 1, so that a wrong count goes against that sentence.
CASES: dict[str, dict[Layer, tuple[int, int]]] = {
    SHAPE[0]: {(1, 1, 1, 1, 1): (1, 1), (1, 1, 5, 1, 1): (5, 1), (1, 3, 5, 1, 3): (15, 1)},
    CHANNELS: {(6, 1, 1, 1, 1): (6, 6)},
    READS: {(1, 1, 1, 3, 1): (9, 9), (1, 4, 7, 3, 4): (54, 9)},
    TOGETHER[0]: {
        (1, 3, 5, 1, 4): (15, 1),
        (1, 4, 5, 3, 2): (56, 18),
        (1, 7, 7, 3, 3): (117, 27), (1, 7, 7, 5, 20): (121, 25),
    },
    QUESTION: {(144, 56, 56, 3, 14): (534_528, 5184), (3, 10, 4, 5, 4): (528, 225)},
}  # fmt: skip


def due(layer: Layer) -> tuple[int, int]:
    """The pixels and weights that the library counts."""
    channels, height, width, window, columns = layer
    each = row_stationary(Window(1, 1, height, width, window, window), window, columns)
    return channels * each["a"].sram_reads, channels * each["b"].sram_reads


def reads(rows: Any, layer: Layer, wanted: tuple[int, int], spec: str) -> None:
    """Wrong unless the answer counts these pixels and weights."""
    got = rows(*layer)
    program = "rows({}, {}, {}, {}, {})".format(*layer)
    if not isinstance(got, (tuple, list)) or len(got) != 2:
        raise Wrong("The answer must be two numbers: pixels, weights.", program=program,
                    got=returned(got), spec=PAIR)  # fmt: skip
    for name, mine, number in zip(("pixels", "weights"), got, wanted, strict=True):
        if a_number(mine, unit=name) != number:
            said = WEIGHTS if name == "weights" and spec in (READS, SHAPE[0]) else spec
            said = PAIR if tuple(got) == wanted[::-1] else said
            raise Wrong(f"The {name} must be counted exactly.", program=program,
                        got=f"{mine:,} {name}", expected=f"{number:,} {name}",
                        spec=said)  # fmt: skip


@checks("u12.rows", spec=[QUESTION, CHANNELS, *SHAPE, *TOGETHER, READS, WEIGHTS, BORDER, PAIR,
                          "works on one channel at a time"])  # fmt: skip
def known_layers(rows):
    """Layers for which the reads are known."""
    for sentence, cases in CASES.items():
        for layer, wanted in cases.items():
            reads(rows, layer, wanted, sentence)
    return f"{sum(map(len, CASES.values()))} layers"
