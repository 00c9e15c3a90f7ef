"""The models that onnxruntime saves, and the ops of its own in them, mean what they mean to it."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import helper, numpy_helper

from course_lib.frontend import UnsupportedOps
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.rules import RULES
from course_lib.frontend.onnx.surgery import fuse_relu
from course_lib.ir.graph.graph_interp import run
from course_lib.models import MODELS, example_inputs

RNG = np.random.default_rng(0)
LEVELS = onnxruntime.GraphOptimizationLevel
CPU = ["CPUExecutionProvider"]


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def case(op: str, *inputs: np.ndarray | None, outputs: Any = ("y",), **attrs: Any) -> Any:
    return pytest.param(op, inputs, attrs, outputs, id=f"{op} {attrs} {len(inputs)} {outputs}")


IMAGE, FILTER = floats(1, 3, 6, 6), floats(4, 3, 3, 3)
TOKENS, VECTOR = floats(2, 5, 8), floats(8)
BYTES = RNG.integers(-128, 128, (2, 3, 4, 5)).astype(np.int8)
SCALES = [np.array(scale, np.float32) for scale in (0.1, 0.2, 0.3)]
ZEROS = [np.array(zero, np.int8) for zero in (0, 3)]
NORMED = [TOKENS, floats(2, 5, 8), VECTOR]
CASES = [
    *[case("FusedConv", IMAGE, FILTER, floats(4), activation=name, pads=[1, 1, 1, 1])
      for name in ("Relu", "Sigmoid", "Tanh")],
    *[case("FusedConv", IMAGE, FILTER, floats(4), activation=name, activation_params=values)
      for name, values in (("LeakyRelu", [0.3]), ("HardSigmoid", [0.3, 0.4]),
                           ("Clip", [-0.5, 0.5]))],
    case("FusedConv", IMAGE, FILTER, None, floats(1, 4, 4, 4), activation="Relu"),
    case("FusedConv", IMAGE, FILTER, strides=[2, 2], kernel_shape=[3, 3], activation="Relu"),
    *[case("FusedGemm", floats(3, 4), floats(5, 4), floats(5), transB=1, alpha=0.5, **extra)
      for extra in ({"activation": "Relu"}, {"activation": "Tanh", "beta": 0.5},
                    {"activation": "LeakyRelu", "activation_alpha": 0.2})],
    case("FusedMatMul", floats(2, 3, 4), floats(2, 5, 4), transB=1, alpha=0.125),
    case("FusedMatMul", floats(2, 4, 3), floats(4, 5), transA=1),
    case("FusedMatMul", floats(3, 2, 4), floats(5, 2, 4), transB=1, transBatchA=1, transBatchB=1),
    case("TransposeMatMul", floats(4, 3), floats(4, 5), transA=1),
    case("Gelu", TOKENS), case("BiasGelu", TOKENS, VECTOR), case("FastGelu", TOKENS),
    case("FastGelu", TOKENS, VECTOR), case("QuickGelu", TOKENS),
    case("QuickGelu", TOKENS, alpha=1.0),
    case("SkipLayerNormalization", *NORMED),
    case("SkipLayerNormalization", *NORMED, floats(8), epsilon=1e-3),
    case("SkipLayerNormalization", *NORMED, floats(8), floats(8)),
    case("SkipLayerNormalization", *NORMED, floats(8), outputs=("y", "", "", "sum")),
    case("SkipSimplifiedLayerNormalization", *NORMED),
    case("SkipSimplifiedLayerNormalization", *NORMED, floats(8), outputs=("y", "", "", "sum")),
    *[case("QLinearAdd", BYTES, SCALES[0], zero, BYTES[::-1], SCALES[1], zero, SCALES[2], zero)
      for zero in ZEROS],
    *[case("QLinearGlobalAveragePool", BYTES, SCALES[0], zero, SCALES[2], zero) for zero in ZEROS],
]  # fmt: skip


def model(node: onnx.NodeProto, inputs: dict[str, np.ndarray], opset: int = 17) -> onnx.ModelProto:
    """A node whose first operand is the model's input; the others are weights."""
    (first, x), *weights = inputs.items()
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node], "test", [helper.make_tensor_value_info(first, kind, x.shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in node.output if name],
        [numpy_helper.from_array(v, k) for k, v in weights],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def compare(proto: onnx.ModelProto | Path, x: np.ndarray) -> None:
    source = str(proto) if isinstance(proto, Path) else proto.SerializeToString()
    session = onnxruntime.InferenceSession(source, providers=CPU)
    want = session.run(None, {session.get_inputs()[0].name: x})
    for have, value in zip(run(from_onnx(proto), [x]), want, strict=True):
        theirs = np.asarray(value)
        largest = float(np.abs(theirs).max())
        # Of bytes, it may round a step up where we round down: it scales in another order.
        atol = 1 if theirs.dtype == np.int8 else 1e-5 * largest
        difference = have.astype(np.float64) - theirs
        assert (np.abs(difference) <= atol + 1e-4 * np.abs(theirs.astype(np.float64))).all()
        assert have.dtype == theirs.dtype


@pytest.mark.parametrize(("op", "inputs", "attrs", "outputs"), CASES)
def test_op_of_onnxruntime(op: str, inputs: tuple, attrs: dict, outputs: tuple[str, ...]) -> None:
    names = [f"x{k}" if x is not None else "" for k, x in enumerate(inputs)]
    given = {n: x for n, x in zip(names, inputs, strict=True) if x is not None}
    node = helper.make_node(op, names, list(outputs), domain="com.microsoft", **attrs)
    compare(model(node, given), inputs[0])


def test_every_op_of_onnxruntime_is_tried() -> None:
    tried = {case.values[0] for case in CASES}
    normed = {"LayerNormalization", "SimplifiedLayerNormalization"}  # it saves them as ONNX's
    assert {f"com.microsoft::{op}" for op in tried | normed} == {n for n in RULES if "::" in n}


def test_simplified_layer_norm_stands_in_onnx_own_domain() -> None:
    node = helper.make_node("SimplifiedLayerNormalization", ["x", "s"], ["y"], epsilon=1e-3)
    compare(model(node, {"x": TOKENS, "s": VECTOR}), TOKENS)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Export a module, let onnxruntime optimize it, and give the file that it saves."""
    folder = tmp_path_factory.mktemp("saved")

    def save(module: torch.nn.Module, x: np.ndarray, level: Any, opset: int = 17) -> Path:
        source, path = folder / "source.onnx", folder / "optimized.onnx"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's own deprecations
            torch.onnx.export(module.eval(), (torch.as_tensor(x),), source, opset_version=opset,
                              dynamo=False)  # fmt: skip
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(path)
        onnxruntime.InferenceSession(source, options, providers=CPU)
        return path

    return save


@pytest.mark.parametrize("name", ["mlp", "block", "resnet18", "mobilenet_v2"])
def test_models_of_the_course_as_onnxruntime_saves_them(
    saved: Callable[..., Path], name: str
) -> None:
    """Basic and extended: all can be read. With all, images lie in the blocks of one processor."""
    module, x = MODELS[name].build(), np.asarray(example_inputs(name)[0])
    for level in (LEVELS.ORT_ENABLE_BASIC, LEVELS.ORT_ENABLE_EXTENDED):
        compare(saved(module, x, level), x)
    path = saved(module, x, LEVELS.ORT_ENABLE_ALL)
    domains = {node.domain for node in onnx.load(path).graph.node}
    if "com.microsoft.nchwc" not in domains:
        compare(path, x)
        return
    with pytest.raises(UnsupportedOps, match="for one processor: save it with ORT_ENABLE_EXTENDED"):
        from_onnx(path)


def test_layer_norm_that_onnxruntime_put_into_an_old_opset(saved: Callable[..., Path]) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.GELU())
    path = saved(module, TOKENS, LEVELS.ORT_ENABLE_EXTENDED, opset=11)
    assert "LayerNormalization" in [node.op_type for node in onnx.load(path).graph.node]
    compare(path, TOKENS)


@pytest.mark.parametrize(
    ("op", "attrs", "words"),
    [
        ("FusedConv", {"activation": "Magic"}, "the activation 'Magic' is not supported"),
        (
            "FusedConv",
            {"activation": "Clip", "activation_params": [0.0]},
            r"FusedConv .*'Clip' takes 2 numbers, got \[0.0\]",
        ),
    ],
)
def test_unknown_activation_is_refused_in_words(op: str, attrs: dict, words: str) -> None:
    node = helper.make_node(op, ["x", "w"], ["y"], domain="com.microsoft", **attrs)
    with pytest.raises(ValueError, match=words):
        from_onnx(model(node, {"x": IMAGE, "w": FILTER}))


def test_what_the_surgery_of_unit_3_fuses_is_read_again() -> None:
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
        "test", [helper.make_tensor_value_info("x", 1, IMAGE.shape)],
        [helper.make_tensor_value_info("y", 1, None)], [numpy_helper.from_array(FILTER, "w")],
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    fused = fuse_relu(proto)
    assert [node.op_type for node in fused.graph.node] == ["FusedConv"]
    assert [n.op for n in from_onnx(fused).ops] == ["conv", "relu"]


def test_op_of_another_domain_is_not_taken_for_one_of_onnx() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], domain="com.microsoft", name="mine")
    with pytest.raises(UnsupportedOps) as caught:
        from_onnx(model(node, {"x": IMAGE}))
    assert caught.value.ops == (("com.microsoft::Relu", "mine"),)
