"""What makes the recordings of unit 16 that know an answer or the hidden checks."""

from __future__ import annotations

import json

from autograder.units.u16.hidden import OTHER_PROGRAMS
from course_lib.exercises import slot
from course_lib.maker import maker
from lessons.u16 import live, makers


@maker("apache-tvm", "tvm", seconds=5)
def by_tvm() -> dict[str, str]:
    """The block in Relax, a product in LLVM IR and CUDA C, and what our rewrite changes."""
    changed = live.rewritten(slot("u16.attention").reference())
    return {**makers.tvm(), "rewritten": json.dumps(changed)}


@maker("iree-base-compiler", "iree", seconds=15)
def by_iree() -> dict[str, str]:
    """What IREE makes of the programs of the hidden check."""
    return {"programs": makers.asked(OTHER_PROGRAMS)}
