"""The course's compiler beside PyTorch and onnxruntime, on the course's four models.

    make bench            (or: python benchmarks/models.py --threads 1 --model resnet18)

All engines run the same weights on the same input, and their results are compared. Ours stands
there twice where 3x3 convolutions gain by Winograd's F(2x2,3x3): without, which is the default, and
with it. torch.compile writes C++, with the weights as constants (`freezing`), and is left out where
there is no g++.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import numpy as np
from measuring import Engine, check, finish, measure, options, ours, thread_counts
from tqdm import tqdm

from course_lib.compiler import read
from course_lib.frontend.onnx.write import to_onnx
from course_lib.models import MODELS, example_inputs
from course_lib.peers.onnxruntime import onnxruntime_session


def engines(name: str, threads: int) -> dict[str, Engine]:
    """The model in each engine, as a call without arguments."""
    import torch

    torch.set_num_threads(threads)
    model, arrays = MODELS[name].build(), example_inputs(name)
    tensors = [torch.from_numpy(a) for a in arrays]
    graph = read(model, arrays)
    peer = onnxruntime_session(to_onnx(graph).SerializeToString(), threads)

    def in_torch(function) -> Engine:
        def run() -> Sequence[np.ndarray]:
            with torch.inference_mode():
                return [function(*tensors).numpy()]

        return run

    engine_of = {
        **ours(graph, arrays, threads),
        "torch eager": in_torch(model),
        "onnxruntime": lambda: peer(arrays),
    }
    if not missing():
        import torch._inductor.config as inductor

        inductor.freezing = True
        torch._dynamo.reset()  # code for another number of threads
        engine_of["torch.compile"] = in_torch(torch.compile(model))
    return engine_of


def missing() -> dict[str, str]:
    """The engines that are not on this machine, and what they lack."""
    return {} if shutil.which("g++") else {"torch.compile": "which needs g++"}


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=MODELS, action="append", help="only this one")
    asked = parser.parse_args()
    models = asked.model or list(MODELS)
    jobs = [(name, count) for name in models for count in thread_counts(asked.threads)]
    rows = []
    for name, count in tqdm(jobs, disable=not sys.stderr.isatty()):
        calls = engines(name, count)
        check(calls, "torch eager")
        rows.append(
            {"model": name, "threads": count, "ms": measure(calls, asked.rounds, asked.seconds)}
        )
    finish(rows, "model", missing(), asked)


if __name__ == "__main__":
    main()
