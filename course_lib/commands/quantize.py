"""`python -m course_lib quantize`: a model in 8-bit integers, and what of it the chip can compute.

    python -m course_lib quantize resnet18 -o int8.onnx --json
    ->  {"ops": {"conv i32": 20, ...}, "max_rel_error": 0.02, "chip_share": 1.0, "refusals": ...}

Ranges are those of the inputs that the command is given, or of random ones. The file holds integer
ops (ConvInteger, ...), which give the same bits everywhere; with `--pairs` it holds float ops
between QuantizeLinear and DequantizeLinear. Next room: `run.py`, another command.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

import numpy as np

from course_lib.accelerator.compile.partition import partition
from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import read
from course_lib.files import write
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.quantize.to_int8 import qdq, to_int8

HELP = "a model in 8-bit integers, and the chip's share of it"


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands beside a model and its inputs."""
    about_a_model(sub)
    sub.add_argument("-o", "--output", metavar="FILE.onnx", help="write the quantized model")
    sub.add_argument("--pairs", action="store_true", help="write float ops between "
                     "QuantizeLinear and DequantizeLinear instead of integer ops")  # fmt: skip


def quantize(options: Namespace) -> Result:
    """Ops, error against the floats on the inputs it was calibrated on, share of the chip."""
    task = prepare(options)
    floats = read(task.model, task.inputs)
    whole = to_int8(floats, [task.inputs])
    parts = partition(whole)
    ops = Counter(f"{node.op} {node.type.dtype}" for node in whole.ops)
    data: dict[str, Any] = {
        "model": str(options.model),
        "ops": dict(ops.most_common()),
        "max_rel_error": _error(floats, whole, task.inputs),
        "chip_share": parts.chip_share,
        "notes": parts.notes,
        "parts": [{"device": p.device, "ops": len(p.graph.ops)} for p in parts.parts],
        "refusals": [
            {"op": r.node.op, "origin": list(r.node.origin), "reason": r.reason}
            for r in parts.refusals
        ],
    }
    lines = [", ".join(f"{count} {name}" for name, count in ops.most_common())]
    lines += [f"largest error {data['max_rel_error']:.2%} of the largest value", str(parts)]
    if options.output:
        _write(qdq(floats, [task.inputs]) if options.pairs else whole, options.output)
        data["written"] = options.output
        lines.append(f"wrote {options.output}")
    return Result("\n".join(lines), data)


def _error(floats: Graph, whole: Graph, inputs: list[np.ndarray]) -> float:
    """The largest difference of any output, relative to its largest value."""
    wanted, got = ([o.astype(np.float64) for o in run(g, inputs)] for g in (floats, whole))
    pairs = [(a, b) for a, b in zip(wanted, got, strict=True) if a.size]
    return max((np.abs(a - b).max() / (np.abs(a).max() or 1) for a, b in pairs), default=0.0)


def _write(graph: Graph, path: str) -> None:
    from course_lib.frontend.onnx.write import to_onnx  # onnx is heavy

    write(path, to_onnx(graph).SerializeToString())
