"""What the loops of the course's models carry: nothing, a reduction, or something else.

    models_table()

Next room: wild.py.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from course_lib.draw.plots.table import table
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Accumulate, Kernel, Loop
from course_lib.ir.loops.walk import loops, nest_of, statements
from course_lib.lower.lower import lower
from course_lib.models import MODELS
from course_lib.models.traced import traced
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT

HEADS = {"nothing": "loops that carry nothing", "a reduction": "loops that carry only a reduction",
         "other": "other loops"}  # fmt: skip


def kernels_of(name: str) -> list[Kernel]:
    """The kernels of a model after all passes, before they are scheduled; equal ones once."""
    program = lower(run_passes(traced(name), DEFAULT))
    kernels = [step.kernel for step in program.steps if step.kernel]
    return list({repr(kernel.body): kernel for kernel in kernels}.values())


def carries(kernel: Kernel, loop: Loop) -> str:
    """ "nothing", "a reduction" or "other": what a loop has to keep in order."""
    dependences = carried(loop, nest_of(kernel.body, loop.var)[:-1])
    sums = {s.buffer for s in statements(loop.body) if isinstance(s, Accumulate)}
    if all(dependence.buffer in sums for dependence in dependences):
        return "a reduction" if dependences else "nothing"
    return "other"


def models_table() -> Any:
    """Of each model, how many loops carry what."""
    rows = []
    for name in MODELS:
        kernels = kernels_of(name)
        counts = Counter(carries(kernel, loop) for kernel in kernels for loop in loops(kernel.body))
        rows.append([name, len(kernels), *(counts[kind] for kind in HEADS)])
    return table(rows, ["model", "different kernels", *HEADS.values()])
