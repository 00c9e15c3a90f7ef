"""Slots: what is plugged in is what runs; a student's function cannot answer with the library's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from course_lib import exercises
from course_lib.exercises import (
    NotAnswered,
    baselines,
    exercise,
    implements,
    is_stub,
    plugged,
    slot,
    slots,
    unplug,
    using,
)


def same(n: int) -> int:
    return n


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    exercises.unplug()
    yield
    exercises.unplug()
    for name in [name for name in exercises._slots if name.startswith("t.")]:
        del exercises._slots[name]


@pytest.fixture
def double():
    @exercise("t.double", unit=7, points=3, baseline=same)
    def double(n: int) -> int:
        """Twice the number."""
        return 2 * n

    return double


def test_library_runs_what_is_plugged_in(double):
    assert double(4) == 8

    @implements("t.double")
    def mine(n):
        return n + n + 1

    assert double(4) == 9 and mine(4) == 9
    unplug("t.double")
    assert double(4) == 8


def test_stub_leaves_the_slot_and_names_the_library(double):
    @implements("t.double")
    def mine(n: int) -> int:
        """Twice the number."""
        raise NotImplementedError("write your answer here")

    assert not slot("t.double").answered
    assert mine(4) == 8


def test_function_that_can_return_is_no_stub():
    def halfway(n):
        if n:
            raise NotImplementedError
        return n

    def other(n):
        raise ValueError(NotImplementedError)

    assert not is_stub(halfway) and not is_stub(other) and not is_stub(len)


def test_reference_is_masked_while_the_students_function_runs(double):
    implements("t.double")(lambda n: double(n))
    with pytest.raises(RecursionError, match="your own function again"):
        double(1)
    unplug()
    assert double(1) == 2, "the mask is gone afterwards"


class EqualToAll:
    """An answer, to a student who likes objects."""

    def __eq__(self, other):
        return True

    def __call__(self, n):
        return slot("t.double").call(n)


class EqualToNone(EqualToAll):
    def __eq__(self, other):
        raise ValueError("compared")


@pytest.mark.parametrize("answer", [EqualToAll(), EqualToNone()])
def test_an_answer_that_says_it_equals_ours_is_masked_all_the_same(double, answer):
    implements("t.double")(answer)
    with pytest.raises(RecursionError, match="your own function again"):
        double(1)


def test_mask_covers_one_slot_only(double):
    @exercise("t.triple", unit=7, points=1)
    def triple(n):
        return 3 * n

    implements("t.double")(lambda n: triple(n) - n)
    assert double(5) == 10


def test_recursion_by_the_students_own_name(double):
    @implements("t.double")
    def mine(n):
        return 0 if n == 0 else 2 + mine(n - 1)

    assert double(6) == 12


def test_error_in_the_students_function_lifts_the_mask(double):
    implements("t.double")(lambda n: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            double(1)


def test_plugged_and_baselines_are_undone(double):
    with plugged("t.double", lambda n: 0):
        assert double(3) == 0
        with baselines("t.double"):
            assert double(3) == 3
        assert double(3) == 0
    assert double(3) == 6


def test_using_plugs_exactly_these(double):
    implements("t.double")(lambda n: 1)
    with using({}):
        assert double(3) == 6
    assert double(3) == 1


def test_no_baseline_is_said(double):
    @exercise("t.plain", unit=7, points=1)
    def plain():
        return 1

    with pytest.raises(ValueError, match="has no baseline"), baselines("t.plain"):
        pass


def test_slot_knows_its_specification(double):
    entry = slot("t.double")
    assert (entry.doc, entry.points, str(entry.signature)) == (
        "Twice the number.",
        3,
        "(n: 'int') -> 'int'",
    )
    assert entry in slots(unit=7) and entry not in slots(unit=8)


def test_all_slots_are_there_once_they_are_asked_for():
    """In a fresh process, which has imported little."""
    code = "from course_lib.exercises import *; load_all(); print(*(s.name for s in slots()))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert set(result.stdout.split()) == set(exercises.MODULES), result.stderr


def test_slots_of_the_library_are_found_by_name():
    assert slot("passes.dce").reference.__module__ == "course_lib.passes.clean.dce"
    with pytest.raises(ValueError, match=r"no exercise is named 'passes\.nothing'"):
        slot("passes.nothing")


@pytest.mark.parametrize("wrong", [{"kind": "riddle"}])
def test_slot_is_checked_when_it_is_made(wrong):
    with pytest.raises(ValueError, match=r"t\.bad"):
        exercise("t.bad", unit=1, points=1, **wrong)(same)


def test_unanswered_exercise_shows_one_line_in_a_notebook():
    error = NotAnswered("t.double")
    assert isinstance(error, NotImplementedError)
    assert error._render_traceback_() == [str(error)] and "t.double" in str(error)


def test_a_call_costs_one_call_more(double):
    """Through a slot with nothing plugged in: the call-through, and then the function itself."""
    called = []
    sys.setprofile(lambda frame, event, _: event == "call" and called.append(frame.f_code.co_name))
    try:
        double(1)
    finally:
        sys.setprofile(None)
    assert called == ["call", "double"]
