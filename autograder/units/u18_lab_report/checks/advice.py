"""Visible checks of advice from facts: tables of which one thing was changed.

Next room: ../hidden.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background
from autograder.check.shown import returned

WHICH = "Does this compiler bring the model to the device, and which facts say so"
RETURNS = "if it does, the sorted numbers of all facts that say so; otherwise a word"
FIRST = "The word is the first of these that is missing"
TARGET = '"target": the device is something that the compiler targets and does not drop'
FORMAT = '"format": the device computes in the model\'s format, and the compiler "runs" something'
OPERATIONS = '"operations": in this format, it runs all of them'
MEMORY = '"memory": weights and activations are within the limits of the device, where a fact'
SHARED = "The facts that say so are all facts about the shared targets"
LISTS = "about the operations that the model has (a list with one of them is enough)"
LIMITS = "and about those limits"
ABOUT = "as above, about any devices and compilers"
MODEL = {"format": "f32", "operations": ["conv", "relu"], "weights": 400, "activations": 80}
BOTH = ["relu", "conv", "add"]
PLAIN = (
    (1, "board", "is", "M4"), (2, "board", "computes", "f32"), (3, "tool", "targets", "M4"),
    (4, "tool", "runs", ("f32", BOTH)),
)  # fmt: skip
WORKS = [1, 2, 3, 4]


def changed(number: int, *fact: Any) -> tuple:
    """The plain table with another fact of this number, or without it."""
    return tuple(row for row in PLAIN if row[0] != number) + ((number, *fact),) * bool(fact)


CONV, RELU, ADD = (("f32", [name]) for name in ("conv", "relu", "add"))
TABLES = [
    (PLAIN, WORKS, RETURNS),
    (PLAIN[::-1], WORKS, RETURNS),
    ((), "target", FIRST),
    ((*PLAIN, (5, "other board", "is", "M4"), (6, "other board", "weights", 1),
      (7, "other", "targets", "M4"), (8, "other", "runs", ("f32", BOTH))), WORKS, ABOUT),
    (changed(1), "target", TARGET),
    (changed(1, "other board", "is", "M4"), "target", ABOUT),
    (changed(3, "tool", "targets", "M7"), "target", TARGET),
    (changed(3, "other", "targets", "M4"), "target", ABOUT),
    ((*PLAIN, (5, "tool", "drops", "M4")), "target", TARGET),
    ((*PLAIN, (5, "other", "drops", "M4")), WORKS, TARGET),
    ((*PLAIN, (5, "tool", "drops", "M7"), (6, "tool", "targets", "M7")), WORKS, TARGET),
    ((*changed(3, "tool", "drops", "M4"), (5, "tool", "targets", "M4")), "target", TARGET),
    ((*PLAIN, (5, "tool", "targets", "DSP"), (6, "board", "is", "DSP")),
     [1, 2, 3, 4, 5, 6], SHARED),
    ((*PLAIN, (5, "tool", "targets", "DSP"), (6, "board", "is", "DSP"),
      (7, "tool", "drops", "DSP")), WORKS, SHARED),
    ((*PLAIN, (5, "board", "computes", "f32")), [1, 2, 3, 4, 5], SHARED),
    ((*PLAIN, (5, "tool", "targets", "M7"), (6, "board", "is", "DSP")), WORKS, SHARED),
    (changed(2), "format", FORMAT),
    (changed(2, "board", "computes", "int8"), "format", FORMAT),
    (changed(2, "other board", "computes", "f32"), "format", ABOUT),
    ((*PLAIN, (5, "board", "computes", "int8"), (6, "tool", "runs", ("int8", BOTH))), WORKS, LISTS),
    (changed(4), "format", FORMAT),
    (changed(4, "tool", "runs", ("int8", BOTH)), "format", FORMAT),
    (changed(4, "tool", "runs", ADD), "operations", FORMAT),
    (changed(4, "tool", "runs", CONV), "operations", OPERATIONS),
    ((*changed(4, "tool", "runs", CONV), (5, "tool", "runs", ("int8", ["relu"]))), "operations",
     OPERATIONS),
    ((*changed(4, "tool", "runs", CONV), (5, "other", "runs", RELU)), "operations", ABOUT),
    ((*changed(4, "tool", "runs", CONV), (5, "tool", "runs", RELU), (6, "tool", "runs", ADD),
      (7, "tool", "runs", ("f32", ["relu", "add"]))), [1, 2, 3, 4, 5, 7], LISTS),
    ((*changed(4, "tool", "runs", CONV), (5, "board", "weights", 1)), "operations", FIRST),
    ((*changed(2), (5, "board", "weights", 1)), "format", FIRST),
    ((*PLAIN, (5, "board", "weights", 399)), "memory", MEMORY),
    ((*PLAIN, (5, "board", "weights", 400), (6, "board", "weights", 900)), [1, 2, 3, 4, 5, 6],
     LIMITS),
    ((*PLAIN, (5, "board", "weights", 1), (6, "board", "weights", 900)), "memory", MEMORY),
    ((*PLAIN, (5, "board", "activations", 79)), "memory", MEMORY),
    ((*PLAIN, (9, "board", "activations", 90)), [1, 2, 3, 4, 9], LIMITS),
    ((*PLAIN, (5, "board", "activations", 90), (6, "board", "activations", 70)), "memory", MEMORY),
    ((*PLAIN, (5, "tool", "weights", 1)), WORKS, MEMORY),
]  # fmt: skip


@st.composite
def tables(draw: DrawFn, most: int = 16) -> tuple[dict[str, Any], str, str, list[tuple]]:
    """Any model, and any facts about two devices and two compilers."""
    names, formats = ["conv", "relu", "add"], ["f32", "int8"]
    some = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    size = st.sampled_from([1, 50, 100, 400])
    model = {"format": draw(st.sampled_from(formats)), "operations": draw(some),
             "weights": draw(size), "activations": draw(size)}  # fmt: skip
    device, target = st.sampled_from(["board", "card"]), st.sampled_from(["M4", "GPU"])
    tool, format = st.sampled_from(["one", "two"]), st.sampled_from(formats)
    fact = st.one_of(
        st.tuples(device, st.just("is"), target), st.tuples(tool, st.just("targets"), target),
        st.tuples(device, st.just("computes"), format), st.tuples(tool, st.just("drops"), target),
        st.tuples(device, st.sampled_from(["weights", "activations"]), size),
        st.tuples(tool, st.just("runs"), st.tuples(format, some)),
    )  # fmt: skip
    base = [("board", "is", "M4"), ("one", "targets", "M4"), ("board", "computes", "f32"),
            ("one", "runs", ("f32", names)), ("one", "runs", ("int8", names))]  # fmt: skip
    kept = [row for row in base if draw(st.sampled_from([True] * 5 + [False]))]
    rows = draw(st.permutations(kept + draw(st.lists(fact, max_size=most))))
    numbers = draw(st.permutations(range(1, len(rows) + 1)))
    who = ("board", "one") if draw(st.sampled_from([True, True, False])) else ("card", "two")
    facts = [(n, *row) for n, row in zip(numbers, rows, strict=True)]
    return model, who[0], who[1], facts


def agrees(advice: Any, asked: tuple[Any, str, str], facts: Sequence[tuple], right: Any, spec: str
           ) -> None:  # fmt: skip
    """The same word, or the same numbers in order."""
    model, device, compiler = asked
    program = f"advice(model, {device!r}, {compiler!r}, facts)\nmodel: {model}\n" + "\n".join(
        map(repr, facts)
    )
    got = advice(model, device, compiler, list(facts))
    mine = [*got] if isinstance(got, (list, tuple)) else got
    if not isinstance(mine, type(right)) or mine != right:
        raise Wrong("The answer is not right.", program=program, got=returned(got),
                    expected=returned(right), spec=spec)  # fmt: skip


@for_each("u18_lab_report.advice", TABLES, "{} tables of facts", spec=[WHICH])
def each_table_gives_its_advice(advice, facts, right, spec):
    """Tables of which one thing was changed."""
    agrees(advice, (MODEL, "board", "tool"), facts, right, spec)


background("u18_lab_report.advice", '{"format": such as "int8" ... "activations": bytes}',
           because="an argument")  # fmt: skip
