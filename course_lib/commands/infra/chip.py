"""`python -m course_lib run --target systolic`: a model on the simulated chip, and what it costs.

    python -m course_lib run resnet18 --target systolic --json
    ->  {"cycles": 2396617, "utilization": 0.74, "stalls": {"execute": {"busy": ...}}, ...}

Every number but the errors follows from the programs. Next room: `mlir.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.trace.lanes import trace_of
from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import prepare
from course_lib.compiler import compile, read
from course_lib.ir.graph.graph_interp import run as interpret
from course_lib.targets.systolic import SystolicModel
from course_lib.trace.chrome import write_trace


def arguments(sub: ArgumentParser) -> None:
    """Add what `run` understands for this target."""
    sub.add_argument("--preset", choices=PRESETS, default="npu", help="systolic: which chip (npu)")
    sub.add_argument("--trace", metavar="FILE.json", help="systolic: write Chrome's trace format")


def run(options: Namespace) -> Result:
    """Cycles, utilization, stalls, bytes, the chip's share, each layer and its roofline; the error
    against floats, and whether the bits are those of the interpreter."""
    if options.compare or options.winograd:
        raise ValueError("--compare and --winograd are for targets that compute in floats")
    task = prepare(options)
    model = compile(
        task.model, task.inputs, "systolic", threads=options.threads, chip=options.preset
    )
    assert isinstance(model, SystolicModel)
    outputs = model.run(task.inputs)
    wanted = interpret(model.graph, task.inputs)
    floats = interpret(read(task.model, task.inputs), task.inputs)
    exact = all(np.array_equal(a, b) for a, b in zip(outputs, wanted, strict=True))
    absolute, relative = _errors(outputs, floats)
    report = model.report()
    data: dict[str, Any] = {
        "model": str(options.model),
        "target": "systolic",
        **report.as_dict(),
        "outputs": [f"{o.dtype}{list(o.shape)}" for o in outputs],
        "bit_exact": exact,
        "max_abs_error": absolute,
        "max_rel_error": relative,
    }
    same = "the bits of the interpreter" if exact else "NOT the bits of the interpreter"
    lines = [str(report), f"{same}; largest error against floats {relative:.2%} of the largest"]
    if options.trace:
        data["traces"] = _traces(model, Path(options.trace))
        lines.append(f"wrote {', '.join(data['traces'])}")
    return Result("\n".join(lines), data, 0 if exact else 1)


def _errors(outputs: list[np.ndarray], floats: list[np.ndarray]) -> tuple[float, float]:
    """The largest difference of any output, also relative to the largest value of that output."""
    absolute = relative = 0.0
    for mine, other in zip(outputs, floats, strict=True):
        if not mine.size:
            continue
        error = float(np.abs(mine.astype(np.float64) - other.astype(np.float64)).max())
        absolute = max(absolute, error)
        relative = max(relative, error / (float(np.abs(other).max()) or 1.0))
    return absolute, relative


def _traces(model: SystolicModel, path: Path) -> list[str]:
    """A trace for each part on the chip: FILE.json, FILE_2.json, ..."""
    written = []
    for number, program in enumerate(model.offloaded.programs, 1):
        name = path if number == 1 else path.with_name(f"{path.stem}_{number}{path.suffix}")
        written.append(str(write_trace(trace_of(program.timing), name)))
    return written
