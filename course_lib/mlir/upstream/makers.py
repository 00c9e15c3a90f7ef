"""What makes the recordings of this room: relu(x @ w) through each of the pipelines.

    python -m course_lib record mm_relu     ->  recorded/mm_relu.fused.mlir: same, ...

Next room: `slides.py`.
"""

from __future__ import annotations

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.maker import Maker, maker
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import PIPELINES
from course_lib.mlir.upstream.recordings import texts


def mm_relu() -> Graph:
    """One matrix product and one relu."""
    x, w = inp("x", "f32[4,8]"), inp("w", "f32[8,16]")
    return Graph.of([x, w], [apply("relu", apply("matmul", x, w))], "mm_relu")


def _of(name: str) -> Maker:
    """Of a pipeline: what it was given, what the tool read, and the text after each pass."""

    def recording() -> dict[str, str]:
        given, pipeline = to_mlir(mm_relu()), PIPELINES[name]
        done = passed(given, pipeline, "torch-mlir")
        if done.trouble:
            raise ValueError(f"{name}: {done.trouble}")
        return texts(pipeline.prepared(given), done.states)

    return maker("torch-mlir", "torch_mlir")(recording)


fused, llvm, loops, transform, vectors = map(
    _of, ("fused", "llvm", "loops", "transform", "vectors")
)
