"""The search trees of the hidden layers, recorded like those that everyone sees.

`python -m autograder.units.u09.hidden.landscapes` records them again.
"""

from __future__ import annotations

from pathlib import Path

from course_lib.cost.machine import AVX512
from lessons.u09.landscapes import AVX2, problem_of, record_all

FILE = Path(__file__).with_name("landscapes.json")
PROBLEMS = {
    "128 → 256, 14 × 14, every second": ((128, 256, 14, 3, 2), AVX2),
    "96 → 160, 20 × 20": ((96, 160, 20, 3, 1), AVX2),
    "128 → 128, 28 × 28, AVX-512": ((128, 128, 28, 3, 1), AVX512),
}

if __name__ == "__main__":
    record_all(FILE, {name: problem_of(*what) for name, what in PROBLEMS.items()})
