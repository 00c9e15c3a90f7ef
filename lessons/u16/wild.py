"""The block in four compilers, run here or recorded."""

from __future__ import annotations

from functools import cache

from course_lib.recorded import recorded
from lessons.u16.relax import as_function

BY_TVM = recorded(__file__, "tvm.txt")


@cache
def block_text() -> str:
    """The block in Relax as a function of the room `R`."""
    return as_function(BY_TVM["relax"])
