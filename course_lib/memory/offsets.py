"""Offsets: at which address of one block of memory, the arena, each value lives.

    step     0    1    2                 offset
    a        |====|                      0      a is written by step 0, read last by step 1
    b             |====|                 64     alive together with a: another address
    c                  |===              0      a is dead: its bytes are free again

Next room: `planners.py`, other ways to choose the addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.exercises import exercise
from course_lib.memory.liveness import ALIGNMENT, Interval


def one_after_another(intervals: Sequence[Interval]) -> dict[str, int]:
    """The baseline: every value has bytes of its own."""
    offsets, end = {}, 0
    for interval in intervals:
        offsets[interval.name] = end
        end += interval.size
    return offsets


_ROUNDS = 30


@exercise(
    "schedule.memory.assign_offsets", unit=4, points=4, kind="budget", baseline=one_after_another
)
def assign_offsets(intervals: Sequence[Interval]) -> dict[str, int]:
    """Choose an offset in bytes for every interval, so that the arena is small.

    intervals  lives of values in any order, perhaps none; `size` in bytes is a multiple of 64
    returns    {name: offset}; every offset is at least 0 and a multiple of 64, and no two values
               that are alive together share a byte

    The order in which values are placed decides how small the arena gets. Large ones first is a
    good order: small ones fit into the gaps that large ones leave (Pisarchyk and Lee, "Efficient
    Memory Management for Deep Neural Net Inference", 2020; TensorFlow Lite plans this way). No
    single rule for the order is best everywhere.

    >>> one = [Interval("a", 64, 0, 1), Interval("b", 128, 1, 2), Interval("c", 64, 2, 3)]
    >>> offsets = assign_offsets(one)
    >>> arena_size(one, offsets), lower_bound(one)
    (192, 192)
    """
    order = sorted(intervals, key=lambda i: (-i.size, i.first, i.name))
    best = offsets = _lowest_gaps(order)
    for _ in range(_ROUNDS):
        if arena_size(order, best) == lower_bound(order):
            break
        ends = {i.name: offsets[i.name] + i.size for i in order}
        highest = max(order, key=lambda i: ends[i.name])  # hard to place: it goes first
        order = [highest, *(i for i in order if i is not highest)]
        offsets = _lowest_gaps(order)
        best = min(best, offsets, key=lambda plan: arena_size(intervals, plan))
    return best


def _lowest_gaps(order: Sequence[Interval]) -> dict[str, int]:
    """One value after another, each in the lowest gap that is large enough."""
    offsets: dict[str, int] = {}
    for interval in order:
        free = gaps(interval, order, offsets)
        offsets[interval.name] = next(at for at, size in free if size >= interval.size)
    return offsets


def gaps(
    interval: Interval, intervals: Sequence[Interval], offsets: Mapping[str, int]
) -> list[tuple[int, float]]:
    """(offset, size) of what is free all through a life, upward. The last gap has no end.

    Free is what no value of `intervals` takes that is alive together with `interval` and has an
    offset already. No gap is empty; the last one has the size `inf`.
    """
    free: list[tuple[int, float]] = []
    end = 0
    placed = [i for i in intervals if i.name in offsets and i.overlaps(interval)]
    for other in sorted(placed, key=lambda i: offsets[i.name]):
        if offsets[other.name] > end:
            free.append((end, offsets[other.name] - end))
        end = max(end, offsets[other.name] + other.size)
    return [*free, (end, float("inf"))]


def arena_size(intervals: Sequence[Interval], offsets: Mapping[str, int]) -> int:
    """Bytes from offset 0 to the end of the value that lies highest."""
    return max((offsets[i.name] + i.size for i in intervals), default=0)


def lower_bound(intervals: Sequence[Interval]) -> int:
    """No plan can be smaller than the bytes alive together at the busiest step."""
    steps = {i.first for i in intervals}
    return max((sum(i.size for i in intervals if i.first <= s <= i.last) for s in steps), default=0)


def check_plan(intervals: Sequence[Interval], offsets: Mapping[str, int]) -> None:
    """Raise ValueError if a value has no proper address or two living values share a byte."""
    for interval in intervals:
        offset = offsets.get(interval.name)
        whole = hasattr(offset, "__index__")  # an int of Python or numpy
        if offset is None or not whole or offset < 0 or offset % ALIGNMENT:
            raise ValueError(
                f"memory plan: {interval.name} needs an offset >= 0 that is a multiple of "
                f"{ALIGNMENT}, got {offset!r}"
            )
    by_start = sorted(intervals, key=lambda i: i.first)
    for position, a in enumerate(by_start):
        for b in by_start[position + 1 :]:
            if b.first > a.last:
                break
            start = max(offsets[a.name], offsets[b.name])
            if start < min(offsets[a.name] + a.size, offsets[b.name] + b.size):
                raise ValueError(
                    f"memory plan: {a.name} and {b.name} are both alive at step {b.first} and "
                    f"share bytes (offsets {offsets[a.name]} and {offsets[b.name]})"
                )
