"""A ratio is told if it is farther from 1 than the interval of the true one is wide."""

import pytest

from course_lib.measure.claim import claim, quartiles

STEADY = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ([2.0, 2.02, 1.98, 2.0, 2.04, 2.0], "2"),
        ([0.5, 0.505, 0.495, 0.5, 0.51, 0.5], "0.5"),
        ([1.3, 0.8, 1.2, 0.9, 1.1, 1.1], "not told apart"),  # 10 % in the middle, 30 % of spread
        ([1.2, 1.9, 1.25, 1.2, 1.7, 1.3], "slower, not told by how much"),
        ([0.9, 0.4, 0.85, 0.2, 0.5, 0.6], "faster, not told by how much"),
        (
            [1.01, 1.02, 1.0, 1.01, 1.03, 1.01],
            "not told apart",
        ),  # less than two processes
    ],
)
def test_what_may_be_said_of_two(other, words):
    assert str(claim(STEADY, other)) == words


def test_what_disturbs_both_sides_of_a_round_disturbs_no_ratio():
    noise = [1.0, 3.0, 1.0, 2.0, 1.5, 1.0]
    assert str(claim(noise, [1.2 * x for x in noise])) == "1.2"


def test_fewer_than_six_rounds_tell_nothing():
    found = claim(STEADY[:5], [9.0] * 5)
    assert not found.told and found.low is None and quartiles(STEADY[:5]) == (None, None)
