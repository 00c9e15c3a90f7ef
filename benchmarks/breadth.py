"""The course's compiler beside other systems on 26 further models, one of each family.

    make bench            (or: python benchmarks/breadth.py --model bert --threads 1)

All of them get the same ONNX file, as PyTorch's exporter writes it (`families.py`). At the end
stands for each other system the geometric mean of the ratios, and the model where ours is slowest;
both without Winograd, which is measured beside it where it pays.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import torch
from families import FAMILIES
from measuring import OURS, finish, left_out_of, options, progress, rows_of, thread_counts

from course_lib.models.exported import quiet
from course_lib.peers.contest import contest
from course_lib.peers.model import Model

SYSTEMS = ("course", "course+winograd", "onnxruntime", "openvino", "mnn")


def model(name: str) -> Model:
    """The model as PyTorch exports it, and its inputs."""
    torch.manual_seed(0)
    build, inputs = FAMILIES[name]
    module, tensors = build().eval(), inputs()
    with quiet(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(module, tuple(tensors), path, dynamo=False, opset_version=17)
        return Model(name, path.read_bytes(), tuple(x.numpy() for x in tensors))


def summary(rows: list[dict]) -> str:
    """For each number of threads and each other system: the mean of its time over ours, and our
    worst model."""
    lines = []
    for count in sorted({row["threads"] for row in rows}):
        for peer in SYSTEMS[2:]:
            both = [r for r in rows if r["threads"] == count and {OURS, peer} <= r["ms"].keys()]
            of = {row["model"]: row["ms"][peer] / row["ms"][OURS] for row in both}
            if of:
                mean = math.exp(sum(map(math.log, of.values())) / len(of))
                worst = min(of, key=lambda name: of[name])
                lines.append(
                    f"{count} thread{'s' * (count > 1)}: {peer} takes {mean:.2f}× of our time "
                    f"(geometric mean of {len(of)} models); worst {worst}, {of[worst]:.2f}×"
                )
    return "\n".join(lines)


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=FAMILIES, action="append", help="only this one")
    asked = parser.parse_args()
    names, found = asked.model or list(FAMILIES), []
    with progress(names) as at:
        for name in names:
            found.append(contest(model(name), SYSTEMS, thread_counts(asked.threads), asked.rounds,
                                 asked.seconds, at(name)))  # fmt: skip
            if found[-1].interrupted:
                break
    rows = [row for one in found for row in rows_of(one, "model")]
    print(summary(rows) + "\n")
    finish(rows, "model", left_out_of(found), asked)


if __name__ == "__main__":
    main()
