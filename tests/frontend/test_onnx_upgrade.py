"""Models of opsets 7 to 12 mean what they mean to onnxruntime; what is refused is refused in words.

Each case is one node, given to both at every opset from `since` to `until`; all ops are here whose
signature, or whose meaning without a word about it, changed between opset 7 and 13.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from course_lib.frontend import UnsupportedOps
from course_lib.frontend.onnx.read import from_onnx
from course_lib.ir.graph.graph_interp import run
from course_lib.models import MODELS, example_inputs

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


X = floats(2, 3, 4, 4)


def case(op: str, *weights: np.ndarray, x: np.ndarray = X, since: int = 7, until: int = 12,
         count: int = 1, **attrs: Any) -> Any:  # fmt: skip
    words = [f"{k}={v}" for k, v in attrs.items()] + [f"{len(weights)} weights"] * bool(weights)
    return pytest.param(op, x, weights, attrs, (since, until), count, id=" ".join([op, *words]))


def scales(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


VECTORS = [floats(3), floats(3), floats(3), abs(floats(3))]
PADS = [0, 0, 1, 1, 0, 0, 0, 2]
NOTHING = np.zeros(0, np.float32)

CASES = [
    *[case(op, axis=axis) for op in ("Softmax", "LogSoftmax", "Hardmax") for axis in range(4)],
    *[case(op) for op in ("Softmax", "LogSoftmax", "Hardmax")],
    case("Clip", until=10, min=-0.5, max=0.5), case("Clip", until=10, min=-0.5),
    case("Clip", np.array(-0.5, np.float32), since=11),
    case("Dropout"), case("Dropout", until=11, ratio=0.3),
    case("BatchNormalization", *VECTORS), case("BatchNormalization", *VECTORS, until=8, spatial=1),
    case("Pad", until=10, pads=PADS, value=1.5), case("Pad", until=10, pads=PADS, mode="reflect"),
    case("Pad", ints(*PADS), since=11),
    case("ReduceSum", axes=[1, 2], keepdims=0), case("ReduceSum"), case("ReduceMax", axes=[1]),
    case("ReduceSum", axes=[-1], since=11),
    case("Slice", until=9, starts=[0, 1], ends=[2, -1], axes=[1, 2]),
    case("Slice", until=9, starts=[0, 1], ends=[2, 9000]),
    case("Slice", ints(0, 3), ints(2, -9000), ints(1, 2), ints(1, -1), since=10),
    case("Split", axis=1, split=[1, 2], count=2), case("Split", axis=2, count=2),
    case("Squeeze", x=floats(2, 1, 3, 1), axes=[1]), case("Squeeze", x=floats(2, 1, 3, 1)),
    case("Unsqueeze", axes=[0, 3]), case("Unsqueeze", axes=[-1], since=11),
    case("TopK", until=9, k=2, axis=1, count=2), case("TopK", ints(2), since=10, count=2),
    case("TopK", ints(2), since=11, largest=0, count=2),
    *[case("Upsample", until=8, scales=[1.0, 1.0, s, 2.0], mode=mode)
      for s in (1.5, 3.0) for mode in ("nearest", "linear")],
    *[case(op, scales(1, 1, s, 2), since=at, until=at, mode=mode)
      for op, at in (("Upsample", 9), ("Resize", 10))
      for s in (1.5, 3.0) for mode in ("nearest", "linear")],
    *[case("Resize", NOTHING, scales(1, 1, 1.5, 2), since=11, mode=mode)
      for mode in ("nearest", "linear", "cubic")],
    case("Resize", NOTHING, NOTHING, ints(2, 3, 7, 9), since=11, mode="linear",
         coordinate_transformation_mode="align_corners"),
    case("MaxPool", kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1]),
    case("MaxPool", since=10, kernel_shape=[2, 2], ceil_mode=1, strides=[3, 3]),
    case("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    case("AveragePool", since=10, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    case("Conv", floats(5, 3, 2, 2), floats(5), strides=[2, 2]),
    case("ConvTranspose", floats(3, 5, 3, 3), strides=[2, 2], output_shape=[8, 8]),
    case("ConvTranspose", floats(3, 5, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER"),
    case("Gemm", floats(3, 4), floats(4), x=floats(2, 3), alpha=0.5),
    case("Gemm", floats(3, 4), x=floats(2, 3), since=11),
    case("DepthToSpace", x=floats(1, 8, 2, 2), blocksize=2),
    case("DepthToSpace", x=floats(1, 8, 2, 2), since=11, blocksize=2, mode="CRD"),
    case("ArgMax", axis=1), case("ArgMin", axis=2, keepdims=0), case("Flatten", axis=2),
    case("Gather", ints(0, 2), axis=1), case("Gather", ints(-1, 2), since=11, axis=1),
    case("Scatter", np.array([[[[0, 1]]]]), floats(1, 1, 1, 2), since=9, until=10, axis=3),
    case("GatherND", np.array([[1, 2]]), since=11),
    case("GatherND", np.array([[1], [2]]), since=12, batch_dims=1),
    case("Expand", ints(2, 3, 4), x=floats(1, 3, 1), since=8), case("PRelu", floats(3, 1, 1)),
    case("OneHot", ints(3), scales(0, 1), x=ints(0, 2, 1), since=9), case("Cast", to=7),
    case("CumSum", np.array(1, np.int32), since=11), case("Celu", since=12),
    case("LSTM", floats(1, 20, 4), floats(1, 20, 5), floats(1, 40), x=floats(3, 2, 4), count=3,
         hidden_size=5),
]  # fmt: skip


def model(nodes: list[onnx.NodeProto], opset: int, x: Any, weights: dict[str, np.ndarray],
          outputs: tuple[str, ...] = ("y",)) -> onnx.ModelProto:  # fmt: skip
    kind = helper.np_dtype_to_tensor_dtype(x.dtype) if isinstance(x, np.ndarray) else 1
    shape = x.shape if isinstance(x, np.ndarray) else x
    graph = helper.make_graph(
        nodes, "test", [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


def onnxruntime_of(proto: onnx.ModelProto, x: np.ndarray) -> list[Any]:
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, {"x": x}))


@pytest.mark.parametrize(("op", "x", "weights", "attrs", "opsets", "count"), CASES)
def test_op_of_an_old_opset_means_what_it_meant(
    op: str, x: np.ndarray, weights: tuple, attrs: dict, opsets: tuple[int, int], count: int
) -> None:
    given = {f"w{k}": w for k, w in enumerate(weights)}
    outputs = [f"y{k}" for k in range(count)]
    node = helper.make_node(op, ["x", *given], outputs, name="the_node", **attrs)
    for opset in range(opsets[0], opsets[1] + 1):
        proto = model([node], opset, x, given, tuple(outputs))
        have, want = run(from_onnx(proto), [x]), onnxruntime_of(proto, x)
        for mine, theirs in zip(have, want, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5, err_msg=str(opset))


@pytest.mark.parametrize(
    ("name", "opset"),
    [("mlp", 7), ("mobilenet_v2", 7), ("resnet18", 9), ("mobilenet_v2", 11), ("block", 9),
     ("block", 12)],
)  # fmt: skip
def test_models_of_the_course_in_old_opsets(name: str, opset: int, tmp_path: Path) -> None:
    module = MODELS[name].build().eval()
    inputs = [torch.as_tensor(x) for x in example_inputs(name)]
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own deprecations
        torch.onnx.export(module, tuple(inputs), path, opset_version=opset, dynamo=False)
    graph = from_onnx(path)
    with torch.no_grad():
        want = module(*inputs).numpy()
    have = run(graph, [x.numpy() for x in inputs])[0]
    np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-4 * np.abs(want).max())


def test_names_of_nodes_and_a_symbolic_batch_survive() -> None:
    nodes = [
        helper.make_node("Clip", ["x"], ["c"], min=0.0, max=6.0, name="relu6"),
        helper.make_node("Softmax", ["c"], ["s"], axis=1),
        helper.make_node("Exp", ["s"], ["y"]),
    ]
    graph = from_onnx(model(nodes, 9, ["n", 3, 4], {}))
    assert str(graph.outputs[0].type) == "f32[n,3,4]"
    named = {n.op: n.origin[0] for n in graph.ops if n.op != "reshape"}
    assert named == {"clamp": "relu6", "softmax": "Softmax#1", "exp": "Exp#2"}


def test_op_inside_a_branch_is_converted_too() -> None:
    def branch(axis: int) -> onnx.GraphProto:
        out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
        nodes = [helper.make_node("Hardmax", ["x"], ["h"], axis=axis),
                 helper.make_node("Softmax", ["h"], ["out"], axis=axis)]  # fmt: skip
        return helper.make_graph(nodes, "branch", [], [out])

    node = helper.make_node("If", ["c"], ["y"], then_branch=branch(1), else_branch=branch(2))
    for taken in (True, False):
        proto = model([node], 11, X, {"c": np.array(taken)})
        want = onnxruntime_of(proto, X)
        np.testing.assert_allclose(run(from_onnx(proto), [X])[0], want[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "opset", "words"),
    [
        ("Erf", 8, "is written in opset 8, and onnx's version converter cannot bring it to opset "
                   "13: .*Erf; export the model with opset 13 or newer"),
        ("Relu", 5, r"Relu of opset 5 \(export the model with 13\) \(1 time\): the_node"),
        ("Relu", 0, "is written in opset 0, and onnx's version converter cannot"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_refused_in_words(op: str, opset: int, words: str) -> None:
    node = helper.make_node(op, ["x"], ["y"], name="the_node")
    with pytest.raises(ValueError, match=words):
        from_onnx(model([node], opset, X, {}))


def test_unknown_op_of_an_old_model_is_listed_alone() -> None:
    nodes = [helper.make_node("Softmax", ["x"], ["s"], axis=1),
             helper.make_node("Magic", ["s"], ["m"], name="spell"),
             helper.make_node("Relu", ["m"], ["y"])]  # fmt: skip
    with pytest.raises(UnsupportedOps) as caught:
        from_onnx(model(nodes, 9, X, {}))
    assert caught.value.ops == (("Magic", "spell"),)


def test_scan_of_opset_8_had_a_batch_axis() -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "v"], ["t"])], "body",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("s", "v")],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, [2])],
    )  # fmt: skip
    node = helper.make_node("Scan", ["", "w", "x"], ["y"], body=body, num_scan_inputs=1)
    with pytest.raises(UnsupportedOps, match="Scan of opset 8"):
        from_onnx(model([node], 8, [1, 3, 2], {"w": floats(1, 2)}))
