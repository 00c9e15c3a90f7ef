"""Visible checks of u16.dispatches: what IREE made of programs, as recorded.

Next room: table.py.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from lessons.u16.dispatches import EVIDENCE, RECORDED, Case, braces, in_order, shown

GROUP = "Group the operations of a program as IREE forms dispatches"
LISTS = "lists of names, one for each dispatch"
ONCE = "Every operation but the inputs is in exactly one list"
RULES = "The rules are those of A to F above that hold"
LAST = "Only the last value of a dispatch is read by other dispatches"
INSIDE = "the values before it stay inside"
ORDER = "The lists may come in any order, and so may the names in them"

background("u16.dispatches", "the row of each value, by name: its", because="what the argument is")
background("u16.dispatches", 'and its "operands"', because="what the argument is")
background("u16.dispatches", "In these programs, an \"each\" has one reader at most; products and "
           "sums may have several", because="what the programs are like")  # fmt: skip


def as_it_must(dispatches: Any, programs: Sequence[Case]) -> str:
    """Each program gets groups like those of IREE."""
    for case in programs:
        got = dispatches(copy.deepcopy(case.program))
        wrong = partial(Wrong, program=shown(case.program))
        try:
            groups = [list(group) for group in got]
        except TypeError:
            raise wrong("The answer must be lists of names.", got=returned(got),
                        spec=LISTS) from None  # fmt: skip
        names = [name for name, row in case.program.items() if row["op"] != "input"]
        inside = [name for group in groups for name in group]
        if isinstance(got, str) or sorted(map(str, inside)) != sorted(names) or [] in groups:
            raise wrong("Each operation must be in one list.", got=returned(got), spec=ONCE)
        for group in groups:
            last = max(group, key=names.index)
            for name in set(group) - {last}:
                out = [other for other in names if other not in group
                       and name in case.program[other]["operands"]]  # fmt: skip
                if out:
                    raise wrong(f"{name} is read by {out[0]}, which is in another dispatch.",
                                got=returned(groups), spec=LAST)  # fmt: skip
        if (found := in_order(groups, case.program)) != case.groups:
            raise wrong("IREE forms other dispatches.", got=braces(found),
                        expected=braces(case.groups), spec=RULES)  # fmt: skip
    return f"{len(programs)} programs"


@checks("u16.dispatches", spec=[GROUP, LISTS, ONCE, RULES, LAST, INSIDE, ORDER])
def the_small_programs(dispatches):
    """The twelve programs of the table."""
    return as_it_must(dispatches, EVIDENCE)


@checks("u16.dispatches", spec=[RULES, LAST, INSIDE])
def random_programs(dispatches):
    """Random programs that IREE compiled."""
    return as_it_must(dispatches, RECORDED[len(EVIDENCE) :])
