"""Hidden checks of unit 1: other seeds, longer programs, and the answers that have one value."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.programs import graphs
from autograder.units.u01.checks.defined import faulty
from autograder.units.u01.checks.programs import rows_of
from autograder.units.u01.checks.recording import recorded
from autograder.units.u01.checks.redundancy import same_reasons
from autograder.units.u01.checks.windows import AXES, LONG, exact_on_a_long_axis
from course_lib.exercises import slot

SEED = 10_453

harder("ir.graph.topological_order", "orders_random_programs", seed=SEED, given=graphs(size=25),
       examples=15)  # fmt: skip
harder("ir.verify.misplaced", "finds_faults_in_random_programs", seed=SEED + 1, given=faulty(20),
       examples=30)  # fmt: skip
harder("ir.windows.positions", "counts_the_positions", seed=SEED + 2, given=AXES, examples=60)


# ── recordings ──

_LEAVES = st.sampled_from([*"xyzuv", "2.0", "0.5", "3"]) | st.sampled_from(["0", "1", "1.0"])


def _deeper(inner: Any) -> Any:
    pairs = st.tuples(inner, st.sampled_from("+-*/"), inner)
    return st.one_of(pairs.map(lambda p: f"({p[0]} {p[1]} {p[2]})"), inner.map(lambda e: f"-{e}"))


def _lambda(parts: Any) -> str:
    """Values with names, some of them read twice or never, and a tuple of results."""
    first, second, third = parts
    return (f"lambda x, y, z, u, v: (a := ({first}) * x, b := ({second}) - a, "
            f"[a := a / b for _ in range(2)][0], ({third}) + y, x, b)[2:]")  # fmt: skip


_EXPRESSION = st.recursive(_LEAVES, _deeper, max_leaves=6)
SOURCES = st.tuples(_EXPRESSION, _EXPRESSION, _EXPRESSION).map(_lambda)


@hidden("u01.record", seed=SEED, given=SOURCES, examples=20, what="random functions")
def records_random_functions(record, source):
    """The operations of a random function."""
    types = ["f64[2,3]", "f64[3]", "f64[]", "f64[1,3]", "f64[2,1]"]
    ours = slot("u01.record").reference(source, *types)
    recorded(record, source, rows_of(ours), "in the order in which Python performs them", types)


# ── redundancy ──

_OPS = ("Relu", "Add", "Shape", "CastLike", "Identity", "Conv", "BatchNormalization", "Constant",
        "Conv", "BatchNormalization", "ConvTranspose", "Size", "Gather")  # fmt: skip
_OPERANDS = {"Relu": 1, "Shape": 1, "Identity": 1, "Size": 1, "Constant": 0,
             "BatchNormalization": 5}  # fmt: skip


def _line(k: int, lines: list[Any], rng: np.random.Generator) -> tuple[str, str, list[str]]:
    """A random line; every third reads weights above all, and a batch norm often a convolution."""
    op = _OPS[rng.integers(len(_OPS))]
    names = ["x", "y", "w", "v", "w", *(line[0] for line in lines[-12:])]
    operands = [names[i] for i in rng.integers(0, len(names), _OPERANDS.get(op, 2))]
    if op in ("Conv", "BatchNormalization") and rng.random() < 0.8:
        fixed = ["w", "v", *(line[0] for line in lines if line[1] in ("Shape", "Constant"))]
        operands[1:] = [fixed[i] for i in rng.integers(0, len(fixed), len(operands) - 1)]
    convs = [result for result, other, _ in lines if other.startswith("Conv")]
    if op == "BatchNormalization" and convs and rng.random() < 0.8:
        operands[0] = convs[-1 - int(rng.integers(min(3, len(convs))))]
    return f"v{k}", op, operands


@hidden("u01.redundant", seed=SEED, given=st.integers(0, 2**48), examples=5, what="long programs")
def finds_it_in_random_programs(redundant, seed):
    """Random programs, and a few of their lines where they are wrong."""
    rng = np.random.default_rng(seed)
    lines: list[Any] = []
    for k in range(60):
        lines.append(_line(k, lines, rng))
    inputs = ["x", "y"] if rng.random() < 0.5 else ["y"]
    outputs = [lines[-1][0], *(lines[i][0] for i in rng.integers(0, 60, 4))]
    ours = slot("u01.redundant").reference

    def compared(count: int) -> None:
        part, ends = lines[:count], [o for o in outputs if o in {r for r, _, _ in lines[:count]}]
        why = "In this program other lines need not run, or the reasons are others."
        same_reasons(redundant, part, inputs, ends, ours(part, inputs, ends), why, "")

    try:
        compared(60)
    except Wrong:
        for count in range(1, 61):  # the first lines that are wrong
            compared(count)


# ── windows ──


@hidden("ir.windows.positions", seed=SEED, spec=LONG)
def is_exact_on_other_long_axes(positions, rng):
    """Axes of up to 10**18 elements, drawn for this run."""
    for _ in range(5):
        size, *others = (int(n) for n in rng.integers([10**14, 1, 1, 1, 0, 0], [10**18, *[99] * 5]))
        exact_on_a_long_axis(positions, size, *others)
    return "axes of up to 10**18 elements"
