"""Siblings that read one operand become one product, if that is legal and pays."""

import numpy as np
import pytest

from course_lib.ir.graph.build import relu, reshape, softmax, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.verify import verify
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.horizontal import horizontal, slice_after_reshape

RNG = np.random.default_rng(0)


def weights(*shape: int) -> Node:
    return const(RNG.standard_normal(shape).astype(np.float32))


def merged(graph: Graph) -> Graph:
    after = dce(verify(horizontal(graph)))
    inputs = [RNG.standard_normal(n.type.dims).astype(np.float32) for n in graph.inputs]
    for old, new in zip(run(graph, inputs), run(after, inputs), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-5)
    return after


def products(graph: Graph) -> int:
    return sum(node.op == "matmul" for node in graph.ops)


def heads(y: Node) -> Node:
    """[t, 8] -> [2, t, 4]"""
    return transpose(reshape(y, (y.type.dims[0], 2, 4)), (1, 0, 2))


def test_the_heads_of_an_attention_come_from_one_product() -> None:
    def attention(x: Node) -> Node:
        q, k, v = (heads(x @ weights(6, 8) + weights(8)) for _ in range(3))
        return softmax(q @ transpose(k, (0, 2, 1))) @ v

    graph = trace(attention, "f32[5,6]")
    after = merged(graph)
    assert products(graph) == 5 and products(after) == 3
    kernels = [n.attrs["body"].name for n in fuse(after).ops if n.op == "fused"]
    assert kernels.count("slice_transpose") == 2, "a slice is an index of the transpose after it"
    assert "slice_transpose_transpose" in kernels
    assert "matmul_add" in kernels


@pytest.mark.parametrize("widths", [(8, 8), (4, 8, 12), (3, 5)], ids=str)
@pytest.mark.parametrize("biased", [True, False])
def test_siblings_of_any_width_merge(widths: tuple[int, ...], biased: bool) -> None:
    def siblings(x: Node) -> list[Node]:
        products = [x @ weights(6, n) for n in widths]
        ends = [p + weights(1, n) for p, n in zip(products, widths, strict=True)]
        return [transpose(e, (0, 2, 1)) for e in (ends if biased else products)]

    after = merged(trace(siblings, "f32[2,5,6]"))
    assert products(after) == 1
    assert sum(n.op == "add" for n in after.ops) == biased


def test_branches_with_and_without_bias_are_different_families() -> None:
    def mixed(x: Node) -> list[Node]:
        ends = [x @ weights(6, 8), x @ weights(6, 8) + weights(8), x @ weights(6, 8)]
        return [heads(e) for e in ends]

    assert products(merged(trace(mixed, "f32[5,6]"))) == 2


def test_different_operands_are_no_siblings() -> None:
    graph = trace(
        lambda x, y: (heads(x @ weights(6, 8)), heads(y @ weights(6, 8))), "f32[5,6]", "f32[5,6]"
    )
    assert horizontal(graph).nodes == graph.nodes


def test_a_slice_of_one_number_stays_where_it_is() -> None:
    graph = trace(lambda x: reshape(apply("slice", x, starts=(1,), stops=(2,)), ()), "f32[5]")
    assert horizontal(graph).nodes == graph.nodes


def test_a_weight_that_is_computed_stays() -> None:
    def depends(x: Node) -> list[Node]:
        first = x @ weights(6, 8)
        second = x @ reshape(first, (6, 8))  # needs the result of its sibling
        return [heads(first), heads(second)]

    graph = trace(depends, "f32[6,6]")
    assert horizontal(graph).nodes == graph.nodes


def test_a_branch_with_an_epilogue_of_its_own_stays() -> None:
    graph = trace(lambda x: (relu(x @ weights(6, 8)), relu(x @ weights(6, 8))), "f32[5,6]")
    assert horizontal(graph).nodes == graph.nodes


def test_an_output_stays_and_a_bias_for_each_element_is_no_bias() -> None:
    x = inp("x", "f32[5,6]")
    end = x @ weights(6, 8)
    per_element = [heads(x @ weights(6, 8) + weights(5, 8)) for _ in range(2)]
    for outputs in ([end, heads(end), heads(x @ weights(6, 8))], per_element):
        graph = Graph.of([x], outputs)
        assert horizontal(graph).nodes == graph.nodes


def test_merged_nodes_name_all_branches() -> None:
    x = inp("x", "f32[5,6]")
    ends = [heads(apply("matmul", x, weights(6, 8), origin=(o,))) for o in ("q", "k")]
    after = dce(horizontal(Graph.of([x], ends)))
    assert next(n for n in after.ops if n.op == "matmul").origin == ("q", "k")
    assert [n.origin for n in after.ops if n.op == "slice"] == [("q",), ("k",)]


def test_a_slice_moves_behind_a_reshape_only_where_heads_stay_whole() -> None:
    x = inp("x", "f32[5,24]")

    def columns(a: int, b: int) -> Node:
        return apply("slice", x, starts=(0, a), stops=(5, b))

    moved = slice_after_reshape(reshape(columns(8, 16), (5, 2, 4)))
    assert moved is not None and moved.inputs[0].op == "reshape"
    array = np.arange(120, dtype=np.float32).reshape(5, 24)
    before = Graph.of([x], [reshape(columns(8, 16), (5, 2, 4))])
    np.testing.assert_array_equal(run(before, [array])[0], run(Graph.of([x], [moved]), [array])[0])
    assert slice_after_reshape(reshape(columns(2, 10), (5, 2, 4))) is None, "begins inside a head"
    assert slice_after_reshape(reshape(columns(8, 16), (10, 4))) is None, "rows are split too"
    odd = apply("slice", inp("y", "f32[5,23]"), starts=(0, 8), stops=(5, 16))
    assert slice_after_reshape(reshape(odd, (5, 2, 4))) is None, "the rest is no whole head"
    top = apply("slice", x, starts=(1, 8), stops=(5, 16))
    assert slice_after_reshape(reshape(top, (4, 2, 4))) is None, "it cuts rows as well"
