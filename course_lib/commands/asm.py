"""`python -m course_lib asm`: the kernels of a model as assembly, for this or that target.

    python -m course_lib asm mlp --target nvptx

Next room: `course_lib/llvm/targets.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import compile
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose

HELP = "the kernels of a model as assembly, for this or that target"


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--target", default="x86-64", metavar="NAME",
                     help="x86-64, aarch64, riscv64, nvptx or amdgpu (x86-64)")  # fmt: skip
    sub.add_argument("--kernel", metavar="NAME", help="only this kernel")


def asm(options: Namespace) -> Result:
    """A model's kernels as assembly for a target; those that it cannot run are named."""
    from course_lib.llvm.targets import TARGETS, assembly  # llvmlite is heavy

    if options.target not in TARGETS:
        raise ValueError(f"--target is one of {', '.join(TARGETS)}, got {options.target!r}")
    task = prepare(options)
    graph = compile(task.model, task.inputs, target="interpreter").graph
    steps = lower(everywhere(graph, decompose)).steps
    kernels = {step.kernel.name: step.kernel for step in steps if step.kernel is not None}
    if options.kernel is not None and options.kernel not in kernels:
        raise ValueError(f"there is no kernel {options.kernel!r}; there are {', '.join(kernels)}")
    texts, refused = {}, {}
    for name in [options.kernel] if options.kernel else kernels:
        try:
            texts[name] = assembly(kernels[name], options.target)
        except ValueError as error:
            refused[name] = str(error)
    lines = [*texts.values(), *(f"not emitted: {why}" for why in refused.values())]
    data = {"model": str(options.model), "target": options.target, "assembly": texts}
    return Result("\n".join(lines), {**data, "refused": refused}, 1 if refused else 0)
