"""Hidden checks of unit 4: other seeds, larger runs and lives, and the answers with one value."""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Sequence

from autograder.check.framework import Score, Wrong, harder, hidden
from autograder.check.programs import BINARY, UNARY, graphs
from autograder.check.properties import same_meaning
from autograder.units.u04.checks import LAYOUTS, line_counts, names
from autograder.units.u04.checks.allocator import traces
from autograder.units.u04.checks.layout import moving, networks
from autograder.units.u04.checks.offsets import GOOD, ratio, sound, worth
from autograder.units.u04.checks.order import LEGAL as ORDERS
from autograder.units.u04.checks.order import near_the_smallest, ordered, varied
from autograder.units.u04.checks.shared import lives, runs
from course_lib.exercises import slot
from course_lib.memory.liveness import Task
from course_lib.memory.order import peak
from lessons.u04.lives import random_lives, random_tasks

SEED = 40_961

BY_ELEMENT = graphs(size=10, ops=(*UNARY, *BINARY), constants=False)
for _slot, _check, _given, _examples in [
    ("schedule.memory.liveness", "lives_are_long_enough_and_no_longer", runs(16), 150),
    ("schedule.memory.assign_offsets", "living_values_share_no_byte", lives(16), 150),
    ("schedule.in_place.may_overwrite", "overwriting_changes_no_number", graphs(size=12), 25),
    ("schedule.in_place.may_overwrite", "every_elementwise_kernel_may_overwrite", BY_ELEMENT, 20),
    ("u04.allocator", "each_block_lies_as_low_as_it_can", traces(20), 120),
]:
    harder(_slot, _check, seed=SEED, given=_given, examples=_examples)


@hidden("schedule.memory.assign_offsets", seed=SEED)
def large_sets_of_lives(assign_offsets):
    """Sound on hundreds of lives, too."""
    for seed in range(SEED, SEED + 6):
        intervals = random_lives(seed, most=300)
        sound(intervals, assign_offsets(intervals))


@hidden("schedule.memory.assign_offsets", seed=SEED)
def the_arena_of_other_lives_is_small(assign_offsets, rng):
    """The arena is near the lower bound for lives that were drawn for this run."""
    sets = [random_lives(int(seed)) for seed in rng.integers(1 << 30, size=24)]
    mean, fraction = worth([ratio(assign_offsets, lives) for lives in sets], GOOD + 0.04)
    shown = f"arena / lower bound: {mean:.2f} on average over {len(sets)} other sets"
    return Score(fraction, shown)


@hidden("schedule.order.order", seed=SEED, spec=ORDERS)
def orders_of_other_tasks(order, rng):
    """Legal on other tasks, and never a higher peak than as given."""
    for k, seed in enumerate(rng.integers(1 << 30, size=40).tolist()):
        tasks = random_tasks(seed, 24 if k % 20 == 0 else 4 + k % 12)
        ordered(varied(tasks, seed) if k % 2 else tasks, order)


@hidden("schedule.order.order", seed=SEED + 1, spec=ORDERS)
def the_peak_of_other_tasks_is_low(order, rng):
    """The peak is near the smallest that any order has, for tasks that were drawn for this run."""
    return near_the_smallest(order, _with_better_orders(int(rng.integers(1 << 30)), 12))


@functools.cache
def _with_better_orders(start: int, count: int) -> list[tuple[list[Task], int]]:
    """Tasks for which the given order is not the best, each with the smallest peak."""
    sets = (random_tasks(seed, 10 + seed % 6) for seed in itertools.count(start))
    others = (varied(tasks, seed) if seed % 2 else tasks for seed, tasks in enumerate(sets, start))
    pairs = ((tasks, smallest_peak(tasks)) for tasks in others)
    better = ((tasks, least) for tasks, least in pairs if least < peak(tasks, range(len(tasks))))
    return list(itertools.islice(better, count))


def the_best_of_all(tasks: Sequence[Task]) -> list[int]:
    """From no task on to sets of tasks that can be done, always from the one with the lowest peak;
    of two, from the larger one."""
    at, everything = {task.writes: k for k, task in enumerate(tasks)}, frozenset(range(len(tasks)))
    needs = [{at[v] for v in task.reads if v in at} for task in tasks]
    readers = [{k for k in everything if j in needs[k]} for j in range(len(tasks))]
    waiting: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    least: dict[frozenset[int], int] = {}
    while len((state := heapq.heappop(waiting))[2]) < len(tasks):
        highest, _, order = state
        done = frozenset(order)
        alive = sum(tasks[j].size for j in done if readers[j] - done)
        for k in everything - done:
            if needs[k] <= done:
                reached, after = max(highest, alive + tasks[k].size), done | {k}
                if reached < least.get(after, reached + 1):
                    least[after] = reached
                    heapq.heappush(waiting, (reached, -len(after), (*order, k)))
    return list(state[2])


def smallest_peak(tasks: Sequence[Task]) -> int:
    return peak(tasks, the_best_of_all(tasks))


@hidden("u04.clash", seed=SEED)
def is_the_value_that_is_lost(clash):
    """The value that loses its bytes, who takes them, and the first wrong step."""
    got = names(clash())
    if got != slot("u04.clash").reference():
        raise Wrong("These are not the three.", got=repr(got))


@hidden("u04.lines", seed=SEED)
def counts_the_lines_of_other_windows(lines, rng):
    """The cache lines of windows that begin at each place in a line, and of windows that were drawn
    for this run."""
    drawn = [sorted(int(n) for n in rng.integers(0, 56, size=2)) for _ in range(12)]
    drawn = [(a, max(b, min(a + 2, 55))) for a, b in drawn]
    for first, last in [*((a, a + 2) for a in range(16)), (53, 55), *drawn]:
        call, right = f"lines({first}, {last})", slot("u04.lines").reference(first, last)
        for name, got in zip(LAYOUTS, line_counts(lines(first, last), call), strict=True):
            if got != right[name]:
                raise Wrong(f"The count for {name} is another one.", program=call)


@hidden("passes.sink_relayouts", seed=SEED, given=networks(12), examples=40, what="random networks")
def leaves_no_more_than_needed(sink_relayouts, graph):
    """On larger networks, no relayout is left that one walk can cancel."""
    after = same_meaning(graph, sink_relayouts(graph))
    ours, left = len(moving(slot("passes.sink_relayouts").reference(graph))), len(moving(after))
    if left > ours:
        problem = f"{ours} relayouts of images should be left; here are {left}."
        raise Wrong(problem, program=graph, got=after)
