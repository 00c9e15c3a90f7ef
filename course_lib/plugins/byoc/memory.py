"""A dense layer in the chip's DRAM, and a program that runs there.

    places(16, 64, 96, TEACHING)          where x, the weights, the parameters and y begin
    on_chip(text, layer, x, TEACHING)     y, and the Run with its clocks

Next room: `told.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.core.needs import find_needs
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.text import assemble

TEACHING = PRESETS["teaching"]


class Places(NamedTuple):
    """Addresses in DRAM, and its size; all in bytes."""

    x: int
    weights: int
    params: int
    y: int
    size: int


def places(m: int, k: int, n: int, chip: Chip) -> Places:
    """x [m, k], weights [k, n], an entry of parameters for each block of columns, y [m, n]."""
    weights = m * k
    params = weights + k * n
    y = params + -(-n // chip.cols) * 8 * chip.cols
    return Places(0, weights, params, y, y + m * n)


def filled(layer: Mapping[str, Any], x: np.ndarray, chip: Chip) -> np.ndarray:
    """DRAM before the layer runs."""
    weights = np.asarray(layer["weights"])
    k, n = weights.shape
    at = places(len(x), k, n, chip)
    blocks = -(-n // chip.cols)
    entries = np.zeros((blocks, 2, chip.cols), "<i4")
    for place, values in enumerate((np.asarray(layer["bias"], "<i4"),
                                    np.asarray(layer["scale"], "<f4").view("<i4"))):  # fmt: skip
        padded = np.zeros(blocks * chip.cols, "<i4")
        padded[:n] = values
        entries[:, place] = padded.reshape(blocks, chip.cols)
    memory = np.zeros(at.size, np.int8)
    memory[: at.weights] = x.ravel()
    memory[at.weights : at.params] = weights.ravel()
    memory[at.params : at.y] = entries.view(np.int8).ravel()
    return memory


def with_tokens(text: str, size: int, chip: Chip) -> list[Instruction]:
    """The instructions of a text, which is right in its order, with tokens between the engines and
    with `halt`. A Fault if an address leaves its memory."""
    program = assemble(text)
    find_needs([*program, Halt()], chip, size)
    return [*synchronize(program, chip, size), Halt()]


def on_chip(
    text: str, layer: Mapping[str, Any], x: np.ndarray, chip: Chip = TEACHING
) -> tuple[np.ndarray, Run]:
    """What the program of a layer leaves at y, and its run."""
    memory = filled(layer, x, chip)
    m, (k, n) = len(x), np.shape(layer["weights"])
    at = places(m, k, n, chip)
    run = simulate(with_tokens(text, at.size, chip), memory, chip)
    return memory[at.y :].reshape(m, n).copy(), run
