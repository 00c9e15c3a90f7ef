"""Answers to unit 4 on lives and addresses: liveness, assign_offsets, the allocator.

Next room: order.py.
"""

from __future__ import annotations

import bisect

import numpy as np

from autograder.check.exemplars import in_the_library
from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.ir.loops.program import owner
from course_lib.memory import offsets as library
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size
from course_lib.memory.planners import best_fit, first_fit

# ── schedule.memory.liveness ──

LIVENESS = "schedule.memory.liveness"

mutants(
    LIVENESS,
    forgets_views=("own = {", "owner = lambda value, views: value\n    own = {"),
    one_step_of_a_chain_of_views=(
        "own = {", "owner = lambda value, views: views.get(value, value)\n    own = {"),
    a_chain_of_four_views=(
        "own = {", "owner = lambda v, views, n=0: v if v not in views or n > 3 else owner("
        "views[v], views, n + 1)\n    own = {"),
    four_reads_are_enough=("*task.reads)", "*task.reads[:4])"),
    # The end of a life is not included, as in a slice.
    dies_before_the_last_reader=("first[v], last[v]", "first[v], max(first[v], last[v] - 1)"),
    one_step_too_long=("] = step", "] = step + 1"),
    to_the_last_step=("last[v])", "len(tasks) - 1)"),
    plans_results_too=(" if v not in own", ""),
    a_view_of_a_result_is_planned=("not in own", "not in outside"),
    only_what_is_read=(
        "not in own", "not in own and v in {owner(r, views) for t in tasks for r in t.reads}"),
    # A task that writes over a value without reading it uses its bytes, too.
    only_readers_count=(
        "(task.writes, *task.reads)", "task.reads", "last[v]", "last.get(v, first[v])"),
    # A result in place may have fewer bytes than the value that it is written over.
    as_large_as_what_was_written_last=(
        "size.setdefault(written, task.size)", "size[written] = task.size"),
    born_when_written_last=("first.setdefault(written, step)", "first[written] = step"),
    what_has_no_bytes_has_no_life=("not in own", "not in own and size[v]"),
    sizes_of_32_bits=("size[v],", "size[v] % (1 << 32),"),
    programs_of_sixteen_tasks=("(tasks)", "(tasks[:16])"),
)  # fmt: skip


@alternative(LIVENESS)
def from_the_uses(tasks, views, outside):
    """All uses of each owner first, then the least and the greatest of them."""
    uses: dict[str, list[int]] = {}
    for step, task in enumerate(tasks):
        for value in (task.writes, *task.reads):
            uses.setdefault(owner(value, views), []).append(step)
    apart = {*views, *(owner(v, views) for v in outside)}
    planned = [(t, uses[t.writes]) for t in tasks if t.writes not in apart]
    return [Interval(t.writes, t.size, steps[0], steps[-1]) for t, steps in planned]


@alternative(LIVENESS)
def backwards_and_as_a_tuple(tasks, views, outside):
    last: dict[str, int] = {}
    lives, own = [], {owner(v, views) for v in outside}
    for step in range(len(tasks) - 1, -1, -1):
        name = tasks[step].writes
        for value in (*tasks[step].reads, name):
            last.setdefault(owner(value, views), step)
        if name not in views and name not in own:
            lives.append(Interval(name, np.int64(tasks[step].size), step, last[name]))
    return tuple(lives)


@alternative(LIVENESS)
def one_after_another(tasks, views, outside):
    """A generator that looks ahead for each value."""
    apart = {*views, *(owner(v, views) for v in outside)}
    uses = [{owner(v, views) for v in (task.writes, *task.reads)} for task in tasks]
    for step, task in enumerate(tasks):
        if task.writes not in apart:
            last = max(n for n, used in enumerate(uses) if task.writes in used)
            yield Interval(task.writes, task.size, step, last)


equivalent(LIVENESS, "for value in", "reversed(list(", "task.writes", "(*task.reads, task.writes)",
           "for v in first", "reversed(list(first))", because="the order of the intervals, and of "
           "the names within one task, says nothing")  # fmt: skip


# ── schedule.memory.assign_offsets ──

OFFSETS = "schedule.memory.assign_offsets"

# Any plan in which nothing is overwritten earns something, and a small peak earns more.
for _planner in ("offsets.one_after_another", "planners.first_fit", "planners.best_fit"):
    in_the_library(OFFSETS, f"course_lib.memory.{_planner}",
                   because="a planner that the unit shows, to be beaten")  # fmt: skip


def _placed(intervals, key, beyond=max):
    """Each value above those that are alive together with it, or in a gap between two of them."""
    offsets: dict[str, int] = {}
    placed: list[Interval] = []
    for interval in sorted(intervals, key=key):
        offset = 0
        for other in sorted(placed, key=lambda o: offsets[o.name]):
            if other.overlaps(interval):
                if offsets[other.name] - offset >= interval.size:
                    break
                offset = beyond(offset, offsets[other.name] + other.size)
        offsets[interval.name] = offset
        placed.append(interval)
    return offsets


def _by_size(interval):
    return (-interval.size, interval.first)


def _by_area(interval):
    return -interval.size * (interval.last - interval.first + 1)


def _among(condition):
    """An edit: gaps are looked for between the others that meet the condition alone."""
    return "gaps(interval, order", f"gaps(interval, [o for o in order if {condition}]"


_STEPS = [lambda i: i.first, lambda i: (-i.size, -i.first)]

mutants(
    OFFSETS,
    # What is read last in a step shares bytes with what the step writes.
    the_last_step_is_free=_among("o.first < interval.last and interval.first < o.last"),
    # Looks only at what is alive when the value begins, not at what begins during its life.
    alive_when_it_begins=_among("o.first <= interval.first <= o.last"),
    any_gap_will_do=("size >= interval.size", "size > 0"),
    # A neighbour may lie in the addresses of the one before, and end below it.
    back_to_the_end_of_a_nested_neighbour=lambda all: _placed(all, _by_size, lambda _, end: end),
    the_same_by_area=lambda all: _placed(all, _by_area, lambda _, end: end),
    only_the_big_ones=(
        "return best", "return {i.name: best[i.name] for i in order if i.size > 64}"),
    packed_without_alignment=("return best", "return {name: best[name] + 32 for name in best}"),
    # Correct, and not worth all points.
    its_own_bytes_for_each=library.one_after_another,
    # Believes that every program has a value to place.
    needs_a_value=(
        "order = sorted", "assert max((i.last for i in intervals)) + 1\n    order = sorted"),
)  # fmt: skip
alternatives(
    OFFSETS,
    largest_first=lambda intervals: _placed(intervals, _by_size),
    by_area=lambda intervals: _placed(intervals, _by_area),
    # Correct, for a part of the points.
    in_order_of_time=lambda intervals: {n: np.int64(at) for n, at in first_fit(intervals).items()},
    the_best_of_several=lambda intervals: min(
        [_placed(intervals, key) for key in (_by_size, _by_area, *_STEPS)]
        + [first_fit(intervals), best_fit(intervals)],
        key=lambda plan: arena_size(intervals, plan)),
)  # fmt: skip


@mutant(OFFSETS)
def on_top_of_the_last_placed(intervals):
    """The last neighbour that was placed need not be the highest."""
    offsets, ordered = {}, sorted(intervals, key=_by_size)
    for k, interval in enumerate(ordered):
        ends = [offsets[o.name] + o.size for o in ordered[:k] if o.overlaps(interval)]
        offsets[interval.name] = ends[-1] if ends else 0
    return offsets


@mutant(OFFSETS)
def as_if_sorted_by_first_steps(intervals):
    """A heap: what ended before this value begins is free again, also for those before it."""
    offsets: dict[str, int] = {}
    living: list[Interval] = []
    for interval in intervals:
        living = [other for other in living if other.last >= interval.first]
        offset = 0
        for other in sorted(living, key=lambda o: offsets[o.name]):
            if offsets[other.name] - offset >= interval.size:
                break
            offset = max(offset, offsets[other.name] + other.size)
        offsets[interval.name] = offset
        living.append(interval)
    return offsets


equivalent(OFFSETS, "offsets[", "offsets.setdefault(", because="each value is placed once")
equivalent(OFFSETS, "_ROUNDS = 30", "_ROUNDS = 31", "_ROUNDS = 30", "_ROUNDS = 29",
           "order = sorted(intervals, key=", "order = ", "break", "continue",
           "ends = {i.name: offsets[i.name] + i.size", "ends = {i.name: offsets[i.name]",
           "if size >= interval.size", "if size > interval.size", because="any plan that is sound "
           "and as small earns all points: the text leaves the way free")  # fmt: skip


# ── u04.allocator ──

ALLOCATOR = "u04.allocator"
END = float("inf")
_FREE = "free = _joined(sorted([*free, (offsets[name], -size)]))"
_FIRST = "next((k for k, (_, room) in enumerate(free) if room >= size))"


def _joins_only(condition):
    """An edit: what comes back, at offset `at`, is joined under the condition alone."""
    return ("-size)]))", "-size)]), offsets[name])", "_joined(free: list[tuple[int, float]])",
            "_joined(free, at)", "room == offset", f"room == offset and {condition}")  # fmt: skip


mutants(
    ALLOCATOR,
    joins_nothing=("_joined(sorted(", "(sorted("),
    joins_only_with_what_lies_below=_joins_only("offset == at"),
    joins_only_with_what_lies_above=_joins_only("below == at"),
    takes_the_smallest_block=(
        _FIRST, "min(((room, k) for k, (_, room) in enumerate(free) if room >= size))[1]"),
    # Who asks for a part of a block has the rest of it, too, and gives both back.
    gives_the_whole_block_away=(
        "offsets: dict[str, int] = {}", "offsets, rooms = ({}, {})",
        "offsets[name] = offset",
        "offsets[name], rooms[name] = (offset, size if room > 1e9 else room)",
        "if room > size", "if room > 1e9", "-size)]", "rooms[name])]"),
    wants_more_than_enough=("room >= size", "room > size"),
    never_takes_anything_back=(_FREE, "pass"),
    # Places the largest first: a plan, and no allocator.
    looks_ahead=("in requests", "in sorted(requests, key=lambda item: -item[1])", _FREE, "pass"),
    # The free list as a stack, as small allocators keep it.
    the_block_that_was_freed_last=(
        "in enumerate(free)", "in reversed(list(enumerate(free)))",
        _FREE, "free = [*free, (offsets[name], -size)]"),
)  # fmt: skip


@alternative(ALLOCATOR)
def with_a_dict_of_ends(requests):
    """Free blocks by where they begin."""
    free, offsets = {0: END}, {}
    for name, size in requests:
        if size > 0:
            at = min(begin for begin, room in free.items() if room >= size)
            room = free.pop(at)
            if room > size:
                free[at + size] = room - size
            offsets[name] = np.int64(at)
            continue
        at, size = int(offsets[name]), -size
        size += free.pop(at + size, 0)
        begin = next((b for b, room in free.items() if b + room == at), at)
        free[begin] = free.get(begin, 0) + size
    return offsets


@alternative(ALLOCATOR)
def from_what_is_out(requests):
    """No free list: the gaps between the blocks that are out are the free blocks."""
    out, offsets = [], {}
    for name, size in requests:
        if size <= 0:
            out.remove((offsets[name], offsets[name] - size))
            continue
        at = 0
        for begin, end in out:
            if begin - at >= size:
                break
            at = end
        offsets[name] = at
        bisect.insort(out, (at, at + size))
    return offsets


@alternative(ALLOCATOR)
def in_lines_of_64_bytes(requests):
    """A string of used and free lines, searched for a run."""
    used, offsets = "", {}
    for name, size in requests:
        lines = abs(size) // 64
        start = (used + "." * lines).index("." * lines) if size > 0 else offsets[name] // 64
        offsets[name] = 64 * start
        used = used.ljust(start + lines, ".")
        used = used[:start] + "#."[size < 0] * lines + used[start + lines :]
    return offsets


_REST, _ASKS = "if room > size else []", "if size > 0:"
equivalent(ALLOCATOR, _REST, "if room >= size else []", _REST, "[(offset + size, room - size)]",
           because="an empty block is never large enough, and joins with what it touches"
           )  # fmt: skip
equivalent(ALLOCATOR, _ASKS, "if size >= 0:", _ASKS, "if size > 1:", _ASKS, "if size > -1:",
           because="a size is 64 bytes at least")  # fmt: skip
equivalent(ALLOCATOR, "= offset", "setdefault(", because="no name asks for two blocks")
equivalent(ALLOCATOR, "[*free, (", "[(offsets[name], -size), *free]", because="it is sorted")
