"""Hidden checks of the example unit."""

from autograder.check.framework import harder, hidden
from autograder.check.programs import graphs
from autograder.check.properties import number
from course_lib import exercises

SEED = 990_001

harder("u99.sweep", "keeps_the_meaning", seed=SEED, given=graphs(size=15), examples=60)
harder("u99.live", "counts_what_an_output_needs", seed=SEED, given=graphs(size=15))


@hidden("u99.bytes", seed=SEED)
def is_the_right_number(bytes_read):
    """The bytes of six f32."""
    number(bytes_read(), exercises.slot("u99.bytes").reference(), unit="bytes")
