"""`python -m course_lib toy`: a program of the Toy language, at any stage of its compilation.

    python -m course_lib toy example.toy                     ->  what it prints
    python -m course_lib toy example.toy --emit affine       ->  its loops over memory
    python -m course_lib toy some.mlir --passes inline,infer_shapes
    python -m course_lib toy -c "def main() { print(1); }"

Everything but the tree needs the package xdsl. Next room: `mlir/toy/stages.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from course_lib.commands.infra.result import Result
from course_lib.files import read_text
from course_lib.mlir.toy import ast
from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.source import ToyError
from course_lib.packages import missing

HELP = "a program of the Toy language, at any stage"

STAGES = ("ast", "toy", "inline", "shapes", "opt", "affine", "scf", "cf", "llvm", "run")
MISSING = {name: missing(name) for name in ("xdsl", "llvmlite")}


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands."""
    sub.add_argument("file", metavar="FILE", nargs="?",
                     help="a program: .toy, or .mlir in the Toy dialect")  # fmt: skip
    sub.add_argument("-c", "--code", metavar="TEXT", help="the program itself, instead of a file")
    sub.add_argument("--emit", choices=STAGES, default="run", metavar="STAGE",
                     help=f"one of {', '.join(STAGES)} (run)")  # fmt: skip
    sub.add_argument("--passes", metavar="NAME,...", help="these passes only, in this order")
    sub.add_argument("--locations", action="store_true", help="print where operations come from")


def toy(options: Namespace) -> Result:
    """The program at the stage that was asked for; in `data` also what it printed, as numbers."""
    file, text = _program(options)
    stage = options.passes or options.emit
    if stage == "ast" and not file.endswith(".mlir"):
        return _result(file, stage, _tree(file, text))
    try:
        return _compiled(options, file, text)
    except ModuleNotFoundError as error:
        advice = MISSING.get((error.name or "").split(".")[0])
        if advice is None:
            raise
        raise ValueError(advice) from None


def _program(options: Namespace) -> tuple[str, str]:
    """The name of the program's file, and its text."""
    if (options.file is None) == (options.code is None):
        raise ValueError("the program is a FILE, or a text behind -c")
    if options.code is not None:
        return "-c", options.code
    return options.file, read_text(options.file)


def _tree(file: str, text: str) -> str:
    try:
        return ast.show(parse(text))
    except ToyError as error:
        raise error.within(file, text) from None


def _compiled(options: Namespace, file: str, text: str) -> Result:
    from course_lib.mlir.toy.module import written  # xdsl need not be installed
    from course_lib.mlir.toy.stages import apply, compile_toy

    if options.passes:
        module = apply(options.passes.split(","), text, file)
        return _result(file, options.passes, written(module, options.locations))
    compiled = compile_toy(text, file, options.emit)
    if options.emit != "run":
        return _result(file, options.emit, compiled.text(options.emit, options.locations))
    printed = compiled.run()
    return _result(file, options.emit, printed.text, printed.numbers)


def _result(file: str, stage: str, text: str, numbers: list[float] | None = None) -> Result:
    printed = {} if numbers is None else {"numbers": numbers}
    return Result(text.rstrip("\n"), {"file": file, "stage": stage, "text": text, **printed})
