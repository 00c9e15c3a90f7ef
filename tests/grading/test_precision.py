"""A number's text says how exact it must be, and the checks keep to it."""

from __future__ import annotations

import pytest

from autograder.check.framework import Wrong
from autograder.check.properties import number
from autograder.soundness.precision import bounds, precision_problems
from course_lib.exercises import slot


@pytest.mark.parametrize(
    "text, problems",
    [
        ("How many bytes? Right within 2 %.", []),
        ("How many bytes, to two digits?", []),
        ("How many bytes does it read?", ["does not say how exact"]),
        (
            "How many bytes? Right within 0.1 %.",
            ["24.036 where 24 is right is accepted", "23.964 where"],
        ),
        (
            "How many bytes? Right within 10 %.",
            ["26.28 where 24 is right is refused", "21.72 where"],
        ),
    ],
)
def test_the_text_of_a_number_says_how_exact_it_must_be_and_says_the_truth(
    text, problems, monkeypatch
):
    entry = slot("u99.bytes")  # checked within 2 %
    monkeypatch.setattr(entry.reference, "__doc__", text)
    found = precision_problems(entry)
    assert len(found) == len(problems)
    assert all(words in said for words, said in zip(problems, found, strict=True))


def test_only_numbers_are_asked_and_only_single_ones_tried():
    assert precision_problems(slot("u99.sweep")) == []
    assert precision_problems(slot("u04.lines")) == [], "a dict of three"


def test_a_number_that_depends_on_a_program_is_tried_on_the_programs_of_its_checks(monkeypatch):
    entry = slot("u99.live")
    assert precision_problems(entry) == []
    monkeypatch.setattr(entry.reference, "__doc__", "How many operations? Within 50 %.")
    found = precision_problems(entry)
    assert len(found) == 2 and all("is refused" in said for said in found)


def test_what_is_near_enough():
    assert bounds("to three digits", 54.713) == ([54.7, 54.7], [55.7, 53.7])
    assert bounds("Exactly.", 12) == ([12, 12], [13, 11])
    assert bounds("to two digits", 0)[0] == [0, 0]
    near, far = bounds("right within 10 %", 100)
    assert near == pytest.approx([109.5, 90.5]) and far == pytest.approx([115, 85])


@pytest.mark.parametrize("rtol, said", [(0.02, "within 2 %"), (0.005, "within 0.5 %")])
def test_a_wrong_number_is_told_how_exact_it_must_be(rtol, said):
    with pytest.raises(Wrong, match=f"right {said}: 7 MB is too small"):
        number(7, 24, unit="MB", rtol=rtol)
    with pytest.raises(Wrong, match="right exactly: 25 MB is too large"):
        number(25, 24, unit="MB", rtol=0)
