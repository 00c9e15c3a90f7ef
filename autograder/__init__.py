"""Checks, verdicts, release and grading.

    from autograder import check, compare, hint, implements, predict     # first cell of a notebook

In a student's edition this package holds the visible checks of the units and what runs them
(check/, wire/, notebook.py); the grader, the hidden checks and the solutions stay with the teacher.

Next room: notebook.py, what these functions do; docs/authoring.md, how an exercise is written.
"""

import sys

from course_lib import exercises
from course_lib.exercises import implements, plugged, unplug

# Exercises that are no function of the library live here, with the same decorator.
exercises.homes["u"] = "autograder.units.{unit}.exercises"

from autograder.check.hints import hint  # noqa: E402
from autograder.mine import use_my  # noqa: E402
from autograder.notebook import check, compare, load_ipython_extension, predict  # noqa: E402
from autograder.progress.clock import hand_in_minutes, measure_minutes  # noqa: E402
from autograder.progress.costs import your_compiler  # noqa: E402
from autograder.progress.page import dashboard  # noqa: E402

__all__ = [
    "check", "compare", "dashboard", "hand_in_minutes", "hint", "implements", "measure_minutes",
    "plugged", "predict", "unplug", "use_my", "your_compiler",
]  # fmt: skip


def _in_notebook() -> None:
    """Inside IPython: make `%%needs` known, and how a verdict looks."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None:
        load_ipython_extension(shell)


_in_notebook()
