"""Production systems on the transposes of unit 10.

    systems_table()      what each leaves of transpose(transpose(a) * transpose(b))
    through_mlir(text)   a module of yours, through MLIR's own passes, to loops

onnxruntime and torch-mlir run here where they are installed; Inductor is recorded, because it needs
a C++ compiler and some seconds. Next room: makers.py.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.lower.lower import lower
from course_lib.maker import maker
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import PIPELINES
from course_lib.mlir.upstream.slides import shown
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.peers.onnxruntime import session
from course_lib.recorded import recorded
from lessons.u10.native import SIZE, llvm, measured, on_tensors
from lessons.u10.program import narrow

BY_RUNTIME, BY_INDUCTOR = (
    recorded(__file__, f"{tool}.txt") for tool in ("onnxruntime", "inductor")
)
# The nodes that are left with every optimization on: where each Transpose has the attribute `perm`,
# and where it does not, which by the standard means that the dimensions are reversed.
ONNXRUNTIME = {
    ask_perm: BY_RUNTIME[f"{word} perm"].split()
    for ask_perm, word in ((True, "with"), (False, "without"))
}
INDUCTOR = BY_INDUCTOR["kernels"].split()  # of (a.T * b.T).T, by torch.compile on a CPU
TORCH = """\
%1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
%2 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>)
                   outs(%1 : tensor<4x16xf32>) -> tensor<4x16xf32>
%3 = linalg.generic {
         indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
         iterator_types = ["parallel", "parallel"]}
     ins(%2 : tensor<4x16xf32>) outs(%0 : tensor<4x16xf32>) {
^bb0(%in: f32, %out: f32):
  %4 = arith.cmpf ugt, %in, %cst : f32
  %5 = arith.select %4, %in, %cst : f32
  linalg.yield %5 : f32
} -> tensor<4x16xf32>"""


def onnxruntime_ops(ask_perm: bool) -> tuple[list[str], str]:
    """The nodes that onnxruntime runs, and a word on where they are from. `ask_perm`: each
    Transpose says in an attribute what is the default."""
    if not find_spec("onnxruntime") or not find_spec("onnx"):
        return ONNXRUNTIME[ask_perm], f"onnxruntime, {BY_RUNTIME.words}"
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto
    from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

    perm: dict[str, Any] = {"perm": [1, 0]} if ask_perm else {}
    nodes = [make_node("Transpose", [x], [f"t{x}"], **perm) for x in "ab"]
    nodes += [make_node("Mul", ["ta", "tb"], ["p"]), make_node("Transpose", ["p"], ["y"], **perm)]
    a, b, y = (make_tensor_value_info(x, TensorProto.FLOAT, [SIZE, SIZE]) for x in "aby")
    model = make_model(make_graph(nodes, "twice", [a, b], [y]), ir_version=9,
                       opset_imports=[make_opsetid("", 17)])  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        saved = str(Path(folder) / "optimized.onnx")
        session(model.SerializeToString(), optimized_model_filepath=saved)
        kept = onnx.load(saved).graph.node
    return [node.op_type for node in kept], f"onnxruntime {ort.__version__}"


@maker("onnxruntime", "onnxruntime", "onnx")
def left_by_onnxruntime() -> dict[str, str]:
    return {"with perm": " ".join(onnxruntime_ops(True)[0]),
            "without perm": " ".join(onnxruntime_ops(False)[0])}  # fmt: skip


def ours() -> int:
    """The kernels of our own compiler."""
    a, b = inp("a", f"f32[{SIZE},{SIZE}]"), inp("b", f"f32[{SIZE},{SIZE}]")
    turned = [apply("transpose", x, perm=(1, 0)) for x in (a, b)]
    graph = Graph.of([a, b], [apply("transpose", apply("mul", *turned), perm=(1, 0))], "twice")
    return sum(step.kernel is not None for step in lower(run_passes(graph, DEFAULT)).steps)


def systems_table() -> Any:
    """What each system leaves of the four operations, and what it works on."""
    (kept, runtime), (all_, _) = onnxruntime_ops(True), onnxruntime_ops(False)
    loops, left = "MLIR's passes for loops", on_tensors()
    rows = [
        [f"Inductor, {BY_INDUCTOR.words}", "operations", len(INDUCTOR),
         "as views: there is no operation"],
        [f"MLIR on tensors, made generic and fused ({left.by})", "operations", left.nests,
         "as maps, which it composes"],
        ["our compiler", "operations", ours(), "as indices, which it composes"],
        [runtime, "operations", len(kept), "as nodes, which it moves"],
        [f"{runtime}, without perm", "operations", len(all_), "not at all"],
        [loops, "loops", measured("fused, own buffers").loops, "as loads with known indices"],
        [f"{loops}, two results in one buffer", "loops", measured("fused, a shared buffer").loops,
         "wrongly"],
        [f"{llvm()}, -O3", "blocks and addresses", measured("loops").loops,
         "not at all, at this size"],
    ]  # fmt: skip
    heads = ["system", "works on", "nests or kernels left", "how it treats the transposes"]
    return table(rows, heads, exact=heads[2:3])


def through_mlir(text: str, title: str) -> Picture | str:
    """The module after every pass of upstream's, to loops, where a tool of MLIR's is installed."""
    try:
        return shown(narrow(passed(text, PIPELINES["loops"])), PIPELINES["loops"], title)
    except ValueError as error:
        return f"Not shown: {error}."
