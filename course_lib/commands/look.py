"""`python -m course_lib look`: a kernel of a model on its way to the processor.

    python -m course_lib look mlp --kernel matmul_add_relu_0 -o kernel.html
    ->  loops, LLVM IR and assembly side by side; or what each pass changed, remarks, flow, ports

Next room: `course_lib/llvm/inspect/looking.py`.
"""

from __future__ import annotations

import difflib
from argparse import ArgumentParser, Namespace
from typing import Any

from course_lib.commands.infra.result import Result, shown
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import compile
from course_lib.draw.base.stepper import stepper
from course_lib.ir.loops.nest import Kernel

HELP = "a kernel of a model as loops, LLVM IR and assembly"
PICTURES = ("source", "passes", "remarks", "flow", "ports")


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--kernel", metavar="NAME", help="which one; without a name, all are listed")
    sub.add_argument("--what", choices=PICTURES, default="source",
                     help="the three forms side by side, what each pass changed, LLVM's remarks, "
                     "control flow with runs, or llvm-mca's view of the ports")  # fmt: skip
    sub.add_argument("-o", "--output", metavar="FILE", help="write .svg, .html or .txt instead")


def look(options: Namespace) -> Result:
    """A kernel of a model on its way to the processor, as a picture; or the list of its kernels."""
    task = prepare(options)
    program = compile(task.model, task.inputs).stage("scheduled").form
    steps = [step for step in program.steps if step.kernel is not None]
    kernels = {step.kernel.name: step.kernel for step in steps}
    data = {"model": str(options.model), "kernels": list(kernels)}
    if options.kernel is None:
        lines = [f"@{k.name}  computes {', '.join(k.origin) or '-'}" for k in kernels.values()]
        return Result("\n".join(lines), data)
    if options.kernel not in kernels:
        near = difflib.get_close_matches(options.kernel, kernels, n=1)
        hint = f"; did you mean {near[0]}?" if near else ", but " + ", ".join(kernels)
        raise ValueError(f"{options.model} has no kernel {options.kernel!r}{hint}")
    picture = _looked(options.what, kernels[options.kernel])
    return shown(picture, f"{options.what} of @{options.kernel}", data, options)


def _looked(what: str, kernel: Kernel) -> Any:
    from course_lib.llvm.inspect import looking  # llvmlite is heavy

    if what == "flow":
        pictures = looking.blocks(kernel)
        states = [(f"part {number}", picture) for number, picture in enumerate(pictures, 1)]
        return pictures[0] if len(pictures) == 1 else stepper(states, f"@{kernel.name}: flow")
    ways = {"source": looking.look, "passes": looking.passes, "remarks": looking.reasons}
    return ways.get(what, looking.ports)(kernel)
