"""Checks of unit 2 for the exercises that are programs, numbers and evidence.

Next room: compare.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.check.answer import Answer
from autograder.check.framework import Score, Wrong, checks, ours
from autograder.check.properties import a_number, live_ops, valid_graph
from autograder.units.u02.checks.shared import equal_bits
from autograder.units.u02.exercises import CANDIDATES
from course_lib import exercises
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.infra.manager import PassError, run_passes
from lessons.u02.bench import both_sides
from lessons.u02.evidence import DUMPS

# ── programs ──


@contextmanager
def passes_of(answer: Any):
    """The passes that the student has plugged in; in the grader, the library's."""
    try:
        with exercises.using(Answer.of(answer).plugs):
            yield
    except PassError as error:
        raise Wrong(f"A pass that is plugged in failed on your program. {error}") from None


def left(graph: Graph) -> int:
    """Live operations."""
    return len(live_ops(graph))


ALONE = "cse leaves as many operations as the program has"
AFTER = "On fold's result, it leaves fewer operations than fold did"
SIZE = "At most 12 operations; at least one input"


@checks("u02.after_fold", spec=[ALONE, AFTER, SIZE, "Dead operations do not count",
        "A program in which cse finds nothing alone, but finds something after fold"])  # fmt: skip
def cse_needs_fold_here(after_fold):
    """cse alone merges nothing; after fold it does."""
    graph = valid_graph(after_fold())
    count, wrong = left(graph), functools.partial(Wrong, program=graph)
    if not graph.inputs or count > 12:
        problem = "The program must have at least one input and at most 12 operations."
        raise wrong(problem, got=f"{len(graph.inputs)} inputs, {count} operations", spec=SIZE)
    with passes_of(after_fold):
        alone, folded = dce(cse(graph)), dce(fold(graph))
        both = dce(cse(folded))
    if left(alone) < count:
        raise wrong(f"cse alone already leaves {left(alone)} of {count} operations. It must find "
                    "nothing until fold has run.", got=alone, spec=ALONE)  # fmt: skip
    if left(both) >= left(folded):
        raise wrong(f"cse must merge something after fold: fold leaves {left(folded)} of {count} "
                    "operations, and cse merges none of them. (Are your fold and your cse plugged "
                    "in?)", got=both, spec=AFTER)  # fmt: skip
    return f"{count} operations, {left(folded)} after fold, {left(both)} after fold and cse"


EACH_RULE = "For each rule of CANDIDATES that some float breaks, give one such float"
A_DICT = "A dict from the rule's text to an f32 number for which its two sides differ"
HOLDS = "A rule that holds for every number is not in it"
BITS = "Two results differ if their bits differ ... Two NaNs count as equal"
BREAKABLE = 15  # of the thirty


@checks("u02.witnesses", spec=[EACH_RULE, A_DICT, HOLDS, BITS])
def the_two_sides_differ(witnesses):
    """Each number breaks its rule, and every rule that can be broken has one."""
    answer, rules = witnesses(), len(CANDIDATES)
    if not isinstance(answer, Mapping):
        problem = "The answer must be a dict from a rule to a number."
        raise Wrong(problem, got=repr(answer)[:200], spec=A_DICT)
    for text, value in answer.items():
        if text not in CANDIDATES:
            raise Wrong(f"{text!r:.100} is not one of the CANDIDATES.", spec=A_DICT)
        x = _f32(value)
        sides = both_sides(CANDIDATES[text], x)
        if equal_bits(*sides).all():
            raise Wrong(f"`{text}`: for x = {x!s} both sides are {sides[0]!s}. Find another x, "
                        "unless this rule holds.", program=trace(CANDIDATES[text][0], "f32[]"),
                        spec=A_DICT)  # fmt: skip
    if not answer:
        raise Wrong(f"The answer names no number yet. {BREAKABLE} of the {rules} rules can be "
                    "broken.", spec=EACH_RULE)  # fmt: skip
    if len(answer) < BREAKABLE:
        raise Wrong(f"Each of your numbers breaks its rule. Of the {rules - len(answer)} rules "
                    f"that you leave out, {BREAKABLE - len(answer)} can be broken.",
                    spec=EACH_RULE)  # fmt: skip
    return f"{BREAKABLE} rules broken, {rules - BREAKABLE} hold"


def _f32(value: Any) -> np.float32:
    try:
        if isinstance(value, str):
            raise TypeError
        with np.errstate(over="ignore"):
            return np.float32(np.asarray(value).reshape(()))
    except (TypeError, ValueError, OverflowError):
        raise Wrong("Each witness must be a number.", got=repr(value)[:200], spec=A_DICT) from None


BOUND = "All nodes count: inputs, constants and operations. 16 is the bound, 5 is the best we know"
EACH = "each of them changes the program: `same_program(before, after)` is false five times"


@checks("u02.every_pass", spec=[EACH, BOUND, "A program that all five passes change"])
def all_five_change_it(every_pass):
    """fold, simplify, strength, cse and dce each change what they get."""
    graph = valid_graph(every_pass())
    if len(graph.nodes) > 16:
        problem = f"The program may have at most 16 nodes, but it has {len(graph.nodes)}."
        raise Wrong(problem, program=graph, spec=BOUND)
    with passes_of(every_pass):
        now = graph
        for one in (fold, simplify, strength, cse, dce):
            before, now = now, run_passes(now, [one])
            if same_program(before, now):
                problem = f"{one.__name__} must change what it gets, but it changes nothing. What "
                problem += f"it gets is shown under “Got”. (Is your {one.__name__} plugged in?)"
                raise Wrong(problem, program=graph, got=before, spec=EACH)
    fraction = min(1.0, max(0.5, 1.0 - 0.1 * (len(graph.nodes) - 5)))
    return Score(fraction, f"{len(graph.nodes)} nodes; 5 is the best we know, 16 the bound")


# ── a number, and evidence ──


SHARE = "For how many of the 2**23 f32 numbers from 1 (included) to 2 (not included)"
F32 = "1/7 is an f32 too, as a compiler would store it"


@checks("u02.sevenths", spec=[SHARE, F32, "in percent"])
def is_a_percentage(sevenths):
    """The share of the 2**23 numbers for which the two results differ."""
    value = a_number(sevenths(), unit="percent")
    if 0 < value < 1:
        raise Wrong("The answer must be in percent.", got=f"{value:g}", spec="in percent")
    if not math.isclose(value, ours("u02.sevenths"), rel_tol=0.005):
        raise Wrong("This is not the right percentage. Did you count all 2**23 numbers, and is "
                    "every operand an f32?", got=f"{value:.4g} percent", spec=F32)  # fmt: skip
    return "the right percentage"


WHICH = "Which pass is broken, and which value did it replace by one that is not equal?"
NAMES = "Give the pass by the name of its dump, and the value by its name in the dump before that"
FIRST = "A value that was replaced only because one of its operands was does not count"


@checks("u02.broken", spec=[WHICH, NAMES, FIRST])
def names_the_pass_and_the_value(broken):
    """The name of the broken pass, and of the value that it lost."""
    answer = broken()
    wrong = functools.partial(Wrong, got=repr(answer)[:200])
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise wrong('The answer must be a pair: ("pass", "value").', spec=NAMES)
    one, value = (str(part).strip().lstrip("%") for part in answer)
    names = [name for name, _ in DUMPS]
    if one not in names[1:]:
        raise wrong(f"The dumps are {', '.join(names[1:])}; there is no {one!r}.", spec=NAMES)
    right = ours("u02.broken")
    if one != right[0]:
        raise Wrong(f"{one} is not broken: the program means the same before and after it.",
                    spec=WHICH)  # fmt: skip
    if value != right[1]:
        raise Wrong(f"The pass is {one}, but the value is not %{value}: that one was replaced only "
                    "because one of its operands was, or not at all. Look for the first value that "
                    "went wrong.", program=parse_graph(DUMPS[names.index(one) - 1][1]),
                    spec=FIRST)  # fmt: skip
    return "the pass and the value"
