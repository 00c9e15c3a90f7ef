"""Why a layer stays away from its roofline: the exercise that is answered in words.

Next room: autograder/units/u13/checks/__init__.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u13.limits", unit=13, points=2, kind="explain")
def limits() -> Rubric:
    """By the table above, `depthwise` takes more than twice its roofline and `expand` 1.4 times,
    with the best tiles that our search finds. For each of the two, say which engine limits it and
    why that engine needs so many clocks, from the layer's shape. Then say for each what would have
    to change in the machine: a number in `Chip`, or another wire or unit. Say why no other tile
    would help. Write four to six sentences.
    """
    return Rubric(
        criteria="TODO",
        samples=(Sample(2, "a"), Sample(1, "b"), Sample(0, "c")),
    )
