"""From a graph to an ONNX model.

    %0 = softmax(%x) {axis = 1}    ==>   Softmax(%x), axis = 1
    %1 = rsqrt(%0)                       Sqrt, Reciprocal
    %2 = fused(%1) {body = ...}          the ops of the body, one by one

One short rule for each of our ops, in `write_rules.py`, `write_movement.py` and
`write_products.py`. A composite without a rule is written out as its definition in the op table;
groups made by fusion are opened again, since ONNX has no such thing. Other tools then read what our
passes made of a model: onnxruntime is one of our witnesses. Next room: `surgery.py`.
"""

from __future__ import annotations

import onnx
from onnx import helper

from course_lib.arguments import takes
from course_lib.frontend.onnx.opset import NEWEST_OPSET, OLDEST_OPSET
from course_lib.frontend.onnx.write_products import RULES
from course_lib.frontend.onnx.writer import Writer, info
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify


@takes
def to_onnx(graph: Graph, opset: int = 20) -> onnx.ModelProto:
    """The graph as a valid ONNX model of this opset. Origins become node names."""
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise ValueError(f"opset {opset} is not between {OLDEST_OPSET} and {NEWEST_OPSET}")
    writer = Writer(verify(graph), opset, RULES)
    inputs = [info(writer.names[n], n.type) for n in graph.inputs]
    writer.body(graph)
    outputs = [info(writer.output(n), n.type) for n in graph.outputs]
    proto = helper.make_graph(writer.nodes, graph.name, inputs, outputs, writer.initializers)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(proto, opset_imports=opsets, producer_name="course_lib")
    model.ir_version = helper.find_min_ir_version_for(opsets)
    if model.ByteSize() < 2**31:  # the checker cannot take more in one piece
        onnx.checker.check_model(model, full_check=True)
    return model
