"""bn_fold, decompose and fuse: passes that look at more than one node at a time."""

from typing import Any

import numpy as np
import pytest

from course_lib.exercises import plugged
from course_lib.ir.graph.build import exp, expand, matmul, relu, sigmoid, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import OPS, op
from course_lib.passes.clean.bn_fold import bn_fold
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.groups import LARGEST, LONGEST_ROW, as_kernels
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose

RNG = np.random.default_rng(0)


def ops(graph: Graph) -> list[str]:
    return [node.op for node in dce(graph).ops]


def weights(*shape: int) -> Node:
    return const(RNG.standard_normal(shape).astype(np.float32))


def norm(x: Node, channels: int, **how) -> Node:
    vectors = [weights(channels) for _ in range(3)]
    variance = const(RNG.uniform(0.5, 2.0, channels).astype(np.float32))
    return apply("batch_norm", x, *vectors, variance, **how)


def assert_close(before: Graph, after: Graph) -> None:
    verify(after)
    inputs = [RNG.standard_normal(n.type.dims).astype(n.type.dtype.numpy) for n in before.inputs]
    for old, new in zip(run(before, inputs), run(after, inputs), strict=True):
        np.testing.assert_allclose(new, old, rtol=2e-5, atol=2e-5)


# ── bn_fold ──


@pytest.mark.parametrize("groups", [1, 2, 4], ids=["dense", "grouped", "depthwise"])
@pytest.mark.parametrize("bias", ["none", "right", "left", "one number"])
def test_bn_fold_makes_a_convolution_and_a_bias(groups: int, bias: str) -> None:
    def block(x: Node) -> Node:
        y = apply("conv", x, weights(8, 4 // groups, 3, 3), groups=groups, pads=(1, 1, 1, 1))
        b = weights(1, 8, 1, 1)
        shifted = {"none": y, "right": y + b, "left": b + y, "one number": y + 2.0}[bias]
        return relu(norm(shifted, 8, eps=1e-3))

    graph = trace(block, "f32[2,4,6,6]")
    after = bn_fold(graph)
    assert ops(after) == ["conv", "add", "relu"]
    assert_close(graph, after)


def test_bn_fold_works_on_sequences_and_volumes() -> None:
    for kernel in ((3,), (1, 2, 3)):
        spatial = ",".join("7" * len(kernel))
        graph = trace(
            lambda x, k=kernel: norm(apply("conv", x, weights(5, 2, *k)), 5), f"f32[1,2,{spatial}]"
        )
        assert ops(bn_fold(graph)) == ["conv", "add"]
        assert_close(graph, bn_fold(graph))


def test_bn_fold_twice_folds_two_norms_in_a_row_into_one_convolution() -> None:
    graph = trace(lambda x: norm(norm(apply("conv", x, weights(3, 3, 1, 1)), 3), 3), "f32[1,3,4,4]")
    assert ops(bn_fold(graph)) == ["conv", "add", "batch_norm"]
    assert ops(bn_fold(bn_fold(graph))) == ["conv", "add"]
    assert_close(graph, bn_fold(bn_fold(graph)))


def test_bn_fold_leaves_a_convolution_that_somebody_else_reads() -> None:
    def read_twice(x: Node) -> Node:
        y = apply("conv", x, weights(3, 3, 1, 1))
        return norm(y, 3) + y

    def also_output(x: Node) -> tuple[Node, Node]:
        y = apply("conv", x, weights(3, 3, 1, 1)) + weights(1, 3, 1, 1)
        return norm(y, 3), y

    for fn in (read_twice, also_output):
        graph = trace(fn, "f32[1,3,4,4]")
        assert bn_fold(graph).nodes == graph.nodes


def test_bn_fold_leaves_weights_and_sums_that_are_not_constants_per_channel() -> None:
    def of_input(x: Node, w: Node) -> Node:
        return norm(apply("conv", x, w), 3)

    def per_pixel(x: Node, w: Node) -> Node:
        return norm(apply("conv", x, weights(3, 3, 1, 1)) + weights(1, 3, 4, 4), 3)

    def residual(x: Node, w: Node) -> Node:
        return norm(apply("conv", x, weights(3, 3, 1, 1)) + x, 3)

    for fn in (of_input, per_pixel, residual):
        graph = trace(fn, "f32[1,3,4,4]", "f32[3,3,1,1]")
        assert bn_fold(graph).nodes == graph.nodes


def test_bn_fold_names_both_origins() -> None:
    x = inp("x", "f32[1,3,4,4]")
    y = apply("conv", x, weights(3, 3, 1, 1), origin=("conv1",))
    vectors = [const(np.ones(3, np.float32)) for _ in range(4)]
    z = apply("batch_norm", y, *vectors, origin=("bn1",))
    assert [n.origin for n in dce(bn_fold(Graph.of([x], [z]))).ops] == [("conv1", "bn1")] * 2


def test_a_batch_norm_alone_becomes_one_multiplication_and_one_addition() -> None:
    graph = trace(lambda x: norm(relu(x), 3), "f32[1,3,4,4]")
    assert ops(fold(decompose(bn_fold(graph)))) == ["relu", "mul", "add"]


# ── decompose ──

EXAMPLES = {  # of one operand; the other composites of one operand get f32[2,6] and no attributes
    "mean": ("f32[2,6]", {"axes": (1,)}),
    "softmax": ("f32[2,6]", {}),
    "log_softmax": ("f32[2,6]", {}),
    "layer_norm": ("f32[2,6]", {}),
    "group_norm": ("f32[2,6,3]", {"groups": 2}),
    "gelu": ("f32[2,6]", {}),
    "clamp": ("f32[2,6]", {"min": 0.0, "max": 6.0}),
    "avg_pool": ("f32[1,2,5,5]", {"kernel": (3, 3), "pads": (1, 1, 1, 1)}),
    "argmax": ("f32[2,6]", {"axis": 1}),
    "argmin": ("f32[2,6]", {"axis": 1}),
    "relayout": ("f32[1,4,5,5]", {"src": "nchw", "dst": "nhwc"}),
    "max_pool": ("f32[1,2,5,5]", {"kernel": (3, 3), "pads": (1, 1, 1, 1)}),
    "sum_pool": ("f32[1,2,5,5]", {"kernel": (3, 3), "pads": (0, 0, 1, 1)}),
    "max_pool_in_layout": (
        "f32[1,5,5,2]",
        {"kernel": (3, 3), "pads": (1, 1, 1, 1), "layouts": ("nhwc", "nhwc")},
    ),
    "dft": ("f32[2,6,2]", {"axis": 1}),
    "winograd_tiles": ("f32[1,6,4,5]", {"tile": 2}),
    "winograd_pixels": ("f32[16,12,5]", {"rows": 3, "columns": 2, "tile": 2}),
    "sum_pool_in_layout": ("f32[1,5,5,2]", {"kernel": (3, 3), "layouts": ("nhwc", "nchw")}),
}


QUANTIZED: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "quantize": (("f32[2,6]",), {}),
    "dequantize": (("i8[2,6]",), {}),
    "requantize": (("i32[2,6]",), {"low": 0}),
    "add_quantized": (("i8[2,6]", "i8[2,6]"), {}),
}


@pytest.mark.parametrize("name", [n for n, row in OPS.items() if row.decompose is not None])
def test_decompose_leaves_only_ops_that_stand_for_themselves(name: str) -> None:
    attrs: dict[str, Any]
    if name in EXAMPLES:
        type, attrs = EXAMPLES[name]
        operands = [inp("x", type)]
    elif OPS[name].arity == 1:
        operands, attrs = [inp("x", "f32[2,6]")], {}
    elif name == "batch_norm":
        operands, attrs = [inp("x", "f32[2,3,4]"), *(weights(3) for _ in range(3))], {}
        operands.append(const([0.5, 1.0, 2.0]))
    elif name in QUANTIZED:
        types, attrs = QUANTIZED[name]
        scales = [const(0.5) for _ in types]
        operands = [*(inp(f"x{k}", type) for k, type in enumerate(types)), *scales]
    elif name == "conv":
        operands = [inp("x", "f32[1,4,5,5]"), weights(6, 2, 3, 3)]
        attrs = {"groups": 2, "pads": (1, 0, 2, 1)}
    elif name == "conv_in_layout":
        operands = [inp("x", "f32[1,5,5,4]"), weights(3, 3, 4, 6)]
        attrs = {"pads": (1, 0, 2, 1), "layouts": ("nhwc", "hwio", "nhwc")}
    else:
        assert name == "conv_transpose", f"{name} needs an example here"
        operands, attrs = [inp("x", "f32[1,4,5,5]"), weights(4, 2, 3, 3)], {"strides": (2, 2)}
    node = apply(name, *operands, origin=("layer",), **attrs)
    graph = Graph.of([o for o in operands if o.op == "input"], [node])
    after = decompose(graph)
    assert_close(graph, after)
    assert all(op(n.op).kind != "composite" for n in after.nodes)
    assert not any(any(n.attrs.get("pads") or ()) for n in after.nodes)
    assert all(n.origin == ("layer",) for n in after.ops), "every new node knows its composite"


def test_decompose_prints_as_expected() -> None:
    graph = trace(lambda x: apply("clamp", x, min=0.0, max=6.0), "f32[4]", name="relu6")
    assert print_graph(decompose(graph)) == (
        "graph @relu6(%x0: f32[4]) -> (f32[4]) {\n"
        "  %0 = constant dense<0.0> : f32[]\n"
        "  %1 = max(%x0, %0) : f32[4]\n"
        "  %2 = constant dense<6.0> : f32[]\n"
        "  %3 = min(%1, %2) : f32[4]\n"
        "  return %3\n"
        "}\n"
    )


# ── fuse ──


def kernels(graph: Graph) -> list[str]:
    """The body of each kernel as a word: matmul_add_relu."""
    return [n.attrs["body"].name if n.op == "fused" else n.op for n in graph.ops]


def fused(fn, *types: str) -> list[str]:
    graph = trace(fn, *types)
    after = fuse(graph)
    verify(after)
    inputs = [RNG.standard_normal(n.type.dims).astype(n.type.dtype.numpy) for n in graph.inputs]
    for old, new in zip(run(graph, inputs), run(after, inputs), strict=True):
        np.testing.assert_array_equal(old, new)
    text = print_graph(after, "exact")
    assert print_graph(parse_graph(text), "exact") == text
    return kernels(after)


def test_fuse_makes_one_kernel_of_a_chain() -> None:
    assert fused(lambda x, y: relu(exp(x) + y), "f32[4]", "f32[4]") == ["exp_add_relu"]


def test_fuse_includes_several_users_if_all_are_inside() -> None:
    def swish_of_exp(x: Node) -> Node:
        e = exp(x)
        return e * sigmoid(e)

    assert fused(swish_of_exp, "f32[4]") == ["exp_sigmoid_mul"]


def test_fuse_does_not_absorb_what_somebody_outside_reads() -> None:
    def two_results(x: Node) -> tuple[Node, Node]:
        e = exp(x)
        return relu(e), sigmoid(e)

    assert fused(two_results, "f32[4]") == ["exp", "relu", "sigmoid"]
    assert fused(lambda x: (exp(x), relu(exp(x))), "f32[4]") == ["exp", "exp_relu"]

    def output_inside(x: Node) -> tuple[Node, Node]:
        e = exp(x)
        return e, relu(e)

    assert fused(output_inside, "f32[4]") == ["exp", "relu"]


def test_fuse_makes_no_cycle_through_a_node_outside() -> None:
    def around(x: Node) -> Node:
        e = exp(x)
        return e + relu(apply("concat", e, axis=0))  # no kernel holds a concat beside others

    assert fused(around, "f32[4,4]") == ["exp", "concat", "relu_add"]


@pytest.mark.parametrize("axis", [-1, 1], ids=["last axis", "the last two"])
def test_fuse_computes_a_normalization_in_one_kernel(axis: int) -> None:
    graph = decompose(trace(lambda x: apply("layer_norm", x, axis=axis), "f32[2,3,4]"))
    (kernel,) = fuse(graph).ops
    assert kernel.attrs["kind"] == "rowwise"
    assert_close(graph, fuse(graph))


def test_fuse_makes_rows_of_softmax_along_the_last_axis_only() -> None:
    def kinds(axis: int) -> list[str]:
        graph = decompose(trace(lambda x: apply("softmax", x, axis=axis), "f32[8,4]"))
        return [n.attrs["kind"] if n.op == "fused" else n.op for n in fuse(graph).ops]

    assert kinds(1) == ["rowwise"]
    assert kinds(0) == ["reduce_max", "elementwise", "reduce_sum", "div"]


def test_fuse_makes_no_rows_that_do_not_fit_or_do_not_match() -> None:
    def squares(x: Node, axes=(1,), keepdims: bool = False) -> Node:
        return apply("reduce_sum", x * x, axes=axes, keepdims=keepdims)

    assert fused(squares, "f32[4,8]") == ["mul_reduce_sum"]
    assert fused(squares, f"f32[2,{LONGEST_ROW + 1}]") == ["mul", "reduce_sum"]
    assert fused(squares, "f32[8,1]") == ["mul", "reduce_sum"]
    assert fused(lambda x: squares(x, (0,)), "f32[4,8]") == ["mul", "reduce_sum"]
    other_axes = fused(lambda x: squares(x, (1,), True) + squares(x, (0, 1), True), "f32[4,8]")
    assert other_axes == ["mul_reduce_sum", "mul_reduce_sum_add"]


def test_fuse_does_not_stretch_a_row_result_in_the_wrong_direction() -> None:
    def crossed(x: Node) -> Node:  # [4,4] minus [4]: the sums of rows, one for each column
        return x - apply("reduce_sum", x * x, axes=(1,))

    assert fused(crossed, "f32[4,4]") == ["mul_reduce_sum", "sub"]
    with plugged("passes.should_fuse", lambda producer, consumer: True):
        assert fused(crossed, "f32[4,4]") == ["mul_reduce_sum", "sub"]


def test_fuse_leaves_to_a_contraction_what_could_finish_it() -> None:
    def attention(x: Node, w: Node, b: Node) -> Node:
        return apply("softmax", matmul(x, w) * 0.5 + b)

    graph = decompose(trace(attention, "f32[4,8]", "f32[8,6]", "f32[6]"))
    assert [n.attrs["kind"] for n in fuse(graph).ops] == ["epilogue", "rowwise"]
    assert_close(graph, fuse(graph))


def test_an_epilogue_includes_what_stands_beside_it() -> None:
    def gated(x: Node, w: Node, g: Node, b: Node) -> Node:
        return matmul(x, w) * sigmoid(g) + expand(b, (4, 6))

    types = ("f32[4,8]", "f32[8,6]", "f32[4,6]", "f32[6]")
    assert fused(gated, *types) == ["matmul_sigmoid_mul_expand_add"]


def test_fuse_finishes_a_contraction_with_bias_residual_and_activation() -> None:
    def layer(x: Node, w: Node, b: Node, r: Node) -> Node:
        return relu(matmul(x, w) + b + r)

    assert fused(layer, "f32[8,4]", "f32[4,6]", "f32[6]", "f32[8,6]") == ["matmul_add_add_relu"]


def test_fuse_puts_one_anchor_into_a_kernel() -> None:
    def two(x: Node, w: Node) -> Node:
        return relu(matmul(x, w) + matmul(w, x))

    assert fused(two, "f32[4,4]", "f32[4,4]") == ["matmul", "matmul_add_relu"]
    assert fused(lambda x: matmul(matmul(x, x), x), "f32[4,4]") == ["matmul", "matmul"]


def test_fuse_does_not_compute_the_operand_of_an_anchor_in_its_kernel() -> None:
    assert fused(lambda x, w: relu(matmul(exp(x), w)), "f32[4,4]", "f32[4,4]") == [
        "exp",
        "matmul_relu",
    ]


def test_fuse_ends_an_epilogue_where_the_shape_changes() -> None:
    def wider(x: Node, w: Node, m: Node) -> Node:
        return matmul(x, w) + m  # [1,4] + [8,4]

    assert fused(wider, "f32[1,4]", "f32[4,4]", "f32[8,4]") == ["matmul", "add"]

    def turned(x: Node, w: Node) -> Node:
        return apply("transpose", relu(matmul(x, w)), perm=(1, 0))

    assert fused(turned, "f32[4,4]", "f32[4,4]") == ["matmul", "relu_transpose"]


def test_fuse_moves_elements_inside_a_kernel_but_repeats_no_arithmetic() -> None:
    def scaled(x: Node, v: Node) -> Node:
        return x * expand(v, (8, 4))

    assert fused(scaled, "f32[8,4]", "f32[4]") == ["expand_mul"]
    assert fused(lambda x, v: x * exp(v), "f32[8,4]", "f32[4]") == ["exp", "mul"]
    assert fused(lambda x, v: x * expand(exp(v), (8, 4)), "f32[8,4]", "f32[4]") == [
        "exp",
        "expand_mul",
    ]

    def middle(x: Node) -> Node:
        return relu(apply("slice", exp(x), starts=(0, 1), stops=(8, 3)))

    assert fused(middle, "f32[8,4]") == ["exp_slice_relu"]


def test_fuse_writes_single_numbers_into_the_body_and_passes_tensors() -> None:
    graph = trace(lambda x: relu(x * 2.0 + const([1.0, 2.0, 3.0, 4.0])), "f32[4]")
    (kernel,) = fuse(graph).ops
    assert [i.op for i in kernel.inputs] == ["input", "constant"]
    assert [c.value.size for c in kernel.attrs["body"].constants] == [1]
    assert len(fuse(graph).constants) == 1, "the number is no longer in the graph around it"


def test_fuse_keeps_inputs_outputs_and_the_order_of_what_is_left() -> None:
    graph = trace(lambda x, y: (relu(exp(x)), x, const(1.0)), "f32[4]", "f32[4]")
    after = fuse(graph)
    assert after.inputs == graph.inputs
    assert [n.op for n in after.outputs] == ["fused", "input", "constant"]


def test_fuse_limits_the_size_of_a_group() -> None:
    def long(x: Node) -> Node:
        for _ in range(2 * LARGEST + 5):
            x = relu(x)
        return x

    sizes = [len(n.attrs["body"].ops) for n in fuse(trace(long, "f32[4]")).ops]
    assert sizes == [5, LARGEST, LARGEST]


def test_fuse_asks_the_heuristic() -> None:
    graph = trace(lambda x: relu(exp(sigmoid(x))), "f32[4]")
    with plugged("passes.should_fuse", lambda producer, consumer: producer.op == "exp"):
        assert kernels(fuse(graph)) == ["sigmoid", "exp_relu"]
    with plugged("passes.should_fuse", lambda producer, consumer: False):
        assert fuse(graph).nodes == graph.nodes


@pytest.mark.parametrize(
    ("together", "words"),
    [
        (("exp", "relu"), r"exp\(x0\) .* is inside the kernel of relu.* reads it too"),
        (("exp", "sigmoid", "relu", "add"), "but it is an output"),
        (("reshape", "neg"), "no kernel can hold these together: reshape, neg"),
    ],
    ids=["read outside", "output", "not pointwise"],
)
def test_a_group_that_is_not_legal_is_refused_in_words(
    together: tuple[str, ...], words: str
) -> None:
    def program(x: Node) -> tuple[Node, Node]:
        e = exp(x)
        r = relu(e)
        return r, apply("neg", apply("reshape", sigmoid(e) + r, shape=(4,)))

    graph = trace(program, "f32[2,2]")
    group = [n for n in graph.ops if n.op in together]
    group_of = {n: group if n in group else [n] for n in graph.ops}
    with pytest.raises(ValueError, match=words):
        as_kernels(graph, group_of)


def test_fused_nodes_carry_all_origins() -> None:
    x = inp("x", "f32[4]")
    node = apply("relu", apply("exp", x, origin=("a",)), origin=("b",), name="y")
    (kernel,) = fuse(Graph.of([x], [node])).ops
    assert kernel.origin == ("a", "b")
    assert kernel.name == "y"


def test_softmax_and_a_residual_block_through_the_whole_pipeline() -> None:
    def block(x: Node) -> Node:
        y = relu(norm(apply("conv", x, weights(4, 4, 3, 3), pads=(1,) * 4), 4))
        y = norm(apply("conv", y, weights(4, 4, 3, 3), pads=(1,) * 4), 4)
        return relu(y + x)

    graph = trace(block, "f32[1,4,6,6]")
    after = run_passes(graph, DEFAULT)
    assert kernels(after) == ["pad", "conv_add_relu_pad", "conv_add_add_relu"]
    assert_close(graph, after)
