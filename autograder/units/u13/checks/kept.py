"""Visible checks of u13.kept and u13.scales: a result that stays on the chip, and its bytes.

`clocks_of` and `finishes` judge an answer, here and in the hidden checks. Next room: flows.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.text import assemble
from lessons.u13.kept import FASTEST, TEACHING, Y, due, played

SAME = "It computes what DETOUR computes, but with ReLU6 between the layers"
LIMITS = "the bytes there go from 0 to the one for 6.0, and each stands for 0.05 times its value"
PLACE = "The result is at byte 224 of DRAM, and no other byte of DRAM changes"
ANY = "All this holds for any values in DRAM and for any latency of the DMA"
LIVE = "The program never deadlocks"
SAFE = "the hazard check finds no race in it"
TAKEN = "every token that is given is taken"
TEXT = "The text of a program that keeps the result between two layers on the chip"
POINTS = "At most 100 earn all points, and each clock above that costs 1 %"
LATENCIES = (10, 0, 100, 500)


def program_of(kept: Any) -> list[Instruction]:
    """The program of an answer; Wrong if its text is none."""
    text = kept()
    if not isinstance(text, str):
        raise Wrong("The answer must be the text of a program.", got=returned(text), spec=TEXT)
    try:
        return assemble(text)
    except Fault as fault:
        raise Wrong("The assembler cannot read the text.", got=str(fault), spec=TEXT) from None


def clocks_of(program: list[Instruction], seed: int, chip: Chip) -> int:
    """The clocks of a program on random numbers; Wrong if it does what it must not."""
    where = f"with a latency of {chip.dma_latency} clocks"
    try:
        run, before, after = played(program, seed, chip)
    except Fault as fault:
        spec = LIVE if fault.kind == "deadlock" else SAFE
        raise Wrong(f"The simulator refuses the program {where}.", got=str(fault), spec=spec
                    ) from None  # fmt: skip
    wanted = before.copy()
    wanted[Y:] = due(before).ravel()
    if (wrong := np.flatnonzero(after != wanted)).size:
        at = int(wrong[0])
        raise Wrong(f"Byte {at} of DRAM must be {wanted[at]} {where}.", got=str(after[at]),
                    expected=str(wanted[at]), spec=sentence(before, after, at))  # fmt: skip
    for (giver, taker), left in run.times.left.items():
        if left:
            got = f"{left} from {giver} to {taker} left"
            raise Wrong("The program must take every token that it gives.", got=got, spec=TAKEN)
    return run.total


def sentence(before: np.ndarray, after: np.ndarray, at: int) -> str:
    """What a wrong byte is about: a byte that must stay, the limits, or the layers."""
    if at < Y:
        return PLACE
    others = (due(before, low, high).ravel() for low, high in ((-128, 127), (0, 127), (0, 6)))
    return LIMITS if any((after[Y:] == other).all() for other in others) else SAME


@checks("u13.kept", spec=[SAME, LIMITS, PLACE, ANY, LIVE, SAFE, TAKEN, TEXT])
def both_layers(kept):
    """The bytes that both layers leave, with fast and slow memories."""
    program = program_of(kept)
    for seed, latency in enumerate(LATENCIES):
        clocks_of(program, seed, replace(TEACHING, dma_latency=latency))
    return f"{len(LATENCIES)} latencies"


@checks("u13.kept", spec=["Your points depend on its clocks on the teaching chip", POINTS,
                          "down to a quarter"])  # fmt: skip
def few_clocks(kept):
    """Clocks on the teaching chip."""
    took = clocks_of(program_of(kept), 1, TEACHING)
    points = min(1.0, max(0.25, 1 - 0.01 * (took - FASTEST)))
    return Score(points, f"{took} clocks; all points from {FASTEST}")


NEEDED = "What `act` needs to finish a layer with ReLU6: biases, scales, and the two limits"
STANDS = ("x, y      what a byte with the value 1 stands for", "weights   [channels], the same",
          "bias      [channels], the biases as real numbers",
          "Every byte stands for its value times such a number")  # fmt: skip
MAKES = "`act` turns the sum of a channel into round((sum + bias) * scale)"
PARTS = {
    "biases": "The biases are int32, rounded to the nearest number",
    "scales": "and the scales float32",
    "limits": "The limits are 0.0 and 6.0 as bytes of the result, rounded, and at most",
}
FOUR = "Return (biases, scales, low, high)"
background("u13.scales", "and then limits it to low and high", because="what the chip does")

Layer = tuple[float, np.ndarray, float, np.ndarray]


def layer(rng: np.random.Generator, channels: int, six: float) -> Layer:
    """Numbers of a layer in which 6.0 is `six` bytes of the result."""
    x, weights = float(rng.uniform(0.01, 0.1)), rng.uniform(0.001, 0.02, channels)
    return x, weights, 6 / six, rng.uniform(-3, 3, channels)


def finishes(scales: Any, given: Layer) -> None:
    """Wrong unless the four parts are those that this layer needs."""
    x, weights, y, bias = given
    got = scales(x, weights.copy(), y, bias.copy())
    rows = f"{np.round(weights, 4).tolist()}, {y:.4g}, {np.round(bias, 3).tolist()}"
    wrong = partial(Wrong, program=f"scales({x:.4g}, {rows})")
    if not isinstance(got, (tuple, list)) or len(got) != 4:
        problem = "The answer must be four values: biases, scales, low, high."
        raise wrong(problem, got=returned(got), spec=FOUR)
    biases, factors = np.asarray(got[0]), np.asarray(got[1])
    for name, mine, kind in (("biases", biases, np.int32), ("scales", factors, np.float32)):
        if mine.shape != weights.shape or mine.dtype != kind:
            problem = f"The {name} must be an array of {len(weights)} numbers of type"
            shown = returned(got[name == "scales"])
            raise wrong(f"{problem} {np.dtype(kind)}.", got=shown, spec=PARTS[name])
    real, ratios = bias / (x * weights), x * weights / y
    limits, due = tuple(got[2:]), (0, min(127, round(6 / y)))
    whole = all(isinstance(one, (int, np.integer)) for one in limits)
    for right, problem, mine, wanted, spec in [
        (not (np.abs(biases - real) > 0.5 + 1e-6).any(), "The biases must be those of `bias`, in "
         "units of the sums.", biases.tolist(), np.rint(real).astype(int).tolist(),
         PARTS["biases"] if (np.abs(biases - real) < 1).all() else MAKES),
        (np.allclose(factors, ratios, rtol=1e-5, atol=0), "The scales must turn sums into bytes of "
         "the result.", factors.tolist(), ratios.tolist(), MAKES),
        (limits == due and whole, "The limits must be 0.0 and 6.0 as bytes.", limits, due,
         PARTS["limits"]),
    ]:  # fmt: skip
        if not right:
            raise wrong(problem, got=str(mine), expected=str(wanted), spec=spec)


@checks("u13.scales", spec=[NEEDED, *STANDS, MAKES, FOUR, *PARTS.values()])
def layers_with_relu6(scales):
    """Layers in which 6.0 is a small byte, a large one, or none."""
    rng = np.random.default_rng(6)
    for channels, six in ((1, 120.0), (4, 96.4), (3, 40.7), (5, 126.6), (2, 127.4), (4, 300.0)):
        finishes(scales, layer(rng, channels, six))
    return "6 layers"
