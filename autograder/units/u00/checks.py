"""Visible checks of unit 0, the tour."""

import functools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number, sealed, valid_graph
from course_lib.accelerator.systolic import SystolicArray, wavefront
from course_lib.accelerator.workload import products

ARRAYS = st.builds(SystolicArray, st.integers(1, 4), st.integers(1, 4), st.booleans())
SMALL = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), ARRAYS)


GIVEN = [
    ("u00.intensity", "x: f32[1,784]    w: f32[784,512]    b: f32[512]    result: f32[1,512]"),
    ("u00.claims", "A compilation for a processor with vector registers of 32 bytes printed:"),
    ("u00.claims", "A  The bias x2 is added ... for three different values of `no`."),
]
for exercise, words in GIVEN:
    background(exercise, words, because="what is given")


@checks(
    "u00.intensity",
    spec=["FLOP per byte of the MLP's first layer", "A multiply-add counts as two operations",
          "Each tensor crosses the memory bus once", "Right within 2 %"],
)  # fmt: skip
def is_the_intensity(intensity):
    """FLOP per byte of the first layer."""
    got = a_number(intensity(), unit="FLOP/byte")
    sealed("u00.intensity", got, "093298a5f728", digits=2)
    return "within 2 %"


@checks("u00.claims", spec="Answer with their letters")
def are_letters(claims):
    """Letters of claims."""
    letters(claims())
    return "six claims"


@checks("u00.claims", spec="Which claims about this kernel are false?")
def are_the_false_ones(claims):
    """The false claims, all of them and no others."""
    got = letters(claims())
    sealed("u00.claims", got, "bd60b4038592")
    return "the false ones, and no others"


def letters(got: Any) -> str:
    """The letters of an answer, in order, each once: "ea " and "AE" are the same."""
    if isinstance(got, (list, tuple, set)):
        got = "".join(map(str, got))
    if not isinstance(got, str):
        raise Wrong("The answer is a string of letters.", got=repr(got), expected='such as "BD"')
    found = set(got.upper()) - set(" ,;")
    if not found <= set("ABCDEF"):
        raise Wrong("The claims have the letters A to F.", got=repr(got), expected='such as "BD"')
    return "".join(sorted(found))


CLOCKS = (
    "The result is cut into tiles of `array.rows` x `array.cols`, computed one after another.",
    "A tile that hangs over the edge of the result costs as much as a whole one.",
    "In each tile, the first operands enter cell (0, 0) at clock 1.",
    "Those of row i enter i clocks later, those of column j enter j clocks later.",
    "Every cell does k multiplications, one per clock.",
    "The tile ends when the last cell is done.",
    "If `array.drain`, each tile then takes `array.rows` more clocks.",
)


@checks("accelerator.systolic.cycles", given=SMALL, examples=60, spec=CLOCKS)
def agrees_with_the_simulation(cycles, case):
    """As many clocks as the simulated array takes."""
    m, k, n, array = case
    expected = simulated_cycles(m, k, n, array)
    got = a_number(cycles(m, k, n, array), unit="clocks")
    if got != expected:
        raise Wrong(
            "The simulated array takes another number of clocks.",
            program=f"[{m}, {k}] times [{k}, {n}] on {array.rows} x {array.cols} cells, "
            f"drain {'' if array.drain else 'not '}counted",
            got=f"{got:g} clocks",
            expected=f"{expected} clocks",
            spec=_sentence(m, n, array),
        )


@functools.cache
def simulated_cycles(m: int, k: int, n: int, array: SystolicArray) -> int:
    """Every answer is compared with the same runs."""
    return wavefront(np.ones((m, k)), np.ones((k, n)), array).cycles


def _sentence(m: int, n: int, array: SystolicArray) -> str:
    """The words of the specification that are about this case."""
    if m % array.rows or n % array.cols:
        return "A tile that hangs over the edge of the result costs as much as a whole one."
    if array.drain:
        return "If `array.drain`, each tile then takes `array.rows` more clocks."
    return "The tile ends when the last cell is done."


@checks("accelerator.systolic.cycles", spec="without simulating them")
def needs_no_simulation(cycles):
    """A product of 10^15 multiply-accumulates takes no longer than a small one."""
    got = a_number(cycles(10**6, 10**3, 10**6, SystolicArray(32, 32)), unit="clocks")
    try:
        sealed("accelerator.systolic.cycles", got, "1458094434c0", digits=9)
    except Wrong:
        raise Wrong(
            "The formula holds for large products too.",
            program="[10^6, 10^3] times [10^3, 10^6] on 32 x 32 cells, drain not counted",
            got=f"{got:,.10g} clocks",
        ) from None
    return "one product of 10^15 multiply-accumulates"


@checks("u00.busy", spec="one operation, a `matmul` of two inputs with two axes each")
def is_one_matmul(busy):
    """One matmul of two inputs."""
    one_matmul(busy())
    return "one matmul"


@checks("u00.busy", spec="exactly 65,536 multiply-accumulates")
def has_the_right_size(busy):
    """65,536 multiply-accumulates."""
    graph = busy()
    m, k, n = one_matmul(graph)
    if m * k * n != 65_536:
        raise Wrong(
            "It does exactly 65,536 multiply-accumulates.",
            program=graph,
            got=f"{m} * {k} * {n} = {m * k * n:,}",
            expected="65,536",
        )
    return "65,536 multiply-accumulates"


@checks("u00.busy", spec=["takes at most 320 clocks for it", "A graph of one matmul"])
def is_fast(busy):
    """At most 320 clocks on the simulated array."""
    graph = busy()
    m, k, n = one_matmul(graph)
    run = wavefront(np.ones((m, k)), np.ones((k, n)), SystolicArray(16, 16))
    if run.cycles > 320:
        raise Wrong(
            f"At most 320 clocks. This is {run.tiles} tiles with k = {k}.",
            program=graph,
            got=f"{run.cycles:,} clocks, {run.utilization:.0%} of the cells' time used",
            expected="320 clocks or fewer",
        )
    return f"{run.cycles} clocks, {run.utilization:.0%} of the cells' time used"


def one_matmul(result: Any) -> tuple[int, int, int]:
    graph = valid_graph(result)
    ranks = [i.type.rank for node in graph.ops for i in node.inputs]
    inputs = all(i.op == "input" for node in graph.ops for i in node.inputs)
    if [node.op for node in graph.ops] != ["matmul"] or ranks != [2, 2] or not inputs:
        raise Wrong("One operation, a matmul of two inputs with two axes each.", program=graph)
    if graph.outputs != graph.ops:
        raise Wrong("The graph returns what its matmul computes.", program=graph)
    if not all(i.type.is_static for node in graph.ops for i in node.inputs):
        raise Wrong("The sizes are numbers.", program=graph)
    (product,) = products(graph)
    return product.m, product.k, product.n
