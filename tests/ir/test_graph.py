"""Level 1: making nodes, the order of a graph, the verifier, the interpreter."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from course_lib.ir.arrays import aligned_copy, is_aligned
from course_lib.ir.graph.build import cast, concat, matmul, relu, select, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run, value_of
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import OPS, flops, traffic
from course_lib.ir.types import parse_type

X, Y = inp("x", "f32[2,3]"), inp("y", "f32[3]")


# ── making nodes ──


def test_operators_build_nodes() -> None:
    z = 1.0 - (X + Y) * 2.0 / -(X**2.0)
    assert z.type == parse_type("f32[2,3]")
    assert (X @ inp("w", "f32[3,4]")).type == parse_type("f32[2,4]")
    assert (1 + inp("i", "i64[]")).inputs[0].type == parse_type("i64[]"), "numbers take the type"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: X + inp("z", "f32[4]"), r"\(2, 3\) and \(4,\) do not broadcast: axis -1"),
        (lambda: X + inp("z", "f64[3]"), "one element type, got f32, f64; use cast"),
        (lambda: inp("i", "i32[3]") * 0.5, "0.5 does not fit a tensor of i32"),
        (lambda: matmul(X, Y), "at least two axes"),
        (lambda: matmul(X, X), "inner sizes differ.*k = 3.*k = 2"),
        (lambda: apply("exp", inp("i", "i32[3]")), r"exp works on float tensors, got i32\[3\]"),
        (lambda: apply("softmax", X, axis=2), "axis 2 is out of range for rank 2"),
        (lambda: apply("relu", X, X), "relu takes 1 operands, got 2"),
        (lambda: apply("concat"), "concat takes 1 to any number of operands, got 0"),
        (lambda: apply("relux", X), "unknown op 'relux'"),
        (lambda: apply("relu", X, slope=1), "relu has no attribute 'slope'; it has: none"),
        (lambda: apply("transpose", X), "transpose needs the attribute 'perm'"),
        (lambda: apply("add", X, "3"), "must be a Node, an array or a number, got '3'"),
        (lambda: apply("reshape", X, shape=(4, -1)), "cannot find the size for -1"),
        (lambda: apply("reshape", X, shape=(5,)), "6 elements, .* has 5"),
        (lambda: select(X, X, X), "the condition must be bool"),
        (lambda: concat([X, Y], 0), "differ elsewhere too"),
        (lambda: apply("slice", X, starts=(0, 0), stops=(3, 3)), "is not inside axis 0"),
        (lambda: apply("slice", X, starts=(2, 0), stops=(0, 3), steps=(-1, 1)), "2..0 by -1"),
        (lambda: apply("gather", X, Y), "indices must be integers"),
        (lambda: apply("gather", inp("e", "f32[0]"), np.array([0])), "holds nothing to pick"),
        (lambda: apply("gather_elements", X, np.zeros((3, 1), np.int64), axis=1), "reaches beyond"),
        (lambda: apply("argmax", inp("e", "f32[0]")), "no largest or smallest"),
        (lambda: apply("conv", inp("i", "f32[1,3,8,8]"), inp("w", "f32[4,2,3,3]")), "3 channels"),
        (lambda: apply("max_pool", inp("i", "f32[1,1,2,2]"), kernel=[3, 3]), "does not fit into 2"),
        (lambda: apply("max_pool", inp("i", "f32[1,1,2,2]"), kernel=[0, 1]), r"got \[0, 1\]"),
        (lambda: apply("avg_pool", inp("i", "f32[1,1,2,2]"), kernel=[1.5, 1]), "whole numbers"),
        (lambda: apply("conv", inp("i", "f32[1,3,8,8]"), inp("w", "f32[4,3,k,k]")), "got .k, k."),
        (lambda: apply("conv", inp("i", "f32[1,3,8]"), inp("w", "f32[4,3,0]")), "1 or more"),
        (lambda: apply("conv", inp("i", "f32[1,0,8]"), inp("w", "f32[4,0,1]"), groups=0), "groups"),
        (lambda: apply("iota", shape=(3,), dtype="bool"), "number type, got bool"),
        (lambda: apply("mean", cast(X, "i32")), "works on float tensors"),
    ],
)  # fmt: skip
def test_words_for_what_cannot_be_made(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_symbolic_sizes_go_through_the_type_rules() -> None:
    x = inp("x", "f32[n,3]")
    assert str((x + Y).type) == "f32[n,3]"
    assert str(apply("reshape", x, shape=(-1,)).type) == "f32[3*n]"
    assert str(matmul(x, inp("w", "f32[3,4]")).type) == "f32[n,4]"
    with pytest.raises(ValueError, match="do not broadcast"):
        _ = x + inp("z", "f32[m,3]")


# ── graphs ──


def test_of_orders_nodes_so_that_each_stands_after_its_inputs() -> None:
    a = relu(X)
    b = a + Y
    graph = Graph.of([X, Y], [b * a], also=[relu(Y)])
    place = {node: k for k, node in enumerate(graph.nodes)}
    assert all(place[i] < place[n] for n in graph.nodes for i in n.inputs)
    assert len(graph.ops) == 4 and graph.users()[a] == [b, graph.outputs[0]]


def test_deep_graphs_do_not_exhaust_the_stack() -> None:
    x = X
    for _ in range(5000):
        x = relu(x)
    graph = Graph.of([X], [x])
    assert len(graph.nodes) == 5001
    verify(graph)
    assert run(graph, [np.ones((2, 3), np.float32)])[0].sum() == 6
    assert topological_order([x])[0] is X


def test_rebuild_replaces_and_keeps_dead_nodes() -> None:
    dead = X * 3.0
    graph = Graph.of([X], [relu(X + 1.0)], also=[dead])
    after = graph.rebuild(lambda n, ins: apply("tanh", *ins) if n.op == "relu" else None)
    assert [n.op for n in after.ops] == ["mul", "add", "tanh"]
    assert graph.ops[-1].op == "relu", "the graph itself is as it was"
    same = graph.rebuild(lambda n, ins: None)
    assert same.nodes == graph.nodes


# ── the verifier ──


def broken(node: Node, **changes) -> Graph:
    bad = replace(node, **changes)
    return Graph("g", (X,), (*topological_order([X, *node.inputs]), bad), (bad,))


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (lambda: broken(relu(X), type=parse_type("f32[3,2]")), r"declared f32\[3,2\], but"),
        (lambda: broken(relu(X), op="relux"), "unknown op"),
        (lambda: broken(relu(X), inputs=(X, X)), "takes 1 operands, got 2"),
        (lambda: broken(relu(X), inputs=(Y,)), "uses %y = input, which is defined nowhere"),
        (lambda: broken(apply("softmax", X), attrs=MappingProxyType({})), "all of its attributes"),
        (lambda: Graph("g", (X,), (relu(X), X), ()), "which is defined later in the graph"),
        (lambda: Graph("g", (X,), (X, X), (X,)), "stands in the graph twice"),
        (lambda: Graph("g", (), (X,), (X,)), "not among the graph's inputs"),
        (lambda: Graph("g", (X,), (X,), (Y,)), "the output %y = input is not in the graph"),
        (lambda: Graph("g", (X, X), (X,), (X,)), "distinct nodes"),
        (lambda: broken(const(1.0), type=parse_type("f32[1]")), r"f32\[1\], but it is f32\[\]"),
    ],
)  # fmt: skip
def test_verifier_names_what_is_wrong(graph, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        verify(graph())


# ── the interpreter ──


def test_inputs_by_name_and_by_position() -> None:
    graph = Graph.of([X, Y], [X + Y])
    x, y = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(run(graph, [x, y])[0], run(graph, {"y": y, "x": x})[0])
    with pytest.raises(ValueError, match=r"missing \['y'\], unknown \['z'\]"):
        run(graph, {"x": x, "z": y})
    with pytest.raises(ValueError, match="takes 2 inputs"):
        run(graph, [x])


def test_one_symbol_has_one_size() -> None:
    a, b = inp("a", "f32[n]"), inp("b", "f32[n]")
    graph = Graph.of([a, b], [a + b])
    assert run(graph, [np.ones(3, np.float32)] * 2)[0].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match=r"%b must be f32\[n\] \(with \{'n': 3\}\), got f32\[2\]"):
        run(graph, [np.ones(3, np.float32), np.ones(2, np.float32)])


def test_watch_sees_every_value_and_errors_name_the_node() -> None:
    seen = []
    run(
        trace(lambda x: relu(x) + x, "f32[2]"),
        [np.ones(2, np.float32)],
        lambda n, v: seen.append(n.op),
    )
    assert seen == ["input", "relu", "add"]
    graph = trace(lambda x, i: apply("gather", x, i), "f32[2]", "i64[1]")
    with pytest.raises(IndexError, match=r"while computing gather\(x0, x1\)"):
        run(graph, [np.ones(2, np.float32), np.array([7])])


# ── costs ──


def test_flops_and_traffic() -> None:
    w = inp("w", "f32[4,3,3,3]")
    y = apply("conv", inp("i", "f32[1,3,8,8]"), w)
    assert flops(y) == 2 * (4 * 6 * 6) * 27
    assert flops(matmul(X, inp("m", "f32[3,5]"))) == 2 * 2 * 3 * 5
    assert traffic(X + X) == 2 * 24, "an operand that is read twice moves once"
    assert flops(apply("transpose", X, perm=(1, 0))) == 0
    softmax = apply("softmax", X)
    assert flops(softmax) == sum(4 * [6] + [6])  # max, sub, exp, sum, div


def test_rows_have_words_for_people() -> None:
    assert all(row.doc and row.doc == row.doc.strip() for row in OPS.values())


def test_a_constant_is_a_copy_unless_its_array_is_given_away() -> None:
    mine = aligned_copy(np.ones((2, 3), np.float32))
    copied, taken = const(mine), const(mine, given=True)
    assert taken.value is mine and not mine.flags.writeable
    assert not np.shares_memory(copied.value, mine)
    turned = const(aligned_copy(np.zeros((2, 3), np.float32)).T, given=True)
    assert is_aligned(turned.value)  # what does not lie row after row is copied all the same


def test_what_needs_constants_only_has_a_value() -> None:
    one = const([1.0, 2.0])
    assert value_of(one) is one.value
    assert value_of(apply("exp", one) * 0.0 + one).tolist() == [1.0, 2.0]


def test_a_constant_of_objects_is_refused_before_it_is_copied(monkeypatch):
    """Its elements are addresses: written over bytes that were not set, they end the process."""
    monkeypatch.setattr("course_lib.ir.graph.node.aligned_copy", None)
    x = inp("x", "f32[2]")
    with pytest.raises(ValueError, match="element type object is not supported"):
        apply("add", [x, x], x)
