"""The order of the steps: never a higher peak, on small programs nearly always the lowest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.check.programs import graphs
from course_lib.compiler import compile
from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.build import matmul, relu
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.loops.program import run_program
from course_lib.lower.lower import lower
from course_lib.memory.in_place import in_place
from course_lib.memory.liveness import Interval, Task, liveness
from course_lib.memory.offsets import lower_bound
from course_lib.memory.order import check_order, order, peak, reorder
from course_lib.memory.plan import place, plan
from course_lib.models import MODELS, example_inputs
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.prepare.decompose import decompose

BIG, SMALL = 64 * 64, 64


def lowest_peak(tasks: list[Task]) -> int:
    """The lowest peak of all orders: dynamic programming over the sets of finished tasks."""
    writer = {task.writes: k for k, task in enumerate(tasks)}
    reads = [{writer[v] for v in task.reads if v in writer} for task in tasks]
    readers = [{k for k, needs in enumerate(reads) if w in needs} for w in range(len(tasks))]
    peaks: dict[frozenset[int], int] = {frozenset(): 0}
    for _ in tasks:
        longer: dict[frozenset[int], int] = {}
        for done, before in peaks.items():
            alive = sum(tasks[w].size for w in done if readers[w] - done)
            for k in set(range(len(tasks))) - done:
                if reads[k] <= done:
                    now = max(before, alive + tasks[k].size)
                    longer[done | {k}] = min(now, longer.get(done | {k}, now))
        peaks = longer
    return peaks[frozenset(range(len(tasks)))]


@st.composite
def programs(draw, most: int = 9) -> list[Task]:
    """Tasks that read up to three of the six values before them."""
    tasks: list[Task] = []
    for k in range(draw(st.integers(0, most))):
        near = [f"v{j}" for j in range(max(0, k - 6), k)]
        reads = draw(st.lists(st.sampled_from([*near, "x"]), max_size=3))
        tasks.append(Task(f"v{k}", tuple(reads), 64 * draw(st.integers(0, 6))))
    return tasks


@given(programs())
def test_small_programs_get_the_lowest_peak(tasks: list[Task]) -> None:
    """The search is as wide as all sets of so few tasks, so here it is exact."""
    chosen = order(tasks)
    check_order(tasks, chosen)
    assert peak(tasks, chosen) == lowest_peak(tasks) <= peak(tasks, range(len(tasks)))


@given(programs(most=40))
def test_larger_programs_never_get_a_higher_peak(tasks: list[Task]) -> None:
    chosen = order(tasks)
    check_order(tasks, chosen)
    assert peak(tasks, chosen) <= peak(tasks, range(len(tasks)))


@given(programs(), st.randoms(use_true_random=False))
def test_peak_is_the_lower_bound_of_the_lives(tasks: list[Task], random) -> None:
    left, chosen = list(range(len(tasks))), []
    while left:  # any order
        written = {tasks[k].writes for k in chosen} | {"x"}
        ready = [k for k in left if set(tasks[k].reads) <= written]
        chosen.append(random.choice(ready))
        left.remove(chosen[-1])
    intervals: list[Interval] = liveness([tasks[k] for k in chosen], {}, {"x"})
    assert peak(tasks, chosen) == lower_bound(intervals)


# ── programs ──


def experts(count: int) -> Graph:
    """As Python code writes it: all hidden layers first, then all results of them."""
    x = inp("x", "f32[16,8]")
    rng = np.random.default_rng(0)
    up, down = ([const(rng.standard_normal(s).astype(np.float32)) for _ in range(count)]
                for s in ((8, 64), (64, 8)))  # fmt: skip
    hidden = [relu(matmul(x, w)) for w in up]
    parts = [matmul(h, w) for h, w in zip(hidden, down, strict=True)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    nodes = [*up, *down, *(h.inputs[0] for h in hidden)]
    return Graph("experts", (x,), (x, *nodes, *hidden, *parts, *_sums(total)), (total,))


def _sums(total):
    found = []
    while total.op == "add":
        found.append(total)
        total = total.inputs[0]
    return found[::-1]


def test_branches_run_one_after_another() -> None:
    graph = experts(4)
    given = fuse(graph)
    before, after = lower(given), reorder(lower(given))
    names = [step.name.rpartition("_")[0] for step in after.steps]
    assert [step.name.rpartition("_")[0] for step in before.steps][:4] == ["matmul_relu"] * 4
    assert names[:4] != ["matmul_relu"] * 4
    assert place(before).size == 4 * 4096 + 512
    assert place(after).size == 4096 + 3 * 512  # the last product adds the other three
    x = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)
    for a, b in zip(run_program(before, [x]), run_program(after, [x]), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_transformer_block_needs_less() -> None:
    """Queries and keys become scores before the values are copied."""
    model, inputs = MODELS["block"].build(), list(example_inputs("block"))
    ours = compile(model, inputs)
    with baselines("schedule.order.order"):
        theirs = compile(model, inputs)
    assert ours.memory is not None and theirs.memory is not None
    assert ours.memory.size < theirs.memory.size
    assert ours.memory.size == ours.memory.lower_bound
    assert ours(*inputs).tobytes() == theirs(*inputs).tobytes()


@given(graph=graphs(size=14))
def test_random_programs_keep_every_bit_and_never_need_more(graph: Graph) -> None:
    before = lower(decompose(graph))
    after = reorder(before)
    assert plan(before)[1].size <= place(in_place(before)).size
    inputs = [
        np.random.default_rng(0).uniform(-2, 2, n.type.dims).astype(n.type.dtype.numpy)
        for n in graph.inputs
    ]
    for a, b in zip(run_program(before, inputs), run_program(after, inputs), strict=True):
        assert a.tobytes() == b.tobytes()


def test_an_order_that_does_not_help_is_not_taken() -> None:
    x = inp("x", "f32[64]")
    program = lower(Graph.of([x], [apply("neg", x), apply("abs", x)]))
    with plugged("schedule.order.order", lambda tasks: [1, 0]):
        assert [step.node.op for step in reorder(program).steps] == ["abs", "neg"]
        assert [step.node.op for step in plan(program)[0].steps] == ["neg", "abs"]
    assert reorder(program) is program


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([0], "expected each of the positions 0 to 2 once, got "),
        ([0, 0, 1], "expected each of the positions 0 to 2 once"),
        ([2, 0, 1], "task 2 writes 2 and reads 1, which task 1 writes later"),
    ],
)
def test_words_for_what_is_no_order(answer: list[int], words: str) -> None:
    x = inp("x", "f32[64]")
    program = lower(Graph.of([x], [relu(apply("neg", apply("abs", x)))]))
    wrong = plugged("schedule.order.order", lambda tasks: answer)
    with wrong, pytest.raises(ValueError, match=words):
        reorder(program)


def test_reorder_comes_before_in_place() -> None:
    x = inp("x", "f32[64]")
    program = in_place(lower(Graph.of([x], [relu(apply("neg", x))])))
    with pytest.raises(ValueError, match="reorder comes before in_place"):
        reorder(program)


def test_results_are_not_counted() -> None:
    """A result has memory of its own: its task runs as soon as that ends something."""
    tasks = [Task("a", ("x",), BIG), Task("b", ("x",), BIG), Task("y", ("a",), 0)]
    tasks += [Task("z", ("b",), 0)]
    assert peak(tasks, range(4)) == 2 * BIG
    assert peak(tasks, order(tasks)) == BIG
