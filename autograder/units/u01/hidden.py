"""Hidden checks of unit 1: other seeds, longer programs, and the answers that have one value."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.programs import graphs
from autograder.check.properties import a_number
from autograder.units.u01.checks import AXES, recorded, same_reasons, value_name
from autograder.units.u01.checks.order import faulty
from autograder.units.u01.checks.programs import rows_of
from course_lib.exercises import slot

SEED = 10_453

harder(
    "ir.graph.topological_order",
    "orders_random_programs",
    seed=SEED,
    given=graphs(size=25),
    examples=60,
)
harder("ir.graph.topological_order", "leaves_out_what_is_done", seed=SEED)
harder("ir.graph.topological_order", "takes_values_with_many_users", seed=SEED)
harder(
    "ir.verify.misplaced",
    "finds_faults_in_random_programs",
    seed=SEED + 1,
    given=faulty(20),
    examples=100,
)
harder("ir.windows.positions", "counts_the_positions", seed=SEED + 2, given=AXES, examples=400)
harder("u01.power", "is_the_power_63", seed=SEED)


# ── recordings ──

_LEAVES = st.sampled_from(["x", "y", "z", "2.0", "0.5"])


def _deeper(inner: Any) -> Any:
    pairs = st.tuples(inner, st.sampled_from("+-*/"), inner)
    return st.one_of(pairs.map(lambda p: f"({p[0]} {p[1]} {p[2]})"), inner.map(lambda e: f"-{e}"))


SOURCES = st.recursive(_LEAVES, _deeper, max_leaves=8).map(lambda e: f"lambda x, y, z: ({e}) * x")


@hidden("u01.record", seed=SEED, given=SOURCES, examples=80, what="random functions")
def records_random_functions(record, source):
    """The operations of a random expression."""
    ours = slot("u01.record").reference(source, *["f32[4]"] * 3)
    rows, outputs = rows_of(ours)
    recorded(record, source, 3, rows, outputs, "in the order in which Python performs them")


@hidden("u01.record", seed=SEED)
def records_other_types(record):
    """The inputs have the types that were given."""
    graph = record("lambda image, bias: image + bias", "f32[2,8]", "f32[8]")
    if [str(n.type) for n in graph.inputs] != ["f32[2,8]", "f32[8]"]:
        raise Wrong("The inputs have the given types.", got=graph)


# ── redundancy ──

_OPS = ("Relu", "Add", "Shape", "CastLike", "Identity", "Conv", "BatchNormalization", "Constant")
_OPERANDS = {"Relu": 1, "Shape": 1, "Identity": 1, "Constant": 0, "BatchNormalization": 5}


@st.composite
def _lines(draw: Any) -> list[tuple[str, str, list[str]]]:
    lines: list[tuple[str, str, list[str]]] = []
    for k in range(draw(st.integers(2, 12))):
        op = draw(st.sampled_from(_OPS))
        names = ["x", "w", "v", *(line[0] for line in lines)]
        operands = [draw(st.sampled_from(names)) for _ in range(_OPERANDS.get(op, 2))]
        if op in ("Conv", "BatchNormalization"):
            operands[1:] = [draw(st.sampled_from(["w", "v", *operands[1:]])) for _ in operands[1:]]
        convs = [r for r, o, _ in lines if o == "Conv"]
        if op == "BatchNormalization" and convs and draw(st.booleans()):
            operands = [convs[-1], *(draw(st.sampled_from("wwwwv")) for _ in range(4))]
        lines.append((f"v{k}", op, operands))
    return lines


@hidden("u01.redundant", seed=SEED, given=_lines(), examples=200)
def finds_it_in_random_programs(redundant, lines):
    """Random programs of a dozen lines."""
    outputs = [lines[-1][0]]
    wanted = slot("u01.redundant").reference(lines, ["x"], outputs)
    same_reasons(redundant, lines, ["x"], outputs, wanted, "Another program.", "")


# ── numbers ──


@hidden("u01.wrong_line", seed=SEED)
def is_exactly_this_line(wrong_line):
    """The line that changes the result."""
    if f"%{value_name(wrong_line())}" != slot("u01.wrong_line").reference():
        raise Wrong("This line is not the wrong one.")


@hidden("u01.limit", seed=SEED)
def is_the_right_number(limit):
    """The intensity that is never reached."""
    value = a_number(limit(), unit="FLOP/byte")
    if abs(value / slot("u01.limit").reference() - 1) > 0.002:
        raise Wrong("The number is right to three digits.", got=f"{value:.6g} FLOP/byte")


@hidden("ir.windows.positions", seed=SEED)
def is_right_on_real_layers(positions):
    """The first convolution and the first pooling of ResNet-18."""
    if positions(224, 7, 2, 1, 3, 3) != 112 or positions(112, 3, 2, 1, 1, 1) != 56:
        raise Wrong("conv1 makes 112 of 224, the pooling behind it 56.")
