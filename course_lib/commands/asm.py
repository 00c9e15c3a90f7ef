"""`python -m course_lib asm`: the kernels of a model as assembly, for this or that processor.

    python -m course_lib asm mlp --processor nvptx

Next room: `course_lib/llvm/processors.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import compile
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose

HELP = "the kernels of a model as assembly, for this or that processor"


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--processor", default="x86-64", metavar="NAME",
                     help="x86-64, aarch64, riscv64, nvptx or amdgpu (x86-64)")  # fmt: skip
    sub.add_argument("--kernel", metavar="NAME", help="only this kernel")


def asm(options: Namespace) -> Result:
    """A model's kernels as assembly for a processor; those that it cannot run are named."""
    from course_lib.llvm.processors import PROCESSORS, assembly  # llvmlite is heavy

    if options.processor not in PROCESSORS:
        raise ValueError(
            f"--processor is one of {', '.join(PROCESSORS)}, got {options.processor!r}"
        )
    task = prepare(options)
    graph = compile(task.model, task.inputs, target="interpreter").graph
    steps = lower(everywhere(graph, decompose)).steps
    kernels = {step.kernel.name: step.kernel for step in steps if step.kernel is not None}
    if options.kernel is not None and options.kernel not in kernels:
        raise ValueError(f"there is no kernel {options.kernel!r}; there are {', '.join(kernels)}")
    texts, refused = {}, {}
    for name in [options.kernel] if options.kernel else kernels:
        try:
            texts[name] = assembly(kernels[name], options.processor)
        except ValueError as error:
            refused[name] = str(error)
    lines = [*texts.values(), *(f"not emitted: {why}" for why in refused.values())]
    data = {"model": str(options.model), "processor": options.processor, "assembly": texts}
    return Result("\n".join(lines), {**data, "refused": refused}, 1 if refused else 0)
