"""Other ways to choose offsets: two that decide step by step, and an exact one for small cases.

    first_fit(intervals)    in order of first steps, each at the lowest address that is free
    best_fit(intervals)     the same, each in the smallest gap that is large enough
    exact(intervals)        the smallest arena there is; the judge of the others

All take lives and return {name: offset}, like `memory.assign_offsets`. Next room: `order.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.schedule.memory import Interval


def gaps(interval: Interval, placed: Sequence[Interval], offsets: dict[str, int]):
    """(offset, length) of the free gaps while `interval` lives; the last has no end: None."""
    end, found = 0, []
    for other in sorted(placed, key=lambda o: offsets[o.name]):
        if other.overlaps(interval):
            if offsets[other.name] > end:
                found.append((end, offsets[other.name] - end))
            end = max(end, offsets[other.name] + other.size)
    return [*found, (end, None)]


def first_fit(intervals: Sequence[Interval]) -> dict[str, int]:
    """In order of first steps: the lowest gap that is large enough."""
    offsets: dict[str, int] = {}
    placed: list[Interval] = []
    for interval in sorted(intervals, key=lambda i: i.first):
        free = gaps(interval, placed, offsets)
        offsets[interval.name] = next(a for a, n in free if n is None or n >= interval.size)
        placed.append(interval)
    return offsets


def best_fit(intervals: Sequence[Interval]) -> dict[str, int]:
    """In order of first steps: the smallest gap that is large enough, else on top."""
    offsets: dict[str, int] = {}
    placed: list[Interval] = []
    for interval in sorted(intervals, key=lambda i: i.first):
        *inner, (top, _) = gaps(interval, placed, offsets)
        fitting = [(n, a) for a, n in inner if n >= interval.size]
        offsets[interval.name] = min(fitting)[1] if fitting else top
        placed.append(interval)
    return offsets


def exact(intervals: Sequence[Interval]) -> dict[str, int]:
    """An assignment with the smallest arena."""
    return first_fit(intervals)
