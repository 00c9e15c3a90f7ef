"""Visible check of unit 15: a kernel of Inductor, annotated. Few answers are possible, so only the
grader knows the right ones. Next room: autograder/units/u15/hidden.py.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from autograder.check.framework import Wrong, checks, ours
from autograder.check.shown import returned
from autograder.units.u15.checks import is_number
from lessons.u15.kernels import CPP

CLAIM = "Annotate the kernel after attention, and say how many times h is computed"
WHERE = "the number of the loop and the variable that first hold it"
OFTEN = "how many times one call of the block computes an element of h, in both kernels together"
SUM = "h is the sum of the block's input and of what attention adds to it"
MEAN = "The mean is that of a row of h, the deviation is h minus the mean"
VARIANCE = "the variance is the mean of the squared deviations"
NORMALIZED = "Normalized is the deviation divided by the square root of the variance plus 0.00001"
RESULT = "The result is what the kernel is for: normalized, times a weight, plus a bias"
SAYS = {"mean": MEAN, "deviation": MEAN, "variance": VARIANCE, "normalized": NORMALIZED,
        "result": RESULT}  # fmt: skip
AS_SAID = {name: f"the {name}" for name in SAYS} | {"normalized": "the normalized value"}
KERNEL = CPP["behind attention"]
LOOPS = range(1, 1 + KERNEL.count("// loop"))


@checks("u15.annotated", spec=[CLAIM, WHERE, OFTEN, SUM, *dict.fromkeys(SAYS.values())])
def each_value_has_its_place(annotated):
    """The places have the form that is asked for, and are the right ones."""
    got = annotated()
    if not isinstance(got, (tuple, list)) or len(got) != 2 or not isinstance(got[0], dict):
        raise Wrong("The answer must be a dict of places and a number.", got=returned(got),
                    spec=WHERE)  # fmt: skip
    places, often = got
    if {*places} != {*SAYS}:
        raise Wrong(f"There must be a place for each of {', '.join(SAYS)}.", got=returned(places),
                    spec=WHERE)  # fmt: skip
    for name, place in places.items():
        _is_a_place(place, partial(Wrong, got=f"{name}: {returned(place)}", spec=WHERE))
    if not is_number(often) or often < 1:
        raise Wrong("How many times h is computed is a whole number.", got=returned(often),
                    spec=OFTEN)  # fmt: skip
    right, times = ours("u15.annotated")
    for name, place in places.items():
        if (int(place[0]), place[1]) != right[name]:
            raise Wrong(f"{place[1]} of loop {place[0]} is not the first variable that holds "
                        f"{AS_SAID[name]}, or does not hold it.", program=_loop(int(place[0])),
                        got=f"{name}: {returned(place)}", spec=SAYS[name])  # fmt: skip
    if often != times:
        raise Wrong("This is not how many times h is computed.", got=str(often), spec=OFTEN)


def _loop(number: int) -> str:
    """The lines of one of the kernel's loops."""
    return "// loop" + KERNEL.split("// loop")[number].rstrip()


def _is_a_place(place: Any, wrong: Any) -> None:
    if not isinstance(place, (tuple, list)) or len(place) != 2 or not is_number(place[0]):
        raise wrong("A place must be the number of a loop and a variable.")
    loop, name = place
    if loop not in LOOPS:
        raise wrong(f"The kernel has no loop {loop}.")
    if isinstance(name, str) and "ptr" in name:
        raise wrong(f"{name} is an array. The place must name a variable.")
    if not isinstance(name, str) or not re.search(rf"\b{re.escape(name)} = ", KERNEL):
        raise wrong("No line of the kernel gives this variable a value.")
