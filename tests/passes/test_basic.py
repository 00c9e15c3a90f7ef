"""dce, cse and fold: what they do, and what they must leave alone."""

import numpy as np
import pytest

from course_lib.ir.graph.build import add, exp, expand, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.clean.cse import cse, exactly
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import SMALL, fold


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.ops]


# ── dce ──


def test_dce_removes_a_chain_of_dead_nodes_and_dead_constants() -> None:
    graph = parse_graph("""
    graph @f(%x: f32[4]) -> (f32[4]) {
      %c = constant dense<2.0> : f32[]
      %0 = mul(%x, %c) : f32[4]
      %1 = exp(%0) : f32[4]
      %2 = relu(%x) : f32[4]
      return %2
    }""")
    after = dce(graph)
    assert [n.op for n in after.nodes] == ["input", "relu"]
    assert after.nodes[1] is graph.nodes[-1], "kept nodes are the same objects"


def test_dce_keeps_inputs_that_nobody_reads() -> None:
    graph = trace(lambda x, y: relu(x), "f32[4]", "f32[2]")
    assert dce(graph).inputs == graph.inputs
    assert dce(graph).nodes == graph.nodes


def test_dce_keeps_what_any_of_several_outputs_needs() -> None:
    graph = trace(lambda x: (relu(x), exp(x), x), "f32[4]")
    assert dce(graph).nodes == graph.nodes
    assert dce(graph).outputs == graph.outputs


def test_passes_do_not_need_recursion() -> None:
    def deep(x):
        for _ in range(3000):
            x = relu(x + 0.0)
        return x

    graph = trace(deep, "f32[2]")
    assert dce(graph).nodes == graph.nodes
    assert len(fold(cse(graph)).ops) == 6000


# ── cse ──


def test_cse_merges_chains_with_commuted_operands() -> None:
    graph = trace(lambda x, y: exp(x + y) - exp(y + x), "f32[4]", "f32[4]")
    assert ops(cse(graph)) == ["add", "exp", "sub"]


def test_cse_keeps_commuted_subtraction_matmul_and_maximum() -> None:
    graph = trace(
        lambda x, y: (x - y, y - x, x @ y, y @ x, apply("max", x, y), apply("max", y, x)),
        "f32[2,2]",
        "f32[2,2]",
    )
    assert cse(graph).nodes == graph.nodes


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        (np.float32(0.0), np.float32(-0.0), False),
        (np.float32(np.nan), np.float32(np.nan), True),
        (np.float32(1), np.int32(1), False),
        (np.zeros((2, 1), np.float32), np.zeros((1, 2), np.float32), False),
        (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.float32), True),
    ],
    ids=["signed zeros", "NaN", "element types", "shapes", "equal"],
)
def test_cse_compares_constants_by_type_shape_and_bytes(a, b, merged: bool) -> None:
    x = inp("x", "f32[2]")
    graph = Graph.of([x], [const(a), const(b), relu(x)])
    after = cse(graph)
    assert (after.outputs[0] is after.outputs[1]) == merged
    assert len(after.constants) == 2 - merged


def test_the_key_of_an_array_is_equal_in_every_way_if_its_bytes_are() -> None:
    """Also as text: the checks of unit 2 compare digests of it."""
    one, same, other = np.zeros(1000), np.zeros(1000), np.zeros(1000)
    other[997] = -0.0  # at a place that the hash does not look at
    assert exactly(one) == exactly(same) and hash(exactly(one)) == hash(exactly(same))
    assert repr(exactly(one)) == repr(exactly(same)) != repr(exactly(other))
    assert exactly(one) != exactly(other) and exactly(one) != exactly(one.reshape(10, 100))


def test_cse_compares_attributes_exactly() -> None:
    x = inp("x", "f32[4]")
    zeros = [apply("pad", x, low=(1,), high=(0,), value=v) for v in (0.0, -0.0, 0.0)]
    after = cse(Graph.of([x], zeros))
    assert len(after.ops) == 2
    assert np.signbit(run(after, [np.ones(4, np.float32)])[1][0])
    assert len(cse(Graph.of([x], [apply("softmax", x, axis=a) for a in (0, -1)])).ops) == 2


def test_cse_does_not_merge_inputs_nor_outputs_of_different_programs() -> None:
    graph = trace(lambda x, y: (relu(x), relu(y)), "f32[4]", "f32[4]")
    assert cse(graph).nodes == graph.nodes


def test_cse_keeps_the_first_of_equal_nodes_and_all_output_positions() -> None:
    graph = trace(lambda x: (relu(x), exp(x), relu(x)), "f32[4]")
    after = cse(graph)
    assert after.outputs == (graph.outputs[0], graph.outputs[1], graph.outputs[0])


# ── fold ──


def test_fold_cascades_and_leaves_what_depends_on_an_input() -> None:
    graph = trace(lambda x: x * (const(3.0) * const(4.0) + const(4.0)), "f32[4]")
    after = dce(fold(graph))
    assert ops(after) == ["mul"]
    assert after.constants[0].value == np.float32(16.0)


def test_fold_computes_in_the_type_of_the_node() -> None:
    graph = trace(lambda x: x + const(200, "u8") + const(100, "u8"), "u8[1]")
    two = trace(lambda x: x + add(const(200, "u8"), const(100, "u8")), "u8[1]")
    assert ops(dce(fold(graph))) == ["add", "add"], "only operands that are all constant"
    assert dce(fold(two)).constants[0].value == np.uint8(44)


def test_fold_leaves_results_that_would_bloat_the_program() -> None:
    big = (SMALL // 4 + 1,)
    graph = trace(lambda x: x + expand(const(1.0), big), f"f32[{big[0]}]")
    assert fold(graph).nodes == graph.nodes
    small = trace(lambda x: x + expand(const(1.0), (8,)), "f32[8]")
    assert ops(dce(fold(small))) == ["add"]
    weights = const(np.ones((64, 64), np.float32))
    same_size = trace(lambda x: x @ apply("transpose", weights, perm=(1, 0)), "f32[1,64]")
    assert ops(dce(fold(same_size))) == ["matmul"], "a big result of big operands is no bloat"


def test_fold_includes_small_iota_and_excludes_big() -> None:
    def count(x):
        n = x.type.dims[0]
        return x + apply("iota", shape=(n,), dtype="f32")

    assert ops(fold(trace(count, "f32[8]"))) == ["add"]
    assert ops(fold(trace(count, "f32[4096]"))) == ["iota", "add"]


def test_fold_leaves_what_raises() -> None:
    graph = trace(lambda x: x + apply("gather", const([1, 2], "i32"), const(7)), "i32[1]")
    assert fold(graph).nodes == graph.nodes


def test_fold_leaves_symbolic_sizes() -> None:
    graph = parse_graph("""
    graph @f(%x: f32[n]) -> (f32[n]) {
      %0 = constant dense<1.0> : f32[]
      %1 = expand(%0) {shape = [n]} : f32[n]
      %2 = add(%x, %1) : f32[n]
      return %2
    }""")
    assert fold(graph).nodes == graph.nodes


def test_fold_keeps_name_and_origins() -> None:
    w = apply("reshape", const([1.0, 2.0]), shape=(2, 1), name="w", origin=("fc.weight",))
    folded = fold(Graph.of([], [apply("neg", w, origin=("neg",))])).outputs[0]
    assert folded.op == "constant"
    assert folded.origin == ("neg", "fc.weight")
