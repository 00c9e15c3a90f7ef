"""Graphs become ONNX models: what has no counterpart there is written in simpler ops.

That most ops survive the way to onnxruntime and back is tested with ONNX's own node tests, in
`test_onnx_backend.py`; here is what those do not contain.
"""

from collections import Counter

import numpy as np
import onnx
import onnxruntime
import pytest

from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.registry import OPS

RNG = np.random.default_rng(0)


def exported_ops(graph: Graph, opset: int = 20) -> Counter[str]:
    return Counter(node.op_type for node in to_onnx(graph, opset).graph.node)


def agrees(graph: Graph, opset: int = 20) -> onnx.ModelProto:
    """onnxruntime computes what our interpreter computes."""
    model = to_onnx(graph, opset)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    arrays = [
        RNG.standard_normal(n.type.dims).astype(n.type.dtype.numpy)
        if n.type.dtype.is_float
        else RNG.integers(0, 2, n.type.dims).astype(n.type.dtype.numpy)
        for n in graph.inputs
    ]
    names = [value.name for value in session.get_inputs()]
    got = session.run(None, dict(zip(names, arrays, strict=True)))
    for have, want in zip(got, run(graph, arrays), strict=True):
        assert np.asarray(have).dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
    return model


COMPOSITES = {
    "mean": lambda x: b.mean(x, (2,)),
    "softmax": lambda x: b.softmax(x, 1),
    "log_softmax": lambda x: apply("log_softmax", x, axis=1),
    "layer_norm": lambda x: apply("layer_norm", x, const(np.ones(6, np.float32)), axis=-1),
    "layer_norm_plain": lambda x: apply("layer_norm", x, axis=2, eps=1e-3),
    "group_norm": lambda x: apply("group_norm", x, groups=2),
    "gelu": lambda x: b.gelu(x),
    "gelu_tanh": lambda x: apply("gelu", x, approximate="tanh"),
    "clamp": lambda x: apply("clamp", x, min=-0.5),
    "hard_sigmoid": lambda x: apply("hard_sigmoid", x),
    "silu": lambda x: apply("silu", x),
    "hard_swish": lambda x: apply("hard_swish", x),
    "softplus": lambda x: apply("softplus", x),
    "elu": lambda x: apply("elu", x, alpha=0.5),
    "leaky_relu": lambda x: apply("leaky_relu", x, slope=0.2),
    "avg_pool": lambda x: apply("avg_pool", x, kernel=(3, 2), pads=(1, 0, 1, 1), strides=(2, 1)),
    "avg_pool_dilated": lambda x: apply("avg_pool", x, kernel=(2, 2), dilations=(2, 1)),
    "sum_pool": lambda x: apply("sum_pool", x, kernel=(3, 2), dilations=(1, 2)),
    "argmax": lambda x: apply("argmax", x, axis=2, last=True),
    "argsort": lambda x: apply("argsort", x, axis=1, descending=True),
    "argsort_first": lambda x: apply("argsort", x, axis=2, first=3),
    "pad_interior": lambda x: apply("pad", x, low=(0, 1, 0, 2), high=(0,) * 4,
                                    interior=(0, 0, 2, 1), value=3.0),
    "mod": lambda x: apply("mod", x, -0.7),
    "ne": lambda x: apply("ne", x, x),
    "rsqrt": lambda x: apply("rsqrt", b.abs(x)),
    "reduce_nothing": lambda x: apply("reduce_sum", x, axes=()),
    "iota": lambda x: b.add(x, b.cast(apply("iota", shape=(5, 6), axis=1), "f32")),
    "slice_backwards": lambda x: apply("slice", x, starts=(0, 3, 4, 5), stops=(2, -1, 0, -1),
                                       steps=(1, -2, -1, -3)),
    "batch_norm": lambda x: apply("batch_norm", x, *(const(np.full(4, v, np.float32))
                                                     for v in (0.5, 1.0, -0.2, 2.0))),
}  # fmt: skip


@pytest.mark.parametrize("opset", [13, 17, 20, 22])
@pytest.mark.parametrize("name", COMPOSITES)
def test_op_runs_in_onnxruntime(name: str, opset: int) -> None:
    agrees(trace(COMPOSITES[name], "f32[2,4,5,6]"), opset)


def test_every_op_of_the_table_can_be_written() -> None:
    """Each row has a rule of its own or a definition in ops that have one."""
    from course_lib.frontend.onnx.write_products import RULES

    written = {"input", "constant", "fused", *RULES}
    assert {name for name, row in OPS.items() if name not in written and not row.decompose} == set()


def test_softmax_stays_whole_and_silu_is_written_out() -> None:
    assert exported_ops(trace(lambda x: b.softmax(x), "f32[2,3]")) == {"Softmax": 1}
    assert exported_ops(trace(COMPOSITES["silu"], "f32[2,3]")) == {"Sigmoid": 1, "Mul": 1}


def test_older_opset_gets_layer_norm_in_simpler_ops() -> None:
    graph = trace(COMPOSITES["layer_norm"], "f32[2,6]")
    assert exported_ops(graph, 17) == {"LayerNormalization": 1}
    assert "LayerNormalization" not in exported_ops(graph, 16)


def test_fused_group_is_opened() -> None:
    x = inp("x", "f32[4]")
    body = trace(lambda a: b.add(b.relu(a), 1.0), "f32[4]", name="relu_add")
    fused = apply("fused", x, body=body, kind="elementwise", origin=("block",))
    graph = Graph.of([x], [b.exp(fused)])
    assert exported_ops(graph) == {"Relu": 1, "Add": 1, "Exp": 1}
    agrees(graph)


def test_fused_group_used_twice_keeps_names_apart() -> None:
    x = inp("x", "f32[4]")
    body = trace(lambda a: b.add(b.relu(a), 1.0), "f32[4]")
    once = apply("fused", x, body=body)
    agrees(Graph.of([x], [apply("fused", once, body=body)]))


def test_output_may_be_an_input_a_constant_or_named_twice() -> None:
    x = inp("x", "f32[2]")
    y = b.relu(x)
    agrees(Graph.of([x], [x, const(np.arange(3.0)), y, y]))


def test_origins_become_node_names_and_come_back() -> None:
    x = inp("x", "f32[2]")
    graph = Graph.of([x], [apply("relu", apply("exp", x, origin=("a.b",)), origin=("c",))])
    assert [n.name for n in to_onnx(graph).graph.node] == ["a.b", "c"]
    assert [n.origin for n in from_onnx(to_onnx(graph)).ops] == [("a.b",), ("c",)]


def test_symbolic_batch_is_written_as_a_named_size() -> None:
    w = const(RNG.standard_normal((12, 5)).astype(np.float32))
    graph = trace(lambda x: b.matmul(b.reshape(x, (-1, 12)), w), "f32[n,3,4]")
    model = to_onnx(graph)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    back = from_onnx(model)
    assert [str(o.type) for o in back.outputs] == ["f32[n,5]"]


def test_graph_of_numbers_of_all_types_survives() -> None:
    def cast_all(x: Node) -> list[Node]:
        return [
            b.cast(x, t) for t in ("f16", "f64", "i8", "i16", "i32", "i64", "u8", "u32", "bool")
        ]

    graph = trace(cast_all, "f32[5]")
    x = np.array([0, 1, 2, 3, 100], np.float32)
    for have, want in zip(run(from_onnx(to_onnx(graph)), [x]), run(graph, [x]), strict=True):
        np.testing.assert_array_equal(have, want)
        assert have.dtype == want.dtype


@pytest.mark.parametrize("opset", [12, 99])
def test_opset_outside_of_the_range_is_refused(opset: int) -> None:
    with pytest.raises(ValueError, match=f"opset {opset} is not between 13 and"):
        to_onnx(trace(b.relu, "f32[2]"), opset)


@pytest.mark.parametrize("floats", ["f32", "f64"])
@pytest.mark.parametrize("whole", ["i8", "u8", "i16", "u16"])
def test_floats_beyond_an_integer_saturate_in_onnxruntime(floats: str, whole: str) -> None:
    """What its Cast makes of them depends on the processor; ours does not."""
    graph = trace(lambda x: b.cast(x, whole), f"{floats}[4]")
    values = np.array([1e3, -1e3, 1e6, -1e6], graph.inputs[0].type.dtype.numpy)
    session = onnxruntime.InferenceSession(to_onnx(graph).SerializeToString())
    (name,) = (value.name for value in session.get_inputs())
    np.testing.assert_array_equal(session.run(None, {name: values})[0], run(graph, [values])[0])
