"""Hidden checks of the example lab."""

from autograder.check.framework import harder, hidden
from autograder.check.programs import graphs
from autograder.check.properties import number
from course_lib import exercises

SEED = 990_002

harder("u99_lab_small.counts", "counts_each_operation", seed=SEED, given=graphs(size=15))


@hidden("u99_lab_small.twice", seed=SEED)
def is_the_right_number(twice):
    """Two negations."""
    ours = exercises.slot("u99_lab_small.twice").reference()
    number(twice(), ours, unit="operations", rtol=0)
