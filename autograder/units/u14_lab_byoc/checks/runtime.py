"""Visible checks of `run`: divided modules that are written by hand, and a chip that counts.

`runs` judges an answer, here and in the hidden checks.
Next room: autograder/units/u14_lab_byoc/hidden.py.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background
from autograder.check.shown import returned
from course_lib.plugins.byoc import machine
from course_lib.plugins.byoc.regions import calling, region
from course_lib.plugins.byoc.tree import Function, GlobalVar, IRModule, TensorType
from course_lib.plugins.byoc.tvm import Tvm

NAME = "u14_lab_byoc.run"
RUN = "Run a divided module: its regions on the chip, everything else on TVM's CPU"
RESULT = "the result of `main`, a numpy array"
START = "start(region, operands) starts the chip"
REGISTER = "Register a function as relax.ext.chip"
OVERRIDE = "Both kinds of functions need `override=True`, because those of an earlier run still"
LISTS = "expects a list of machine code, which is empty here"
SYMBOL = "For each region, register a function under its attribute global_symbol"
FILL = "TVM calls this function with the region's operands and then with its results"
ONCE = "Each such call starts the chip once"
X = TensorType((3, 6), "int8")

for given in ("tvm the module `tvm`", "It takes a function ... returns a list of numpy arrays",
              "module what `divided` returns; its `main` takes one tensor and returns one",
              "x what `main` is called with, a numpy array"):  # fmt: skip
    background(NAME, given, because="what is given")


def runs(run: Any, module: IRModule, seed: int) -> None:
    """Wrong unless the answer's result is right, and the chip starts as often as it must."""
    x = np.random.default_rng(seed).integers(-128, 128, (3, 6)).astype(np.int8)
    due = machine.run(module["main"], [x], module)[0]
    started: list[str] = []
    symbols = {str(f.attrs["global_symbol"]) for name, f in module.parts if name != "main"}
    wrong: list[Wrong] = []

    def start(region: Any, operands: Any) -> list[np.ndarray]:
        good = isinstance(region, Function) and region.attrs.get("global_symbol") in symbols
        types = [p.ty for p in region.params] if good else []
        arrays = isinstance(operands, (list, tuple)) and [
            TensorType(o.shape, o.dtype.name) for o in operands if isinstance(o, np.ndarray)
        ]
        if not good or arrays != types or len(operands) != len(types):
            what = "the region's operands, as numpy arrays" if good else "a region"
            wrong.append(Wrong(f"The chip must be started with {what}.", program=f"{module}\n",
                               got=returned(operands if good else region),
                               spec=START))  # fmt: skip
            raise wrong[-1]
        started.append(str(region.attrs["global_symbol"]))
        return [np.ascontiguousarray(y) for y in machine.run(region, operands, module)]

    calls = [getattr(b.value, "op", None) for b in module["main"].bindings]
    expected = [op.name_hint for op in calls if isinstance(op, GlobalVar)]
    try:
        got = run(Tvm(("relax.ext.chip", *sorted(symbols))), module, x, start)
    finally:  # whatever an answer makes of the error that `start` raised
        if wrong:
            raise wrong[0] from None
    if not isinstance(got, np.ndarray):
        raise Wrong("The result must be a numpy array.", program=f"{module}\n", got=returned(got),
                    spec=RESULT)  # fmt: skip
    if started != expected:
        raise Wrong("The chip must start once for each region, in the order of main.",
                    program=f"{module}\n", got=", ".join(started) or "no start",
                    expected=", ".join(expected) or "no start", spec=ONCE)  # fmt: skip
    if got.dtype != due.dtype or not np.array_equal(got, due):
        raise Wrong("The result must be what the model computes.", program=f"{module}\n", got=got,
                    expected=due, spec=FILL if expected else RUN)  # fmt: skip


A = [(0, 5, {})]
B = [(0, 4, {"relu": False})]
TWO = [(0, 6, {}), (1, 6, {"relu": False})]
DEEP = [(0, 6, {}), (1, 5, {}), (2, 3, {"relu": False})]


def _module(*steps: Any) -> IRModule:
    """A module of chains with their outputs, and words for the processor."""
    regions, x = [], X
    for number, step in enumerate(steps):
        if isinstance(step, str):
            regions.append(step)
            continue
        chain, outputs = step
        made = region(f"fused_{number}_chip", x, chain, outputs, seed=number)
        regions.append(made)
        x = cast(TensorType, made.results[-1].ty)
    return calling(X, regions)


MODULES = [
    (_module((A, [1])), REGISTER),
    (_module((A, [1]), "sigmoid", (B, [1])), SYMBOL),
    (_module((DEEP, [3]), "negative"), FILL),
    (_module((TWO, [1, 2]), "difference"), FILL),
    (_module((TWO, [2, 1]), "difference", (DEEP, [3]), "sigmoid", (TWO, [1])), RUN),
    (_module("sigmoid"), RUN),
    (_module((A, [1]), "negative", (B, [1]), "negative", (B, [1])), SYMBOL),
]


@for_each(NAME, MODULES, "{} modules", spec=[RUN, RESULT, START, LISTS, ONCE, OVERRIDE])
def runs_modules(run, module, spec):
    """Modules with none to three regions, of which some have two results."""
    runs(run, module, 3)
