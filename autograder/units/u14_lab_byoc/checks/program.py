"""Visible checks of `generate`: programs of layers on the chip's simulator, bytes and clocks.

`computes` and `worth` judge an answer, here and in the hidden checks. Next room: runtime.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Score, Wrong, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.fault import Fault
from course_lib.plugins.byoc.machine import OPS
from lessons.u14_lab_byoc.chip import TEACHING, filled, places, with_tokens

NAME = "u14_lab_byoc.generate"
TEXT = "The program of a dense layer, as text: one instruction on each line"
SHAPES = "x is int8 [m, k], the weights are int8 [k, n], the result y is int8 [m, n]"
RELU = "whether no byte of y is below 0"
SIZES = "an array of `chip.rows` × `chip.cols` cells, memories of `chip.acts` and `chip.weights`"
PLACES = "In DRAM, x, weights, parameters and y begin at `places(m, k, n, chip)`"
ONLY = "The program writes y, and no other byte there"
MEANING = "y is what `act` makes of x @ weights, with bias and scale of each column"
ORDER = "The program is right if its instructions run one after the other"
TOKENS = "It has no tokens and no `halt`; both are added later"
FITS = "There is room for m rows of sums, for four pieces [m, rows] or [m, cols] in `acts`"
POINTS = ["Your points depend on the clocks of the model's layers on the teaching chip",
          "Up to twice 22,144 clocks earn all points",
          "Each tenth of 22,144 beyond that costs 2.5 %, down to a half"]  # fmt: skip
LONGEST = 400_000  # letters of a program
MODEL = [(16, 64, 96, True), (16, 96, 96, True), (16, 96, 64, True), (16, 64, 10, False)]
BOUND = sum(m * k * n for m, k, n, _ in MODEL) // TEACHING.macs


class Dense(NamedTuple):
    """A layer with numbers in it."""

    layer: dict[str, Any]
    x: np.ndarray

    @property
    def due(self) -> np.ndarray:
        sums = OPS["relax.matmul"](self.x, self.layer["weights"], out_dtype="int32")
        real = (sums + self.layer["bias"]).astype(np.float32) * self.layer["scale"]
        return np.clip(np.rint(real), 0 if self.layer["relu"] else -128, 127).astype(np.int8)


def dense(m: int, k: int, n: int, relu: bool, rng: np.random.Generator) -> Dense:
    """Numbers of which each one counts: no zeros in x and in the weights."""
    x, weights = (rng.integers(1, 128, size) * rng.choice([-1, 1], size)
                  for size in ((m, k), (k, n)))  # fmt: skip
    scale = rng.uniform(0.5, 1.5, n) * 40 / (5000 * np.sqrt(k))
    bias = rng.integers(-4000, 4000, n).astype(np.int32)
    layer = {"weights": weights.astype(np.int8), "bias": bias, "relu": relu,
             "scale": scale.astype(np.float32)}  # fmt: skip
    return Dense(layer, x.astype(np.int8))


def computes(generate: Any, m: int, k: int, n: int, relu: bool, chip: Chip, seed: int = 0,
             spec: str = MEANING) -> Run:  # fmt: skip
    """The run of an answer's program; Wrong if it does what it must not."""
    text = generate(m, k, n, relu, chip)
    call = f"generate({m}, {k}, {n}, {relu}, {chip.name}), {chip.rows}×{chip.cols} cells\n"
    if not isinstance(text, str):
        raise Wrong("The answer must be the text of a program.", program=call, got=returned(text),
                    spec=TEXT)  # fmt: skip
    if len(text) > LONGEST:
        raise Wrong(f"The text must have at most {LONGEST:,} letters.", program=call,
                    got=f"{len(text):,} letters", spec=TEXT)  # fmt: skip
    lines = [line.split(";")[0].split() for line in text.splitlines()]
    words = {word.partition("=")[0] for line in lines for word in line}
    if extra := words & {"halt", "wait", "signal"}:
        raise Wrong(f"The program must have no `{min(extra)}`.", program=call, got=text,
                    spec=TOKENS)  # fmt: skip
    case, at = dense(m, k, n, relu, np.random.default_rng(seed)), places(m, k, n, chip)
    before = filled(case.layer, case.x, chip)
    after = before.copy()
    try:
        run = simulate(with_tokens(text, at.size, chip), after, chip)
    except (Fault, IndexError, ValueError) as fault:
        raise Wrong("The chip must be able to run the program.", program=f"{call}{text}",
                    got=str(fault), spec=FITS) from None  # fmt: skip
    y = after[at.y :].reshape(m, n)
    if (after[: at.y] != before[: at.y]).any():
        where = int(np.flatnonzero(after[: at.y] != before[: at.y])[0])
        raise Wrong(f"Byte {where} of DRAM is no byte of y and must stay.", program=f"{call}{text}",
                    spec=ONLY)  # fmt: skip
    if not np.array_equal(y, case.due):
        row, column = (int(i) for i in np.argwhere(y != case.due)[0])
        count = int((y != case.due).sum())
        raise Wrong(f"y[{row}, {column}] must be {case.due[row, column]}; {count} of {m * n} bytes "
                    "are wrong.", program=f"{call}{text}", got=str(y[row, column]),
                    expected=str(case.due[row, column]), spec=spec)  # fmt: skip
    return run


LAYERS: list[tuple[int, int, int, bool, Chip, str]] = [
    (4, 4, 4, False, TEACHING, MEANING),
    (4, 4, 4, True, TEACHING, RELU),
    (1, 1, 1, False, TEACHING, SHAPES),
    (3, 8, 4, False, TEACHING, PLACES),
    (3, 4, 8, False, TEACHING, PLACES),
    (5, 7, 6, True, TEACHING, SIZES),
    (2, 13, 11, False, TEACHING, PLACES),
    (64, 9, 5, True, TEACHING, FITS),
    (1, 300, 3, False, TEACHING, FITS),
    (2, 3, 90, True, TEACHING, FITS),
    (40, 33, 34, False, PRESETS["npu"], SIZES),
    (6, 8, 11, False, replace(TEACHING, name="small", rows=3, cols=5), SIZES),
]


@for_each(NAME, LAYERS, "{} layers", spec=[TEXT, ONLY, ORDER, TOKENS])
def computes_layers(generate, m, k, n, relu, chip, spec):
    """The bytes that the program leaves, for layers of all sizes."""
    computes(generate, m, k, n, relu, chip, spec=spec)


def worth(clocks: int) -> float:
    """The part of the points for so many clocks of the model."""
    return min(1.0, max(0.5, 1 - 0.25 * (clocks / BOUND - 2)))


@checks(NAME, spec=POINTS)
def clocks_of_the_model(generate):
    """Clocks of the four layers of the model."""
    clocks = sum(computes(generate, *shape, TEACHING, seed=number).total
                 for number, shape in enumerate(MODEL))  # fmt: skip
    return Score(worth(clocks), f"{clocks:,} clocks, {clocks / BOUND:.2f} times {BOUND:,}; "
                 "all points up to 2.00")  # fmt: skip
