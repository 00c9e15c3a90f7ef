"""Other ways to choose offsets: two that decide step by step, and an exact one for small cases.

    first_fit(intervals)    in order of first steps, each at the lowest address that is free
    best_fit(intervals)     the same, each in the smallest gap that is large enough
    exact(intervals)        the smallest arena there is; the judge of the others

All take lives and return {name: offset}, like `memory.assign_offsets`. Choosing offsets so that the
arena is as small as possible is NP-hard ("dynamic storage allocation", problem SR2 of Garey and
Johnson, "Computers and Intractability", 1979). Next room: `order.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size, gaps, lower_bound

MOST_STATES = 20_000  # that `exact` looks at before it gives up


def first_fit(intervals: Sequence[Interval]) -> dict[str, int]:
    """In order of first steps: the lowest gap that is large enough.

    It decides without knowing what comes later, as `malloc` has to.
    """
    offsets: dict[str, int] = {}
    for interval in sorted(intervals, key=lambda i: i.first):
        *inner, (top, _) = gaps(interval, intervals, offsets)
        fitting = [offset for offset, size in inner if size >= interval.size]
        offsets[interval.name] = min(fitting, default=top)
    return offsets


def best_fit(intervals: Sequence[Interval]) -> dict[str, int]:
    """In order of first steps: the smallest gap that is large enough, else on top of all."""
    offsets: dict[str, int] = {}
    for interval in sorted(intervals, key=lambda i: i.first):
        *inner, (top, _) = gaps(interval, intervals, offsets)
        fitting = [(size, offset) for offset, size in inner if size >= interval.size]
        offsets[interval.name] = min(fitting, default=(0, top))[1]
    return offsets


def exact(intervals: Sequence[Interval], most: int = MOST_STATES) -> dict[str, int]:
    """Offsets with the smallest arena that is possible, by branch and bound.

    Some best plan places every value on top of all values placed before it that are alive together
    with it, in an order in which offsets never fall: take any best plan, go through it upward, and
    let each value sink until it lands on another. So it is enough to try orders. A branch ends when
    what must still be placed cannot beat the best plan known; the search ends when that plan meets
    the lower bound.

    Raises ValueError after `most` states. Ten values are few enough as a rule, and hundreds are
    where a simple planner meets the lower bound at once.
    """
    search = _Search(intervals, most)
    search.place([i for i in intervals if i.size], {step: 0 for step in search.steps}, {}, 0)
    return {i.name: search.best.get(i.name, 0) for i in intervals}


class _Search:
    """The best plan so far, and how many states were looked at."""

    def __init__(self, intervals: Sequence[Interval], most: int) -> None:
        self.steps = sorted({i.first for i in intervals})  # at others, no more is alive than there
        self.intervals, self.bound, self.most = intervals, lower_bound(intervals), most
        plans = [first_fit(intervals), best_fit(intervals)]
        self.best = min(plans, key=lambda plan: arena_size(intervals, plan))
        self.size = arena_size(intervals, self.best)
        self.states = 0

    def place(
        self, left: list[Interval], top: dict[int, int], offsets: dict[str, int], floor: int
    ) -> None:
        """Try every value of `left` as the next one. `top` is where free memory begins by step."""
        if not left and max(top.values(), default=0) < self.size:
            self.best, self.size = offsets, max(top.values())
        if self.size == self.bound or self.least(left, top, floor) >= self.size:
            return
        self.states += 1
        if self.states > self.most:
            raise ValueError(
                f"exact: gave up on {len(self.intervals)} values after {self.most:,} states; the "
                f"best plan so far has {self.size:,} bytes, the lower bound is {self.bound:,}. "
                "Give it fewer values, or a larger `most`."
            )
        for offset, value in self.candidates(left, top):
            if offset >= floor:
                rest = [other for other in left if other is not value]
                above = {**top, **dict.fromkeys(self.life(value), offset + value.size)}
                self.place(rest, above, {**offsets, value.name: offset}, offset)

    def candidates(self, left: list[Interval], top: dict[int, int]) -> list[tuple[int, Interval]]:
        """What could be placed next, the lowest and largest first. Of equal lives one is enough."""
        places: dict[tuple[int, int, int, int], Interval] = {}
        for value in left:
            offset = max(top[step] for step in self.life(value))
            places.setdefault((offset, -value.size, value.first, value.last), value)
        return [(key[0], places[key]) for key in sorted(places)]

    def life(self, value: Interval) -> list[int]:
        return [step for step in self.steps if value.first <= step <= value.last]

    def least(self, left: list[Interval], top: dict[int, int], floor: int) -> int:
        """No plan that goes on from here is smaller: at each step, all that is left goes on top."""
        waiting = dict.fromkeys(self.steps, 0)
        for value in left:
            for step in self.life(value):
                waiting[step] += value.size
        ends = (max(top[s], floor) + waiting[s] if waiting[s] else top[s] for s in self.steps)
        return max(ends, default=0)
