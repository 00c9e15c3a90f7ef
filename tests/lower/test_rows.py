"""Lowering of row groups: softmax and its like as one kernel, one row at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from course_lib.ir.graph.build import exp, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.lower.lower import lower_node
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.prepare.decompose import decompose


def one_kernel(graph: Graph) -> Kernel:
    (node,) = fuse(decompose(graph)).ops
    assert node.attrs["kind"] == "rowwise"
    kernel = lower_node(node, "k")
    assert kernel is not None
    return kernel


def assert_same(graph: Graph, kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(n.type.dims).astype(n.type.dtype.numpy) for n in graph.inputs]
    out = np.zeros(kernel.out.type.dims, kernel.out.type.dtype.numpy)
    run_kernel(kernel, {**{f"x{k}": v for k, v in enumerate(inputs)}, "out": out})
    tolerance = 2e-3 if out.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(out, run(graph, inputs)[0], rtol=tolerance, atol=tolerance)


def test_softmax_keeps_its_row_between_the_phases() -> None:
    graph = trace(lambda x: apply("softmax", x), "f32[8,10]")
    kernel = one_kernel(graph)
    assert print_kernel(kernel) == (
        "kernel @k(x0: f32[8,10], out: f32[8,10]) {\n"
        "  for i0 in 0..8 {\n"
        "    local row0: f32[10]\n"
        "    local acc0: f32[]\n"
        "    acc0[] = -inf\n"
        "    for r1 in 0..10 {\n"
        "      acc0[] max= x0[i0, r1]\n"
        "    }\n"
        "    local acc1: f32[]\n"
        "    acc1[] = 0.0\n"
        "    for r1_2 in 0..10 {\n"
        "      row0[r1_2] = exp(x0[i0, r1_2] - acc0[])\n"
        "      acc1[] += row0[r1_2]\n"
        "    }\n"
        "    for r1_3 in 0..10 {\n"
        "      out[i0, r1_3] = row0[r1_3] / acc1[]\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    assert_same(graph, kernel)


def test_a_sum_of_squares_is_one_loop_without_a_kept_row() -> None:
    graph = trace(lambda x: apply("reduce_sum", x * x, axes=(1,)), "f32[3,5]")
    kernel = one_kernel(graph)
    assert "row0" not in print_kernel(kernel)
    assert_same(graph, kernel)


@pytest.mark.parametrize("type", ["f32[2,3,4]", "f32[1,3,4]", "f32[2,1,4]", "f64[2,3,4]"])
@pytest.mark.parametrize("op", ["softmax", "log_softmax", "layer_norm"])
def test_rows_of_several_shapes(op: str, type: str) -> None:
    graph = trace(lambda x: apply(op, x), type)
    assert_same(graph, one_kernel(graph))


def test_sums_of_half_precision_are_kept_in_f32() -> None:
    graph = trace(lambda x: apply("layer_norm", x), "f16[4,64]")
    kernel = one_kernel(graph)
    assert "local acc0: f32[]" in print_kernel(kernel)
    assert_same(graph, kernel)


def test_a_row_may_span_several_axes_and_have_parameters() -> None:
    def scaled(x: Node, scale: Node, shift: Node) -> Node:
        return apply("layer_norm", x, scale, shift, axis=1)

    graph = trace(scaled, "f32[2,3,4]", "f32[3,4]", "f32[4]")
    assert_same(graph, one_kernel(graph))


def test_one_row_alone() -> None:
    graph = trace(lambda x: apply("softmax", x), "f32[10]")
    assert_same(graph, one_kernel(graph))


@st.composite
def row_programs(draw: DrawFn) -> Graph:
    """Elementwise ops and reductions along the last axis, mixed in any way."""
    shape = draw(st.sampled_from([(3, 4), (2, 1, 5), (1, 3)]))
    values = [inp("x", f"f32[{','.join(map(str, shape))}]"), inp("v", f"f32[{shape[-1]}]")]
    whole: list[Node] = [values[0]]
    for _ in range(draw(st.integers(2, 9))):
        kind = draw(st.sampled_from(["unary", "binary", "reduce", "reduce"]))
        if kind == "reduce":
            op = draw(st.sampled_from(["reduce_max", "reduce_sum", "reduce_min"]))
            made = apply(op, draw(st.sampled_from(whole)), axes=(-1,), keepdims=True)
        elif kind == "unary":
            made = apply(
                draw(st.sampled_from(["neg", "relu", "tanh"])), draw(st.sampled_from(values))
            )
        else:
            pair = draw(st.sampled_from(values)), draw(st.sampled_from(values))
            made = apply(draw(st.sampled_from(["add", "sub", "max"])), *pair)
        values.append(made)
        whole += [made] if made.type.shape == shape else []
    return Graph.of(values[:2], [values[-1]], "rows")


@given(graph=row_programs())
def test_any_mix_of_rows_means_the_same_as_loops(graph: Graph) -> None:
    after = fuse(graph)
    rng = np.random.default_rng(0)
    values = {n: rng.standard_normal(n.type.dims).astype(np.float32) for n in graph.inputs}
    expected = run(graph, list(values.values()))[0]
    for node in after.ops:
        kernel = lower_node(node, "k")
        assert kernel is not None
        out = np.zeros(node.type.dims, np.float32)
        run_kernel(kernel, {**{f"x{k}": values[i] for k, i in enumerate(node.inputs)}, "out": out})
        values[node] = out
    np.testing.assert_allclose(values[after.outputs[0]], expected, rtol=1e-4, atol=1e-4)


def test_exp_in_two_places_of_a_row_is_still_right() -> None:
    def mirrored(x: Node) -> Node:
        e = exp(x)
        turned = apply("transpose", e, perm=(1, 0))
        return e - apply("reduce_max", turned, axes=(1,), keepdims=True)

    graph = trace(mirrored, "f32[6,6]")
    assert_same(graph, one_kernel(graph))
