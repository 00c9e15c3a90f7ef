"""Calls take turns, warm; by an invented clock, what is reported is exact."""

import itertools

import pytest

from course_lib.measure import turns
from course_lib.measure.duel import faster, ratio
from course_lib.measure.turns import (
    filling,
    for_seconds,
    in_spells,
    in_turns,
    least,
    timer,
    warm_median,
)


class Clock:
    """Time that passes only while a call runs: so many seconds for each run of it."""

    def __init__(self):
        self.now = 0.0
        self.said = []

    def __call__(self) -> float:
        return self.now

    def call(self, name: str, *seconds: float):
        took = itertools.chain(seconds, itertools.repeat(seconds[-1]))

        def run():
            self.said.append(name)
            self.now += next(took)

        return run


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(turns, "perf_counter", made)
    return made


def test_calls_take_turns_after_one_run_that_is_not_counted():
    clock = Clock()
    calls = [clock.call("a", 9, 1, 2), clock.call("b", 9, 4, 3)]
    found = in_turns(calls, rounds=2, clock=clock)
    assert found == [[1, 2], [4, 3]] and least(found) == [1, 3]
    assert "".join(clock.said) == "ab" + "ab" * 2


def test_runs_that_are_timed_together_are_shared_out():
    clock = Clock()
    assert in_turns([clock.call("a", 9, 1, 2, 6)], 1, number=3, clock=clock) == [[3]]


def test_short_calls_get_more_rounds(clock):
    (found,) = in_turns([clock.call("a", 1)], rounds=2, seconds=5, clock=clock)
    assert found == [1] * 5


def test_rounds_are_filled_with_as_many_runs_as_there_is_time_for(clock):
    found = for_seconds([clock.call("a", 1), clock.call("b", 2)], seconds=24, rounds=3, clock=clock)
    assert found == [[1] * 3, [2] * 3]
    assert "".join(clock.said) == "aabb" + ("aaaa" + "bb") * 3
    assert filling(timer(clock.call("c", 5), clock), 2) == 1  # at least one


def test_calls_without_time_take_turns_all_the_same():
    said: list[str] = []
    found = for_seconds([lambda: said.append("a"), lambda: said.append("b")], 0.0, rounds=3)
    assert [len(rounds) for rounds in found] == [3, 3]
    assert "".join(said) == "aabb" + "ab" * 3


def test_in_a_spell_every_run_is_timed_by_itself(clock):
    """2 seconds for each call and round: as many runs as it takes to be beyond them."""
    found = in_spells([clock.call("a", 9, 1, 1.5, 3), clock.call("b", 9, 7)], seconds=4, rounds=2)
    assert found == [[1, 1.5, 3], [7, 7]]
    assert "".join(clock.said) == "ab" + "aab" + "ab"


def test_the_median_is_of_warm_runs():
    runs = []
    assert warm_median(lambda: runs.append(1), 5) >= 0 and len(runs) == 6


def test_a_gain_is_more_than_noise():
    default = [1.0, 1.1, 3.0, 1.0, 1.2]
    assert faster(default, [0.9 * s for s in default])
    assert not faster(default, [0.99 * s for s in default])
    assert not faster(default, [0.5, 1.2, 3.1, 0.5, 1.3])  # sometimes, but not mostly
    assert not faster([1.0], [0.5])  # one round says nothing
    assert ratio(default, [0.5 * s for s in default]) == pytest.approx(2)
