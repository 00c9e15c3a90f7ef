"""A product of two square matrices: the course's compiler beside OpenBLAS and other systems.

    make bench            (or: python benchmarks/matmul.py --size 1024 --threads 1)

Neither matrix is a constant, so that nothing can be arranged before the call. numpy calls OpenBLAS.
"""

from __future__ import annotations

import numpy as np
from measuring import finish, left_out_of, options, progress, rows_of, thread_counts

from course_lib.ir.graph.build import trace
from course_lib.peers.contest import contest
from course_lib.peers.model import Model

SIZES = (512, 1024, 2048)
SYSTEMS = ("course", "numpy", "torch-eager", "onnxruntime", "openvino", "mnn")


def product(size: int) -> Model:
    """Two matrices of that size, and their product."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((size, size), dtype=np.float32) for _ in range(2)]
    graph = trace(lambda x, y: x @ y, f"f32[{size},{size}]", f"f32[{size},{size}]")
    return Model(str(size), graph, tuple(arrays))


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--size", type=int, action="append", help="default: 512, 1024, 2048")
    asked = parser.parse_args()
    sizes, found = asked.size or SIZES, []
    with progress(list(map(str, sizes))) as at:
        for size in sizes:
            found.append(contest(product(size), SYSTEMS, thread_counts(asked.threads),
                                 asked.rounds, asked.seconds, at(str(size))))  # fmt: skip
            if found[-1].interrupted:
                break
    rows = [{**row, "size": int(row["size"])} for one in found for row in rows_of(one, "size")]
    finish(rows, "size", left_out_of(found), asked)


if __name__ == "__main__":
    main()
