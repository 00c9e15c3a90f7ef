"""Visible checks of `generate`: layers on the chip's simulator, their numbers, bytes and clocks.

`computes` and `worth` judge an answer, here and in the hidden checks. Next room: runtime.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.fault import Fault
from course_lib.plugins.byoc import machine
from course_lib.plugins.byoc.build import const
from course_lib.plugins.byoc.memory import TEACHING, filled, places, with_tokens
from course_lib.plugins.byoc.regions import composite
from course_lib.plugins.byoc.tree import Function, GenericConst, IRModule, RelaxCall, TensorType
from course_lib.plugins.byoc.tvm import Tvm

NAME = "u14_lab_byoc.generate"
CODE = "The code of a layer: a program for the chip, and the numbers that it needs in DRAM"
KEYS = "a dict with these keys"
WEIGHTS = '"weights": an int8 array [k, n]'
BIAS = '"bias": an int32 array [n], of zeros if the layer has none'
SCALE = '"scale": a float32 array [n]; a single number is repeated'
TEXT = '"program": a text with one instruction on each line'
SIZES = "an array of `chip.rows` × `chip.cols` cells, memories of `chip.acts` and `chip.weights`"
PLACES = "In DRAM, x [m, k], weights, parameters and y [m, n] begin at `places(m, k, n, chip)`"
ONLY = "The program writes y, and no other byte of DRAM"
MEANING = "y is what the function returns for x"
ORDER = "The program must be right when its instructions run one after the other"
TOKENS = "It has no tokens and no `halt`; both are added later"
FITS = "There is room for m rows of sums, for four pieces [m, rows] or [m, cols] in `acts`"
POINTS = ["Your points depend on the clocks of the model's layers on the teaching chip",
          "Up to twice 22,144 clocks earn all points",
          "Each tenth of 22,144 beyond that costs 2.5 %, down to half of them"]  # fmt: skip
DATA = {"weights": (WEIGHTS, np.int8), "bias": (BIAS, np.int32), "scale": (SCALE, np.float32)}
OPS = {"relax.matmul": "weights", "relax.add": "bias", "relax.dequantize": "scale"}
VIOLATED = {"hazard": ORDER, "array": SIZES, "field": TEXT, "program": TEXT, "dram": PLACES,
            "acts": FITS, "weights": FITS, "accs": FITS}  # fmt: skip
LONGEST = 400_000  # letters of a program
MODEL = [(16, 64, 96, {}), (16, 96, 96, {}), (16, 96, 64, {"bias": False}),
         (16, 64, 10, {"relu": False})]  # fmt: skip
BOUND = sum(m * k * n for m, k, n, _ in MODEL) // TEACHING.macs

background(NAME, "tvm the module `tvm`", because="what is given")
background(NAME, "function a function ... that `divided` makes", because="what is given")


def computes(generate: Any, m: int, k: int, n: int, how: dict[str, Any], chip: Chip,
             seed: int = 0) -> Run:  # fmt: skip
    """The run of an answer's program for a layer that is drawn; Wrong if it does what it must
    not, or if its numbers are not those of the layer."""
    rng = np.random.default_rng(seed)
    function = composite(TensorType((m, k), "int8"), n, how, rng)
    about = f"{IRModule((('layer', function),))}\n{chip.rows}×{chip.cols} cells\n"
    got = generate(Tvm(), function, chip)
    if not isinstance(got, dict) or {*got} != {*DATA, "program"}:
        raise Wrong("The answer must be a dict with the four keys.", program=about,
                    got=returned(got), spec=KEYS)  # fmt: skip
    for key, want in _constants(function).items():
        have, (quoted, dtype) = got[key], DATA[key]
        array = isinstance(have, np.ndarray)
        if not array or have.dtype != dtype or not np.array_equal(have, want):
            shown = f"{have.dtype}{list(have.shape)}\n{have}" if array else returned(have)
            due = f"{want.dtype}{list(want.shape)}\n{want}"
            raise Wrong(f'"{key}" must be that of the layer.', program=about, got=shown,
                        expected=due, spec=quoted)  # fmt: skip
    text = _text(got["program"], about)
    x = (rng.integers(1, 128, (m, k)) * rng.choice([-1, 1], (m, k))).astype(np.int8)
    result, at = machine.run(function, [x], IRModule(()))[0], places(m, k, n, chip)
    before = filled(got, x, chip)
    after, program = before.copy(), f"{about}{text}"
    try:
        run = simulate(with_tokens(text, at.size, chip), after, chip)
    except (Fault, IndexError, ValueError) as fault:
        raise Wrong("The chip must be able to run the program.", program=program, got=str(fault),
                    spec=_violated(fault)) from None  # fmt: skip
    if (changed := np.flatnonzero(after[: at.y] != before[: at.y])).size:
        raise Wrong(f"Byte {changed[0]} of DRAM is not part of y and must stay.", program=program,
                    spec=ONLY)  # fmt: skip
    y = after[at.y :].reshape(m, n)
    if (wrong := np.argwhere(y != result)).size:
        row, column = (int(i) for i in wrong[0])
        raise Wrong(f"y[{row}, {column}] must be {result[row, column]}; {len(wrong)} of {m * n} "
                    "bytes are wrong.", program=program, got=str(y[row, column]),
                    expected=str(result[row, column]), spec=MEANING)  # fmt: skip
    return run


def _violated(fault: Exception) -> str:
    """The sentence that a program which the chip cannot run violates; "" if there is none."""
    kind = getattr(fault, "kind", "")
    return VIOLATED.get(str(fault).split()[3] if kind == "out of bounds" else kind, "")


def _text(text: Any, about: str) -> str:
    """The program of an answer, if it is one."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Wrong(f"The program must be a text of at most {LONGEST:,} letters.", program=about,
                    got=returned(text), spec=TEXT)  # fmt: skip
    words = {w.partition("=")[0] for row in text.splitlines() for w in row.split(";")[0].split()}
    if extra := words & {"halt", "wait", "signal"}:
        raise Wrong(f"The program must have no `{min(extra)}`.", program=about, got=text,
                    spec=TOKENS)  # fmt: skip
    return text


def _constants(function: Function) -> dict[str, np.ndarray]:
    """Weights, bias and scale that stand in a layer."""
    found: dict[str, np.ndarray] = {}
    for b in function.bindings:
        assert isinstance(b.value, RelaxCall)
        constants = [a.value.numpy() for a in b.value.args if isinstance(a, GenericConst)]
        if key := OPS.get(getattr(b.value.op, "name", "")):
            found[key] = constants[0]
    n = found["weights"].shape[1]
    return {"bias": np.zeros(n, np.int32), **found, "scale": np.broadcast_to(found["scale"], n)}


LAYERS: list[tuple[int, int, int, dict[str, Any], Chip, str]] = [
    (4, 4, 4, {"relu": False}, TEACHING, MEANING),
    (4, 4, 4, {}, TEACHING, MEANING),
    (1, 1, 1, {"bias": False, "relu": False}, TEACHING, MEANING),
    (4, 4, 4, {"bias_first": True, "relu": False}, TEACHING, BIAS),
    (3, 4, 3, {"scale": const(0.003, "float32"), "bias": False}, TEACHING, SCALE),
    (3, 8, 4, {"relu": False}, TEACHING, PLACES),
    (3, 4, 8, {"relu": False, "scale": const(0.003, "float32")}, TEACHING, PLACES),
    (5, 7, 6, {}, TEACHING, SIZES),
    (2, 13, 11, {"relu": False}, TEACHING, PLACES),
    (64, 9, 5, {}, TEACHING, FITS),
    (1, 300, 3, {"relu": False}, TEACHING, FITS),
    (2, 3, 90, {"bias_first": True}, TEACHING, FITS),
    (40, 33, 34, {"relu": False}, PRESETS["npu"], SIZES),
    (6, 8, 11, {"relu": False}, replace(TEACHING, name="small", rows=3, cols=5), SIZES),
]


@for_each(NAME, LAYERS, "{} layers", spec=[CODE, KEYS, WEIGHTS, TEXT, ONLY, ORDER, TOKENS])
def computes_layers(generate, m, k, n, how, chip, spec):
    """The numbers of layers of all sizes, and the bytes that their programs leave."""
    computes(generate, m, k, n, how, chip)


def worth(clocks: int) -> float:
    """The part of the points for so many clocks of the model."""
    return min(1.0, max(0.5, 1 - 0.25 * (clocks / BOUND - 2)))


@checks(NAME, spec=POINTS)
def clocks_of_the_model(generate):
    """Clocks of the four layers of the model."""
    clocks = sum(computes(generate, m, k, n, how, TEACHING, seed=number).total
                 for number, (m, k, n, how) in enumerate(MODEL))  # fmt: skip
    return Score(worth(clocks), f"{clocks:,} clocks, {clocks / BOUND:.2f} times {BOUND:,}; "
                 "all points up to 2.00")  # fmt: skip
