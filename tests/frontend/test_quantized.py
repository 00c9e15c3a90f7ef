"""Quantized models, between us and onnxruntime: its integers are ours, bit for bit.

our integer graph, exported           onnxruntime computes the same bits
our pairs, exported and read back     the same integer graph again
what onnxruntime's quantizer writes   we compute what it computes
"""

import logging
import platform
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import course_lib
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const
from course_lib.models import example_inputs
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.quantize.integers import integers
from course_lib.passes.quantize.to_int8 import qdq, to_int8


def onnxruntime_runs(model: onnx.ModelProto, inputs: list[np.ndarray]) -> list[Any]:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs, strict=True)))


def ops_of(graph: Graph) -> Counter[str]:
    return Counter(f"{n.op} {n.type.dtype}" for n in graph.ops)


@pytest.mark.parametrize("name", ["mlp", "resnet18", "mobilenet_v2", "block"])
def test_onnxruntime_computes_the_bits_of_a_whole_integer_model(
    imported: Callable[[str], Graph], name: str
) -> None:
    inputs = list(example_inputs(name))
    whole = to_int8(imported(name), [inputs])
    (want,), (got,) = run(whole, inputs), onnxruntime_runs(to_onnx(whole), inputs)
    if name == "block":  # what stays in floats there (softmax, layer_norm) may round otherwise
        assert np.mean(got != want) < 0.01
    else:
        np.testing.assert_array_equal(got, want)


def test_pairs_survive_the_way_through_a_file(imported: Callable[[str], Graph]) -> None:
    inputs = list(example_inputs("mobilenet_v2"))
    pairs = qdq(imported("mobilenet_v2"), [inputs])
    back = run_passes(from_onnx(to_onnx(pairs)), [integers, cse, dce])
    whole = run_passes(pairs, [integers, cse, dce])
    assert ops_of(back) == ops_of(whole)
    np.testing.assert_array_equal(run(back, inputs)[0], run(whole, inputs)[0])


# ── what onnxruntime's quantizer writes ──

RNG = np.random.default_rng(0)
SHAPE = (2, 3, 8, 8)
SAMPLES = [RNG.standard_normal(SHAPE).astype(np.float32) for _ in range(4)]


def small_model() -> onnx.ModelProto:
    """Conv with bias, Relu, a residual Add, GlobalAveragePool, Gemm."""

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(RNG.standard_normal(shape).astype(np.float32) * 0.3, name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["sum"]),
        helper.make_node("GlobalAveragePool", ["sum"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w3"], ["y"]),
    ]
    given = [
        weights("w1", 8, 3, 3, 3), weights("b1", 8), weights("w2", 8, 8, 3, 3), weights("b2", 8),
        weights("w3", 8, 5),
    ]  # fmt: skip
    infos = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", SHAPE), ("y", (2, 5)))
    ]
    graph = helper.make_graph(nodes, "small", infos[:1], infos[1:], given)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


@pytest.fixture(scope="module")
def quantizer(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., onnx.ModelProto]:
    from onnxruntime.quantization import CalibrationDataReader, quantize_static

    class Samples(CalibrationDataReader):
        def __init__(self) -> None:
            self.left = list(SAMPLES)

        def get_next(self) -> Any:
            return {"x": self.left.pop()} if self.left else None

    folder = tmp_path_factory.mktemp("quantizer")
    onnx.save(small_model(), folder / "float.onnx")

    def quantized(**how: Any) -> onnx.ModelProto:
        logging.disable(logging.WARNING)  # it recommends to preprocess
        quantize_static(folder / "float.onnx", folder / "int8.onnx", Samples(), **how)
        logging.disable(logging.NOTSET)
        return onnx.load(folder / "int8.onnx")

    return quantized


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_a_model_of_onnxruntimes_quantizer(
    quantizer: Callable[..., onnx.ModelProto], form: str, symmetric: bool
) -> None:
    """Symmetric i8 becomes integers from end to end, with the numbers of its QLinear ops; u8 with
    zero points runs in the arithmetic that it is written in."""
    from onnxruntime.quantization import QuantFormat, QuantType

    model = quantizer(
        quant_format=QuantFormat[form],
        per_channel=True,
        activation_type=QuantType.QInt8 if symmetric else QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        extra_options={"ActivationSymmetric": symmetric, "WeightSymmetric": True},
    )
    graph = from_onnx(model)
    whole = run_passes(graph, [integers, cse, dce])
    if symmetric:
        found = ops_of(whole)
        assert not {"conv f32", "matmul f32", "mean f32", "add f32"} & set(found)
        assert found["conv i32"] == 2 and found["matmul i32"] == found["add_quantized i8"] == 1
    for sample in SAMPLES:
        (want,) = onnxruntime_runs(model, [sample])
        step = np.abs(want).max() / 127
        for mine in (graph, whole):
            assert np.abs(run(mine, [sample])[0] - want).max() <= 1.01 * step


@pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere onnxruntime says 0")
@pytest.mark.parametrize("zero", [0, 3])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_what_is_not_a_number_becomes_the_least_as_in_onnxruntime(kind: type, zero: int) -> None:
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"])
    x, y = (helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(t)), [19])
            for name, t in (("x", np.float32), ("y", kind)))  # fmt: skip
    held = [numpy_helper.from_array(np.array(0.5, np.float32), "scale"),
            numpy_helper.from_array(np.array(zero, kind), "zero")]  # fmt: skip
    graph = helper.make_graph([node], "nan", [x], [y], held)
    opset = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=10)
    values = np.arange(19, dtype=np.float32)
    values[::3] = np.nan
    (want,) = onnxruntime_runs(model, [values])
    assert set(want[::3].tolist()) == {np.iinfo(kind).min}
    read = from_onnx(model)
    np.testing.assert_array_equal(run(read, [values])[0], want)
    np.testing.assert_array_equal(course_lib.compile(read, [values])(values), want)


def test_an_export_that_would_change_numbers_is_refused() -> None:
    wide = trace(lambda x: apply("quantize", x, const(0.5), dtype="i16"), "f32[4]")
    assert "QuantizeLinear" in [n.op_type for n in to_onnx(wide, opset=21).graph.node]
    with pytest.raises(ValueError, match="cannot quantize to i16"):
        to_onnx(wide, opset=20)
    sums = trace(lambda x, y: b.conv(x, y, sums="i64"), "i16[1,1,3,3]", "i16[1,1,3,3]")
    with pytest.raises(ValueError, match="ONNX has convolutions of floats"):
        to_onnx(sums)


def test_products_of_other_integers_are_exported_in_their_sums_type() -> None:
    graph = trace(lambda x, y: apply("matmul", x, y, sums="i64"), "i32[2,3]", "i32[3,2]")
    x, y = (RNG.integers(-(2**31), 2**31, n.type.dims).astype(np.int32) for n in graph.inputs)
    (got,), (want,) = onnxruntime_runs(to_onnx(graph), [x, y]), run(graph, [x, y])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (np.ones((2, 2), np.float32), "scales for blocks"),
        (np.ones((), np.float16), "scales must be f32"),
    ],
)
def test_what_is_not_supported_is_said(scale: np.ndarray, words: str) -> None:
    x = helper.make_tensor_value_info("x", onnx.TensorProto.INT8, (2, 4))
    kind = helper.np_dtype_to_tensor_dtype(scale.dtype)
    y = helper.make_tensor_value_info("y", kind, (2, 4))
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], [numpy_helper.from_array(scale, "s")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    with pytest.raises(ValueError, match=words):
        from_onnx(model)
