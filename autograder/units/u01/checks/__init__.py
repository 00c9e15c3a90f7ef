"""Visible checks of unit 1: sizes, a program with few products, recordings, redundancy, numbers.

What the answers are shown stands in programs.py; the checks of orders and definitions are in
order.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Crashed, Score, Wrong, checks
from autograder.check.properties import a_number, sealed, valid_graph
from autograder.units.u01.checks.programs import PROGRAMS, RECORDINGS, rows_of
from course_lib.ir.graph.graph import Graph

# ── ir.windows.positions ──

AXES = st.tuples(
    st.integers(0, 12), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3),
    st.integers(0, 3), st.integers(0, 3),
)  # fmt: skip


@checks("ir.windows.positions", given=AXES, examples=150, what="random windows")
def counts_the_positions(positions, case):
    """As many positions as there are when the window is moved along."""
    size, kernel, stride, dilation, low, high = case
    got = positions(size, kernel, stride, dilation, low, high)
    last = size + high - dilation * (kernel - 1)  # the window must begin before this
    wanted = len(range(-low, last, stride))
    if a_number(got, unit="positions") != wanted:
        raise Wrong(
            "Moving the window along the axis gives another number.",
            program=f"positions(size={size}, kernel={kernel}, stride={stride}, "
            f"dilation={dilation}, low={low}, high={high})",
            got=f"{got}",
            expected=f"{wanted}",
            spec="A window that does not fit even once has 0 positions"
            if wanted == 0
            else "At every position all that it reads lies on the axis or its padding",
        )
    whole(got)


@checks("ir.windows.positions", spec="an axis of 10**18 elements takes no longer")
def does_not_count(positions):
    """An axis of 10**18 elements."""
    got = positions(10**18, 7, stride=3, low=3, high=3)
    whole(got)
    if got != (wanted := (10**18 + 2) // 3):
        near = abs(int(got) - wanted) < 1000
        raise Wrong("Nearly: a float has no room for so many digits, and / makes one."
                    if near else "With stride 3 and enough padding, a third are positions.",
                    program="positions(10**18, kernel=7, stride=3, low=3, high=3)",
                    got=f"{got}", expected=f"{wanted}", spec="and the answer is exact")  # fmt: skip
    return "a long axis"


def whole(got: Any) -> None:
    if not isinstance(got, (int, np.integer)):
        raise Wrong("A number of positions is an int: sizes of tensors are.", got=repr(got),
                    spec="How many positions a window has along one axis")  # fmt: skip


# ── u01.power ──


@checks("u01.power")
def is_the_power_63(power):
    """One input, products only, and the result is the 63rd power; at most 16 of them."""
    graph = valid_graph(power())
    others = sorted({n.op for n in graph.nodes if n.op not in ("input", "mul")})
    if len(graph.inputs) != 1 or len(graph.outputs) != 1 or others:
        also = f" Here are also: {', '.join(others)}." if others else ""
        raise Wrong(f"One input, one output, and nothing but mul.{also}", program=graph,
                    spec="between them nothing but `mul`")  # fmt: skip
    exponent = {graph.inputs[0]: 1}
    for node in graph.nodes:
        if node.op == "mul":
            exponent[node] = sum(exponent[i] for i in node.inputs)
    if exponent[graph.outputs[0]] != 63:
        got = f"the power {exponent[graph.outputs[0]]}"
        raise Wrong("The output is the power 63.", program=graph, got=got, expected="the power 63")
    count = len(graph.ops)
    if count > 16:
        shown = graph if count < 40 else ""
        spec = "16 multiplications are the bound"
        raise Wrong(f"{spec}; here are {count}.", program=shown, spec=spec)
    seen = f"{count} multiplications; 8 is the best there is, 16 the bound"
    return Score(max(0.5, 1 - (count - 8) / 10), seen)


# ── u01.record ──


@checks("u01.record")
def records_what_python_does(record):
    """Sums, products, numbers on both sides, tuples, loops, values that nobody reads."""
    for source, parameters, rows, outputs, spec in RECORDINGS:
        recorded(record, source, parameters, rows, outputs, spec)
    return f"{len(RECORDINGS)} functions"


@checks("u01.record", spec="raise TypeError")
def refuses_to_decide(record):
    """The truth of a recorded value is not known."""
    for source in ("lambda x, y: x if x else y", "lambda x, y: (x + y) or y"):
        try:
            got = record(source, "f32[4]", "f32[4]")
        except Crashed as error:
            if not error.error.startswith("TypeError"):
                raise
            continue
        shown = "a graph, and no error" if isinstance(got, Graph) else repr(got)
        raise Wrong(
            "Which branch it is depends on the numbers, and a recording has none.",
            program=source,
            got=shown,
            expected="TypeError",
        )
    return "no decision"


def recorded(
    record: Any, source: str, parameters: int, rows: list[str], outputs: list[str], spec: str
) -> None:
    """`record(source)` has exactly these operations, in this order, and these outputs."""
    types = ["f32[4]"] * parameters
    graph = valid_graph(record(source, *types))
    got_rows, got_outputs = rows_of(graph)
    if len(graph.inputs) != parameters:
        raise Wrong("An input for each parameter.", program=source, got=graph,
                    spec="an input for each parameter")  # fmt: skip
    if got_rows != rows or got_outputs != outputs:
        raise Wrong(
            "These are not the operations that Python performs, in its order.",
            program=source,
            got="\n".join([*got_rows, f"returns {', '.join(got_outputs)}"]),
            expected="\n".join([*rows, f"returns {', '.join(outputs)}"]),
            spec=spec,
        )


# ── u01.wrong_line ──


@checks("u01.wrong_line", spec="Answer with the value that the wrong line defines")
def is_a_value(wrong_line):
    """The name of a value."""
    value_name(wrong_line())
    return "a line"


@checks("u01.wrong_line", spec="One of the two changes gives another result")
def is_the_wrong_one(wrong_line):
    """The line that makes the result wrong."""
    name = value_name(wrong_line())
    try:
        sealed("u01.wrong_line", name, "00878474a7f9")
    except Wrong:
        raise Wrong(_OTHER_LINE.get(name, "This line is as torch-mlir wrote it."), got=f"%{name}",
                    spec="One of the two changes gives another result") from None  # fmt: skip
    return "the one that changes the result"


_OTHER_LINE = {
    "7": "This number was changed too. Follow it: one number for each whole row is subtracted "
    "before the exponential, and the division takes it out again.",
}


def value_name(got: Any) -> str:
    """The name of a value: "%5", "5" and 5 are the same."""
    text = str(got).strip().lstrip("%") if isinstance(got, (str, int, np.integer)) else ""
    if isinstance(got, bool) or not text.isdigit() or int(text) > 15:
        raise Wrong("The answer names a value of the listing, %0 to %15.",
                    got=repr(got), expected='such as "%12"')  # fmt: skip
    return text


# ── u01.redundant ──


@checks("u01.redundant")
def finds_what_need_not_run(redundant):
    """Small programs, each with one thing to find or to leave alone."""
    for lines, wanted, why, spec in PROGRAMS:
        same_reasons(redundant, lines, ["x", "y"], [lines[-1][0]], wanted, why, spec)
    return f"{len(PROGRAMS)} programs"


@checks("u01.redundant", spec="and it is not in\n`outputs`")
def keeps_results(redundant):
    """A convolution whose result is an output keeps its batch norm."""
    lines = [("c", "Conv", ["x", "w"]), ("b", "BatchNormalization", ["c", "s", "o", "m", "v"])]
    why = "The program returns c as well, so c must be computed as it is."
    same_reasons(redundant, lines, ["x"], ["c", "b"], {}, why, "")
    return "outputs"


def same_reasons(
    redundant: Any, lines: Any, inputs: Any, outputs: Any, wanted: Any, why: str, spec: str
) -> None:
    got = redundant([(a, op, list(b)) for a, op, b in lines], list(inputs), list(outputs))
    if not isinstance(got, Mapping):
        raise Wrong("The result is a dict from names to reasons.", got=repr(got)[:200])
    if dict(got) != dict(wanted):
        raise Wrong(
            why,
            program="\n".join(f"{a} = {op}({', '.join(b)})" for a, op, b in lines)
            + f"\ninputs: {', '.join(inputs)}; outputs: {', '.join(outputs)}",
            got=repr(dict(got)),
            expected=repr(dict(wanted)),
            spec=spec,
        )


# ── u01.limit ──


@checks("u01.limit", spec="FLOP per byte of a product")
def is_the_limit(limit):
    """The number that the intensity never reaches."""
    got = a_number(limit(), unit="FLOP/byte")
    for factor, why in _FACTORS.items():
        try:
            sealed("u01.limit", got * factor, "aa0f9baedb3d")
        except Wrong:
            continue
        if why:
            raise Wrong(why, got=f"{got:.6g} FLOP/byte", spec="A multiply-add is two FLOP")
        return "to three digits"
    raise Wrong("This is not the answer.", got=f"{got:.6g} FLOP/byte",
                spec="FLOP per byte of a product")  # fmt: skip


# what is missing in the answer, and where it was lost
_FACTORS = {
    1: "",
    2: "Half of it: a multiply-add is two FLOP, and an element of f32 has 4 bytes, not 8.",
    4: "A quarter of it: a multiply-add is two FLOP, and an element of f32 has 4 bytes, not 8.",
    1 / 2: "Twice as much: these are multiply-adds for each element, not FLOP for each byte.",
    1 / 4: "Four times as much: these are FLOP for each element, and one of f32 has 4 bytes.",
}
