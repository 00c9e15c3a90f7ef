"""What the checks of unit 9 say: a broken rule is a wrong answer, and verdicts show their call."""

from __future__ import annotations

import math

import pytest

from autograder.check.exemplars import mutants_of
from autograder.check.feedback import as_html
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.check.verdict import Verdict, as_text
from course_lib import exercises
from course_lib.exercises import plugged, slot


def verdict(name, answer, hidden=False) -> Verdict:
    with plugged(name, answer):
        call = Here(slot(name))
        with exercises.using({}):
            return judge(name, call, with_hidden=hidden)


def a_beam_that_prices_whenever_it_sorts(start, successors, price, width, depth):
    front, best = [start], start
    for _ in range(depth):
        front = sorted((new for state in front for new in successors(state)), key=price)[:width]
        best = min([best, *front], key=price)
    return best


def test_a_state_that_is_priced_twice_is_shown_with_its_tree():
    found = verdict("schedule.beam_search", a_beam_that_prices_whenever_it_sorts)
    assert (found.kind, found.problem) == ("wrong", "State 1 is priced twice.")
    assert "0 (9) -> 1 (4), 2 (5)" in found.program and "priced twice" in found.spec


def test_a_start_that_cannot_be_run_is_shown_with_its_price():
    stops = mutants_of("schedule.beam_search")["the_start_goes_on_only_if_it_is_finite"]
    found = verdict("schedule.beam_search", stops)
    assert found.problem == "The start must go on." and "0 (inf) -> 1 (2)" in found.program


def test_an_error_in_the_answer_is_shown_with_the_tree():
    found = verdict("schedule.beam_search", lambda start, *_: start / 0)
    assert found.kind == "crashed" and "beam_search(0, successors, price, 2, 2)" in found.program
    assert "0 (9) -> 1 (4), 2 (5)" in found.program


@pytest.mark.parametrize("caught", [False, True])
def test_a_price_too_many_is_a_wrong_answer_even_if_the_error_is_caught(caught):
    def search(successors, price, budget):
        costs = {}
        for state in successors(()):
            try:
                costs[state] = price(state)
            except Exception:
                if not caught:
                    raise
        return min(costs, key=costs.__getitem__)

    found = verdict("u09.search", search)
    assert (found.kind, found.problem) == ("wrong", "`price` is called more than 16 times.")
    assert found.program == "search(successors, price, 16) on 64 → 64, 56 × 56"


def test_a_second_price_of_one_is_told_in_words():
    def priced_twice(successors, price, budget):
        return min(successors(())[: max(budget, 2)], key=price)

    assert verdict("u09.search", priced_twice).problem == "`price` is called more than once."


def test_an_answer_without_points_is_not_simply_passed():
    found = verdict("u09.search", lambda successors, price, budget: () if price(()) else None)
    assert as_text(found).startswith("u09.search: works, but earns nothing yet (0 of 4 points)")
    assert 'class="verdict open"' in as_html(found)
    half = verdict("u09.search", mutants_of("u09.search")["the_first_tiles_of_the_list"])
    assert "works, but does not earn all points yet" in as_text(half)
    full = verdict("u09.search", slot("u09.search").reference)
    assert as_text(full).startswith("u09.search: passed (4 of 4 points)")


@pytest.mark.parametrize("price", [math.inf, math.nan, 0, "3"])
def test_a_trap_with_a_price_that_is_none_is_named(price):
    found = verdict("u09.trap", lambda width: ({"start": ["a"]}, {"start": 1, "a": price}))
    assert found.problem == "The price of 'a' is not a positive, finite number."
    assert (found.program, found.got) == ("trap(1)", repr(price))


TREE = {"start": ["a"]}, {"start": 1, "a": 1}


@pytest.mark.parametrize(
    ("more", "prices", "problem"),
    [
        ({}, {"b": 0.1}, "'b' is the successor of 0 states."),
        ({"b": ["c"], "c": ["b"]}, {"b": 1, "c": 1},
         "'b' is the successor of a state, and no way leads to it from the start."),
        ({"a": ["start"]}, {}, "'start' is the successor of a state."),
        ({"a": ["a"]}, {}, "'a' is the successor of 2 states."),
    ],
)  # fmt: skip
def test_a_trap_that_is_no_tree_is_told_which_state_is_to_blame(more, prices, problem):
    tree, costs = TREE
    found = verdict("u09.trap", lambda width: ({**tree, **more}, {**costs, **prices}))
    assert (found.problem, found.program) == (problem, "trap(1)")
    assert found.spec.startswith("Every other state is the successor of exactly one state")


def test_ways_are_counted_exactly_beyond_64_bits():
    floats, exact = mutants_of("u09.space")["in_floats"], slot("u09.space").reference
    assert exact((512, 256) * 6, 3) == (55 * 45) ** 6 > 1 << 64
    assert verdict("u09.space", floats).problem == "The number of ways is not right."


def test_a_call_of_enough_is_shown_by_name():
    found = verdict("u09.enough", lambda predicted, measured, within: predicted.sort())
    assert found.program.startswith("enough([")
    found = verdict("u09.enough", lambda predicted, measured, within: predicted[99])
    assert found.kind == "crashed" and found.program.startswith("enough([")


def test_loops_that_are_added_are_told_that_each_is_split_independently():
    added = mutants_of("u09.space")["the_ways_are_added"]
    assert "independently" in verdict("u09.space", added).spec


def test_a_schedule_that_nothing_lists_quotes_the_rule():
    own = ("tile: split(o1, 999)", "inner: unroll(k1)")
    found = verdict("u09.search", lambda successors, price, budget: price(own))
    assert found.problem.rstrip(".") == found.spec.rstrip(".") and repr(own) == found.got


def test_equal_predictions_in_another_order_are_told_so():
    def by_the_clock(predicted, measured, within):
        pairs = sorted(zip(predicted, measured, strict=True))
        return next(k for k, (_, s) in enumerate(pairs, 1) if s <= (1 + within) * min(measured))

    assert "equal ones keep the order of the list" in verdict("u09.enough", by_the_clock).spec
