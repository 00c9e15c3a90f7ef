"""A product of two square matrices: the course's compiler beside OpenBLAS, PyTorch and onnxruntime.

    make bench            (or: python benchmarks/matmul.py --size 1024 --threads 1)

Neither matrix is a constant, so that nothing can be arranged before the call. numpy calls OpenBLAS.
"""

from __future__ import annotations

import sys

import numpy as np
from measuring import Engine, check, finish, measure, options, thread_counts
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import course_lib
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.build import trace
from course_lib.peers.onnxruntime import onnxruntime_session

SIZES = (512, 1024, 2048)


def engines(size: int, threads: int) -> dict[str, Engine]:
    """The product in each engine, as a call without arguments."""
    import torch

    torch.set_num_threads(threads)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((size, size), dtype=np.float32) for _ in range(2)]
    a, b = arrays
    graph = trace(lambda x, y: x @ y, f"f32[{size},{size}]", f"f32[{size},{size}]")
    ours = course_lib.compile(graph, threads=threads)
    peer = onnxruntime_session(to_onnx(graph).SerializeToString(), threads)
    tensors = [torch.from_numpy(array) for array in arrays]
    return {
        "course": lambda: ours.run(arrays),
        "OpenBLAS": lambda: [a @ b],
        "torch eager": lambda: [torch.mm(*tensors).numpy()],
        "onnxruntime": lambda: peer(arrays),
    }


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--size", type=int, action="append", help="default: 512, 1024, 2048")
    asked = parser.parse_args()
    sizes = asked.size or SIZES
    jobs = [(size, count) for size in sizes for count in thread_counts(asked.threads)]
    rows = []
    for size, count in tqdm(jobs, disable=not sys.stderr.isatty()):
        with threadpool_limits(count, user_api="blas"):
            calls = engines(size, count)
            check(calls, "OpenBLAS")
            times = measure(calls, asked.rounds, asked.seconds)
        rows.append({"size": size, "threads": count, "ms": times})
    finish(rows, "size", {}, asked)


if __name__ == "__main__":
    main()
