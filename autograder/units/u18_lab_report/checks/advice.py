"""Visible checks of advice from facts: tables of which one thing was changed. Next room: ../hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned

WHICH = "Which compilers bring a model to a device, and which facts say so"
RETURNS = "for each compiler that targets anything: for each format in which it works, the sorted"
WORD = "or, if it works in none, a word"
TARGET = '"target", if the device is nothing that the compiler targets and does not drop'
FORMAT = '"format", if the model exists in none that the device computes and for which the compiler'
OPERATIONS = '"operations", if in each of those formats some operation runs nowhere'
MEMORY = '"memory", if in the others something exceeds a limit'
NO_LIMIT = "Where no fact sets a limit, there is none"
BEHIND = "Behind a format are all facts about the shared target, the format, limits of the device"
FIRST = "The word is the first of these that is missing"
MODEL = {"operations": ["conv", "relu"],
         "sizes": {"f32": {"weights": 400, "activations": 80},
                   "int8": {"weights": 100, "activations": 20}}}  # fmt: skip
BOTH = ["relu", "conv", "add"]
PLAIN = (
    (1, "board", "is", "M4"), (2, "board", "computes", "f32"), (3, "tool", "targets", "M4"),
    (4, "tool", "runs", ("f32", BOTH)),
)  # fmt: skip
LIMITED = (*PLAIN, (5, "board", "weights", 200), (6, "board", "computes", "int8"))
INT8 = (7, "tool", "runs", ("int8", BOTH))


def changed(number: int, *fact: Any) -> tuple:
    """The plain table with another fact of this number, or without it."""
    return tuple(row for row in PLAIN if row[0] != number) + ((number, *fact),) * bool(fact)


WORKS = {"f32": [1, 2, 3, 4]}
TABLES = [
    (PLAIN, {"tool": WORKS}, RETURNS),
    (PLAIN[::-1], {"tool": WORKS}, RETURNS),
    ((), {}, RETURNS),
    ((*PLAIN, (5, "other", "runs", ("f32", BOTH))), {"tool": WORKS}, RETURNS),
    ((*PLAIN, (5, "other board", "is", "M4"), (6, "other board", "weights", 1)), {"tool": WORKS},
     BEHIND),
    (changed(3, "tool", "targets", "M7"), {"tool": "target"}, TARGET),
    ((*PLAIN, (5, "tool", "drops", "M4")), {"tool": "target"}, TARGET),
    ((*PLAIN, (5, "tool", "drops", "M7"), (6, "tool", "targets", "M7")), {"tool": WORKS}, TARGET),
    ((*PLAIN, (5, "tool", "targets", "DSP"), (6, "board", "is", "DSP")),
     {"tool": {"f32": [1, 2, 3, 4, 5, 6]}}, BEHIND),
    ((*PLAIN, (5, "other", "drops", "M4")), {"tool": WORKS}, TARGET),
    (changed(2), {"tool": "format"}, FORMAT),
    (changed(2, "board", "computes", "int8"), {"tool": "format"}, FORMAT),
    (changed(2, "tool", "computes", "f32"), {"tool": "format"}, FORMAT),
    (changed(4), {"tool": "format"}, FORMAT),
    (changed(4, "tool", "runs", ("f32", ["conv"])), {"tool": "operations"}, OPERATIONS),
    (changed(4, "tool", "runs", ("f32", [])), {"tool": "operations"}, FORMAT),
    ((*changed(4, "tool", "runs", ("f32", ["conv"])), (5, "tool", "runs", ("f32", ["relu", "add"])),
      (6, "tool", "runs", ("f32", ["add"]))), {"tool": {"f32": [1, 2, 3, 4, 5]}}, BEHIND),
    ((*changed(4, "tool", "runs", ("f32", ["conv"])), (5, "tool", "runs", ("int8", ["relu"]))),
     {"tool": "operations"}, OPERATIONS),
    ((*PLAIN, (5, "board", "weights", 399)), {"tool": "memory"}, MEMORY),
    ((*PLAIN, (5, "board", "weights", 400)), {"tool": {"f32": [1, 2, 3, 4, 5]}}, MEMORY),
    ((*PLAIN, (5, "board", "activations", 79)), {"tool": "memory"}, MEMORY),
    ((*PLAIN, (5, "board", "activations", 90), (6, "board", "activations", 70)),
     {"tool": "memory"}, MEMORY),
    ((*PLAIN, (9, "board", "activations", 90)), {"tool": {"f32": [1, 2, 3, 4, 9]}}, NO_LIMIT),
    ((*LIMITED, INT8), {"tool": {"int8": [1, 3, 5, 6, 7]}}, MEMORY),
    ((*PLAIN, (6, "board", "computes", "int8"), INT8),
     {"tool": {"f32": [1, 2, 3, 4], "int8": [1, 3, 6, 7]}}, RETURNS),
    ((*LIMITED, (7, "tool", "runs", ("int8", ["conv"]))), {"tool": "memory"}, FIRST),
    (LIMITED, {"tool": "memory"}, FIRST),
    ((*PLAIN, (5, "late", "targets", "M7"), (6, "late", "runs", ("f32", BOTH))),
     {"tool": WORKS, "late": "target"}, RETURNS),
]  # fmt: skip


@st.composite
def tables(draw: DrawFn, most: int = 12) -> tuple[dict[str, Any], str, list[tuple]]:
    """Any model, and any facts about two devices and three compilers."""
    names, formats = ["conv", "relu", "add"], ["f32", "int8", "f16"]
    some = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    size = st.sampled_from([1, 50, 100, 400])
    model = {"operations": draw(some),
             "sizes": {name: {"weights": draw(size), "activations": draw(size)}
                       for name in draw(st.lists(st.sampled_from(formats), min_size=1,
                                                 unique=True))}}  # fmt: skip
    device, target = st.sampled_from(["board", "card"]), st.sampled_from(["M4", "GPU"])
    tool = st.sampled_from(["one", "two", "three"])
    runs = st.tuples(st.sampled_from(formats), st.one_of(some, st.just(names)))
    fact = st.one_of(
        st.tuples(device, st.just("is"), target), st.tuples(tool, st.just("targets"), target),
        st.tuples(device, st.just("computes"), st.sampled_from(formats)),
        st.tuples(device, st.sampled_from(["weights", "activations"]), size),
        st.tuples(tool, st.just("drops"), target), st.tuples(tool, st.just("runs"), runs),
    )  # fmt: skip
    base = [("board", "is", "M4"), ("one", "targets", "M4"), ("board", "computes", "f32"),
            ("one", "runs", ("f32", names))]  # fmt: skip
    rows = draw(st.permutations(base + draw(st.lists(fact, max_size=most))))
    numbers = draw(st.permutations(range(1, len(rows) + 1)))
    return model, draw(device), [(n, *row) for n, row in zip(numbers, rows, strict=True)]


def as_text(model: Any, device: str, facts: Sequence[tuple]) -> str:
    return f"advice(model, {device!r}, facts)\nmodel: {model}\n" + "\n".join(map(repr, facts))


def agrees(advice: Any, model: Any, device: str, facts: Sequence[tuple], right: Any, spec: str
           ) -> None:  # fmt: skip
    """The same words, and the same numbers in order."""
    program, got = as_text(model, device, facts), advice(model, device, list(facts))
    if not isinstance(got, dict) or set(got) != set(right):
        raise Wrong("There must be an entry for each compiler that targets anything.",
                    program=program, got=returned(got), expected=", ".join(right) or "no entry",
                    spec=RETURNS)  # fmt: skip
    for name, value in right.items():
        mine = got[name]
        if isinstance(mine, dict):
            mine = {key: [*numbers] for key, numbers in mine.items()
                    if isinstance(numbers, (list, tuple))}  # fmt: skip
        if mine != value:
            raise Wrong(f"The entry of {name} is not right.", program=program,
                        got=returned(got[name]), expected=returned(value), spec=spec)  # fmt: skip


@for_each("u18_lab_report.advice", TABLES, "{} tables of facts", spec=[WHICH, WORD, FIRST])
def each_table_gives_its_advice(advice, facts, right, spec):
    """Tables of which one thing was changed."""
    agrees(advice, MODEL, "board", facts, right, spec)


@checks("u18_lab_report.advice", given=tables(), examples=40, what="random tables", spec=[BEHIND])
def the_facts_behind_a_format_are_enough(advice, table):
    """Asked again with only the facts behind a format, the answer is the same."""
    model, device, facts = table
    for name, ways in advice(model, device, facts).items():
        for format, numbers in ways.items() if isinstance(ways, dict) else ():
            only = [fact for fact in facts if fact[0] in numbers]
            alone = {**model, "sizes": {format: model["sizes"][format]}}
            agrees(advice, alone, device, only, {name: {format: [*numbers]}}, BEHIND)


background("u18_lab_report.advice", "its name", because="an argument")
background("u18_lab_report.advice", "tuples (number, about, says, value), as above",
           because="an argument")  # fmt: skip
background("u18_lab_report.advice", '{"operations": ... of its "activations"}',
           because="an argument")  # fmt: skip
