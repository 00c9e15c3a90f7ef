"""Record what the pinned torch-mlir makes of relu(x @ w), for machines where it is missing.

    python scripts/mlir_record.py   writes course_lib/mlir/upstream/recorded/*.mlir, one a pipeline

Run it when a pipeline, or the text that a graph becomes, has changed; a test says when.
"""

from __future__ import annotations

import datetime
import importlib.metadata
from pathlib import Path

from course_lib.files import write
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import PIPELINES
from course_lib.mlir.upstream.recordings import FOLDER, texts
from course_lib.recorded import Recording

PINS = Path(__file__).resolve().parent.parent / "constraints.txt"


def graph() -> Graph:
    """One matrix product and one relu."""
    x, w = inp("x", "f32[4,8]"), inp("w", "f32[8,16]")
    return Graph.of([x, w], [apply("relu", apply("matmul", x, w))], "mm_relu")


def recordings() -> dict[str, Recording]:
    """What goes into each file, by its name."""
    files, today = {}, datetime.date.today().isoformat()
    for name, pipeline in PIPELINES.items():
        done = passed(to_mlir(graph()), pipeline, "torch-mlir")
        if done.trouble:
            raise ValueError(f"{name}: {done.trouble}")
        kept = texts(pipeline.prepared(to_mlir(graph())), done.states)
        how = "python scripts/mlir_record.py"
        files[f"mm_relu.{name}.mlir"] = Recording(done.tool, "any", today, how, kept)
    return files


def main() -> None:
    pinned = f"torch-mlir=={importlib.metadata.version('torch-mlir')}"
    if pinned not in PINS.read_text().splitlines():
        raise SystemExit(f"{pinned} is not the version in {PINS.name}")
    FOLDER.mkdir(exist_ok=True)
    for name, recording in recordings().items():
        write(FOLDER / name, str(recording))
        print(name, f"{len(str(recording).splitlines()):,} lines")


if __name__ == "__main__":
    main()
