"""Searches: what they try computes the same, they keep to their budget, and find no less than what
the compiler chooses anyway.

No verdict depends on time: the price counts instructions, and what "measures" is a table.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cost.machine import Machine
from course_lib.exercises import plugged
from course_lib.ir.graph.build import conv, inp, matmul, softmax
from course_lib.ir.graph.graph import Graph
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.parse import parse_kernel
from course_lib.lower.lower import lower, lower_node
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.schedule.choose import choose
from course_lib.schedule.schedule import packed
from course_lib.schedule.search.beam import beam, greedy
from course_lib.schedule.search.evolve import evolve
from course_lib.schedule.search.moves import KINDS, finish, moves, open_kinds
from course_lib.schedule.search.problem import Budget, Candidate, Problem, Record, Timing, nameless
from course_lib.schedule.search.sample import sample
from course_lib.schedule.search.space import children, count, estimate

MACHINE = Machine("small", vector_bytes=16, registers=12, threads=2)  # 4 lanes of f32
SEARCHES: dict[str, Callable[..., Record]] = {
    "beam": beam, "greedy": greedy, "random": sample, "evolve": evolve,
}  # fmt: skip
ROWS = """
kernel @rows(x: f32[4,6], out: f32[4,6]) {
  for i in 0..4 { for j in 0..6 { out[i, j] = x[i, j] + x[i, j] } } }"""
TURNED = """
kernel @turned(x: f32[8,6], out: f32[6,8]) {
  for i in 0..6 { for j in 0..8 { out[i, j] = x[j, i] } } }"""
STEPS = """
kernel @steps(x: f32[5,4], out: f32[6,4]) {
  for i in 0..5 { for j in 0..4 { out[i + 1, j] = out[i, j] + x[i, j] } } }"""


def kernels() -> dict[str, Kernel]:
    x, w = inp("x", "f32[6,5]"), inp("w", "f32[5,8]")
    nodes = {
        "product": matmul(x, w),
        "convolution": conv(inp("x", "f32[1,3,6,6]"), inp("w", "f32[8,3,3,3]")),
    }
    found = {name: lower_node(node, name) for name, node in nodes.items()}
    graph = Graph.of([a := inp("a", "f32[4,6]")], [softmax(a)])
    (step,) = lower(run_passes(graph, DEFAULT)).steps
    given = {name: parse_kernel(text) for name, text in
             {"rows": ROWS, "turned": TURNED, "steps": STEPS}.items()}  # fmt: skip
    return {k: v for k, v in {**found, "softmax": step.kernel, **given}.items() if v is not None}


KERNELS = kernels()


def problem(name: str = "product") -> Problem:
    kernel = KERNELS[name]
    fixed = frozenset({"x1"} if len(kernel.params) > 2 else ())
    return Problem(kernel, MACHINE, fixed)


@dataclass(frozen=True)
class Guess:
    seconds: float


def instructions(kernel: Kernel, machine: Machine) -> Guess:
    """A rough price: a vector is one instruction, an iteration of a plain loop one more."""
    lanes = machine.lanes(kernel.out.type.dtype)

    def cost(body: Sequence[Stmt]) -> int:
        return sum(loop(s) if isinstance(s, Loop) else 1 for s in body)

    def loop(stmt: Loop) -> int:
        extent, inside = stmt.extent or 1, cost(stmt.body)
        ways = {
            "vector": -(-extent // lanes) * inside,
            "unroll": extent * inside,
            "parallel": 3 + -(-extent // machine.threads) * (inside + 1),
        }
        return ways.get(stmt.kind, extent * (inside + 1))

    return Guess(1e-9 * cost(kernel.body))


def computed(kernel: Kernel, scheduled: Kernel) -> np.ndarray:
    """What a schedule of the kernel computes, on operands packed as it wants them."""
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.standard_normal(b.type.dims).astype(np.float32) for b in kernel.params}
    for packing in scheduled.packed:
        arrays[packing.param] = packed(arrays[packing.param], packing)
    run_kernel(scheduled, arrays)
    return arrays[kernel.out.name]


def seconds(candidate: Candidate) -> float:
    assert candidate.seconds is not None
    return candidate.seconds


# ── moves ──


@given(name=st.sampled_from(list(KERNELS)), data=st.data())
def test_any_list_of_decisions_computes_what_the_kernel_computes(name, data):
    of = problem(name)
    kernel, decided = of.kernel, ()
    for _ in range(data.draw(st.integers(0, 5))):
        possible = list(moves(of, kernel, decided))
        if not possible:
            break
        try:
            decision, kernel = data.draw(st.sampled_from(possible)).decide(kernel)
        except ValueError:
            continue  # refused, with a reason
        decided = (*decided, decision)
    script = finish(kernel, decided)
    said = " | ".join(map(str, decided))
    want = computed(of.kernel, of.kernel)
    np.testing.assert_allclose(computed(of.kernel, script.kernel), want, 1e-5, 1e-5, err_msg=said)
    steps = [step for decision in decided for step in decision.steps]
    again = type(script.schedule)((*steps, *script.schedule.steps)).apply(of.kernel)
    assert again == script.kernel


def test_a_loop_that_carries_a_dependence_is_offered_no_vectors():
    made = [str(d) for d, _ in children(problem("steps"), KERNELS["steps"], ())]
    assert any("vectorize(j)" in text for text in made)
    assert not any("vectorize(i)" in text for text in made)
    assert "no parallel" in made


def test_decisions_come_in_the_order_of_their_kinds():
    of = problem()
    (tile, kernel) = next(moves(of, of.kernel)).decide(of.kernel)
    assert open_kinds([]) == list(KINDS)
    assert open_kinds([tile]) == ["order", "inner", "parallel"]
    (last, _) = next(m for m in moves(of, kernel, [tile]) if m.kind == "parallel").decide(kernel)
    assert open_kinds([tile, last]) == []


def test_one_thread_has_nothing_to_share():
    of = replace(problem(), machine=replace(MACHINE, threads=1))
    assert all(move.kind != "parallel" for move in moves(of, of.kernel))


def test_the_space_is_counted_before_it_is_searched():
    of = problem("rows")
    assert count(of, 0) == 1
    assert count(of, 1) == 1 + len(children(of, of.kernel, ()))
    assert estimate(of, 1, walks=1) == count(of, 1)
    exact = count(of, 2)
    assert 0.8 * exact < estimate(of, 2, walks=60) < 1.2 * exact


# ── searches ──


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("kernel", ["product", "softmax", "turned"])
def test_a_search_finds_no_less_than_the_default(name, kernel):
    of = problem(kernel)
    record = SEARCHES[name](of, Budget(priced=60), instructions, seed=3)
    assert record.default.kernel == choose(of.kernel, of.machine, of.constants)
    assert seconds(record.best) <= seconds(record.default) and record.gain >= 1
    assert record.priced <= 60 and record.measured == 0
    assert record.best.schedule.apply(of.kernel) == record.best.kernel
    racing = [nameless(c.kernel) for c in record.candidates if c.kernel and not c.dropped]
    assert len(set(racing)) == len(racing) == record.priced


@pytest.mark.parametrize("name", SEARCHES)
def test_the_same_seed_gives_the_same_record_and_it_is_plain_data(name):
    one, other = (
        SEARCHES[name](problem("turned"), Budget(priced=50), instructions, seed=5) for _ in range(2)
    )
    assert one == other
    data = json.loads(json.dumps(one.to_json()))
    again = Record.from_json(data)
    assert again.to_json() == data
    assert again.best.schedule == one.best.schedule and str(again) == str(one)
    assert again.best.kernel is None
    assert again.best.schedule.apply(again.problem.kernel) == one.best.kernel


def test_another_seed_draws_other_schedules():
    one, other = (sample(problem(), Budget(priced=20), instructions, seed=s) for s in (0, 1))
    assert [c.decisions for c in one.candidates] != [c.decisions for c in other.candidates]


def test_a_beam_tries_every_first_decision():
    of = problem("rows")
    record = beam(of, price=instructions, depth=1)
    tried = {nameless(c.kernel) for c in record.candidates if c.kernel}
    found = [finish(kernel, (made,)) for made, kernel in children(of, of.kernel, ())]
    assert tried == {nameless(script.kernel) for script in found}
    assert record.best.seconds == min(instructions(s.kernel, MACHINE).seconds for s in found)


def test_a_beam_keeps_as_many_as_it_is_wide():
    wide, narrow = (f(problem("turned"), price=instructions) for f in (beam, greedy))
    assert max(map(len, wide.rounds)) == 4 and max(map(len, narrow.rounds)) == 1
    assert seconds(wide.best) <= seconds(narrow.best)


def test_a_beam_that_prices_one_by_one_measures_the_same_rounds():
    """Where `beam_search` prices each state as soon as it is found, those of a round are still
    measured together."""

    def at_once(start, successors, price, width, depth):
        costs, going_on = {start: price(start)}, [start]
        for _ in range(depth):
            found = []
            for state in going_on:
                for new in successors(state):
                    costs[new] = price(new)
                    found.append(new)
            going_on = sorted(found, key=lambda s: costs[s])[:width]
            going_on = [s for s in going_on if costs[s] < float("inf")]
        return min(costs, key=lambda s: costs[s])

    def measure(kernels, machine):
        return [Timing(instructions(kernel, machine).seconds) for kernel in kernels]

    for clock in (None, measure):
        ours = beam(problem("turned"), Budget(measured=500), instructions, clock, width=3)
        with plugged("schedule.beam_search", at_once):
            theirs = beam(problem("turned"), Budget(measured=500), instructions, clock, width=3)
        assert len(ours.rounds) > 2 and theirs == ours


def test_the_path_of_a_candidate_leads_back_decision_by_decision():
    record = beam(problem("turned"), price=instructions)
    path = record.path(max(c.number for c in record.candidates if not c.dropped))
    assert [len(c.decisions) for c in path] == list(range(len(path[0].decisions), 0, -1))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("when", [1, 2, 9])
def test_an_interrupted_search_has_the_best_so_far(name, when):
    asked = []

    def price(kernel, machine):
        asked.append(kernel)
        if len(asked) == when:
            raise KeyboardInterrupt
        return instructions(kernel, machine)

    record = SEARCHES[name](problem(), Budget(), price)
    assert record.stopped == "interrupted"
    assert record.best.schedule.apply(problem().kernel)
    assert record.priced == when - 1


def test_no_time_at_all_leaves_the_default():
    record = beam(problem(), Budget(seconds=-1), instructions)
    assert record.stopped == "budget: -1 seconds" and record.best.number == 0


def test_a_search_needs_something_that_decides():
    with pytest.raises(ValueError, match="a price, a measure, or both"):
        beam(problem())
    with pytest.raises(ValueError, match="at least 1"):
        beam(problem(), price=instructions, width=0)


def test_progress_hears_of_every_candidate():
    heard = []
    record = beam(problem("rows"), price=instructions, progress=lambda n, c: heard.append((n, c)))
    assert len(heard) == record.priced and heard[-1][1].seconds == record.best.seconds


# ── measured ──


def table(changes: Callable[[str], Timing | None] = lambda text: None, busy: float = 1.0):
    """Something that measures: each batch on a machine that is busier than at the last one."""
    batches: list[list[Kernel]] = []

    def measure(kernels, machine):
        batches.append(list(kernels))
        slow = busy ** len(batches)
        # the larger the text, the slower: not at all what the price says
        return [changes(nameless(k)) or Timing(slow * len(nameless(k))) for k in kernels]

    return measure, batches


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("price", [None, instructions], ids=["time", "both"])
def test_what_was_measured_decides(name, price):
    measure, batches = table()
    record = SEARCHES[name](problem("turned"), Budget(measured=12), price, measure)
    measured = [c for c in record.candidates if c.measured is not None]
    assert len(measured) == record.measured <= 12
    assert seconds(record.best) == min(map(seconds, measured))
    assert record.default.measured is not None
    first = record.default.kernel
    assert all(batch[0] == first for batch in batches)


def test_the_model_proposes():
    measure, _ = table()
    record = beam(problem(), Budget(measured=1000), instructions, measure, width=2, depth=1)
    order = sorted((c.predicted, c.number) for c in record.candidates if not c.dropped)
    measured = {c.number for c in record.candidates if c.measured is not None}
    assert measured == {0} | {number for _, number in order[:4]}


def test_when_pricing_has_to_stop_the_cheapest_are_measured():
    measure, _ = table()
    record = beam(problem(), Budget(priced=10), instructions, measure)
    assert record.stopped == "budget: 10 priced" and record.measured > 1


def test_ctrl_c_while_the_last_ones_are_measured_is_not_lost():
    measure, batches = table()

    def interrupted(kernels, machine):
        if batches:
            raise KeyboardInterrupt
        return measure(kernels, machine)

    record = beam(problem(), Budget(priced=10), instructions, interrupted)
    assert record.stopped == "interrupted" and record.best.number == 0


def test_a_machine_that_gets_busier_does_not_look_like_slower_schedules():
    quiet, busy = (
        beam(problem("turned"), Budget(), instructions, table(busy=b)[0]) for b in (1.0, 1.7)
    )
    assert quiet.best.schedule == busy.best.schedule
    assert busy.best.measured == pytest.approx(seconds(quiet.best) * 1.7)


def test_a_candidate_that_crashes_is_dropped_with_its_reason():
    def crash(text):
        return Timing(None, why="crashed: SIGSEGV") if "vector" in text else None

    measure, _ = table(crash)
    record = beam(problem("turned"), Budget(), instructions, measure)
    crashed = [c for c in record.candidates if c.dropped == "crashed: SIGSEGV"]
    assert crashed and all(c.measured is None for c in crashed)
    assert record.best not in crashed


def test_even_the_default_may_crash():
    of = problem()
    default = nameless(choose(of.kernel, of.machine, of.constants))
    measure, batches = table(lambda t: Timing(None, why="hangs") if t == default else None)
    record = beam(of, Budget(), instructions, measure)
    assert record.default.dropped == "hangs" and record.best.number > 0
    assert sum(nameless(k) == default for batch in batches for k in batch) == 1
    measure, _ = table(lambda t: Timing(None, why="hangs"))
    assert beam(of, Budget(), instructions, measure).best.number == 0
