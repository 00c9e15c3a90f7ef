"""The memory plan: what is alive together never shares a byte, and the arena is small."""

from functools import cache
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.check.programs import graphs
from autograder.wire.codec import Codec
from course_lib.compiler import compile
from course_lib.exercises import plugged, slot
from course_lib.ir import arrays
from course_lib.ir.graph.build import relu, reshape, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const, inp
from course_lib.lower.lower import lower
from course_lib.memory.in_place import in_place
from course_lib.memory.liveness import (
    Interval,
    Task,
    aligned,
    lifetimes,
    liveness,
    outside,
    tasks,
    to_the_end,
)
from course_lib.memory.offsets import assign_offsets, check_plan, lower_bound, one_after_another
from course_lib.memory.plan import place, plan
from course_lib.models import MODELS, example_inputs
from course_lib.passes.prepare.decompose import decompose
from course_lib.runtime import buffers
from course_lib.runtime.executable import CompiledModel


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


@given(lives(12))
def test_no_two_living_values_share_a_byte(intervals: list[Interval]) -> None:
    for assign in (assign_offsets, one_after_another):
        offsets = assign(intervals)
        check_plan(intervals, offsets)
        assert not clash(intervals, offsets)
        assert lower_bound(intervals) <= size(intervals, offsets) <= sum(i.size for i in intervals)


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


@given(lives(5))
def test_small_plans_are_nearly_the_best(intervals: list[Interval]) -> None:
    """Some order of placing values gives the best plan; the orders that are tried come close."""
    got, best = size(intervals, assign_offsets(intervals)), best_first_fit(intervals)
    assert best <= got <= 1.25 * best


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
    plan = place(program)
    assert len(plan.intervals) == 1 and plan.size == aligned(400) == 448
    assert "1 buffers in 448 bytes" in str(plan)


@pytest.mark.parametrize(("positions", "plans"), [([0, 1, 2, 3, 4], 1), ([0, 2, 1, 3, 4], 2)])
def test_lives_and_offsets_are_asked_for_once_for_each_order(positions, plans: int) -> None:
    x, y = inp("x", "f32[64,8]"), inp("y", "f32[64,8]")
    sums = [apply("reduce_sum", apply("exp", v), axes=(1,)) for v in (x, y)]
    program = lower(Graph("two", (x, y), (x, y, *(s.inputs[0] for s in sums), *sums,
                                          total := sums[0] + sums[1]), (total,)))  # fmt: skip
    asked: list[str] = []

    def counting(name: str):
        ours = slot(name).reference

        def counted(*args):
            asked.append(name)
            return ours(*args)

        return plugged(name, counted)

    names = ["schedule.memory.liveness", "schedule.memory.assign_offsets"]
    chosen = plugged("schedule.order.order", lambda tasks: positions)
    with chosen, counting(names[0]), counting(names[1]):
        moved, memory = plan(program)
    assert asked == names * plans
    assert memory == place(moved)


@given(graph=graphs(size=10))
def test_plans_of_real_programs(graph: Graph) -> None:
    program = lower(decompose(graph))
    plan = place(program)
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
        place(program)


# ── liveness ──


def test_liveness_of_views_results_and_values_that_nobody_reads() -> None:
    run = [
        Task("a", ("x",), 64),
        Task("unread", ("a", "w"), 128),
        Task("b", ("a.flat.again",), 192),
        Task("y", ("b",), 256),
        Task("c", ("y",), 320),
        Task("z", ("c",), 384),
    ]
    views = {"a.flat": "a", "a.flat.again": "a.flat", "result": "y", "x.flat": "x"}
    assert liveness(run, views, {"x", "w", "result", "z"}) == [
        Interval("a", 64, 0, 2),
        Interval("unread", 128, 1, 1),
        Interval("b", 192, 2, 3),
        Interval("c", 320, 4, 5),
    ]
    assert liveness([], {}, {"x"}) == []


def test_liveness_of_a_result_that_is_written_in_place() -> None:
    run = [Task("a", ("x",), 64), Task("b", ("a",), 64), Task("c", ("x",), 64)]
    run += [Task("d", ("b", "c"), 64), Task("y", ("d",), 64)]
    assert liveness(run, {"b": "a", "d": "c"}, {"x", "y"}) == [
        Interval("a", 64, 0, 3),
        Interval("c", 64, 2, 4),
    ]
    assert liveness(run, {"b": "a", "y": "d", "d": "b"}, {"x", "y"}) == [Interval("c", 64, 2, 3)]


@given(graph=graphs(size=10))
def test_every_byte_that_is_read_is_alive(graph: Graph) -> None:
    """By the definition: from its step on, until its last reader, a value has an interval."""
    program = in_place(lower(decompose(graph)))
    found = {i.name: i for i in lifetimes(program)}
    baseline = {i.name: i for i in to_the_end(tasks(program), program.views, outside(program))}
    apart = {program.owner(v) for v in outside(program)}
    assert found.keys() == baseline.keys() == set(program.buffers) - apart
    assert [*found] == [v for v in program.buffers if v in found]
    for number, step in enumerate(program.steps):
        for value in map(program.owner, (step.writes, *step.reads)):
            if value not in apart:
                life = found[value]
                assert life.first <= number <= life.last <= baseline[value].last
                assert life.size == baseline[value].size == aligned(program.types[value].nbytes)
    for life in found.values():
        ends = program.steps[life.last]
        assert life.name in map(program.owner, (ends.writes, *ends.reads))


def test_tasks_and_intervals_cross_the_pipe_of_the_grader() -> None:
    here, there = Codec(), Codec(call=lambda *_: None)
    sent = [[Task("a", ("x",), 64)], {"v": "a"}, {"x"}, [interval("a", 1, 0, 1)]]
    assert there.decode(here.encode(sent)) == sent


# ── what the machine really does ──


def planned(compiled: CompiledModel) -> np.ndarray:
    """Which bytes of the arena belong to some buffer."""
    plan, types = compiled.memory, compiled.program.types
    assert plan is not None
    covered = np.zeros(plan.size, bool)
    for life in plan.intervals:
        start = plan.offsets[life.name]
        covered[start : start + types[life.name].nbytes] = True
    return covered


def net() -> Graph:
    """Branches, a residual, a softmax, a view and a result that is read again."""
    rng = np.random.default_rng(0)
    w = const(rng.standard_normal((5, 5, 3, 3)).astype(np.float32))

    def net(x):
        a = relu(apply("conv", x, w, pads=(1, 1, 1, 1)))
        b = relu(apply("conv", a, w, pads=(1, 1, 1, 1)) + a)
        rows = apply("softmax", reshape(apply("silu", b), (5, -1)), axis=-1)
        c = apply("max_pool", apply("conv", b, w), kernel=(2, 2))
        return rows * 2.0, apply("reduce_sum", c * c, axes=(2, 3))

    return trace(net, "f32[1,5,11,9]", name="net")


GUARD = 4096  # bytes before and after everything that an executable allocates


@cache
def guarded_model(name: str) -> tuple[CompiledModel, list[np.ndarray], np.ndarray]:
    """A compiled model, its inputs, and which bytes of the arena it touches.

    Nothing is written in front of or behind the arena, a constant or a result.
    """
    guards: list[np.ndarray] = []
    plain = buffers.aligned_bytes

    def guarded(size: int) -> np.ndarray:
        whole = plain(size + 2 * GUARD)
        whole[...] = 0xA5
        guards.extend([whole[:GUARD], whole[GUARD + size :]])
        return whole[GUARD : GUARD + size]

    with (
        patch.object(buffers, "aligned_bytes", guarded),
        patch.object(arrays, "aligned_bytes", guarded),
    ):
        if name == "net":
            inputs = [np.random.default_rng(1).standard_normal((1, 5, 11, 9), np.float32)]
            made = compile(net())
        else:
            inputs = list(example_inputs(name))
            made = compile(MODELS[name].build(), inputs)
        assert isinstance(made, CompiledModel)
        touched = made.touched(inputs)
    assert len(guards) > 2 and all((guard == 0xA5).all() for guard in guards)
    return made, inputs, touched


models = pytest.mark.parametrize("name", ["net", "block", "mobilenet_v2"])


@models
def test_the_measured_peak_is_the_planned_one(name: str) -> None:
    """Exactly the planned bytes are written: none beside them, and none of them in vain."""
    compiled, _, touched = guarded_model(name)
    np.testing.assert_array_equal(touched, planned(compiled))
    plan = compiled.memory
    assert plan is not None and plan.in_place > 0
    assert aligned(int(np.flatnonzero(touched)[-1]) + 1) == plan.size


@models
def test_bytes_outside_a_life_hold_nothing_that_is_needed(name: str, monkeypatch) -> None:
    compiled, inputs, _ = guarded_model(name)
    plan, types = compiled.memory, compiled.program.types
    assert plan is not None
    before = [x.copy() for x in inputs]
    want = compiled.run(inputs)

    def poisoned(number: int, call):
        def run(values) -> None:
            call(values)
            dead = np.ones(plan.size, bool)
            for life in plan.intervals:
                if life.first <= number < life.last:
                    start = plan.offsets[life.name]
                    dead[start : start + types[life.name].nbytes] = False
            compiled.buffers.arena[dead] = 0xFF  # NaN, if anybody reads it

        return run

    calls = [poisoned(number, call) for number, call in enumerate(compiled.calls)]
    monkeypatch.setattr(compiled, "calls", calls)
    monkeypatch.setattr(compiled, "entries", {})  # one step at a time
    compiled.buffers.arena[...] = 0xFF
    for got, expected in zip(compiled.run(inputs), want, strict=True):
        assert got.tobytes() == expected.tobytes()
        assert not np.shares_memory(got, compiled.buffers.arena)
    for x, old in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(x, old)


def test_numpy_integers_are_offsets_too() -> None:
    intervals = [interval("a", 1, 0, 1), interval("b", 1, 1, 2)]
    check_plan(intervals, {"a": np.int64(0), "b": np.int64(64)})  # type: ignore[dict-item]
