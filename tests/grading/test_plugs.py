"""What is plugged in while an exercise is checked, and an answer in its place in the compiler."""

from collections.abc import Iterator

import pytest

from autograder.check.plugs import in_the_compiler, plugs_for
from course_lib import exercises
from course_lib.exercises import exercise, implements, slot


def same(n: int) -> int:
    return n


@pytest.fixture(autouse=True)
def four() -> Iterator[None]:
    """One that is on its own, one without a stand-in, and one that another one uses."""
    exercises.unplug()
    exercise("t.double", unit=7, points=1, baseline=same)(lambda n: 2 * n)
    exercise("t.plain", unit=7, points=1)(lambda: 1)
    exercise("t.half", unit=7, points=1, baseline=same)(lambda n: n // 2)
    exercise("t.zero", unit=7, points=1, baseline=same, uses=("t.half",))(lambda n: n - n)
    yield
    exercises.unplug()
    for name in ("t.double", "t.plain", "t.half", "t.zero"):
        del exercises._slots[name]


def test_what_stays_plugged_in_while_one_exercise_is_checked():
    for name in ("t.double", "t.plain", "t.half", "t.zero"):
        implements(name)(lambda *n: 0)
    assert set(plugs_for("t.double")) == {"t.double", "t.plain"}
    assert set(plugs_for("t.zero")) == {"t.zero", "t.plain", "t.half"}
    given = {"t.half": same, "t.double": same}
    assert plugs_for("t.zero", given) == {"t.half": same}


def test_in_the_compiler_an_answer_may_be_called_while_it_runs_elsewhere():
    """What an answer is given by the library may call the library, too: that is ours then."""
    with in_the_compiler("t.double", lambda n: slot("t.double").call(n) + 1):
        assert slot("t.double").call(3) == 7
    assert slot("t.double").call(3) == 6
