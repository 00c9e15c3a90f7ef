"""The search trees of the hidden layers, recorded like those that everyone sees.

`python -m course_lib record hidden/landscapes` makes them again.
"""

from __future__ import annotations

from course_lib.cost.machine import AVX512
from course_lib.maker import maker
from lessons.u09.landscapes import AVX2, problem_of
from lessons.u09.makers import texts_of

PROBLEMS = {
    "128 → 256, 14 × 14, every second": ((128, 256, 14, 3, 2), AVX2),
    "96 → 160, 20 × 20": ((96, 160, 20, 3, 1), AVX2),
    "128 → 128, 28 × 28, AVX-512": ((128, 128, 28, 3, 1), AVX512),
}


@maker("course-lib", "course_lib", seconds=300)
def trees() -> dict[str, str]:
    return texts_of({name: problem_of(*what) for name, what in PROBLEMS.items()})
