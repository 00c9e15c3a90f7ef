"""What is right: the model in float64, computed by who is none of the systems that are compared.

    witness(model_of("mlp"))           ->   Witness("PyTorch in float64", [array of f64[1,10]])
    witness(model_of("model.onnx"))    ->   by the reference evaluator of onnx, in float64

Our own interpreter would not do: it reads a model as our compiler does, and would share its errors.
A model that rounds to integers has results in steps of its scales, and what it computes in floats
is beside the point: there onnxruntime, which changes nothing in the file, says what is right
(`bridges/steps.py`). It also stands in, with its float32, for what the evaluator does not know.
Next room: `agree.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.bridges.steps import Sizes
from course_lib.peers.model import Model
from course_lib.peers.onnxruntime import onnxruntime_session

PLAIN = "onnxruntime without its optimizations"


@dataclass(frozen=True)
class Witness:
    """Who says what is right, and the outputs; `steps` are those in which they come, if any."""

    name: str
    outputs: Sequence[np.ndarray]
    steps: Sizes


def witness(model: Model) -> Witness:
    """The outputs of the model for its inputs. ValueError in words if nobody can say."""
    from course_lib.frontend.onnx.steps import output_steps  # onnx is heavy

    if model.of_the_course or hasattr(model.source, "state_dict"):
        return _floats("PyTorch in float64", _in_torch(model))
    steps = output_steps(model.onnx)
    if steps is None:
        try:
            return _floats("onnx's reference evaluator in float64", _evaluated(model))
        except Exception:  # it raises what comes, for ops and types that it does not know
            steps = [None] * len(model.graph.outputs)
    plain = onnxruntime_session(model.onnx, plain=True)
    return Witness(PLAIN, plain(model.inputs), steps)


def _floats(name: str, outputs: Sequence[np.ndarray]) -> Witness:
    return Witness(name, outputs, [None] * len(outputs))


def _in_torch(model: Model) -> list[np.ndarray]:
    import torch  # torch is heavy

    module = copy.deepcopy(model.module).double()
    with torch.inference_mode():
        results = module(*(torch.from_numpy(x) for x in map(doubled, model.inputs)))
    listed = results if isinstance(results, (list, tuple)) else [results]
    return [result.numpy() for result in listed]


def doubled(array: np.ndarray) -> np.ndarray:
    """Floats of any kind in 64 bits, anything else as it is; always a copy."""
    return np.array(array, np.float64 if array.dtype.kind == "f" else array.dtype)


# ── an ONNX file, in float64 ──


def _evaluated(model: Model) -> list[np.ndarray]:
    import onnx  # onnx is heavy
    from onnx.reference import ReferenceEvaluator

    proto = onnx.load_from_string(model.onnx)
    in_double(proto)
    evaluator = ReferenceEvaluator(proto)
    names = map(str, evaluator.input_names)
    given = dict(zip(names, map(doubled, model.inputs), strict=True))
    with np.errstate(all="ignore"):
        return [np.asarray(result) for result in evaluator.run(None, given)]


def in_double(proto: Any) -> None:
    """Every float of the model, in place: its weights, its constants, what it casts to."""
    from onnx import TensorProto  # onnx is heavy

    floats = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
    for graph in _graphs(proto.graph):
        for tensor in graph.initializer:
            _widen(tensor, floats)
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type in floats:
                value.type.tensor_type.elem_type = TensorProto.DOUBLE
        for node in graph.node:
            for attribute in node.attribute:
                _widen_attribute(node, attribute, floats)


def _widen_attribute(node: Any, attribute: Any, floats: Sequence[int]) -> None:
    """A constant, or a number that stands for a type."""
    from onnx import TensorProto, helper  # onnx is heavy

    if attribute.HasField("t"):
        _widen(attribute.t, floats)
    elif attribute.name in ("to", "dtype") and attribute.i in floats:
        attribute.i = TensorProto.DOUBLE
    elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
        values = np.asarray(helper.get_attribute_value(attribute), np.float64)
        shape, name = values.shape, "value"
        constant = helper.make_tensor(name, TensorProto.DOUBLE, shape, values.reshape(-1))
        attribute.CopyFrom(helper.make_attribute(name, constant))


def _widen(tensor: Any, floats: Sequence[int]) -> None:
    from onnx import numpy_helper  # onnx is heavy

    if tensor.data_type in floats:
        values = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def _graphs(graph: Any) -> Iterator[Any]:
    """The graph, and those inside of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)
