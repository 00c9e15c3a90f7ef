"""Hidden checks of the lab beside unit 15: other texts, drawn for the run and written by Inductor.

`cpp.txt` has kernels of other functions, and `triton.txt` the block for 64 sentences. Next room:
autograder/units/u15_lab_block/mutants.py.
"""

from __future__ import annotations

import re

from autograder.check.framework import Wrong, harder, hidden
from autograder.units.u15_lab_block.checks import drawn, same_rows
from autograder.units.u15_lab_block.checks.launches import ARE, HELD, LIST, MOVED, NAMED, ROWS
from autograder.units.u15_lab_block.checks.loops import as_it_must
from autograder.units.u15_lab_block.checks.loops import drawn as drawn_kernels
from autograder.units.u15_lab_block.checks.tile import drawn as drawn_launches
from course_lib.exercises import slot
from course_lib.recorded import recorded
from lessons.u15_lab_block.text import code_of

SEED = 151_715
BY_INDUCTOR, BY_GPU = recorded(__file__, "cpp.txt"), recorded(__file__, "triton.txt")
TEXTS = [*BY_INDUCTOR.texts.values(), *BY_GPU.texts.values()]

harder("u15_lab_block.launched", "launches_of_texts", seed=SEED, given=drawn(12), examples=80)
harder("u15_lab_block.moved", "bytes_of_texts", seed=SEED, given=drawn(12), examples=120)
harder("u15_lab_block.loops", "loops_of_kernels", seed=SEED, given=drawn_kernels(5), examples=150)
harder("u15_lab_block.tile", "tiles_of_kernels", seed=SEED, given=drawn_launches(), examples=300)


@hidden("u15_lab_block.launched", seed=SEED, spec=LIST)
def launches_of_others(launched):
    """Functions that are not in the notebook."""
    for text in TEXTS:
        due = slot("u15_lab_block.launched").reference(text)
        same_rows(launched(text), due, text, NAMED, HELD)


@hidden("u15_lab_block.moved", seed=SEED, spec=ROWS)
def bytes_of_others(moved):
    """Functions that are not in the notebook."""
    for text in TEXTS:
        due = slot("u15_lab_block.moved").reference(text)
        same_rows(moved(text), due, text, ARE, MOVED)


@hidden("u15_lab_block.loops", seed=SEED)
def loops_of_others(loops):
    """Kernels of functions that are not in the notebook."""
    seen = 0
    for text in BY_INDUCTOR.texts.values():
        for kernel in re.findall(r"^(\w+) = async_compile", text, re.M):
            code = code_of(text, kernel)
            as_it_must(loops, code, slot("u15_lab_block.loops").reference(code))
            seen += 1
    if seen < 10:
        raise Wrong("Too few kernels are recorded.")
    return f"{seen} kernels"
