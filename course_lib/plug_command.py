"""`python -m course_lib plug`: a model through another compiler that has our chip as a backend.

    python -m course_lib plug model.onnx --into ours               what `target="systolic"` does
    python -m course_lib plug model.onnx --into tinygrad --json    in the same words, or as data
    ->  {"into": "tinygrad", "macs_share": 1.0, "cycles": 135774, "bit_exact": true, ...}

The model is quantized first, with the ranges of its inputs, so that every door gets the same whole
numbers and has to give the same bits. Next room: `commands.py`, the other commands.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.commands import Result
from course_lib.compiler import read
from course_lib.ir.graph.interp import run
from course_lib.passes.quantize.to_int8 import whole
from course_lib.task import prepare

INTO = {
    "ours": "course_lib.plugins.ours",
    "tinygrad": "course_lib.plugins.tinygrad.door",
    "tvm": "course_lib.plugins.tvm.door",
}


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands beside a model and its inputs."""
    sub.add_argument("--into", choices=INTO, default="ours", help="which compiler (ours)")
    sub.add_argument("--preset", choices=PRESETS, default="npu", help="which chip (npu)")


def plug(options: Namespace) -> Result:
    """The report of one door, and whether its values are those of the integer graph."""
    try:
        door = import_module(INTO[options.into])
    except ImportError as error:
        if (error.name or "").split(".")[0] != options.into:
            raise
        raise ValueError(str(error)) from None
    task = prepare(options)
    integers = whole(read(task.model, task.inputs), [task.inputs])
    outputs, report = door.plug(integers, task.inputs, PRESETS[options.preset])
    wanted = run(integers, task.inputs)
    exact = all(np.array_equal(a, b) for a, b in zip(outputs, wanted, strict=True))
    same = "the bits of the interpreter" if exact else "NOT the bits of the interpreter"
    data = {"model": str(options.model), **report.as_dict(), "bit_exact": exact}
    return Result(f"{report}\n{same}", data, 0 if exact else 1)
