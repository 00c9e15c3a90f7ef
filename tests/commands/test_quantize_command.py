"""`python -m course_lib quantize`: what it says, and the file that it writes."""

import json
from collections import Counter

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from course_lib.__main__ import main
from course_lib.models import example_inputs


def said(capsys, *words: str) -> dict:
    assert main(["quantize", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_says_ops_error_and_the_share_of_the_chip(capsys):
    found = said(capsys, "mlp")
    assert found["ops"]["matmul i32"] == 3 and found["chip_share"] == 1
    assert 0 < found["max_rel_error"] < 0.05
    assert [p["device"] for p in found["parts"]] == ["cpu", "chip", "cpu"]
    assert [r["op"] for r in found["refusals"]] == ["quantize", "dequantize"]
    assert main(["quantize", "mlp"]) == 0
    assert "100.0% of the multiply-accumulates are on the chip" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "op"), [([], "MatMulInteger"), (["--pairs"], "DequantizeLinear")]
)
def test_the_file_runs_in_onnxruntime(capsys, tmp_path, option, op):
    path = str(tmp_path / "int8.onnx")
    assert said(capsys, "mlp", "-o", path, *option)["written"] == path
    assert op in Counter(node.op_type for node in onnx.load(path).graph.node)
    session = onnxruntime.InferenceSession(path)
    (got,) = session.run(None, {session.get_inputs()[0].name: example_inputs("mlp")[0]})
    assert len(np.unique(got)) > 5 and np.abs(got).max() < 10


@pytest.mark.parametrize(
    ("kind", "zero", "why"),
    [(np.uint8, 0, "values of u8: 0 to 255 do not"), (np.int8, 3, "values of i8 with a zero")],
)
def test_what_another_tool_rounded_for_other_chips_is_told_by_name(
    capsys, tmp_path, kind, zero, why
):
    node = helper.make_node
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], name="rounded"),
             node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             node("MatMul", ["d", "w"], ["y"])]  # fmt: skip
    held = {"s": np.array(0.5, "f4"), "z": np.array(zero, kind), "w": np.ones((4, 3), "f4")}
    infos = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
             for name, shape in (("x", [2, 4]), ("y", [2, 3]))]  # fmt: skip
    graph = helper.make_graph(nodes, "other", infos[:1], infos[1:],
                              [numpy_helper.from_array(v, k) for k, v in held.items()])  # fmt: skip
    path = str(tmp_path / "other.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    (note,) = said(capsys, path)["notes"]
    assert why in note and "the first rounded" in note and "activation_type=QInt8" in note
    assert main(["run", path, "--target", "systolic"]) == 0
    assert note in capsys.readouterr().out


def test_a_file_of_integers_goes_in_again_and_stays_what_it_is(capsys, tmp_path):
    path = str(tmp_path / "int8.onnx")
    first = said(capsys, "mlp", "-o", path)
    again = said(capsys, path)
    assert again["max_rel_error"] == 0
    assert again["ops"]["matmul i32"] == first["ops"]["matmul i32"]
