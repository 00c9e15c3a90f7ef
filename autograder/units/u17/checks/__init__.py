"""Visible checks of unit 17. Here: what the kinds of answers have in common, and what is read in a
dump. Next room: programs.py.
"""

from __future__ import annotations

import re
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.units.u17.answers.boundaries import COUNT
from autograder.units.u17.answers.rows import wrapped


def said(got: Any) -> str:
    return "nothing (is a `return` missing?)" if got is None else repr(got)[:200]


def is_int(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)


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
    """The page before the pass counts right, the page after it does not, and this line is why."""
    got = culprit()
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        raise Wrong("The answer must be a pass, a line and its bounds.", got=said(got), spec=PASS)
    name, line, bounds = got
    if name not in NAMES[1:]:
        raise Wrong(f"The pages show no pass {said(name)}.", expected=", ".join(NAMES[1:]),
                    spec=PASS)  # fmt: skip
    before = COUNT[NAMES[NAMES.index(name) - 1]]
    if counts(COUNT[name]):
        raise Wrong(f"The page after {name} still compares 256 numbers, so it counts right.",
                    program=COUNT[name], spec=RIGHT)  # fmt: skip
    if not counts(before):
        raise Wrong(f"The page before {name} no longer counts anything, so it is already wrong.",
                    program=before, spec=RIGHT)  # fmt: skip
    false = [one for one, (claimed, taken) in bounds_in(before).items() if outside(claimed, taken)]
    if line not in bounds_in(before):
        raise Wrong(f"On the page before {name}, {said(line)} does not compute whole numbers "
                    "from x; a name looks like '%4'.", program=before, spec=LINE)  # fmt: skip
    _, taken = bounds_in(before)[line]
    if line not in false:
        raise Wrong(f"The bounds of {line} are true: it takes {taken[0]} to {taken[1]}.",
                    program=before, spec=FALSE)  # fmt: skip
    if line != false[0]:
        raise Wrong(f"A line above {line} already has false bounds.", program=before, spec=LINE)
    if not isinstance(bounds, (tuple, list)) or tuple(bounds) != taken:
        raise Wrong(f"The bounds of {line} must be its lowest and its highest value.",
                    program=before, got=said(bounds), spec=LOWEST)  # fmt: skip


def counts(page: str) -> bool:
    """Does the page compare the numbers that it counts?"""
    return "CMPLT" in page


def outside(claimed: tuple[int, int], taken: tuple[int, int]) -> bool:
    return taken[0] < claimed[0] or taken[1] > claimed[1]


def bounds_in(page: str) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """For each line that is computed from a byte: the bounds of the page, and those over all 256
    bytes."""
    values: dict[str, list[int]] = {}
    found = {}
    for text in page.splitlines():
        name, op, inside, low, high = re.findall(
            r"(%\d+) += (\w+)\(([^)]*)\) *(-?\d*)(?: \.\. )?(-?\d*)", text)[0]  # fmt: skip
        words = inside.split(", ")
        if (op == "INDEX" and words[-1] != "0") or op == "BUFFER":
            values[name] = list(range(256))
        elif words[0] in values and op in ("CAST", "MUL", "ADD", "CMPLT"):
            values[name] = [_computed(op, x, words[1]) for x in values[words[0]]]
        if name in values and low:
            taken = min(values[name]), max(values[name])
            found[name] = ((int(low), int(high)), taken)
    return found


def _computed(op: str, x: int, word: str) -> int:
    if op == "CAST":
        return wrapped(x, "int8") if "char" in word else x
    return {"MUL": x * int(word), "ADD": x + int(word), "CMPLT": int(x < int(word))}[op]
