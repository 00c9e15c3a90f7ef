"""The course's compiler beside onnxruntime on 26 further models, one of each family.

    make bench            (or: python benchmarks/breadth.py --model bert --threads 1)

Both get the same ONNX file, as PyTorch's exporter writes it (`families.py`). At the end stands the
geometric mean of the ratios for each number of threads, and the model where ours is slowest; both
without Winograd, which is measured beside it where it pays.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import torch
from families import FAMILIES
from measuring import Engine, check, finish, measure, options, ours, thread_counts
from tqdm import tqdm

from course_lib.models.exported import quiet
from course_lib.peers.onnxruntime import onnxruntime_session

PEER = "onnxruntime"


def onnx_file(name: str) -> tuple[bytes, list]:
    """The model as PyTorch exports it, and its inputs as arrays."""
    torch.manual_seed(0)
    build, inputs = FAMILIES[name]
    model, tensors = build().eval(), inputs()
    with quiet(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(model, tuple(tensors), path, dynamo=False, opset_version=17)
        return path.read_bytes(), [x.numpy() for x in tensors]


def engines(data: bytes, arrays: list, threads: int) -> dict[str, Engine]:
    peer = onnxruntime_session(data, threads)
    return {**ours(data, arrays, threads), PEER: lambda: peer(arrays)}


def summary(rows: list[dict]) -> str:
    """For each number of threads: the mean of onnxruntime's time over ours, and our worst model."""
    lines = []
    for count in sorted({row["threads"] for row in rows}):
        of = {r["model"]: r["ms"][PEER] / r["ms"]["course"] for r in rows if r["threads"] == count}
        mean = math.exp(sum(map(math.log, of.values())) / len(of))
        worst = min(of, key=lambda name: of[name])
        lines.append(
            f"{count} thread{'s' * (count > 1)}: onnxruntime takes {mean:.2f}× of our time "
            f"(geometric mean of {len(of)} models); worst {worst}, {of[worst]:.2f}×"
        )
    return "\n".join(lines)


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=FAMILIES, action="append", help="only this one")
    asked = parser.parse_args()
    rows = []
    for name in tqdm(asked.model or list(FAMILIES), disable=not sys.stderr.isatty()):
        data, arrays = onnx_file(name)
        for count in thread_counts(asked.threads):
            calls = engines(data, arrays, count)
            check(calls, PEER)
            ms = measure(calls, asked.rounds, asked.seconds)
            rows.append({"model": name, "threads": count, "ms": ms})
    print(summary(rows) + "\n")
    finish(rows, "model", {}, asked)


if __name__ == "__main__":
    main()
