"""Checks of unit 1 for recordings. Next room: programs.py, the functions that are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.check.framework import Crashed, Wrong, background, checks
from autograder.check.properties import valid_graph
from autograder.units.u01.checks.programs import RECORDINGS, rows_of
from course_lib.ir.graph.graph import Graph

PERFORMS = "The operations that a Python function performs, in the order in which Python performs"
SOURCE = "`source` is the text of a lambda, and `types` are the types of its parameters"
ONE_OR_MORE = "It returns one value or a tuple of values"
INPUTS = "an input for each parameter and an operation (add, sub, mul, div, neg) for each"
OUTPUTS = "Its outputs are what the function returns"
DECIDES = "If the function asks for the truth of a value, as in `x if x else y`, raise TypeError"
CONSTANT = "Hand numbers to `apply` as they are: it gives them the other's element type"
RECORDED = [PERFORMS, SOURCE, ONE_OR_MORE, INPUTS, OUTPUTS]  # what `recorded` asks

background("u01.record", "Constants may stand anywhere before their readers",
           because="liberties: `rows_of` looks at neither")  # fmt: skip


@checks("u01.record", spec=[*RECORDED, *(spec for *_, spec in RECORDINGS)])
def records_what_python_does(record):
    """Sums, products, numbers on both sides, tuples, loops, values that nobody reads."""
    for source, parameters, rows, outputs, spec in RECORDINGS:
        recorded(record, source, parameters, rows, outputs, spec)
    return f"{len(RECORDINGS)} recorded functions"


@checks("u01.record", spec=[CONSTANT, *RECORDED])
def records_every_type(record):
    """Other element types than f32, shapes that broadcast, no elements."""
    rows = ["mul 2.0 x", "sub #0 y", "div y x", "neg #2"]
    for types in _TYPES:
        source = "lambda x, y: (2 * x - y, -(y / x))"
        graph = recorded(record, source, 2, rows, ["#1", "#3"], CONSTANT, types)
        got = [str(n.type) for n in graph.inputs]
        if got != list(types):
            raise Wrong(f"The inputs must be of type {' and '.join(types)}.",
                        program=source, got=graph,
                        spec=SOURCE)  # fmt: skip
        constant = graph.constants[0]
        if constant.type.dtype != graph.inputs[0].type.dtype or constant.type.shape:
            raise Wrong(f"The number 2 beside a {types[0]} must be "
                        f"a {graph.inputs[0].type.dtype}[].",
                        program=source, got=graph, spec=CONSTANT)  # fmt: skip
    return f"{len(_TYPES)} pairs of types"


_TYPES = (("f64[2,8]", "f64[8]"), ("f16[3]", "f16[]"), ("i32[2]", "i32[2]"), ("f32[0]", "f32[1]"),
          ("i8[4]", "i8[1]"))  # fmt: skip


@checks("u01.record", spec=RECORDED)
def keeps_nothing_between_calls(record):
    """Two recordings, one after the other, know nothing of each other."""
    recorded(record, "lambda x: x + x", 1, ["add x x"], ["#0"], INPUTS)
    recorded(record, "lambda x, y: y - x", 2, ["sub y x"], ["#0"], INPUTS)
    return "two recordings, one after the other"


@checks("u01.record", spec=DECIDES)
def refuses_to_decide(record):
    """The truth of a recorded value is not known."""
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
            shown = error.error
        else:
            shown = "a graph, and no error" if isinstance(got, Graph) else repr(got)[:200]
        raise Wrong("Which branch it is depends on the numbers, and a recording has none.",
                    program=source, got=shown, expected="TypeError", spec=DECIDES)  # fmt: skip
    return "functions that would need a decision, refused"


def recorded(
    record: Any, source: str, parameters: int, rows: list[str], outputs: list[str], spec: str,
    types: Sequence[str] = (),
) -> Graph:  # fmt: skip
    """`record(source)` has exactly these operations, in this order, and these outputs."""
    types = types or ["f32[4]"] * parameters
    graph = valid_graph(record(source, *types))
    got_rows, got_outputs = rows_of(graph)
    if len(graph.inputs) != parameters:
        raise Wrong("The graph must have an input for each parameter.", program=source, got=graph,
                    spec=INPUTS)  # fmt: skip
    if got_rows != rows or got_outputs != outputs:
        raise Wrong(
            "These are not the operations that Python performs, in its order.",
            program=source,
            got="\n".join([*got_rows, f"returns {', '.join(got_outputs)}"]),
            expected="\n".join([*rows, f"returns {', '.join(outputs)}"]),
            spec=spec,
        )
    return graph
