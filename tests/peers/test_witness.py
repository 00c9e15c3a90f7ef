"""What is right comes from outside, in float64: every float of a file is widened."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from course_lib.models import build
from course_lib.peers import witness as room
from course_lib.peers.agree import errors
from course_lib.peers.model import Model, model_of
from course_lib.peers.witness import PLAIN, in_double, witness

THIRD = np.asarray(1 / 3, np.float32)
X = np.array([[0.3, -1.5]], np.float32)


def file(nodes, **held) -> bytes:
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
        [numpy_helper.from_array(value, name) for name, value in held.items()],
    )  # fmt: skip
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def test_a_file_is_computed_in_float64_its_constants_and_casts_too():
    data = file(
        [
            helper.make_node("Constant", [], ["c"], value_float=0.1),
            helper.make_node("Mul", ["x", "third"], ["a"]),
            helper.make_node("Cast", ["a"], ["b"], to=TensorProto.FLOAT),
            helper.make_node("Add", ["b", "c"], ["y"]),
        ],
        third=THIRD,
    )
    found = witness(Model("g", data, (X,)))
    assert found.name == "onnx's reference evaluator in float64"
    want = X.astype(np.float64) * np.float64(THIRD) + np.float64(np.float32(0.1))
    np.testing.assert_allclose(found.outputs[0], want, rtol=1e-15)


def test_graphs_inside_of_nodes_are_widened_too():
    inner = helper.make_graph([], "then", [], [], [numpy_helper.from_array(THIRD, "t")])
    proto = onnx.load_from_string(
        file([helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)])
    )
    in_double(proto)
    assert proto.graph.node[0].attribute[0].g.initializer[0].data_type == TensorProto.DOUBLE


def test_a_model_that_rounds_to_integers_is_judged_in_steps():
    held = {"half": np.asarray(0.5, np.float32), "zero": np.asarray(0, np.int8)}
    data = file(
        [
            helper.make_node("QuantizeLinear", ["x", "half", "zero"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "half", "zero"], ["y"]),
        ],
        **held,
    )
    found = witness(Model("g", data, (X,)))
    assert found.name == PLAIN and found.steps[0] == 0.5
    assert errors([found.outputs[0] + np.float32(0.5)], found.outputs, found.steps)["agrees"]
    assert not errors([found.outputs[0] + np.float32(2)], found.outputs, found.steps)["agrees"]


def test_what_the_evaluator_does_not_know_onnxruntime_computes(monkeypatch):
    def unknown(model):
        raise NotImplementedError("no such op")

    monkeypatch.setattr(room, "_evaluated", unknown)
    found = witness(Model("g", file([helper.make_node("Relu", ["x"], ["y"])]), (X,)))
    assert found.name == PLAIN
    np.testing.assert_array_equal(found.outputs[0], np.maximum(X, 0))


def test_a_torch_module_is_computed_by_torch_and_stays_as_it_is():
    pytest.importorskip("torch")
    module = build("mlp")
    (x,) = model_of("mlp").inputs
    found = witness(Model("mlp", module, (x,)))
    assert found.name == "PyTorch in float64" and found.outputs[0].dtype == np.float64
    assert next(module.parameters()).dtype.is_floating_point
    assert str(next(module.parameters()).dtype) == "torch.float32"
