"""Planners: the exact one is right, and no other one ever beats it."""

from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size, assign_offsets, check_plan, gaps, lower_bound
from course_lib.memory.planners import best_fit, exact, first_fit


def lives(*rows: tuple[int, int, int]) -> list[Interval]:
    """From rows of (size in 64 bytes, first, last)."""
    return [Interval(f"v{k}", 64 * s, a, b) for k, (s, a, b) in enumerate(rows)]


def some_lives(most: int, size: int = 6) -> st.SearchStrategy[list[Interval]]:
    row = st.tuples(st.integers(0, size), st.integers(0, 8), st.integers(0, 4))
    return st.lists(row, max_size=most).map(
        lambda rows: lives(*((s, a, a + n) for s, a, n in rows))
    )


def units(intervals: list[Interval], plan) -> int:
    return arena_size(intervals, plan(intervals)) // 64


def every_order(intervals: list[Interval]) -> int:
    """The smallest arena over all orders of putting values on top of those placed before."""
    found = []
    for order in permutations(intervals):
        ends: dict[Interval, int] = {}
        for value in order:
            below = [end for other, end in ends.items() if other.overlaps(value)]
            ends[value] = max(below, default=0) + value.size
        found.append(max(ends.values(), default=0))
    return min(found)


@given(some_lives(6))
def test_exact_finds_what_trying_every_order_finds(intervals: list[Interval]) -> None:
    offsets = exact(intervals)
    check_plan(intervals, offsets)
    assert arena_size(intervals, offsets) == every_order(intervals)


def any_offsets(intervals: list[Interval], arena: int) -> bool:
    """Is there a plan in `arena` units? All offsets are tried, one value after another."""

    def place(left: list[Interval], taken: set[tuple[int, int]]) -> bool:
        if not left:
            return True
        value, rest = left[0], left[1:]
        for offset in range(arena - value.size // 64 + 1):
            cells = {
                (step, byte)
                for step in range(value.first, value.last + 1)
                for byte in range(offset, offset + value.size // 64)
            }
            if not cells & taken and place(rest, taken | cells):
                return True
        return False

    return place(sorted(intervals, key=lambda i: i.first), set())


@given(some_lives(4, size=3))
def test_exact_finds_what_trying_every_offset_finds(intervals: list[Interval]) -> None:
    best = units(intervals, exact)
    assert any_offsets(intervals, best)
    assert not best or not any_offsets(intervals, best - 1)


@given(some_lives(10))
def test_no_planner_beats_exact_and_none_the_lower_bound(intervals: list[Interval]) -> None:
    least = arena_size(intervals, exact(intervals))
    assert lower_bound(intervals) <= least
    for plan in (first_fit, best_fit, assign_offsets):
        offsets = plan(intervals)
        check_plan(intervals, offsets)
        assert least <= arena_size(intervals, offsets) <= sum(i.size for i in intervals)


def test_the_best_plan_can_be_larger_than_the_lower_bound() -> None:
    """Six units are alive at every one of the seven steps, and no plan has less than seven."""
    nine = lives((1, 0, 0), (3, 0, 3), (3, 1, 1), (1, 2, 4), (2, 2, 5), (2, 4, 4), (1, 4, 5),
                 (3, 5, 6), (3, 6, 6))  # fmt: skip
    assert lower_bound(nine) == 6 * 64
    assert units(nine, exact) == 7
    assert not any_offsets(nine, 6) and any_offsets(nine, 7)


def by_size(intervals: list[Interval]) -> dict[str, int]:
    """One round: largest first, of equal ones who lives first, each into the lowest gap."""
    return in_lowest_gaps(sorted(intervals, key=lambda i: (-i.size, i.first, i.name)))


def in_lowest_gaps(intervals: list[Interval]) -> dict[str, int]:
    offsets: dict[str, int] = {}
    for i in intervals:
        free = gaps(i, intervals, offsets)
        offsets[i.name] = next(at for at, size in free if size >= i.size)
    return offsets


def test_who_ends_on_top_goes_first_in_the_next_round() -> None:
    """By size, the two large values go to the bottom; no unit is free all through v1 and v2."""
    four = lives((2, 0, 0), (1, 0, 1), (1, 1, 2), (2, 2, 2))
    assert units(four, by_size) == 4
    assert units(four, assign_offsets) == units(four, exact) == lower_bound(four) // 64 == 3


# No claim is made about another order of equal sizes: it may be lucky where thirty rounds are not.
FIVE = lives((2, 6, 7), (1, 4, 7), (3, 4, 8), (3, 2, 4), (2, 6, 7))


@given(some_lives(12))
@example(FIVE)
def test_more_rounds_are_never_worse_than_the_first(intervals: list[Interval]) -> None:
    assert units(intervals, assign_offsets) <= units(intervals, by_size)


def test_largest_first_depends_on_which_of_two_equal_values_comes_first() -> None:
    as_given = sorted(FIVE, key=lambda i: -i.size)
    assert units(as_given, in_lowest_gaps) == units(FIVE, exact) == 8
    assert units(FIVE, by_size) == units(FIVE, assign_offsets) == 9


def test_first_fit_and_best_fit_choose_different_gaps() -> None:
    """Gaps of 3 units at the bottom and of 1 higher up, and a value of 1 unit."""
    intervals = lives((3, 0, 1), (1, 0, 4), (1, 0, 1), (1, 0, 4), (1, 2, 4), (3, 3, 4))
    assert first_fit(intervals)["v4"] == 0
    assert best_fit(intervals)["v4"] == 4 * 64
    assert (units(intervals, first_fit), units(intervals, best_fit)) == (9, 6)


def test_exact_says_what_it_needs_when_it_gives_up() -> None:
    nine = lives((1, 0, 0), (3, 0, 3), (3, 1, 1), (1, 2, 4), (2, 2, 5), (2, 4, 4), (1, 4, 5),
                 (3, 5, 6), (3, 6, 6))  # fmt: skip
    with pytest.raises(ValueError, match=r"gave up on 9 values after 100 states; the best .* 448"):
        exact(nine, most=100)


def test_a_plan_that_meets_the_lower_bound_is_found_however_long_the_chain() -> None:
    chain = lives(*((1 + k % 2, k, k + 1) for k in range(80)))
    assert units(chain, exact) == lower_bound(chain) // 64 == 3


def test_nothing_and_values_without_bytes() -> None:
    assert first_fit([]) == best_fit([]) == exact([]) == {}
    empty = lives((0, 0, 3), (0, 1, 1))
    assert first_fit(empty) == best_fit(empty) == exact(empty) == {"v0": 0, "v1": 0}
