"""Quantization: each step computes what the one before it does, up to what rounding explains.

floats -> quantize-dequantize pairs: within the steps of 8 bits
pairs  -> integers: within one step of the result; and the integers are the same on the CPU
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import course_lib
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.verify import verify
from course_lib.passes.clean.dce import dce
from course_lib.passes.quantize.calibrate import Range, calibrate
from course_lib.passes.quantize.integers import integers
from course_lib.passes.quantize.quantize import quantize
from course_lib.passes.quantize.to_int8 import prepared, qdq, to_int8

RNG = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def conv_norm(x: Node, channels: int, kernel: int = 3, groups: int = 1, stride: int = 1) -> Node:
    w = normal(channels, x.type.dims[1] // groups, kernel, kernel) * 0.3
    y = b.conv(x, const(w), groups=groups, strides=[stride] * 2, pads=[kernel // 2] * 4)
    vectors = [const(abs(normal(channels)) + 0.5) for _ in range(4)]
    return apply("batch_norm", y, *vectors)


def network(x: Node) -> Node:
    """Every kind of thing that becomes integers: stem, pool, residual, depthwise, mean, linear."""
    x = apply("max_pool", b.relu(conv_norm(x, 8)), kernel=[2, 2], strides=[2, 2])
    y = b.relu(b.add(conv_norm(b.relu(conv_norm(x, 8)), 8), x))
    y = apply("clamp", conv_norm(y, 8, groups=8, stride=2), min=0.0, max=6.0)
    y = conv_norm(y, 12, kernel=1)
    flat = b.reshape(b.mean(y, (2, 3), keepdims=True), (2, 12))
    hidden = b.relu(b.add(b.matmul(flat, const(normal(12, 16))), const(normal(16))))
    return b.softmax(b.matmul(hidden, const(normal(16, 5))))


def pair(x: Node) -> Node:
    return apply("dequantize", apply("quantize", x, SCALE), SCALE)


SCALE = const(np.float32(0.5))
SHAPE = (2, 3, 12, 12)
SAMPLES = [[normal(*SHAPE)] for _ in range(3)]


@pytest.fixture(scope="module")
def floats() -> Graph:
    return trace(network, f"f32[{','.join(map(str, SHAPE))}]")


def ops_of(graph: Graph) -> Counter[str]:
    return Counter(f"{n.op} {n.type.dtype}" for n in graph.ops)


def test_a_small_network_computes_in_integers_from_its_first_op_to_its_softmax(floats):
    found = ops_of(to_int8(floats, SAMPLES))
    assert found == {
        "quantize i8": 1, "conv i32": 5, "matmul i32": 2, "add i32": 6, "requantize i8": 8,
        "add_quantized i8": 1, "max_pool i8": 1, "cast i32": 1, "reduce_sum i32": 1,
        "reshape i8": 1, "dequantize f32": 1, "softmax f32": 1,
    }  # fmt: skip


def test_pairs_stay_near_the_floats_and_integers_near_the_pairs(floats):
    pairs, whole = qdq(floats, SAMPLES), to_int8(floats, SAMPLES)
    for sample in SAMPLES:
        (want,), (rounded,), (got,) = (run(g, sample) for g in (floats, pairs, whole))
        assert np.abs(rounded - want).max() < 0.1  # probabilities
        assert np.abs(got - rounded).max() < 0.05


def test_samples_may_be_given_by_the_names_of_the_inputs(floats):
    named = ({floats.inputs[0].name: sample[0]} for sample in SAMPLES)
    assert print_graph(to_int8(floats, named)) == print_graph(to_int8(floats, SAMPLES))


def test_the_cpu_gives_the_bits_of_the_interpreter(floats):
    whole = to_int8(floats, SAMPLES)
    outputs = [n for n in whole.nodes if n.type.dtype.name in ("i8", "i32") and n.op != "constant"]
    watched = Graph.of(whole.inputs, outputs, "watched")
    got = course_lib.compile(watched).run(SAMPLES[0])
    for node, have, want in zip(outputs, got, run(watched, SAMPLES[0]), strict=True):
        np.testing.assert_array_equal(have, want, repr(node))


def site(kind: str, act: str, x: Node, y: Node) -> Node:
    """One thing that is rounded once."""
    if kind == "conv":
        z = b.add(b.conv(x, const(normal(4, 4, 3, 3))), const(normal(4, 1, 1)))
    elif kind == "depthwise":
        z = b.conv(x, const(normal(4, 1, 3, 3)), groups=4, pads=[1, 0, 1, 0])
    elif kind == "matmul":
        z = b.add(const(normal(7)), b.matmul(x, const(normal(9, 7))))
    elif kind == "product":
        z = b.matmul(x, b.transpose(y, (0, 1, 3, 2)))
    elif kind == "add":
        z = b.add(x, y)
    else:
        z = b.mean(x, (-1, 2), keepdims=True)
    if act == "relu6":
        return apply("clamp", z, min=0.0, max=6.0)
    return b.relu(z) if act == "relu" else z


KINDS = ("conv", "depthwise", "matmul", "product", "add", "mean")


@pytest.mark.parametrize("kind", KINDS)
@given(act=st.sampled_from(("", "relu", "relu6")), seed=st.integers(0, 10**6))
def test_a_site_in_integers_is_within_one_step_of_the_pairs(kind, act, seed):
    global RNG
    RNG = np.random.default_rng(seed)
    graph = trace(lambda x, y: site(kind, act, x, y), *["f32[2,4,8,9]"] * 2)
    sample = [normal(2, 4, 8, 9), 3 * normal(2, 4, 8, 9)]
    pairs, whole = qdq(graph, [sample]), to_int8(graph, [sample])
    assert not {"conv f32", "matmul f32", "add f32", "mean f32"} & set(ops_of(whole))
    step = whole.outputs[0].inputs[1].value
    (rounded,), (got,) = run(pairs, sample), run(whole, sample)
    steps = np.rint((got - rounded) / step)
    np.testing.assert_allclose(got, rounded + steps * step, rtol=1e-5, atol=1e-6)
    assert np.abs(steps).max() <= 1
    error = np.abs(rounded - run(graph, sample)[0]).max()
    assert error < 0.1 * np.abs(rounded).max() + 0.01 * np.abs(sample).max()


def test_what_moves_numbers_moves_integers_and_keeps_the_scale():
    def moved(x: Node) -> Node:
        y = b.relu(b.transpose(b.reshape(x, (1, 4, 2, 3)), (0, 2, 3, 1)))
        return b.matmul(y, const(normal(4, 4)))

    sample = [normal(1, 4, 6)]
    whole = to_int8(trace(lambda x: moved(b.add(x, x)), "f32[1,4,6]"), [sample])
    assert ops_of(whole) == {
        "quantize i8": 1, "add_quantized i8": 1, "reshape i8": 1, "transpose i8": 1, "relu i8": 1,
        "matmul i32": 1, "requantize i8": 1, "dequantize f32": 1,
    }  # fmt: skip


def test_two_scales_around_a_pooling_become_a_rescaling():
    """As other quantizers write it: the pooled value has a scale of its own."""

    def pooled(q: Node) -> Node:
        x = apply("dequantize", q, const(0.5))
        y = apply("max_pool", x, kernel=[2, 2])
        return apply("quantize", y, const(0.25))

    graph = dce(integers(trace(pooled, "i8[1,1,4,4]")))
    assert [n.op for n in graph.ops] == ["max_pool", "cast", "requantize"]
    q = RNG.integers(-128, 128, (1, 1, 4, 4)).astype(np.int8)
    np.testing.assert_array_equal(run(graph, [q])[0], run(trace(pooled, "i8[1,1,4,4]"), [q])[0])


def test_a_sum_that_two_ops_read_is_rounded_where_they_read_it():
    def forked(x: Node) -> Node:
        y = b.conv(x, const(normal(3, 3, 1, 1)))
        return b.add(b.relu(y), b.conv(y, const(normal(3, 3, 1, 1))))

    sample = [normal(1, 3, 4, 4)]
    whole = to_int8(trace(forked, "f32[1,3,4,4]"), [sample])
    assert ops_of(whole)["requantize i8"] == 2 and ops_of(whole)["relu i8"] == 1


def test_weights_have_a_scale_for_each_output_channel():
    w = normal(5, 3, 1, 1) * np.array([1, 10, 100, 0.01, 0]).reshape(5, 1, 1, 1).astype(np.float32)
    graph = trace(lambda x: b.conv(x, const(w)), "f32[1,3,4,4]")
    pairs = qdq(graph, [[normal(1, 3, 4, 4)]])
    (weights,) = [n for n in pairs.ops if n.op == "dequantize" and n.inputs[0].op == "constant"]
    steps, scale = (i.value for i in weights.inputs)
    assert scale.shape == (5,) and np.abs(steps).max((1, 2, 3)).tolist() == [127, 127, 127, 127, 0]
    error = np.abs(steps * scale.reshape(-1, 1, 1, 1) - w).max((1, 2, 3))
    assert (error <= scale / 2 + 1e-7).all()


def test_layer_norm_softmax_and_gelu_stay_in_floats(imported):
    from course_lib.models import example_inputs

    inputs = list(example_inputs("block"))
    whole = verify(to_int8(imported("block"), [inputs]))
    left = {name for name in ops_of(whole) if name.endswith("f32")}
    assert left == {"layer_norm f32", "softmax f32", "gelu f32", "div f32", "dequantize f32"}
    (want,), (got,) = run(imported("block"), inputs), run(whole, inputs)
    assert np.abs(got - want).max() < 0.03 * np.abs(want).max()


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_the_image_models_are_integers_throughout(imported, name):
    from course_lib.models import example_inputs

    inputs = list(example_inputs(name))
    whole = to_int8(imported(name), [inputs])
    left = {found for found in ops_of(whole) if found.endswith("f32")}
    assert left == {"dequantize f32"}
    (want,), (got,) = run(imported(name), inputs), run(whole, inputs)
    assert np.abs(got - want).max() < 0.03 * np.abs(want).max()


def test_calibration_sees_all_samples_and_says_what_it_needs():
    graph = trace(b.relu, "f32[2]")
    ranges = calibrate(graph, [[np.array([-1, 2], "f4")], [np.array([-5, 1], "f4")]])
    assert list(ranges.values()) == [Range(-5, 2), Range(0, 2)]
    assert Range(-5, 2).scale == np.float32(5 / 127) and Range(0, 0).scale == 1
    with pytest.raises(ValueError, match="at least one sample"):
        calibrate(graph, [])
    with pytest.raises(ValueError, match="finite"):
        calibrate(graph, [[np.array([np.inf, 0], "f4")]])
    product = trace(lambda x: b.matmul(x, const(normal(2, 2))), "f32[1,2]")
    with pytest.raises(ValueError, match="was another graph calibrated"):
        quantize(product, {})


def test_preparing_folds_the_batch_norms(floats):
    assert "batch_norm f32" in ops_of(floats)
    assert "batch_norm f32" not in ops_of(prepared(floats))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x: apply("quantize", x, const([1.0, 2.0])), "one scale for each position"),
        (lambda x: apply("quantize", x, const(1)), "a scale is f32"),
        (lambda x: apply("quantize", x, const(1.0), dtype="f32"), "makes integers"),
        (lambda x: apply("dequantize", x, const(1.0)), "takes a tensor of i8"),
        (lambda x: apply("requantize", b.cast(x, "i32"), const(1.0), low=5, high=4), "low <= high"),
        (
            lambda x: apply(
                "add_quantized", b.cast(x, "i8"), b.cast(x, "i32"), const(1.0), const(1.0)
            ),
            "two i8",
        ),
        (lambda x: apply("matmul", x, x, sums="i32"), "cannot be kept in i32"),
        (lambda x: apply("matmul", *[b.cast(x, "i32")] * 2, sums="i8"), "cannot be kept in i8"),
    ],
)
def test_wrong_operands_are_refused_in_words(make, words):
    with pytest.raises(ValueError, match=words):
        trace(make, "f32[3,3]")


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-7])
def test_a_channel_that_hardly_reacts_keeps_its_bias(size):
    """Its bias in steps of its sums would be beyond i32, or with a scale of 1 below a step."""
    weights = const((normal(4, 3) * [1e-3, size, 1e-3]).astype(np.float32))
    bias, sample = const(np.array([0.3, 1.0, -0.3], np.float32)), [1000 * normal(8, 4)]
    graph = trace(lambda x: b.add(b.matmul(x, weights), bias), "f32[8,4]")
    (want,), (pairs,), (got,) = (
        run(g(graph, [sample]) if g else graph, sample) for g in (None, qdq, to_int8)
    )
    step = np.abs(want).max() / 127
    assert np.abs(pairs - want).max() < 2 * step and np.abs(got - want).max() < 2 * step


def test_a_bias_too_large_for_the_sums_of_two_activations_stays_in_floats():
    """Both are tiny and so are the steps of their sums; weights could have larger steps."""
    bias = const(np.array([1.0, -2.0, 3.0], np.float32))
    graph = trace(lambda x, y: b.add(b.matmul(x, y), bias), "f32[2,4]", "f32[4,3]")
    sample = [1e-6 * normal(2, 4), 1e-6 * normal(4, 3)]
    for made in (qdq(graph, [sample]), to_int8(graph, [sample])):
        np.testing.assert_allclose(run(made, sample)[0], [[1, -2, 3]] * 2, rtol=0.02)
    assert ops_of(to_int8(graph, [sample]))["matmul f32"] == 1
    usual = [normal(2, 4), normal(4, 3)]
    assert ops_of(to_int8(graph, [usual]))["matmul i32"] == 1


def test_sums_too_long_for_32_bits_stay_in_floats():
    """140,000 products of 127 and 127 are more than 2**31."""
    long, sample = 140_000, [np.ones((1, 140_000), np.float32)]
    ones = const(np.ones((long, 1), np.float32))
    whole = to_int8(trace(lambda x: b.relu(b.matmul(x, ones)), f"f32[1,{long}]"), [sample])
    assert run(whole, sample)[0] == long


def test_one_channel_may_have_a_bias_without_axes():
    graph = trace(
        lambda x: b.add(b.conv(x, const(normal(1, 3, 3, 3))), const(np.float32(0.5))),
        "f32[1,3,5,5]",
    )
    sample = [normal(1, 3, 5, 5)]
    whole = to_int8(graph, [sample])
    assert ops_of(whole)["conv i32"] == ops_of(whole)["add i32"] == 1
    (want,), (got,) = run(graph, sample), run(whole, sample)
    assert np.abs(got - want).max() < 0.05 * np.abs(want).max()


def test_graphs_without_floats_or_elements_are_left_as_they_are():
    integers_only = trace(lambda x: x, "i8[4]")
    assert not to_int8(integers_only, [[np.zeros(4, np.int8)]]).ops
    nothing = trace(lambda x: b.matmul(x, const(normal(4, 3))), "f32[0,4]")
    assert run(to_int8(nothing, [[normal(0, 4)]]), [normal(0, 4)])[0].shape == (0, 3)
    assert Range(-1e-44, 0).scale == 1  # 1e-44 / 127 is no number of f32


def test_a_graph_with_pairs_keeps_its_scales_whatever_the_samples_are(floats):
    pairs = qdq(floats, SAMPLES)
    small = [[0.01 * values for values in sample] for sample in SAMPLES]
    again = to_int8(pairs, small)
    assert ops_of(again) == ops_of(to_int8(again, small)) == ops_of(to_int8(floats, SAMPLES))
    np.testing.assert_array_equal(
        run(again, SAMPLES[0])[0], run(to_int8(floats, SAMPLES), SAMPLES[0])[0]
    )


def test_weights_that_another_tool_transposes_are_constants_of_the_integers():
    weights = b.transpose(apply("dequantize", const(np.ones((3, 4), np.int8)), SCALE), (1, 0))
    graph = trace(lambda x: pair(b.matmul(pair(x), weights)), "f32[8,4]")
    product = next(n for n in to_int8(graph, []).ops if n.op == "matmul")
    assert product.inputs[1].op == "constant"
