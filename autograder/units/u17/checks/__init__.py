"""Visible checks of unit 17. Here: what the kinds of answers have in common, and what is read in a
dump. Few answers are possible to the question about the dump, so only the grader knows the right
one. Next room: programs.py.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, ours
from autograder.check.shown import returned
from lessons.u17.boundaries import COUNT


def is_int(x: Any) -> bool:
    """A whole number of Python or numpy. A truth value is none."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


# ── a dump ──

WHERE = "At which boundary does the program above become wrong, and because of which line"
PASS = "the name of the pass, as the page after it shows it"
LINE = "the name of the first line with false bounds on the page before it"
TRUE = "the true bounds of that line"
RIGHT = "The operations before this pass still count the right number, but those after it do not"
FALSE = "Bounds are false if the line takes a value outside them"
LOWEST = "The true bounds are the lowest and the highest value that it takes"
NAMES = list(COUNT)


@checks("u17.culprit", spec=[WHERE, PASS, LINE, TRUE, RIGHT, FALSE, LOWEST])
def the_pass_the_line_and_its_bounds(culprit):
    """The pass, the line and its bounds have the form that is asked for, and are the right ones."""
    got = culprit()
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        raise Wrong("The answer must be a pass, a line and bounds.", got=returned(got), spec=PASS)
    (name, line, bounds), passes = got, NAMES[1:]
    if name not in passes:
        raise Wrong(
            f"The pages show no pass {returned(name)}.", expected=", ".join(passes), spec=PASS
        )
    if not isinstance(line, str) or not re.fullmatch(r"%\d+", line):
        raise Wrong("The name of a line looks like '%4'.", got=returned(line), spec=LINE)
    if not isinstance(bounds, (tuple, list, np.ndarray)) or [*map(is_int, bounds)] != [True] * 2:
        raise Wrong("The bounds must be two whole numbers.", got=returned(bounds), spec=TRUE)
    right, first, taken = ours("u17.culprit")
    at = NAMES.index(name)
    if name != right:
        raise Wrong(f"The page after {name} still counts the right number."
                    if at < NAMES.index(right) else f"The page before {name} already counts wrong.",
                    got=name, spec=RIGHT)  # fmt: skip
    page = COUNT[NAMES[at - 1]]
    if line != first:
        raise Wrong(f"On the page before {name}, {line} is not the first line with false bounds.",
                    program=page, got=line, spec=FALSE)  # fmt: skip
    if tuple(bounds) != taken:
        raise Wrong(f"The bounds of {line} must be its lowest and its highest value.",
                    program=page, got=returned(bounds), spec=LOWEST)  # fmt: skip
