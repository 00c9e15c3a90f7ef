"""The same check again, hidden."""

from autograder.check.framework import hidden
from autograder.units.u98.checks import removes_what_is_dead  # type: ignore[import-not-found]
from autograder.units.u98.exercises import NAMES  # type: ignore[import-not-found]

for name in NAMES:
    hidden(name, seed=980_001)(removes_what_is_dead)
