"""The memory plan: what is alive together never shares a byte, and the arena is small."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.programs import graphs
from course_lib.exercises import plugged
from course_lib.ir.build import apply, inp, relu, reshape
from course_lib.ir.graph import Graph
from course_lib.passes.decompose import decompose
from course_lib.schedule.lower import lower
from course_lib.schedule.memory import (
    Interval,
    aligned,
    assign_offsets,
    check_plan,
    lifetimes,
    lower_bound,
    one_after_another,
    plan_memory,
)


def interval(name: str, size: int, first: int, last: int) -> Interval:
    return Interval(name, 64 * size, first, last)


def lives(most: int) -> st.SearchStrategy[list[Interval]]:
    one = st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(0, 4))
    return st.lists(one, max_size=most).map(
        lambda rows: [interval(f"v{k}", s, a, a + n) for k, (s, a, n) in enumerate(rows)]
    )


def size(intervals: list[Interval], offsets: dict[str, int]) -> int:
    return max((offsets[i.name] + i.size for i in intervals), default=0)


def clash(intervals: list[Interval], offsets: dict[str, int]) -> bool:
    """By the definition: some byte belongs to two values that are alive at the same step."""
    owner: dict[tuple[int, int], str] = {}
    for i in intervals:
        for step in range(i.first, i.last + 1):
            for byte in range(offsets[i.name], offsets[i.name] + i.size, 64):
                if owner.setdefault((step, byte), i.name) != i.name:
                    return True
    return False


@settings(max_examples=300, deadline=None)
@given(lives(12))
def test_no_two_living_values_share_a_byte(intervals: list[Interval]) -> None:
    for assign in (assign_offsets, one_after_another):
        offsets = assign(intervals)
        check_plan(intervals, offsets)
        assert not clash(intervals, offsets)
        assert lower_bound(intervals) <= size(intervals, offsets) <= sum(i.size for i in intervals)


@settings(max_examples=200, deadline=None)
@given(lives(6), st.data())
def test_check_plan_finds_every_clash(intervals: list[Interval], data: st.DataObject) -> None:
    offsets = {i.name: 64 * data.draw(st.integers(0, 6)) for i in intervals}
    try:
        check_plan(intervals, offsets)
    except ValueError:
        assert clash(intervals, offsets)
    else:
        assert not clash(intervals, offsets)


def best_first_fit(intervals: list[Interval]) -> int:
    """The smallest arena over all orders of placing values as low as they fit."""
    best = sum(i.size for i in intervals)
    for order in permutations(intervals):
        offsets: dict[str, int] = {}
        for i in order:
            placed = [o for o in intervals if o.name in offsets and o.overlaps(i)]
            candidates = sorted({0, *(offsets[o.name] + o.size for o in placed)})
            offsets[i.name] = next(
                c
                for c in candidates
                if all(
                    c + i.size <= offsets[o.name] or offsets[o.name] + o.size <= c for o in placed
                )
            )
        best = min(best, size(intervals, offsets))
    return best


@settings(max_examples=60, deadline=None)
@given(lives(5))
def test_small_plans_are_nearly_the_best(intervals: list[Interval]) -> None:
    """Some order of placing values gives the best plan; large ones first comes close."""
    got, best = size(intervals, assign_offsets(intervals)), best_first_fit(intervals)
    assert best <= got <= 1.5 * best


def test_a_chain_needs_room_for_two() -> None:
    intervals = [interval(f"v{k}", 3, k, k + 1) for k in range(10)]
    assert size(intervals, assign_offsets(intervals)) == lower_bound(intervals) == 2 * 3 * 64


def test_a_small_value_fits_into_a_gap() -> None:
    intervals = [
        interval("a", 4, 0, 1),
        interval("b", 4, 0, 3),
        interval("c", 2, 2, 3),
        interval("d", 2, 3, 4),
    ]
    offsets = assign_offsets(intervals)
    assert size(intervals, offsets) == lower_bound(intervals) == 8 * 64


def test_views_keep_the_value_that_they_look_at_alive() -> None:
    x = inp("x", "f32[64]")
    a = relu(x)
    view = reshape(a, (8, 8))
    c = relu(apply("neg", x))
    program = lower(Graph.of([x], [apply("add", view, reshape(c, (8, 8)))]))
    lifes = {i.name: i for i in lifetimes(program)}
    (first,) = [s for s in program.steps if s.node is a]
    assert lifes[first.writes].last == len(program.steps) - 1


def test_results_and_inputs_are_not_in_the_plan() -> None:
    x = inp("x", "f32[100]")
    y = relu(x)
    program = lower(Graph.of([x], [y, reshape(relu(relu(y)), (10, 10))]))
    plan = plan_memory(program)
    assert len(plan.intervals) == 1 and plan.size == aligned(400) == 448
    assert "1 buffers in 448 bytes" in str(plan)


@settings(max_examples=60, deadline=None)
@given(graph=graphs(size=10))
def test_plans_of_real_programs(graph: Graph) -> None:
    program = lower(decompose(graph))
    plan = plan_memory(program)
    assert not clash(list(plan.intervals), dict(plan.offsets))
    assert plan.lower_bound <= plan.size <= plan.without_reuse


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda intervals: {}, "needs an offset >= 0 .* got None"),
        (lambda intervals: {i.name: 32 for i in intervals}, "multiple of 64, got 32"),
        (lambda intervals: {i.name: -64 for i in intervals}, "got -64"),
        (lambda intervals: {i.name: 0.0 for i in intervals}, "got 0.0"),
        (lambda intervals: {i.name: 0 for i in intervals}, "both alive at step 1 and share bytes"),
    ],
)
def test_words_for_a_wrong_answer(answer, words: str) -> None:
    x = inp("x", "f32[4]")
    a = relu(x)
    program = lower(Graph.of([x], [apply("neg", apply("add", apply("exp", a), a))]))
    with (
        plugged("schedule.memory.assign_offsets", answer),
        pytest.raises(ValueError, match=f"memory plan: .*{words}"),
    ):
        plan_memory(program)


def test_numpy_integers_are_offsets_too() -> None:
    intervals = [interval("a", 1, 0, 1), interval("b", 1, 1, 2)]
    check_plan(intervals, {"a": np.int64(0), "b": np.int64(64)})  # type: ignore[dict-item]
