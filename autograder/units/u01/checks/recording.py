"""Checks of unit 1 for recordings. Next room: programs.py, the functions that are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.properties import valid_graph
from autograder.units.u01.checks.programs import ONE, OUTPUTS, RECORDINGS, rows_of
from course_lib.ir.graph.graph import Graph

PERFORMS = "The operations that a Python function performs, in the order in which Python performs"
SOURCE = "`source` is the text of a lambda, and `types` are the types of its parameters"
INPUTS = "an input for each parameter, under any name, and one operation"
PLACED = "Each node stands once, after its operands"
DECIDES = "If the function tests whether a value is true, as in `x if x else y`, raise TypeError"
CONSTANT = "Hand numbers to `apply` as they are"
RECORDED = [PERFORMS, SOURCE, ONE, INPUTS, PLACED, OUTPUTS]  # what `recorded` asks


@checks("u01.record", spec=[*RECORDED, *(spec for *_, spec in RECORDINGS)])
def records_what_python_does(record):
    """Sums, products, numbers on both sides, tuples, loops, values that are never read."""
    for source, rows, spec in RECORDINGS:
        recorded(record, source, rows, spec)
    return f"{len(RECORDINGS)} recorded functions"


@checks("u01.record", spec=[CONSTANT, *RECORDED])
def records_every_type(record):
    """Other element types than f32, shapes that broadcast, no elements."""
    source = "lambda x, y: (2 * x - y, -(y / x))"
    for types in _TYPES:
        graph = recorded(record, source, _ROWS, CONSTANT, types)
        if [str(n.type) for n in graph.inputs] != [*types]:
            problem = f"The inputs must be of type {' and '.join(types)}."
            raise Wrong(problem, program=source, got=graph, spec=SOURCE)
        kind = f"{graph.inputs[0].type.dtype}[]"
        if str(graph.constants[0].type) != kind:
            problem = f"The number 2 beside a {types[0]} must be a {kind}."
            raise Wrong(problem, program=source, got=graph, spec=CONSTANT)
    return f"{len(_TYPES)} pairs of types"


_ROWS = "mul 2.0 x; sub #0 y; div y x; neg #2; returns #1, #3"
_TYPES = (("f64[2,8]", "f64[8]"), ("f16[3]", "f16[]"), ("i32[2]", "i32[2]"), ("f32[0]", "f32[1]"),
          ("i8[4]", "i8[1]"))  # fmt: skip


@checks("u01.record", spec=RECORDED)
def keeps_nothing_between_calls(record):
    """Two recordings, one after the other, do not mix."""
    recorded(record, "lambda x: x + x", "add x x; returns #0", INPUTS)
    recorded(record, "lambda x, y: y - x", "sub y x; returns #0", INPUTS)
    return "two recordings, one after the other"


@checks("u01.record", spec=DECIDES)
def refuses_to_decide(record):
    """Whether a recorded value is true cannot be decided."""
    for source in (
        "lambda x, y: x if x else y",
        "lambda x, y: (x + y) or y",
        "lambda x, y: -x if not (x * 2.0) else x",
        "lambda x, y: [v for v in (x, y) if v - x][0]",
        "lambda x, y: y if bool(x - y) else x",
        "lambda x, y: x and y",
    ):
        try:
            got = record(source, "f32[4]", "f32[4]")
        except Crashed as error:
            if "TypeError" in error.kinds:
                continue
            got = error.error
        words = "a graph, and no error" if isinstance(got, Graph) else f"{got}"
        raise Wrong("Which branch it is depends on the numbers, and a recording has none.",
                    program=source, got=words, expected="TypeError", spec=DECIDES)  # fmt: skip
    return "functions that would need a decision, refused"


def recorded(record: Any, source: str, rows: str, spec: str, types: Sequence[str] = ()) -> Graph:
    """`record(source)` has exactly these rows: operations, in this order, and outputs."""
    parameters = eval(source).__code__.co_argcount
    graph = valid_graph(record(source, *(types or ["f32[4]"] * parameters)))
    if len(graph.inputs) != parameters:
        problem = "The graph must have an input for each parameter."
        raise Wrong(problem, program=source, got=graph, spec=INPUTS)
    if rows_of(graph) != rows:
        got, expected = (text.replace("; ", "\n") for text in (rows_of(graph), rows))
        raise Wrong("These are not the operations that Python performs, in its order.",
                    program=source, got=got, expected=expected, spec=spec)  # fmt: skip
    return graph
