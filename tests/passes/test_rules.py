"""The rewriter (match, rule, rewrite) and the two passes that are lists of rules."""

import gc
import importlib
import weakref

import numpy as np
import pytest

from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.build import abs, exp, maximum, neg, relu, select, sqrt, trace, transpose
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.simplify import lossless, simplify
from course_lib.passes.clean.strength import never_negative, strength
from course_lib.passes.infra.match import match, number_of
from course_lib.passes.infra.rewrite import LIMIT, rewrite
from course_lib.passes.infra.rule import Rule, rule

A, B = inp("a", "f32[]"), inp("b", "f32[]")
X, Y = inp("x", "f32[8,4]"), inp("y", "f32[4]")


def ops(graph: Graph) -> list[str]:
    return [node.op for node in dce(graph).ops]


# ── match ──


def test_match_binds_every_node_of_the_pattern() -> None:
    pattern, node = relu(A + 1.0), relu(X + 1.0)
    found = match(pattern, node)
    assert found is not None
    assert found[A] is X and found[pattern] is node
    assert found[pattern.inputs[0].inputs[1]].op == "constant"


def test_match_tries_the_other_order_when_the_first_fails_later() -> None:
    found = match((A + B) * A, (X + Y) * Y)
    assert found is not None and found[A] is Y and found[B] is X
    assert match((A - B) * A, (X - Y) * Y) is None, "a subtraction has one order"


def test_match_turns_several_commutative_ops_independently() -> None:
    found = match((A * 2.0) + (B * 3.0), (const(3.0) * X) + (X * Y) * 2.0)
    assert found is not None and found[B] is X


def test_match_wants_the_same_node_for_a_repeated_variable() -> None:
    assert match(A - A, X - X) is not None
    assert match(A - A, exp(X) - exp(X)) is None, "two nodes, even if they compute the same"
    shared = exp(A)
    assert match(shared * shared, exp(X) * exp(X)) is None, "a shared pattern node is one node"
    both = exp(X)
    assert match(shared * shared, both * both) is not None


def test_match_compares_attributes_and_element_types() -> None:
    m = inp("m", "f32[2,2]")
    assert match(transpose(m, (1, 0)), transpose(X, (1, 0))) is not None
    assert match(transpose(m, (1, 0)), transpose(X, (0, 1))) is None
    assert match(neg(A), neg(inp("k", "i32[4]"))) is None


def test_a_number_matches_constants_filled_with_it() -> None:
    assert match(A * 2.0, X * const(np.full((8, 1), 2.0, np.float32))) is not None
    assert match(A * 2.0, X * const(np.array([2, 2, 2, 1], np.float32))) is None
    assert match(A + 0.0, X + -0.0) is None
    assert match(A + -0.0, X + const(np.array([-0.0, 0.0, -0.0, 0.0], np.float32))) is None
    assert number_of(const(np.zeros((0,), np.float32))) is None
    assert number_of(X) is None


# ── rule ──


def test_a_rule_is_named_by_what_it_does() -> None:
    assert str(rule(lambda x: x / 2.0, lambda x: x * 0.5)) == "div(%x, 2) -> mul(%x, 0.5)"

    def small(x: Node) -> bool:
        return x.type.numel < 9

    text = str(rule(lambda x, y: x * 1 + y, lambda x, y: y + x, guard=small))
    assert text == "add(mul(%x, 1), %y) -> add(%y, %x) if small"


def test_a_rule_applies_to_the_element_types_for_which_it_type_checks() -> None:
    halve, keep = rule(lambda x: x / 2.0, lambda x: x * 0.5), rule(lambda x: x * 1, lambda x: x)
    ints, doubles = inp("i", "i32[4]"), inp("d", "f64[4]")
    assert halve(ints / 2) is None
    assert keep(ints * 1) is ints
    assert str(halve(doubles / 2.0)) == "mul(d, constant) : f64[4]"
    assert rule(lambda x: x * -1, lambda x: -x)(inp("u", "u8[4]") * 2) is None


def test_a_rule_between_types_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"gives f32\[\], but `after` gives i32\[\]"):
        rule(lambda x: relu(x), lambda x: apply("cast", x, dtype="i32"))
    with pytest.raises(ValueError, match="must compute something"):
        rule(lambda x: x, lambda x: -x)
    with pytest.raises(ValueError, match="works on bool tensors"):
        rule(lambda x: apply("and", x, 1.5), lambda x: x)


def test_a_pass_that_makes_its_rules_anew_traces_them_once() -> None:
    traced = []

    def before(x: Node) -> Node:
        traced.append(x)
        return square_root(x)

    def closed_over() -> Rule:
        from course_lib.ir.graph.build import neg, sqrt

        return rule(lambda x: neg(sqrt(neg(x))), lambda x: sqrt(x))

    square_root = relu
    assert closed_over().patterns is closed_over().patterns
    for _ in range(2):
        rule(before, lambda x: x)
    assert len(traced) == 2, "it reads more than its parameters and ops"


def test_a_rule_asks_for_a_match_only_where_there_may_be_one(monkeypatch) -> None:
    asked = []
    one = importlib.import_module("course_lib.passes.infra.rule")
    monkeypatch.setattr(one, "match", lambda *pair: asked.append(pair) or match(*pair))
    x, y = inp("x", "f32[4]"), inp("y", "f32[4]")
    by_one, itself = rule(lambda x: x * 1, lambda x: x), rule(lambda x: maximum(x, x), lambda x: x)
    for node in (x * 2.0, x * y, x * const(np.ones(4, np.float32) * 3), maximum(x, y)):
        assert by_one(node) is None and itself(node) is None
    assert not asked
    assert by_one(1.0 * x) is x and by_one(x * const(np.ones(4, np.float32))) is x
    assert itself(maximum(y, y)) is y and len(asked) == 3


def test_rewriting_leaves_no_cycle_behind() -> None:
    graph = trace(lambda x: neg(neg(x)) * 2.0, "f32[4]")
    gc.collect()
    gc.disable()
    try:
        after = rewrite(graph, [rule(lambda x: neg(neg(x)), lambda x: x)])
        kept = weakref.ref(after.ops[-1])
        del after
        assert kept() is None, "counting references is enough"
    finally:
        gc.enable()


def test_a_guard_sees_the_matched_nodes() -> None:
    wide = rule(lambda x, y: x + y, lambda x, y: x - y, guard=lambda x, y: y.type.rank == 1)
    assert wide(X + Y) is not None
    assert wide(X + X) is None


def test_a_new_node_names_everything_that_it_replaces() -> None:
    inner = apply("neg", X, origin=("a",))
    outer = apply("abs", inner, origin=("b",), name="out")
    after = rewrite(
        Graph.of([X], [outer]), [rule(lambda x: apply("abs", neg(x)), lambda x: apply("abs", x))]
    )
    assert after.outputs[0].origin == ("b", "a")
    assert after.outputs[0].name == "out"


def test_all_new_nodes_get_an_origin() -> None:
    cube = rule(lambda x: x**3, lambda x: x * x * x)
    graph = Graph.of([X], [apply("pow", X, 3.0, origin=("cube",))])
    after = rewrite(graph, [cube])
    assert [n.origin for n in after.ops] == [("cube",), ("cube",)]


# ── rewrite ──


def test_rewrite_works_on_what_its_rules_make() -> None:
    rules = [rule(lambda x: x**3, lambda x: x * x**2), rule(lambda x: x**2, lambda x: x * x)]
    graph = trace(lambda x: x**3, "f32[4]")
    assert ops(rewrite(graph, rules)) == ["mul", "mul"]


def test_rewrite_leaves_a_node_whose_shape_would_change() -> None:
    graph = trace(lambda x: x * const(np.ones((8, 4), np.float32)), "f32[4]")
    assert simplify(graph).nodes == graph.nodes
    assert ops(simplify(trace(lambda x: x * const(np.ones(4, np.float32)), "f32[8,4]"))) == []


def test_rewrite_names_the_rules_that_undo_each_other() -> None:
    there, back = rule(lambda x: -x, lambda x: 0 - x), rule(lambda x: 0 - x, lambda x: -x)
    with pytest.raises(ValueError, match="undo another") as error:
        rewrite(trace(lambda x: -x, "f32[4]"), [there, back])
    assert str(there) in str(error.value) and str(back) in str(error.value)


def test_rewrite_stops_a_rule_that_grows_forever() -> None:
    grow = rule(lambda x: relu(x), lambda x: relu(relu(x)))
    with pytest.raises(ValueError, match=f"after {LIMIT} rewrites"):
        rewrite(trace(lambda x: relu(x), "f32[4]"), [grow])


def test_rewrite_refuses_another_element_type() -> None:
    def to_int(node: Node) -> Node | None:
        return apply("cast", node, dtype="i32") if node.op == "relu" else None

    with pytest.raises(ValueError, match=r"to_int replaces .* another element type"):
        rewrite(trace(lambda x: relu(x), "f32[4]"), [to_int])


def test_rewrite_without_matching_leaves_everything() -> None:
    graph = trace(lambda x: x * 1.0, "f32[4]")
    with plugged("passes.match", lambda pattern, node: None):
        assert simplify(graph).nodes == graph.nodes


# ── simplify ──

FLOAT = inp("x", "f32[4]")
INT = inp("x", "i32[4]")
BOOL = inp("x", "bool[4]")


@pytest.mark.parametrize(
    ("before", "left"),
    [
        (FLOAT * 1.0, []),
        (const(1.0) * FLOAT, []),
        (FLOAT / 1.0, []),
        (FLOAT - 0.0, []),
        (FLOAT + -0.0, []),
        (FLOAT + 0.0, ["add"]),
        (FLOAT - -0.0, ["sub"]),
        (INT + 0, []),
        (FLOAT - FLOAT, ["sub"]),
        (INT - INT, ["expand"]),
        (FLOAT * 0.0, ["mul"]),
        (INT * 0, ["expand"]),
        (0.0 - FLOAT, ["sub"]),
        (-0.0 - FLOAT, ["neg"]),
        (0 - INT, ["neg"]),
        (FLOAT * -1.0, ["neg"]),
        (FLOAT**1.0, []),
        (neg(neg(FLOAT)), []),
        (FLOAT + neg(exp(FLOAT)), ["exp", "sub"]),
        (FLOAT - neg(exp(FLOAT)), ["exp", "add"]),
        (relu(relu(relu(FLOAT))), ["relu"]),
        (apply("abs", neg(FLOAT)), ["abs"]),
        (apply("max", FLOAT, FLOAT), []),
        (apply("not", apply("not", BOOL)), []),
        (select(BOOL, FLOAT, FLOAT), []),
        (select(const(True), FLOAT, exp(FLOAT)), []),
        (select(const([False] * 4), exp(FLOAT), FLOAT), []),
        (apply("min", FLOAT, 6.0), ["min"]),
    ],
    ids=lambda v: repr(v) if isinstance(v, Node) else "",
)
def test_simplify_applies_what_is_exact(before: Node, left: list[str]) -> None:
    inputs = [n for n in (FLOAT, INT, BOOL) if n in Graph.of([], [before]).nodes]
    graph = Graph.of(inputs, [before])
    after = simplify(graph)
    assert ops(after) == left
    values = {
        "f32": [-0.0, np.inf, np.nan, 2.5],
        "i32": [0, -1, 2**31 - 1, 7],
        "bool": [1, 0, 1, 1],
    }
    arrays = [np.array(values[n.type.dtype.name], n.type.dtype.numpy) for n in inputs]
    old, new = run(graph, arrays)[0], run(after, arrays)[0]
    np.testing.assert_array_equal(old, new)
    if old.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(old)[old == old], np.signbit(new)[old == old])


def test_simplify_removes_movement_that_moves_nothing() -> None:
    def idle(x):
        x = apply("reshape", x, shape=(2, 3))
        x = apply("transpose", apply("expand", x, shape=(2, 3)), perm=(0, 1))
        x = apply("pad", x, low=(0, 0), high=(0, 0))
        x = apply("slice", x, starts=(0, 0), stops=(2, 3))
        return apply("concat", apply("cast", x, dtype="f32"), axis=0)

    assert ops(simplify(trace(idle, "f32[2,3]"))) == []


def test_simplify_keeps_movement_that_only_keeps_the_shape() -> None:
    def turned(x):
        back = apply("slice", x, starts=(2, 2), stops=(-1, -1), steps=(-1, -1))
        return apply("transpose", back, perm=(1, 0))

    assert ops(simplify(trace(turned, "f32[3,3]"))) == ["slice", "transpose"]


def test_simplify_joins_movement() -> None:
    def twice(x):
        x = apply("transpose", apply("transpose", x, perm=(1, 2, 0)), perm=(1, 2, 0))
        return apply("reshape", apply("reshape", x, shape=(6, 4)), shape=(-1,))

    graph = trace(twice, "f32[2,3,4]")
    after = simplify(graph)
    assert ops(after) == ["transpose", "reshape"]
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(run(graph, [x])[0], run(after, [x])[0])
    there_and_back = trace(lambda x: transpose(transpose(x, (1, 2, 0)), (2, 0, 1)), "f32[2,3,4]")
    assert ops(simplify(there_and_back)) == []


@pytest.mark.parametrize(
    ("types", "left"),
    [
        (("i8", "i32", "f32"), 1),
        (("f32", "f64", "f32"), 0),
        (("f32", "f16", "f32"), 2),
        (("i32", "f32", "i32"), 2),
        (("u8", "i16", "u8"), 0),
        (("i8", "u16", "i8"), 2),
        (("bool", "f16", "bool"), 0),
    ],
    ids=str,
)
def test_simplify_joins_casts_only_through_a_type_that_loses_nothing(types, left: int) -> None:
    source, between, target = types
    graph = trace(
        lambda x: apply("cast", apply("cast", x, dtype=between), dtype=target), f"{source}[4]"
    )
    assert len(ops(simplify(graph))) == left


def test_an_integer_saturates_on_its_way_through_a_float_and_wraps_without() -> None:
    graph = trace(lambda x: apply("cast", apply("cast", x, dtype="f32"), dtype="i8"), "i16[3]")
    x = np.array([300, -129, 5], np.int16)
    assert list(run(simplify(graph), [x])[0]) == list(run(graph, [x])[0]) == [127, -128, 5]


@pytest.mark.parametrize("between", ["i32", "f32", "f64"])
@pytest.mark.parametrize("target", ["i8", "u8", "i16", "u16", "i32", "u64", "f16", "bool"])
@pytest.mark.parametrize("source", ["i8", "u8", "i16", "u16", "f16"])
def test_joined_casts_give_the_same_numbers(source: str, between: str, target: str) -> None:
    from course_lib.ir.types import DTYPES

    kind = DTYPES[source].numpy
    every = np.arange(2 ** (8 * np.dtype(kind).itemsize)).astype(f"u{np.dtype(kind).itemsize}")
    x = every.view(kind)
    graph = trace(
        lambda x: apply("cast", apply("cast", x, dtype=between), dtype=target),
        f"{source}[{len(x)}]",
    )
    with np.errstate(all="ignore"):
        before, after = run(graph, [x])[0], run(simplify(graph), [x])[0]
    assert np.array_equal(before, after, equal_nan=target == "f16")


def test_lossless_says_what_numpy_says_for_all_pairs_of_types() -> None:
    from course_lib.ir.types import DTYPES

    for small in DTYPES.values():
        for large in DTYPES.values():
            ours, theirs = lossless(small, large), np.can_cast(small.numpy, large.numpy, "safe")
            if (small.name, large.name) in (("i64", "f64"), ("u64", "f64")):
                assert theirs and not ours, "numpy calls this safe, but 2**53 + 1 is lost"
            else:
                assert ours == theirs, (small, large)


# ── strength ──


@pytest.mark.parametrize(
    ("before", "left"),
    [
        (FLOAT / 8.0, ["mul"]),
        (FLOAT / const([2.0, -4.0, 0.25, 1.0]), ["mul"]),
        (FLOAT / const([2.0, -4.0, 0.3, 1.0]), ["div"]),
        (FLOAT / 10.0, ["div"]),
        (FLOAT / 0.0, ["div"]),
        (FLOAT / float("inf"), ["div"]),
        (FLOAT / const(np.float32(2.0**-149)), ["div"]),
        (FLOAT / const(np.float32(2.0**127)), ["div"]),
        (FLOAT**2.0, ["mul"]),
        (INT**2, ["mul"]),
        (FLOAT**3.0, ["pow"]),
        (FLOAT**0.5, ["pow"]),
        (exp(FLOAT) ** 0.5, ["exp", "sqrt"]),
        (exp(FLOAT) ** -0.5, ["exp", "rsqrt"]),
        (FLOAT**-1.0, ["reciprocal"]),
        (1.0 / FLOAT, ["reciprocal"]),
        (1.0 / sqrt(FLOAT), ["rsqrt"]),
        (INT / 2, ["div"]),
        (apply("mod", INT, 8), ["bit_and"]),
        (apply("mod", INT, -8), ["mod"]),
        (apply("mod", INT, 6), ["mod"]),
        (apply("fmod", INT, 8), ["fmod"]),
        (apply("mod", FLOAT, 8.0), ["mod"]),
    ],
    ids=lambda v: repr(v) if isinstance(v, Node) else "",
)
def test_strength_reduces_what_is_exact(before: Node, left: list[str]) -> None:
    x = next(n for n in (FLOAT, INT) if n in Graph.of([], [before]).nodes)
    graph = Graph.of([x], [before])
    after = strength(graph)
    assert ops(after) == left
    floats = np.array([-np.inf, -0.0, np.nan, 1e-40], np.float32)
    for values in (floats, np.array([-9.25, 3.5, 1e30, 0.1], np.float32)):
        array = values if x is FLOAT else np.array([-9, -1, 2, 2**30], np.int32)
        old, new = run(graph, [array])[0], run(after, [array])[0]
        if "pow" in [n.op for n in graph.ops] and x is FLOAT:  # pow itself is off by an ulp
            np.testing.assert_array_max_ulp(old[old == old], new[old == old], 1)
        else:
            np.testing.assert_array_equal(old, new)


def test_division_by_a_power_of_two_is_exact_for_random_bits() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 20000, dtype=np.uint32)
    x = bits.view(np.float32)
    for power in (-100, -1, 3, 100):
        graph = trace(lambda x, p=power: x / float(2.0**p), "f32[20000]")
        assert ops(strength(graph)) == ["mul"]
        np.testing.assert_array_equal(run(graph, [x])[0], run(strength(graph), [x])[0])


def test_never_negative_knows_squares_and_their_sums() -> None:
    centred = FLOAT - 1.0
    variance = apply("reduce_sum", centred * centred, axes=(0,)) * 0.25 + 1e-5
    assert never_negative(variance)
    assert not never_negative(centred)
    assert not never_negative(centred * exp(FLOAT))
    assert ops(strength(Graph.of([FLOAT], [variance**-0.5])))[-1] == "rsqrt"


def test_never_negative_rules_out_minus_zero() -> None:
    """(-0.0) ** -0.5 is inf, and rsqrt(-0.0) is -inf."""
    assert not never_negative(sqrt(FLOAT))
    assert not never_negative(const([1.0, -0.0]))
    assert not never_negative(maximum(abs(FLOAT), const(-0.0)))
    assert never_negative(maximum(FLOAT, const(1e-5)))
    graph = Graph.of([FLOAT], [sqrt(FLOAT) ** -0.5])
    zeros = np.full(4, -0.0, np.float32)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(run(graph, [zeros])[0], run(strength(graph), [zeros])[0])


def test_a_bare_true_is_a_condition_between_floats() -> None:
    first = rule(lambda x, y: select(True, x, y), lambda x, y: x)
    assert first(select(const(True), FLOAT, -FLOAT)) is FLOAT


def test_strength_prints_as_expected() -> None:
    graph = trace(lambda x: x / 2.0 + x**2, "f32[4]", name="f")
    assert print_graph(dce(strength(graph))) == (
        "graph @f(%x0: f32[4]) -> (f32[4]) {\n"
        "  %0 = constant dense<0.5> : f32[]\n"
        "  %1 = mul(%x0, %0) : f32[4]\n"
        "  %2 = mul(%x0, %x0) : f32[4]\n"
        "  %3 = add(%1, %2) : f32[4]\n"
        "  return %3\n"
        "}\n"
    )


def test_before_match_is_answered_rules_of_one_op_apply_as_written() -> None:
    with baselines("passes.match"):
        assert ops(simplify(Graph.of([FLOAT], [FLOAT * 1.0]))) == []
        assert ops(simplify(Graph.of([FLOAT], [1.0 * FLOAT]))) == ["mul"]
        assert ops(simplify(Graph.of([FLOAT], [neg(neg(FLOAT))]))) == ["neg", "neg"]
        assert ops(simplify(Graph.of([INT], [INT - INT]))) == ["expand"]
        assert ops(simplify(Graph.of([FLOAT], [FLOAT + FLOAT]))) == ["add"]
