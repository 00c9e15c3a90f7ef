"""The command line: run a model, look at what the compiler made of it, list the ops.

    python -m course_lib run model.onnx --compare onnxruntime
    python -m course_lib run model.onnx --target systolic --trace trace.json
    python -m course_lib bench model.onnx --threads 1,2 --html model.html
    python -m course_lib show model.onnx --stage fuse -o fuse.svg
    python -m course_lib look mlp --kernel matmul_add_relu_0 -o kernel.html
    python -m course_lib fma kernel.ll --given lo=0 hi=8
    python -m course_lib asm mlp --processor nvptx
    python -m course_lib ops
    python -m course_lib quantize mlp -o int8.onnx
    python -m course_lib tune resnet18 --budget 60 -o resnet18.tuned.json
    python -m course_lib systolic -m 197 -n 768 -k 768 --preset npu
    python -m course_lib npu -m 197 -k 768 -n 768 --emit tile
    python -m course_lib plug model.onnx --into tinygrad --json
    python -m course_lib toy -c "def main() { print([1, 2] + [3, 4]); }" --emit affine

`MODEL` is an ONNX file, a file of MLIR (linalg on tensors), or the name of one of the course's
models (mlp, block, resnet18, mobilenet_v2). Next room: `commands/infra/room.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from course_lib.commands.infra.room import load, parser
from course_lib.exercises import NotAnswered
from course_lib.packages import missing_in


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 (it could not be done) or 2 (wrong usage)."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = parser(words[0] if words else None).parse_args(words)
    try:
        result = getattr(load(options.command), options.command)(options)
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
        alone = options.json is True  # in a file, it leaves the text where it is
        print(json.dumps(result.data) if alone else result.text, flush=True)
    except BrokenPipeError:  # the reader has seen enough: `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
    return result.status


def _failed(options: argparse.Namespace, problem: str) -> int:
    print(f"error: {problem}", file=sys.stderr)
    if options.json is True:
        print(json.dumps({"error": problem}))
    return 1


if __name__ == "__main__":
    sys.exit(main())
