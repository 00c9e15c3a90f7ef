"""Random programs through every pass: same meaning first, then the cost that the pass is about.

The inputs hold -0.0, infinities and NaN, because that is where an algebraic rule is wrong. The
passes that claim to be exact are compared bit for bit (any NaN equals any NaN).
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.programs import graphs
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.passes.clean.bn_fold import bn_fold
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import fixpoint, same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.groups import CONTRACTIONS, REDUCTIONS
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose

EXACT = [dce, cse, fold, simplify, decompose, fuse, bn_fold]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 3.0, -0.5]


def special_inputs(graph: Graph, seed: int) -> list[np.ndarray]:
    """Inputs of which every second number is one that rules get wrong."""
    rng = np.random.default_rng(seed)
    inputs = []
    for node in graph.inputs:
        shape, dtype = node.type.dims, node.type.dtype
        if dtype.is_float:
            plain, odd = rng.standard_normal(shape), rng.choice(SPECIAL, shape)
            inputs.append(np.where(rng.random(shape) < 0.5, plain, odd).astype(dtype.numpy))
        else:
            inputs.append(rng.integers(-9, 10, shape).astype(dtype.numpy))
    return inputs


def assert_same_bits(before: Graph, after: Graph, seed: int) -> None:
    verify(after)
    inputs = special_inputs(before, seed)
    for old, new in zip(run(before, inputs), run(after, inputs), strict=True):
        assert old.dtype == new.dtype and old.shape == new.shape
        same = old == new
        if old.dtype.kind == "f":
            same &= np.signbit(old) == np.signbit(new)
            same |= np.isnan(old) & np.isnan(new)
        assert np.all(same), f"{before}{after}{old}\n{new}"


@st.composite
def integer_graphs(draw: DrawFn) -> Graph:
    """Programs over i32 in which the integer rules of simplify and strength find work."""
    shape = draw(st.sampled_from(["i32[3]", "i32[2,3]", "i32[1,3]"]))
    values: list[Node] = [inp("a", shape), inp("b", "i32[3]")]
    for _ in range(draw(st.integers(1, 8))):
        op = draw(st.sampled_from(["add", "sub", "mul", "max", "neg", "mod", "square", "cast"]))
        x = draw(st.sampled_from(values))
        y = draw(st.sampled_from([*values, *(const(n, "i32") for n in (0, 1, -1, 2, 4))]))
        if op == "neg":
            made = apply("neg", x)
        elif op == "mod":
            made = apply("mod", x, draw(st.sampled_from([1, 2, 8, 3])))
        elif op == "square":
            made = apply("pow", apply("mod", x, 7), 2)
        elif op == "cast":
            between = apply("cast", x, dtype=draw(st.sampled_from(["i64", "i8", "f64"])))
            made = apply("cast", between, dtype="i32")
        else:
            made = apply(op, *draw(st.permutations([x, y])))
        values.append(made)
    return Graph.of(values[:2], draw(st.lists(st.sampled_from(values[2:]), min_size=1)), "ints")


@pytest.mark.parametrize("one", EXACT, ids=lambda p: p.__name__)
@given(graph=graphs(size=10), seed=st.integers(0, 999))
def test_exact_pass_keeps_every_bit(one, graph: Graph, seed: int) -> None:
    assert_same_bits(graph, one(graph), seed)


@given(graph=integer_graphs(), seed=st.integers(0, 999))
def test_integer_programs_keep_every_bit_through_all_passes(graph: Graph, seed: int) -> None:
    for one in [*EXACT, strength]:
        assert_same_bits(graph, one(graph), seed)
    assert_same_bits(graph, run_passes(graph, DEFAULT), seed)


@given(graph=graphs(size=10))
def test_strength_and_the_default_pipeline_keep_the_meaning(graph: Graph) -> None:
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(n.type.dims).astype(np.float32) for n in graph.inputs]
    expected = run(graph, inputs)
    for after in (strength(graph), run_passes(graph, DEFAULT)):
        for old, new in zip(expected, run(verify(after), inputs), strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)


@given(graph=graphs(size=12))
def test_passes_do_their_job(graph: Graph) -> None:
    for one in (dce, cse, fold, simplify, strength):
        after = one(graph)
        assert same_program(dce(one(after)), dce(after)), f"{one.__name__} twice is not once"
    live = dce(graph)
    users = live.users()
    assert all(users[n] or n in live.outputs or n.op == "input" for n in live.nodes)
    folded = fold(graph)
    assert all(any(i.op != "constant" for i in n.inputs) for n in folded.ops)
    merged = cse(graph)
    keys = {(n.op, n.inputs, repr(n.attrs), n.type) for n in merged.ops}
    assert len(keys) == len(merged.ops)


@given(graph=graphs(size=12))
def test_fuse_computes_every_node_in_exactly_one_kernel(graph: Graph) -> None:
    after = fuse(graph)
    assert len(after.ops) <= len(graph.ops)
    inner = [n for group in after.ops for n in _members(group)]
    assert len(inner) == len(graph.ops), "each node is computed exactly once"
    for node in after.ops:
        if node.op == "fused":
            ops = [n.op for n in node.attrs["body"].ops]
            contractions = sum(op in CONTRACTIONS for op in ops)
            reductions = sum(op in REDUCTIONS for op in ops)
            match node.attrs["kind"]:
                case "elementwise":
                    assert contractions + reductions == 0
                case "epilogue":
                    assert contractions + reductions == 1
                case "rowwise":
                    assert contractions == 0 and reductions >= 1
                case other:
                    raise AssertionError(other)
    assert print_graph(parse_graph(print_graph(after, "exact")), "exact") == print_graph(
        after, "exact"
    )


def _members(node: Node) -> list[Node]:
    return list(node.attrs["body"].ops) if node.op == "fused" else [node]


@given(graph=graphs(size=10))
def test_fixpoint_leaves_nothing_to_do(graph: Graph) -> None:
    passes = [fold, simplify, cse, dce]
    rest = fixpoint(graph, passes)
    assert same_program(run_passes(rest, passes), rest)
