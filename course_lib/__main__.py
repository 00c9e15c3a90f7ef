"""The command line: run a model, look at what the compiler made of it, list the ops.

    python -m course_lib run model.onnx --compare onnxruntime
    python -m course_lib run model.onnx --target systolic --trace trace.json
    python -m course_lib show model.onnx --stage fuse -o fuse.svg
    python -m course_lib look mlp --kernel matmul_add_relu_0 -o kernel.html
    python -m course_lib fma kernel.ll --given lo=0 hi=8
    python -m course_lib asm mlp --target nvptx
    python -m course_lib ops
    python -m course_lib quantize mlp -o int8.onnx
    python -m course_lib tune resnet18 --budget 60 -o resnet18.tuned.json
    python -m course_lib systolic -m 197 -n 768 -k 768 --preset npu
    python -m course_lib npu -m 197 -k 768 -n 768 --emit tile
    python -m course_lib plug model.onnx --into tinygrad --json
    python -m course_lib toy -c "def main() { print([1, 2] + [3, 4]); }" --emit affine

`MODEL` is an ONNX file, a file of MLIR (linalg on tensors), or the name of one of the course's
models (mlp, block, resnet18, mobilenet_v2). Next room: `commands.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from course_lib import (
    __version__,
    chip_command,
    commands,
    mlir_command,
    npu_command,
    plug_command,
    quantize_command,
    systolic_command,
    toy_command,
    tune_command,
)
from course_lib.exercises import NotAnswered
from course_lib.packages import missing_in

COMMANDS = {
    "run": "compile a model, run it and say what it cost",
    "show": "print or draw one intermediate form of a model",
    "look": "a kernel of a model as loops, LLVM IR and assembly",
    "fma": "count the multiply-adds of a model, or of LLVM IR",
    "asm": "the kernels of a model as assembly, for this or that target",
    "ops": "the op table as documentation",
    "quantize": "a model in 8-bit integers, and the chip's share of it",
    "systolic": "cycles of a matrix product on a systolic array",
    "npu": "a matrix product in the NPU dialect, at any stage",
    "plug": "a model through another compiler, with our chip behind it",
    "toy": "a program of the Toy language, at any stage",
    "tune": "search faster schedules for the kernels of a model",
}
ABOUT_A_MODEL = ("run", "show", "look", "fma", "asm", "quantize", "plug", "tune")
ROOMS = {  # of the commands that are not in `commands.py`; each knows its own arguments
    "npu": npu_command,
    "plug": plug_command,
    "quantize": quantize_command,
    "systolic": systolic_command,
    "toy": toy_command,
    "tune": tune_command,
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m course_lib", description="The course's compiler.")
    top.add_argument("--version", action="version", version=__version__)
    subs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = {name: subs.add_parser(name, help=words) for name, words in COMMANDS.items()}
    for name in ABOUT_A_MODEL:
        _add_model(command[name])
    _add_run(command["run"])
    _add_looks(command["show"], command["look"])
    command["fma"].add_argument("--given", metavar="NAME=N", nargs="+", default=[], help="of a .ll "
                                "file's functions: integer arguments that are known")  # fmt: skip
    command["asm"].add_argument("--target", default="x86-64", metavar="NAME", help="x86-64, "
                                "aarch64, riscv64, nvptx or amdgpu (x86-64)")  # fmt: skip
    command["asm"].add_argument("--kernel", metavar="NAME", help="only this kernel")
    command["ops"].add_argument("op", nargs="?", help="only this op")
    for name, room in ROOMS.items():
        room.arguments(command[name])
    for sub in command.values():
        sub.add_argument("--json", action="store_true", help="one JSON object on the last line")
    return top


def _add_model(sub: argparse.ArgumentParser) -> None:
    """What every command about a model takes."""
    sub.add_argument("model", metavar="MODEL", help="an ONNX or .mlir file, or one of the course")
    sub.add_argument("--inputs", metavar="FILE.npz", help="inputs by name (or arr_0, arr_1, …)")
    sub.add_argument("--freeze", metavar="NAME=FILE.npy", action="append", default=[],
                     help="the value of an input that must be known at compile time, such as "
                     "a shape (of an ONNX file; may be repeated)")  # fmt: skip
    sub.add_argument(
        "--seed", type=commands.number(0), default=0, help="of the random inputs otherwise"
    )


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("--target", choices=("cpu", "interpreter", "systolic"), default="cpu",
                     help="machine code; numpy; int8 on the simulated chip")  # fmt: skip
    run.add_argument("--compare", choices=("onnxruntime",), help="also run this peer, and compare")
    run.add_argument(
        "--repeat", type=commands.number(1), default=20, help="runs to take the median of (20)"
    )
    run.add_argument("--threads", type=commands.number(1), metavar="N",
                     help="threads for a kernel (all processors)")  # fmt: skip
    run.add_argument("--winograd", action="store_true", help="cheaper 3x3 convolutions, whose "
                     "results differ in their last bits")  # fmt: skip
    run.add_argument("--tuned", metavar="FILE", help="schedules that `tune` wrote, or kept")
    chip_command.arguments(run)


def _add_looks(show: argparse.ArgumentParser, look: argparse.ArgumentParser) -> None:
    show.add_argument("--stage", default="import", help="import, a pass, loops, …, mlir, or all")
    mlir_command.arguments(show)
    look.add_argument("--kernel", metavar="NAME", help="which one; without a name, all are listed")
    look.add_argument("--what", choices=commands.PICTURES, default="source",
                      help="the three forms side by side, what each pass changed, LLVM's remarks, "
                      "control flow with runs, or llvm-mca's view of the ports")  # fmt: skip
    for sub in (show, look):
        sub.add_argument("-o", "--output", metavar="FILE", help="write .svg, .html or .txt instead")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 (it could not be done) or 2 (wrong usage)."""
    options = parser().parse_args(arguments)
    try:
        room = ROOMS.get(options.command, commands)
        if options.command == "run" and options.target == "systolic":
            room = chip_command
        if options.command == "show" and (options.stage == "mlir" or mlir_command.asked(options)):
            room = mlir_command
        result = getattr(room, options.command)(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError, NotAnswered, MemoryError) as error:
        return _failed(options, str(error) or "there is not enough memory")
    except ModuleNotFoundError as error:
        if not missing_in(error):
            raise
        return _failed(options, missing_in(error))
    try:
        print(json.dumps(result.data) if options.json else result.text, flush=True)
    except BrokenPipeError:  # the reader has seen enough: `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
    return result.status


def _failed(options: argparse.Namespace, problem: str) -> int:
    print(f"error: {problem}", file=sys.stderr)
    if options.json:
        print(json.dumps({"error": problem}))
    return 1


if __name__ == "__main__":
    sys.exit(main())
