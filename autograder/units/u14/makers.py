"""What makes the recording of unit 14 that knows an answer: TVM, with our rows too."""

from __future__ import annotations

from course_lib.exercises import slot
from course_lib.maker import maker
from lessons.u14 import makers, wild


@maker("apache-tvm", "tvm", seconds=5)
def by_tvm() -> dict[str, str]:
    """Three programs divided, one with the rows of the exercise, and the block's report."""
    rows = slot("u14.rows").reference()
    return {**{name: wild.divided(name) for name in wild.DIVIDED},
            "layer, with our rows": wild.divided_with(rows),
            "report": makers.by_tvms_door()}  # fmt: skip
