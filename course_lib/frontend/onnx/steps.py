"""The results of a quantized model come in steps: whole numbers times a scale.

    output_steps("int8.onnx")   ->   [array(0.035, f32)]       one entry for each output
    output_steps("model.onnx")  ->   None                      a model of floats

Two engines that round one number in the middle of a model differently give results that are some
steps apart, and a tolerance in floats cannot tell whether that is one step or twenty. Next:
`surgery.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from course_lib.frontend.onnx.file import Model, load_proto, read_proto

ROUNDS = ("QuantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "ConvInteger")
AS_IT_IS = ("Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Relu")


def output_steps(model: Model) -> list[np.ndarray | None] | None:
    """The step of each output: a number, or numbers that broadcast with it; None for an output that
    has none, because floats were computed from the last integers. None at all for a model that
    rounds nothing to integers."""
    nodes = read_proto(model)[0].graph.node
    if not any(n.op_type in ROUNDS or n.op_type.startswith("QLinear") for n in nodes):
        return None
    proto, _ = load_proto(model)
    made_by = {name: node for node in proto.graph.node for name in node.output}
    constants = {tensor.name: tensor for tensor in proto.graph.initializer}
    for name, node in made_by.items():
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[name] = node.attribute[0].t
    return [_step(info, made_by, constants) for info in proto.graph.output]


def _step(
    info: onnx.ValueInfoProto,
    made_by: Mapping[str, onnx.NodeProto],
    constants: Mapping[str, onnx.TensorProto],
) -> np.ndarray | None:
    kind = info.type.tensor_type.elem_type
    if kind and helper.tensor_dtype_to_np_dtype(kind).kind in "iu":
        return np.asarray(1.0)
    node, moved = made_by.get(info.name), False
    while node is not None and node.op_type in AS_IT_IS:
        node, moved = made_by.get(node.input[0]), True
    if node is None or node.op_type != "DequantizeLinear" or node.input[1] not in constants:
        return None
    scale = numpy_helper.to_array(constants[node.input[1]])
    if scale.size == 1:
        return scale.reshape(())
    return None if moved else _along(scale, node, info)  # its axis may be elsewhere by now


def _along(scale: np.ndarray, node: onnx.NodeProto, info: onnx.ValueInfoProto) -> np.ndarray | None:
    """A vector of scales, so that it broadcasts with the result; None if its rank is not told."""
    rank = len(info.type.tensor_type.shape.dim)
    axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
    if scale.ndim != 1 or not -rank <= axis < rank:
        return None
    return scale.reshape([-1 if a == axis % rank else 1 for a in range(rank)])
