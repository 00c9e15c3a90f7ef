"""The order of passes: any order of the default pipeline computes the same, or is refused in words.

[fuse, decompose]   ->   the pass 'fuse' needs plain ops (...): put 'decompose' before 'fuse'
"""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import course_lib
from course_lib.exercises import plugged
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const
from course_lib.passes.clean.bn_fold import bn_fold
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import fuse_as
from course_lib.passes.infra.contract import contract, contract_of, idle, misplaced
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.winograd import winograd, winograd_as
from course_lib.passes.pipeline import DEFAULT, WINOGRAD
from course_lib.passes.prepare.decompose import decompose

FEW = settings(max_examples=settings().max_examples // 2)  # each is compiled
PUT = re.compile(r"put '(\w+)' before '(\w+)'")


def network(x):
    """Padding, a composite of each kind, constants, and a product that is there twice."""
    rng = np.random.default_rng(0)
    filters = const(rng.standard_normal((16, 8, 3, 3)).astype(np.float32))
    numbers = [const(rng.random(16).astype(np.float32)) for _ in range(4)]
    y = relu(apply("batch_norm", apply("conv", x, filters, pads=[1, 1, 1, 1]), *numbers))
    y = apply("max_pool", y, kernel=[3, 3], pads=[1, 1, 1, 1]) * (const(np.float32(2)) * 1.5)
    return apply("softmax", relu(y) + relu(y), axis=1)


GRAPH = trace(network, "f32[1,8,6,6]")
X = np.random.default_rng(1).standard_normal((1, 8, 6, 6)).astype(np.float32)


def mended(passes: list) -> list:
    """What comes out of doing as the error says until there is none."""
    for _ in range(200):
        wrong = misplaced(passes)
        if wrong is None:
            return passes
        with pytest.raises(ValueError, match=re.escape(wrong)):
            run_passes(GRAPH, passes)
        found = PUT.search(wrong)
        assert found is not None, wrong
        first, second = (next(p for p in passes if p.__name__ == name) for name in found.groups())
        place = passes.index(first)
        if place < passes.index(second):  # it runs several times, and a later one is meant
            place = len(passes) - 1 - passes[::-1].index(first)
        passes.pop(place)
        passes.insert(passes.index(second), first)
    raise AssertionError(f"doing as it says does not end: {wrong}")


@FEW
@given(st.permutations(WINOGRAD))
def test_any_order_is_refused_in_words_or_computes_the_same(order):
    passes = mended(list(order))
    assert sorted(p.__name__ for p in passes) == sorted(p.__name__ for p in WINOGRAD)
    compiled = course_lib.compile(GRAPH, passes=passes, threads=1)
    np.testing.assert_allclose(compiled(X), run(GRAPH, [X])[0], rtol=1e-4, atol=1e-5)


POOR = [
    ([decompose, bn_fold], "'bn_fold' wants composites .*'decompose', which runs before it"),
    ([layout, decompose], "'layout' wants plain ops .*'decompose', which gives that, runs"),
    ([decompose, fuse, dce, simplify], "'simplify' wants no groups .*put 'simplify' before 'fuse'"),
    ([decompose, layout, winograd], "'winograd' wants one layout .*before 'layout'"),
    ([*DEFAULT, *DEFAULT], "wants"),
]


def test_an_order_that_cannot_work_names_both_passes():
    seen = []
    words = "'fuse' needs plain ops .*put 'decompose' before 'fuse'"
    with pytest.raises(ValueError, match=words):
        course_lib.compile(GRAPH, passes=[fuse, decompose], watch=lambda name, _: seen.append(name))
    assert seen == ["import"]  # nothing has run


@pytest.mark.parametrize(("passes", "words"), POOR)
def test_an_order_that_gains_less_runs_and_can_be_asked_why(passes, words):
    found = idle(passes)
    assert found is not None and re.search(words, found)
    compiled = course_lib.compile(GRAPH, passes=passes, threads=1)
    np.testing.assert_allclose(compiled(X), run(GRAPH, [X])[0], rtol=1e-4, atol=1e-5)


def test_our_own_orders_are_right_and_leave_nothing_out():
    for passes in (DEFAULT, WINOGRAD):
        assert misplaced(passes) is None and idle(passes) is None


def test_what_holds_from_the_start_needs_no_pass_that_gives_it():
    for one in WINOGRAD:
        assert misplaced([one]) is None and idle([one]) is None


def test_a_pass_that_says_nothing_may_stand_anywhere():
    def mine(graph: Graph) -> Graph:
        return graph

    for place in range(len(DEFAULT) + 1):
        assert misplaced([*DEFAULT[:place], mine, *DEFAULT[place:]]) is None


def test_a_students_pass_may_say_what_it_needs():
    @contract(needs=["no groups"])
    def mine(graph: Graph) -> Graph:
        return graph

    run_passes(GRAPH, [decompose, mine, fuse])
    with pytest.raises(ValueError, match="the pass 'mine' needs no groups"):
        run_passes(GRAPH, [decompose, fuse, mine])
    with pytest.raises(ValueError, match=r"a contract is about .*; not a good mood"):
        contract(needs=["a good mood"])


def test_a_plugged_in_answer_keeps_the_contract_of_its_place():
    with plugged("passes.cse", lambda graph: graph):
        assert contract_of(cse).gives == ("no duplicates",)
    with plugged("passes.fuse", lambda graph: graph), pytest.raises(ValueError, match="fuse"):
        run_passes(GRAPH, [fuse, decompose])


def test_tuned_passes_say_what_the_plain_ones_say():
    assert contract_of(fuse_as(lambda graph: None)) == contract_of(fuse)
    assert contract_of(winograd_as(lambda graph: None)) == contract_of(winograd)
