"""The command line: run a model, look at what the compiler made of it, list the ops.

    python -m course_lib run model.onnx --compare onnxruntime
    python -m course_lib show model.onnx --stage fuse -o fuse.svg
    python -m course_lib ops

`MODEL` is an ONNX file or the name of one of the course's models (mlp, block, resnet18,
mobilenet_v2). Next room: `commands.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from course_lib import __version__, commands


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m course_lib", description="The course's compiler.")
    top.add_argument("--version", action="version", version=__version__)
    subs = top.add_subparsers(dest="command", required=True, metavar="{run,show,ops}")

    run = subs.add_parser("run", help="compile a model, run it and say what it cost")
    show = subs.add_parser("show", help="print or draw one intermediate form of a model")
    ops = subs.add_parser("ops", help="the op table as documentation")
    for sub in (run, show):
        sub.add_argument("model", metavar="MODEL", help="an ONNX file, or a model of the course")
        sub.add_argument("--inputs", metavar="FILE.npz", help="inputs by name (or arr_0, arr_1, …)")
        sub.add_argument("--seed", type=int, default=0, help="of the random inputs otherwise")
    run.add_argument("--target", choices=("cpu", "interpreter"), default="cpu")
    run.add_argument("--compare", choices=("onnxruntime",), help="also run this peer, and compare")
    run.add_argument("--repeat", type=int, default=20, help="runs to take the median of (20)")
    run.add_argument("--threads", type=int, help="threads for a kernel (all processors)")
    show.add_argument("--stage", default="import", help="import, a pass, loops, …, or all")
    show.add_argument("-o", "--output", metavar="FILE", help="write .svg, .html or .txt instead")
    ops.add_argument("op", nargs="?", help="only this op")
    for sub in (run, show, ops):
        sub.add_argument("--json", action="store_true", help="one JSON object on the last line")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 (it could not be done) or 2 (wrong usage)."""
    options = parser().parse_args(arguments)
    try:
        result = getattr(commands, options.command)(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        if options.json:
            print(json.dumps({"error": str(error)}))
        return 1
    print(json.dumps(result.data) if options.json else result.text)
    return result.status


if __name__ == "__main__":
    sys.exit(main())
