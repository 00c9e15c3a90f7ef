"""`python -m course_lib run`: compile a model, run it, and say what it cost.

    python -m course_lib run model.onnx --compare onnxruntime     also a peer's results and time
    python -m course_lib run mlp --target systolic                on the chip (`infra/chip.py`)

Next room: `show.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from course_lib.commands.infra import chip
from course_lib.commands.infra.compare import compare, comparison, system
from course_lib.commands.infra.options import number
from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import compile
from course_lib.measure.turns import warm_median
from course_lib.passes.pipeline import WINOGRAD

HELP = "compile a model, run it and say what it cost"


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--target", choices=("cpu", "interpreter", "systolic"), default="cpu",
                     help="machine code; numpy; int8 on the simulated chip")  # fmt: skip
    sub.add_argument("--compare", type=system, metavar="SYSTEM",
                     help="also run it here, and compare: onnxruntime, openvino or any other "
                     "system that `bench` has")  # fmt: skip
    sub.add_argument("--repeat", type=number(1), default=20, help="runs to take the median of (20)")
    sub.add_argument("--threads", type=number(1), metavar="N",
                     help="threads for a kernel (all processors)")  # fmt: skip
    sub.add_argument("--winograd", action="store_true", help="cheaper 3x3 convolutions, whose "
                     "results differ in their last bits")  # fmt: skip
    sub.add_argument("--tuned", metavar="FILE", help="schedules that `tune` wrote, or kept")
    chip.arguments(sub)


def run(options: Namespace) -> Result:
    """Compile, run and time a model; compare with a peer if asked."""
    if options.target == "systolic":
        return chip.run(options)
    task = prepare(options)
    executable = compile(
        task.model,
        task.inputs,
        target=options.target,
        threads=options.threads,
        passes=WINOGRAD if options.winograd else None,
        search=options.tuned,
    )
    outputs = executable.run(task.inputs)
    report = executable.report()
    data: dict[str, Any] = {
        "model": str(options.model),
        "target": options.target,
        **report.as_dict(),
        "run_ms": 1e3 * warm_median(lambda: executable.run(task.inputs), options.repeat),
        "outputs": [f"{o.dtype}{list(o.shape)}" for o in outputs],
    }
    lines = [str(report), "", f"run: {data['run_ms']:.3f} ms (median of {options.repeat})"]
    status = 0
    if options.compare:
        data["compare"] = compare(task, outputs, options)
        lines.append(comparison(data["compare"], data["run_ms"]))
        status = 0 if data["compare"]["agrees"] else 1
    return Result("\n".join(lines), data, status)
