"""What `show MODEL --stage mlir` does: the model as MLIR, and on its way through MLIR's passes.

    show mlp --stage mlir                               its text, weights named and not written out
    show mlp --stage mlir -o mlp.mlir                   the same as a file, with the weights
    show mlp --stage mlir --passes loops -o mlp.html    after every pass of upstream's, as a page

Next room: `course_lib/mlir/out/to_mlir.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import prepare
from course_lib.compiler import read
from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture
from course_lib.files import write
from course_lib.ir.graph.graph import Graph
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.mlir.upstream.pipelines import PIPELINES
from course_lib.mlir.upstream.slides import slides


def arguments(show: ArgumentParser) -> None:
    mlir = show.add_argument_group("with --stage mlir")
    ways = "; ".join(f"{name}, {p.title}" for name, p in PIPELINES.items())
    mlir.add_argument("--passes", choices=PIPELINES,
                      help=f"run MLIR's passes, and show the text after each: {ways}")  # fmt: skip
    mlir.add_argument("--generic", action="store_true",
                      help="every op as linalg.generic, also where it has a name")  # fmt: skip


def asked(options: Namespace) -> bool:
    """Is there an option that only this room knows?"""
    return bool(options.passes or options.generic)


def show(options: Namespace) -> Result:
    """The model as MLIR: printed, written to a file, or followed through a pipeline."""
    if options.stage != "mlir":
        raise ValueError("--passes and --generic go with --stage mlir")
    task = prepare(options)
    graph = read(task.model, task.inputs)
    data = {"model": str(options.model), "stage": "mlir"}
    if options.passes:
        data["passes"] = options.passes
        picture = _followed(graph, options)
    else:
        text = to_mlir(graph, named=not options.generic)
        if options.output is None:
            return Result(text.rstrip("\n"), {**data, "text": text})
        if Path(options.output).suffix == ".mlir":
            write(options.output, to_mlir(graph, "resources", not options.generic))
            return Result(f"mlir written to {options.output}", {**data, "output": options.output})
        picture = listing("MLIR", text)
    if options.output is None:
        return Result(str(picture), data)
    path = picture.save(options.output)
    return Result(f"mlir written to {path}", {**data, "output": str(path)})


def _followed(graph: Graph, options: Namespace) -> Picture:
    text = to_mlir(graph, "arguments", not options.generic)
    return slides(text, PIPELINES[options.passes], Path(options.model).stem)
