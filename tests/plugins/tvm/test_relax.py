"""Our graph as Relax and back: the same text, and each op means to TVM what it means to us."""

from collections import Counter

import numpy as np
import pytest

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.tiles import smallest
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.quantize.to_int8 import to_int8
from course_lib.plugins.tvm.door import compile
from course_lib.plugins.tvm.read import read
from course_lib.plugins.tvm.write import ROWS, SAME, write

pytestmark = pytest.mark.usefixtures("tvm")
RNG = np.random.default_rng(11)
NORM = const(np.linspace(0.5, 2, 6, dtype=np.float32)), const(np.zeros(6, np.float32))


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def every_op(x: Node, y: Node, image: Node) -> dict[str, Node]:
    """Each op that is written as Relax, by its name; numbers are those that its domain allows."""
    positive, whole = apply("abs", x) + 0.1, apply("quantize", x, const(0.02))
    unary = {op: apply(op, x) for op in ("neg", "abs", "exp", "tanh", "sigmoid", "erf", "round")}
    unary |= {op: apply(op, positive) for op in ("log", "sqrt", "rsqrt")}
    binary = {op: apply(op, x, y) for op in ("add", "sub", "mul", "mul_rounded", "max", "min")}
    compared = {op: apply("select", apply(op, x, y), x, y) for op in ("gt", "lt", "ge", "le")}
    total = apply("matmul", whole, const(RNG.integers(-9, 9, (6, 3)).astype(np.int8)), sums="i32")
    scales = const(np.array([0.1, 0.3, 0.01], np.float32))
    filters = const(f32(4, 2, 3, 2))
    window = {"strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]}
    return {
        **unary, **binary, **compared,
        "div": x / positive,
        "relu": b.relu(x),
        "silu": apply("silu", x),
        "clamp": apply("clamp", x, min=-0.25, max=None),
        "select": b.select(apply("gt", x, 0.0), x, y),
        "softmax": b.softmax(x, 0),
        "gelu": apply("gelu", x),
        "layer_norm": apply("layer_norm", x, *NORM),
        "conv": b.conv(image, filters, groups=2, **window),
        "max_pool": apply("max_pool", image, kernel=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
        "matmul": b.matmul(x, b.transpose(y, (1, 0))),
        "mean": b.mean(image, (2, 3), True),
        "reduce_sum": b.reduce_sum(x, (1,)),
        "reduce_max": b.reduce_max(x),
        "reshape": b.reshape(x, (3, 10)),
        "expand": b.expand(b.reshape(x, (1, 5, 6)), (2, 5, 6)),
        "transpose": b.transpose(image, (0, 2, 3, 1)),
        "concat": b.concat([x, y], 0),
        "cast": b.cast(whole, "i32"),
        "quantize": apply("quantize", x, const(np.full(6, 0.02, np.float32)), dtype="u8"),
        "dequantize": apply("dequantize", total, scales),
        "requantize": apply("requantize", total, scales, low=-3, high=90),
        "add_quantized": apply("add_quantized", whole, whole, const(0.7), const(-0.3), low=0),
    }  # fmt: skip


APPROXIMATE = {"exp", "tanh", "sigmoid", "erf", "log", "rsqrt", "silu", "softmax", "gelu",
               "layer_norm", "conv", "matmul", "mean", "reduce_sum"}  # fmt: skip


def test_every_op_means_the_same_to_tvm():
    inputs = [inp("x", "f32[5,6]"), inp("y", "f32[5,6]"), inp("image", "f32[1,4,7,8]")]
    made = every_op(*inputs)
    assert set(made) == {*SAME, *ROWS}
    graph = Graph.of(inputs, made.values())
    given = [f32(*node.type.dims) for node in inputs]
    results = compile(graph, PRESETS["teaching"], smallest).run(given)
    for name, have, want in zip(made, results, run(graph, given), strict=True):
        near = 1e-5 if name in APPROXIMATE else 0
        np.testing.assert_allclose(have, want, rtol=near, atol=near / 10, err_msg=name)
        assert have.dtype == want.dtype, name


def test_rounding_ties_to_even_and_saturates():
    graph = trace(lambda x: apply("quantize", x, const(1.0)), "f32[9]")
    x = np.array([0.5, 1.5, -0.5, -2.5, 126.5, 127.5, 1e9, -1e9, np.inf], np.float32)
    (have,) = compile(graph, PRESETS["teaching"], smallest).run([x])
    assert have.tolist() == [0, 2, 0, -2, 126, 127, 127, -128, 127]
    np.testing.assert_array_equal(have, run(graph, [x])[0])


def described(node: Node) -> str:
    operands = ", ".join(str(i.type) for i in node.inputs)
    return f"{node.op}({operands}) {dict(node.attrs)} : {node.type} {node.origin}"


@pytest.mark.parametrize("name", ["mlp", "block"])
def test_what_is_written_reads_back(imported, name):
    from course_lib.models import example_inputs

    graph = cse(dce(to_int8(imported(name), [list(example_inputs(name))])))
    back = cse(read(write(graph)["main"], graph.name))
    assert Counter(map(described, back.ops)) == Counter(map(described, graph.ops))
    x = [f32(*node.type.dims) for node in graph.inputs]
    np.testing.assert_array_equal(run(back, x)[0], run(graph, x)[0])


@pytest.mark.parametrize(
    ("make", "type", "said"),
    [
        (lambda x: apply("cumsum", x, axis=0), "f32[4]", "not written as Relax here: cumsum"),
        (lambda x: b.cast(x, "i8"), "f32[4]", "not written as Relax here: cast"),
        (lambda x: x / x, "i32[4]", "not written as Relax here: div"),
        (lambda x: apply("max_pool", x, kernel=[2]), "f32[1,2,4]", "images of two axes"),
    ],
)
def test_what_relax_would_compute_otherwise_is_refused(make, type, said):
    with pytest.raises(ValueError, match=said):
        write(trace(make, type))


def test_a_composite_that_relax_does_not_have_is_spelled_out():
    graph = trace(lambda x: apply("hard_swish", x), "f32[5]")
    x = f32(5)
    (have,) = compile(graph, PRESETS["teaching"], smallest).run([x])
    np.testing.assert_allclose(have, run(graph, [x])[0], rtol=1e-6)


def relax_function(tvm, call, *shapes):
    """A Relax function of one call."""
    builder = tvm.relax.BlockBuilder()
    given = [
        tvm.relax.Var(f"x{k}", tvm.relax.TensorType(s, "float32")) for k, s in enumerate(shapes)
    ]
    with builder.function("main", given):
        with builder.dataflow():
            result = builder.emit_output(call(*given))
        builder.emit_func_output(result)
    return builder.get()["main"]


def test_what_is_not_read_is_refused_in_words(tvm):
    op, size = tvm.relax.op, tvm.tirx.Var("n", "int64")
    for call, shape, said in (
        (lambda x: op.sort(x), (4,), "op sort is not read here"),
        (lambda x: op.nn.relu(x), (size,), "the symbol n"),
        (lambda x: op.nn.max_pool2d(x, 2, ceil_mode=True), (1, 1, 5, 5), "ceil_mode"),
        (lambda x: op.nn.max_pool2d(x, 2, layout="NHWC"), (1, 4, 4, 1), "layouts"),
        (
            lambda x: op.quantize(x, tvm.relax.const(0.5), tvm.relax.const(3, "int8")),
            (4,),
            "a zero point of 0",
        ),
    ):
        with pytest.raises(ValueError, match=said):
            read(relax_function(tvm, call, shape))
