"""Hidden checks of the lab beside unit 15: other texts, drawn for the run and written by Inductor.

`cpp.txt` has kernels of other functions, and `triton.txt` the block for 64 sentences. Next room:
autograder/units/u15_lab_block/mutants.py.
"""

from __future__ import annotations

import re

from autograder.check.framework import harder, hidden
from autograder.units.u15_lab_block.checks import NAME, SAY, drawn, same_rows
from autograder.units.u15_lab_block.checks.loops import as_it_must
from autograder.units.u15_lab_block.checks.loops import drawn as drawn_kernels
from autograder.units.u15_lab_block.checks.tile import drawn as drawn_launches
from course_lib.exercises import slot
from course_lib.recorded import recorded
from lessons.u15_lab_block.text import code_of

SEED = 151_715
BY_INDUCTOR, BY_GPU = recorded(__file__, "cpp.txt"), recorded(__file__, "triton.txt")

harder(NAME, "launches_of_texts", seed=SEED, given=drawn(12), examples=150)
harder("u15_lab_block.loops", "loops_of_kernels", seed=SEED, given=drawn_kernels(5), examples=150)
harder("u15_lab_block.tile", "tiles_of_kernels", seed=SEED, given=drawn_launches(), examples=300)


@hidden(NAME, seed=SEED, spec=SAY)
def launches_of_others(launched):
    """Functions that are not in the notebook."""
    for text in [*BY_INDUCTOR.texts.values(), *BY_GPU.texts.values()]:
        same_rows(launched(text), slot(NAME).reference(text), text)


@hidden("u15_lab_block.loops", seed=SEED)
def loops_of_others(loops):
    """Kernels of functions that are not in the notebook."""
    for text in BY_INDUCTOR.texts.values():
        for kernel in re.findall(r"^(\w+) = async_compile", text, re.M):
            code = code_of(text, kernel)
            as_it_must(loops, code, slot("u15_lab_block.loops").reference(code))
