"""Visible check of u16.paths: the table of hardware and compilers.

Few answers are possible to each cell, so only the grader knows the right ones. Next room: texts.py.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.framework import Wrong, checks, ours
from autograder.check.shown import returned
from lessons.u16.hardware import COMPILERS, DEVICES, FACTS

FILL = "Fill in the table of hardware and compilers from the facts above"
EACH = "for each of DEVICES, the compilers that have a way to it"
NUMBER = "each with the number of the fact that says so"
WAY = "A way means that this compiler makes code for this device"
FOUR = "Only XLA, IREE, TVM and Triton count, not compilers of the maker"
OTHER = "A device of the same maker, or one with a similar name, is another device"
LATER = "Something under development is not a way"
EMPTY = "A device to which none of the four has a way gets an empty dict"


@checks("u16.paths", spec=[FILL, EACH, NUMBER, WAY, FOUR, OTHER, LATER, EMPTY])
def each_cell(paths):
    """Each cell has the form that is asked for, and the right fact."""
    got = paths()
    if not isinstance(got, dict) or not all(isinstance(row, dict) for row in got.values()):
        raise Wrong("The answer must be a dict of dicts.", got=returned(got), spec=EACH)
    for name in DEVICES:
        if name not in got:
            raise Wrong(f"The row {name!r} is missing.", got=", ".join(map(str, got)), spec=EMPTY)
    for name, row in got.items():
        wrong = partial(Wrong, program=f"{name}: {returned(row)}")
        if name not in DEVICES:
            raise wrong(f"There is no row {name!r}.", expected=", ".join(DEVICES), spec=EACH)
        for compiler, number in row.items():
            if compiler not in COMPILERS:
                raise wrong(f"{compiler} is none of the four compilers.", spec=FOUR)
            whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
            if not whole or not 1 <= number <= len(FACTS):
                raise wrong(f"A fact has a number from 1 to {len(FACTS)}.", got=returned(number),
                            spec=NUMBER)  # fmt: skip
    due = ours("u16.paths")
    for name in DEVICES:
        wrong = partial(Wrong, program=f"{name}: {returned(got[name])}")
        for compiler in COMPILERS:
            have, want = got[name].get(compiler), due[name].get(compiler)
            if have is not None and want is None:
                raise wrong(f"Fact {have} names no way from {compiler} to this device.",
                            got=FACTS[have - 1].words, spec=WAY)  # fmt: skip
            if have is None and want is not None:
                raise wrong(f"There is a way from {compiler} to this device.", spec=EACH)
            if have is not None and have != want:
                raise wrong(f"Fact {have} does not say that {compiler} has a way to this device.",
                            got=FACTS[have - 1].words, spec=NUMBER)  # fmt: skip
    return f"{sum(map(len, due.values()))} cells"
