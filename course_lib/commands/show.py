"""`python -m course_lib show`: one intermediate form of a model, printed or drawn.

    python -m course_lib show model.onnx --stage fuse -o fuse.svg
    python -m course_lib show mlp --stage all -o stages.html         a slider through all of them

Next room: `look.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from course_lib.commands.infra import mlir
from course_lib.commands.infra.result import Result, shown
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import compile
from course_lib.draw.graphs.stages import picture as drawn
from course_lib.draw.graphs.stages import slider

HELP = "print or draw one intermediate form of a model"


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--stage", default="import", help="import, a pass, loops, …, mlir, or all")
    mlir.arguments(sub)
    sub.add_argument("-o", "--output", metavar="FILE", help="write .svg, .html or .txt instead")


def show(options: Namespace) -> Result:
    """One stage of a compilation, printed or written as a picture; or a slider through all."""
    if options.stage == "mlir" or mlir.asked(options):
        return mlir.show(options)
    task = prepare(options)
    executable = compile(task.model, task.inputs)
    if options.stage == "all":
        picture = slider(executable.stages, Path(options.model).stem)
        names = [stage.name for stage in executable.stages]
        return shown(picture, "all stages", {"model": str(options.model), "stages": names}, options)
    stage = executable.stage(options.stage)
    data = {"model": str(options.model), "stage": stage.name, "level": stage.level}
    if options.output is None:
        return Result(stage.text, {**data, "text": stage.text})
    return shown(drawn(stage), stage.name, data, options)
