"""Visible checks of unit 1: sizes, a program with few products, recordings, redundancy, numbers.

What the answers are shown stands in programs.py; the checks of orders and definitions are in
order.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Crashed, Score, Wrong, checks
from autograder.check.properties import a_number, sealed, valid_graph
from autograder.units.u01.checks.plugs import in_the_compiler
from autograder.units.u01.checks.programs import PROGRAMS, RECORDINGS, rows_of
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp

# ── ir.windows.positions ──

AXES = st.tuples(
    st.integers(0, 12), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3),
    st.integers(0, 3), st.integers(0, 3),
)  # fmt: skip


@checks("ir.windows.positions", given=AXES, examples=40, what="random windows")
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


@checks("ir.windows.positions")
def infers_types_in_the_compiler(positions):
    """With your function, the compiler knows the types of convolutions and poolings."""
    x, w = inp("x", "f16[1,3,17,9]"), inp("w", "f16[4,3,3,2]")
    with in_the_compiler("ir.windows.positions", positions):
        windows = {"strides": (2, 3), "dilations": (3, 1), "pads": (2, 0, 1, 4)}
        made = apply("max_pool", apply("conv", x, w, **windows), kernel=(3, 2))
    if str(made.type) != "f16[1,4,5,3]":
        raise Wrong("A convolution and a pooling of f16[1,3,17,9] have another type.",
                    program="max_pool(conv(x, w, strides=[2, 3], dilations=[3, 1], "
                    "pads=[2, 0, 1, 4]), kernel=[3, 2]), w: f16[4,3,3,2]",
                    got=str(made.type), expected="f16[1,4,5,3]",
                    spec="How many positions a window has along one axis")  # fmt: skip
    return "types of convolutions"


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
    if not graph.inputs[0].type.dtype.is_float:
        raise Wrong(f"The input is {graph.inputs[0].type}; numbers of that type are whole.",
                    program=graph, spec="The input may have any floating type")  # fmt: skip
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


@checks("u01.record", spec="its constant has the element type of the other operand")
def records_every_type(record):
    """Inputs and constants of every element type, shapes that broadcast, no elements."""
    rows = ["mul 2.0 x", "sub #0 y", "div y x", "neg #2"]
    for types in _TYPES:
        source = "lambda x, y: (2 * x - y, -(y / x))"
        graph = recorded(record, source, 2, rows, ["#1", "#3"], _CONSTANT, types)
        got = [str(n.type) for n in graph.inputs]
        if got != list(types):
            raise Wrong(f"The inputs are of type {' and '.join(types)}.", program=source, got=graph,
                        spec="`types` are the types of its parameters")  # fmt: skip
        constant = graph.constants[0]
        if constant.type.dtype != graph.inputs[0].type.dtype or constant.type.shape:
            raise Wrong(f"The number 2 beside a {types[0]} is a {graph.inputs[0].type.dtype}[].",
                        program=source, got=graph, spec=_CONSTANT)  # fmt: skip
    return f"{len(_TYPES)} types"


_CONSTANT = "its constant has the element type of the other operand, also for an int"
_TYPES = (("f64[2,8]", "f64[8]"), ("f16[3]", "f16[]"), ("i32[2]", "i32[2]"), ("f32[0]", "f32[1]"),
          ("i8[4]", "i8[1]"))  # fmt: skip


@checks("u01.record")
def keeps_nothing_between_calls(record):
    """Two recordings, one after the other, know nothing of each other."""
    recorded(record, "lambda x: x + x", 1, ["add x x"], ["#0"], "no more and no fewer")
    recorded(record, "lambda x, y: y - x", 2, ["sub y x"], ["#0"], "no more and no fewer")
    return "one recording after another"


@checks("u01.record", spec="raise TypeError")
def refuses_to_decide(record):
    """The truth of a recorded value is not known."""
    for source in (
        "lambda x, y: x if x else y",
        "lambda x, y: (x + y) or y",
        "lambda x, y: -x if not (x * 2.0) else x",
        "lambda x, y: [v for v in (x, y) if v - x][0]",
    ):
        try:
            got = record(source, "f32[4]", "f32[4]")
        except Crashed as error:
            if "TypeError" in getattr(error, "kinds", (error.error.partition(":")[0],)):
                continue
            shown = error.error
        else:
            shown = "a graph, and no error" if isinstance(got, Graph) else repr(got)
        raise Wrong(
            "Which branch it is depends on the numbers, and a recording has none.",
            program=source,
            got=shown,
            expected="TypeError",
        )
    return "no decision"


def recorded(
    record: Any, source: str, parameters: int, rows: list[str], outputs: list[str], spec: str,
    types: Sequence[str] = (),
) -> Graph:  # fmt: skip
    """`record(source)` has exactly these operations, in this order, and these outputs."""
    types = types or ["f32[4]"] * parameters
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
    return graph


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
    same_reasons(redundant, [], ["x"], ["x"], {}, "A program without lines.", "")
    return f"{len(PROGRAMS) + 1} programs"


@checks("u01.redundant", spec="A name that is neither in `inputs` nor the result of a line")
def takes_any_names(redundant):
    """What a name sounds like says nothing: only `inputs` and the lines do."""
    lines = [
        ("w", "Mul", ["input", "weight"]),
        ("bias", "Relu", ["image"]),
        ("y", "Add", ["w", "x"]),
    ]
    for inputs, wanted in (
        (["weight"], {"bias": "fixed"}),
        (["image", "x"], {"w": "fixed"}),
        ([], {"w": "fixed", "bias": "fixed", "y": "fixed"}),
    ):
        why = f"The inputs are {', '.join(inputs) or 'none'}; all other names are weights."
        same_reasons(redundant, lines, inputs, ["y"], wanted, why, "")
    return "names"


@checks("u01.redundant", spec="and it is not in\n`outputs`")
def keeps_results(redundant):
    """A convolution whose result is an output keeps its batch norm."""
    lines = [("c", "Conv", ["x", "w"]), ("b", "BatchNormalization", ["c", "s", "o", "m", "v"])]
    why = "The program returns c as well, so c must be computed as it is."
    for outputs in (["c", "b"], ["b", "c"], ["c"]):
        same_reasons(redundant, lines, ["x"], outputs, {}, why, "")
    why = "b is returned, and computed by the convolution."
    same_reasons(redundant, lines, ["x"], ["b"], {"b": "absorbed"}, why, "")
    lines = [("k", "Constant", []), ("a", "Identity", ["x"])]
    same_reasons(redundant, lines, ["x"], ["a", "k"], {"k": "fixed", "a": "copy"},
                 "What is returned need not run for every image either.", "")  # fmt: skip
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
