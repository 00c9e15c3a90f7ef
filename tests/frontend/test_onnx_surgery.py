"""Surgery on ONNX files: onnxruntime says that nothing changed, counting that something did."""

import io
import platform
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from autograder.units.u03.checks.onnx_models import CONV, PAIR, block, held, norm, small
from course_lib.frontend import load
from course_lib.frontend.onnx.surgery import (
    FUSED_DOMAIN,
    constants_of,
    count_uses,
    element_types,
    fold_batch_norms,
    fuse_relu,
    names_in,
    sweep,
)
from course_lib.ir.graph.graph_interp import run
from course_lib.models import MODELS, example_inputs

LEVEL = ort.GraphOptimizationLevel


def kinds(model: onnx.ModelProto) -> Counter:
    return Counter(node.op_type for node in model.graph.node)


def outputs(model: onnx.ModelProto, *arrays: np.ndarray) -> list[np.ndarray]:
    return session(model, LEVEL.ORT_DISABLE_ALL)(*arrays)


def session(model: onnx.ModelProto, level, saved: Path | None = None):
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = level
    if saved is not None:
        options.optimized_model_filepath = str(saved)
    made = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [i.name for i in made.get_inputs()]
    return lambda *arrays: made.run(None, dict(zip(names, arrays, strict=True)))


def close(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.abs(a - b).max() <= 1e-5 * np.abs(b).max())


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("bias", [False, True])
def test_conv_norm_relu_becomes_one_node(rank, groups, bias):
    model = block(rank, groups, bias, attrs="epsilon=0.01")
    x = np.random.default_rng(0).standard_normal((1, 4, *[5] * rank), np.float32)
    folded = fold_batch_norms(model)
    assert kinds(folded) == {"Conv": 1, "Relu": 1}
    fused = fuse_relu(folded)
    assert kinds(fused) == {"FusedConv": 1}
    for made in (folded, fused):
        onnx.checker.check_model(made)
        assert close(outputs(made, x)[0], outputs(model, x)[0])
    assert np.array_equal(outputs(fused, x)[0], outputs(folded, x)[0]), "fusing changes no bit"


def test_the_model_that_came_in_is_as_it_was():
    model = block(bias=True)
    before = model.SerializeToString(deterministic=True)
    fuse_relu(fold_batch_norms(model))
    assert model.SerializeToString(deterministic=True) == before


def test_numbers_by_hand():
    model = small(CONV + norm(attrs="epsilon=1.0"), "y", x=(1, 1, 1))
    numbers = {"w": [[[3.0]]], "y_scale": [4.0], "y_shift": [7.0], "y_mean": [5.0], "y_var": [3.0]}
    for tensor in model.graph.initializer:
        array = np.array(numbers[tensor.name], np.float32)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    constants = constants_of(fold_batch_norms(model).graph)
    assert sorted(numpy_helper.to_array(t).ravel().tolist() for t in constants.values()) == [
        [-3.0],
        [6.0],
    ]


def test_half_precision_stays_half_precision():
    model = block(relu=False)
    for tensor in model.graph.initializer:
        half = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(half, tensor.name))
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = TensorProto.FLOAT16
    folded = fold_batch_norms(model)
    assert kinds(folded) == {"Conv": 1}
    assert {t.data_type for t in folded.graph.initializer} == {TensorProto.FLOAT16}
    assert kinds(fuse_relu(folded)) == kinds(folded)


def test_constants_as_exporters_write_them():
    nodes = f'w = Identity(v) y_mean = Identity(y_shift) c = Conv(x, w, "") {norm()}'
    model = held(small(nodes, "y", sizes={"v": (4, 4, 1)}), "v")
    names = {"y_shift", "y_scale", "y_var", "v", "w", "y_mean"}
    assert set(constants_of(model.graph)) == names
    folded = fold_batch_norms(model)
    assert kinds(folded) == {"Conv": 1} and len(folded.graph.initializer) == 2
    x = np.random.default_rng(0).standard_normal((1, 4, 5), np.float32)
    assert close(outputs(folded, x)[0], outputs(model, x)[0])


def test_an_identity_of_what_a_caller_may_replace_is_no_constant():
    model = small(f"w = Identity(w_raw) {PAIR}", "y", inputs=["w_raw"])
    assert kinds(fold_batch_norms(model)) == kinds(model)


def test_two_norms_in_a_row_and_two_behind_one_convolution():
    row = small(PAIR + norm("y", "z"), "z")
    folded = fold_batch_norms(row)
    assert kinds(folded) == {"Conv": 1} and len(folded.graph.initializer) == 2
    x = np.random.default_rng(0).standard_normal((1, 4, 5), np.float32)
    assert close(outputs(folded, x)[0], outputs(row, x)[0])
    both = small(PAIR + norm("c", "z"), "y", "z")
    assert kinds(fold_batch_norms(both)) == kinds(both)


def test_names_that_are_taken():
    nodes = f"c = Conv(x, y_weight) {norm()} y_weight_ = Add(y, y_bias)"
    model = small(nodes, "y_weight_", sizes={"y_weight": (4, 4, 1), "y_bias": (4, 1)})
    folded = fold_batch_norms(model)
    onnx.checker.check_model(folded)
    x = np.random.default_rng(0).standard_normal((1, 4, 5), np.float32)
    assert close(outputs(folded, x)[0], outputs(model, x)[0])


def test_relu_fuses_only_floats_with_one_reader():
    shared = block()
    shared.graph.node.append(helper.make_node("Neg", ["c"], ["n"]))
    shared.graph.output.append(helper.make_tensor_value_info("n", TensorProto.FLOAT, None))
    assert kinds(fold_batch_norms(shared))["BatchNormalization"] == 1
    assert "FusedConv" not in kinds(fuse_relu(shared)), "the norm is between"
    once = fuse_relu(fold_batch_norms(block()))
    assert [o.domain for o in once.opset_import] == ["", FUSED_DOMAIN]
    assert fuse_relu(once) == once


def test_a_graph_inside_a_node_is_a_reader():
    relu = helper.make_node("Relu", ["c"], ["r"])
    result = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    branch = helper.make_graph([relu], "branch", [], [result])
    outside = helper.make_node("If", ["yes"], ["z"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph([outside], "g", [], [])
    assert count_uses(graph)["c"] == 2


def test_sweep_forgets_types_of_values_that_are_gone():
    model = onnx.shape_inference.infer_shapes(block())
    assert {info.name for info in model.graph.value_info} >= {"c", "y"}
    folded = fold_batch_norms(model)
    assert {info.name for info in folded.graph.value_info} == {"y"}
    spare = numpy_helper.from_array(np.ones(1, np.float32), "spare")
    folded.graph.initializer.append(spare)
    sweep(folded.graph)
    assert "spare" not in constants_of(folded.graph)


def test_all_names_are_known_those_in_branches_included():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
    branching (bool if_true, float[4] x, float[4] unread) => (float[4] y)
    <float[4] weight = {1.0, 2.0, 3.0, 4.0}> {
      a = Add(x, weight)
      y = If (if_true) <then_branch = t () => (float[4] u) { s = Neg(a) u = Relu(s) },
                        else_branch = e () => (float[4] v) { v = Neg(a) }>
    }""")
    assert names_in(model.graph) == {*"axyusv", "if_true", "unread", "weight"}


def test_every_declared_type_is_known_those_of_outputs_included():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
    typed (float[4] x) => (double[4] y) <int64[1] weight = {1}> {
      a = Relu(x)
      y = Cast <to = 11> (a)
    }""")
    types = {"x": TensorProto.FLOAT, "y": TensorProto.DOUBLE, "weight": TensorProto.INT64}
    assert element_types(model) == types


# ── the models of the course, as unit 3 exports them ──


def exported(name: str) -> onnx.ModelProto:
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    inputs = tuple(map(torch.from_numpy, example_inputs(name)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            MODELS[name].build(), inputs, file, dynamo=False,
            training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
        )  # fmt: skip
    return onnx.load_from_string(file.getvalue())


@pytest.fixture(scope="module")
def resnet() -> onnx.ModelProto:
    return exported("resnet18")


def test_resnet(resnet):
    folded = fold_batch_norms(resnet)
    fused = fuse_relu(folded)
    assert [len(m.graph.node) for m in (resnet, folded, fused)] == [69, 49, 40]
    assert kinds(resnet)["BatchNormalization"] == 20
    assert kinds(fused)["FusedConv"] == 9, "the other ReLUs come after an addition"
    right = outputs(resnet, *example_inputs("resnet18"))[0]
    for model in (folded, fused):
        onnx.checker.check_model(model)
        assert close(outputs(model, *example_inputs("resnet18"))[0], right)
    ours = run(load(folded), example_inputs("resnet18"))[0]
    assert close(ours, right), "our importer reads the result, too"


def kernels(model: onnx.ModelProto, level, saved: Path) -> Counter:
    session(model, level, saved)
    return kinds(onnx.load(saved))


def test_onnxruntime_does_the_same_surgery(resnet, tmp_path):
    fused = fuse_relu(fold_batch_norms(resnet))
    theirs = kernels(resnet, LEVEL.ORT_ENABLE_EXTENDED, tmp_path / "extended.onnx")
    assert theirs == kernels(fused, LEVEL.ORT_DISABLE_ALL, tmp_path / "ours.onnx")
    assert theirs.total() == 40


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other layouts")
def test_the_layout_level_takes_additions_along(resnet, tmp_path):
    session(resnet, LEVEL.ORT_ENABLE_ALL, tmp_path / "all.onnx")
    nodes = onnx.load(tmp_path / "all.onnx").graph.node
    assert len(nodes) == 25
    convolutions = [n for n in nodes if n.op_type == "Conv"]
    assert all(n.domain == "com.microsoft.nchwc" for n in convolutions)
    assert sum(len(n.input) == 4 for n in convolutions) == 8, "the eight residuals"
