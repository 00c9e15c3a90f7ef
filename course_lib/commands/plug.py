"""`python -m course_lib plug`: a model through another compiler that has our chip as a backend.

    python -m course_lib plug model.onnx --into ours               what `target="systolic"` does
    python -m course_lib plug model.onnx --into tinygrad --json    in the same words, or as data
    ->  {"into": "tinygrad", "macs_share": 1.0, "cycles": 135774, "chip_exact": true, ...}

The model is quantized first, with the ranges of its inputs, so that every door gets the same whole
numbers. Two things are judged. What ran on the chip has to give the bits of the interpreter, piece
by piece. The whole model, in which another compiler computes what the chip does not, floats among
it, has to be as near to the interpreter as two right results are: in steps of its results where
they come in steps (`bridges/steps.py`). Next room: `run.py`, another command.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.bridges.steps import ALLOWED, in_steps
from course_lib.commands.infra.compare import errors
from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import read
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node
from course_lib.passes.quantize.to_int8 import whole
from course_lib.plugins.report import same_bits

HELP = "a model through another compiler, with our chip behind it"

INTO = {
    "ours": "course_lib.plugins.ours",
    "tinygrad": "course_lib.plugins.tinygrad.door",
    "tvm": "course_lib.plugins.tvm.door",
}


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands beside a model and its inputs."""
    about_a_model(sub)
    sub.add_argument("--into", choices=INTO, default="ours", help="which compiler (ours)")
    sub.add_argument("--preset", choices=PRESETS, default="npu", help="which chip (npu)")


def plug(options: Namespace) -> Result:
    """The report of one door, what ran on the chip bit for bit, and the whole model."""
    try:
        door = import_module(INTO[options.into])
    except ImportError as error:
        if (error.name or "").split(".")[0] != options.into:
            raise
        raise ValueError(str(error)) from None
    task = prepare(options)
    integers = whole(read(task.model, task.inputs), [task.inputs])
    outputs, report = door.plug(integers, task.inputs, PRESETS[options.preset])
    outputs = [np.asarray(value) for value in outputs]
    wanted, steps = run(integers, task.inputs), [step(node) for node in integers.outputs]
    differences = errors(outputs, wanted, steps)
    judged = {
        "chip_exact": not report.differing,
        "bit_exact": same_bits(outputs, wanted),
        "steps": in_steps(outputs, wanted, steps),
        **differences,
    }
    good = judged["chip_exact"] and judged["agrees"]
    data = {"model": str(options.model), **report.as_dict(), **judged}
    return Result(f"{report}\n{report.exactness}\n{_whole(judged)}", data, 0 if good else 1)


def step(node: Node) -> np.ndarray | None:
    """In which steps an output of an integer graph comes; None if it is computed in floats."""
    while node.op in ("reshape", "transpose"):
        node = node.inputs[0]
    if node.type.dtype.kind in ("int", "uint"):
        return np.asarray(1.0)
    scale = node.inputs[1] if node.op == "dequantize" else None
    known = scale is not None and scale.op == "constant" and scale.value.size == 1
    return scale.value.reshape(()) if scale is not None and known else None


def _whole(judged: dict[str, Any]) -> str:
    if judged["bit_exact"]:
        return "the whole model: the bits of the interpreter"
    apart = f"{judged['max_rel_error']:.2e} of the largest value"
    if judged["steps"] is not None:
        apart = f"{judged['steps']:g} steps of its results, {apart}"
    near = f"within the {ALLOWED:g} that rounding may cause" if judged["agrees"] else "TOO FAR"
    if judged["steps"] is None and judged["agrees"]:
        near = "as near as floats are"
    return f"the whole model: {apart} from the interpreter, {near}"
