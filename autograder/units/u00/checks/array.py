"""Visible checks of unit 0 about a systolic array: clocks, a matmul that keeps it busy, its shape.

Next room: ../hidden.py.
"""

import functools
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import TimedOut, Wrong, background, checks
from autograder.check.properties import a_number, valid_graph
from course_lib.accelerator.systolic import SystolicArray, wavefront
from course_lib.accelerator.workload import products
from course_lib.ir.graph.graph import Graph

ARRAYS = st.builds(SystolicArray, st.integers(1, 4), st.integers(1, 4), st.booleans())
SMALL = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), ARRAYS)

CLOCKS = (
    "The result is cut into tiles of `array.rows` x `array.cols`, computed one after another.",
    "A tile that hangs over the edge of the result costs as much as a whole one.",
    "In each tile, the first operands enter cell (0, 0) at clock 1.",
    "Those of row i enter i clocks later, those of column j enter j clocks later.",
    "Every cell does k multiplications, one per clock.",
    "The tile ends when the last cell is done.",
    "If `array.drain`, each tile then takes `array.rows` more clocks.",
)


CYCLES = "accelerator.systolic.cycles"


@checks(CYCLES, given=SMALL, examples=60, what="random products", spec=CLOCKS)
def agrees_with_the_simulation(cycles, case):
    """As many clocks as the simulated array takes."""
    got, expected = a_number(cycles(*case), unit="clocks"), simulated_cycles(*case)
    if got != expected:
        problem, words = "The simulated array takes another number of clocks.", _told(*case)
        clocks, right = _count(got, "clock"), _count(expected, "clock")
        spec = _sentence(cycles, case)
        raise Wrong(problem, program=words, got=clocks, expected=right, spec=spec)


@functools.cache
def simulated_cycles(m: int, k: int, n: int, array: SystolicArray) -> int:
    """Every answer is compared with the same runs."""
    return wavefront(np.ones((m, k)), np.ones((k, n)), array).cycles


def _sentence(cycles: Any, case: tuple[int, int, int, SystolicArray]) -> str:
    """The words that were overlooked: about one whole tile, its drain, the last tile, or many."""
    m, k, n, array = case
    whole, last = (array.rows, array.cols), ((m - 1) % array.rows + 1, (n - 1) % array.cols + 1)
    parts = ((whole, replace(array, drain=False)), (whole, array), (last, array))
    for ((high, wide), on), words in zip(parts, (CLOCKS[5], CLOCKS[6], CLOCKS[1]), strict=True):
        if cycles(high, k, wide, on) != simulated_cycles(high, k, wide, on):
            return words
    return CLOCKS[0]


def _told(m: int, k: int, n: int, array: SystolicArray) -> str:
    cells, drain = f"{array.rows} x {array.cols} cells", "" if array.drain else "not "
    return f"[{m}, {k}] times [{k}, {n}] on {cells}, drain {drain}counted"


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}{'s' * (number != 1)}"


@checks(CYCLES, spec="without simulating them")
def needs_no_simulation(cycles):
    """A product of 16 billion multiply-accumulates takes no longer than a small one."""
    case = 4000, 1000, 4000, SystolicArray(32, 32)
    try:
        answer = cycles(*case)
    except TimedOut as stop:
        raise TimedOut(f"{stop.problem} Count the clocks without simulating them.") from None
    got = a_number(answer, unit="clocks")
    if got != 16_593_750:
        problem = "The formula must hold for large products too."
        raise Wrong(problem, program=_told(*case), got=f"{got:,.10g} clocks")
    return "one product of 16 billion multiply-accumulates"


BUSY = [(SystolicArray(1, 8), 80), (SystolicArray(4, 12), 4_800), (SystolicArray(16, 16), 65_536)]
LONG = SystolicArray(2, 2), 4 * 250_007


@checks("u00.busy", spec="one operation, a `matmul` of two inputs with two axes each")
def is_one_matmul(busy):
    """One matmul of two inputs."""
    for array, macs in BUSY:
        one_matmul(busy(array, macs))
    return "one matmul"


@checks("u00.busy", spec="exactly `macs` multiply-accumulates")
def has_the_right_size(busy):
    """As many multiply-accumulates as asked for."""
    for array, macs in (*BUSY, LONG):
        of_size(busy(array, macs), macs)
    return "as many multiply-accumulates as asked for"


FAST = ("keeps `array` busy", "takes at most", "That is 320", "A graph of one matmul")


@checks("u00.busy", spec=FAST)
def is_fast(busy):
    """Fast enough on the simulated array."""
    shown = []
    for array, macs in BUSY:
        graph = busy(array, macs)
        m, k, n = of_size(graph, macs)
        run = wavefront(np.ones((m, k)), np.ones((k, n)), array)
        if run.cycles > clocks_allowed(array, macs):
            got = f"{run.cycles:,} clocks, {run.utilization:.0%} of the cells' time used"
            tiles = _count(run.tiles, "tile")
            problem = f"{most_clocks(array, macs)} This is {tiles} with k = {k}."
            raise Wrong(problem, program=graph, got=got, spec=FAST[1])
        shown.append(f"{array.rows} x {array.cols} cells: {run.utilization:.0%} busy")
    return ", ".join(shown)


def clocks_allowed(array: SystolicArray, macs: int) -> int:
    return macs // (array.rows * array.cols) + 2 * (array.rows + array.cols)


def most_clocks(array: SystolicArray, macs: int) -> str:
    return f"At most {clocks_allowed(array, macs):g} clocks on {array.rows} x {array.cols} cells."


def of_size(graph: Graph, macs: int) -> tuple[int, int, int]:
    """m, k and n of its one matmul, which does so many multiply-accumulates."""
    m, k, n = one_matmul(graph)
    if m * k * n != macs:
        problem, got = f"It must do exactly {macs:,} multiply-accumulates.", f"{m * k * n:,}"
        raise Wrong(problem, program=graph, got=f"{m} * {k} * {n} = {got}", expected=f"{macs:,}")
    return m, k, n


def one_matmul(result: Any) -> tuple[int, int, int]:
    graph = valid_graph(result)
    operands = [(i.op, i.type.rank) for node in graph.ops for i in node.inputs]
    one = [node.op for node in graph.ops] == ["matmul"] and operands == [("input", 2)] * 2
    for right, problem in [
        (one, "The graph must have one operation, a matmul of two inputs with two axes each."),
        (graph.outputs == graph.ops, "The graph must return what its matmul computes."),
        (all(i.type.is_static for i in graph.inputs), "The sizes must be numbers."),
    ]:
        if not right:
            raise Wrong(problem, program=graph)
    (product,) = products(graph)
    return product.m, product.k, product.n


# cells, parts: the fewest clocks of any shape, and what the parts are
PARTS = {
    (12, ((1, 9, 10, 8), (3, 4, 7, 12))): (279, "four small products"),
    (12, ((2, 4, 6, 6), *4 * [(2, 2, 7, 12)], (1000, 2, 5, 1))): (10_376, "six of three kinds"),
    (18, ((1, 1, 1, 10),)): (16, "one number times a row"),
    (64, ((1, 1, 90, 64), (1, 1, 64, 10))): (280, "a perceptron on one image"),
    (1024, ((1, 1000, 90, 1),)): (1113, "a column of a thousand numbers"),
    (24, ((32, 100, 9, 1), (1, 100, 32, 16))): (9216, "a depthwise convolution and the next"),
}


@checks(
    "u00.shape",
    spec=["does all products in the fewest clocks", "Each of `parts` is",
          "All run one after another", "`rows * cols` is exactly `cells`",
          "`rows` may be smaller or larger than `cols`"],
)  # fmt: skip
def is_the_fastest_of_few(shape):
    """No other shape with that many cells needs fewer clocks."""
    shown = []
    for (cells, parts), (fewest, words) in PARTS.items():
        sizes = shape_of(shape, parts, cells)
        got, on = clocks_of(parts, sizes), "{} x {}".format(*sizes)
        if got > fewest:
            problem = f"Another shape does it in fewer clocks: {words}."
            program, yours = f"parts = {list(parts)}, cells = {cells}", f"{on}: {got:,} clocks"
            raise Wrong(problem, program=program, got=yours, expected=f"{fewest:,} clocks")
        shown.append(f"{words}: {fewest:,} clocks on {on}")
    return "; ".join(shown)


ANY = "If several shapes are equally fast, any of them is right."


@checks("u00.shape", spec=["`rows * cols` is exactly `cells`", ANY])
def has_as_many_cells(shape):
    """Exactly as many cells as asked for, odd numbers included."""
    for cells in (1, 7, 30, 1024):
        shape_of(shape, ((3, 10, 20, 5),), cells)
    return "shapes of exactly 1, 7, 30 and 1024 cells"


background("u00.shape", "Count the clocks with your `cycles`.", because="what the answer stands on")


def shape_of(shape: Any, parts: tuple, cells: int) -> tuple[int, int]:
    got = shape(list(parts), cells)
    if not isinstance(got, (tuple, list, np.ndarray)) or len(got) != 2:
        raise Wrong("The answer must be two numbers, (rows, cols).", got=repr(got))
    rows, cols = (a_number(size, unit="cells") for size in got)
    if min(rows, cols) < 1 or rows * cols != cells or rows % 1 or cols % 1:
        raise Wrong(f"`rows * cols` must be exactly {cells}.", got=f"{rows:g} * {cols:g} cells")
    return int(rows), int(cols)


def clocks_of(parts: tuple, sizes: tuple[int, int]) -> int:
    """All clocks, on the simulated array."""
    array = SystolicArray(*sizes)
    return sum(count * simulated_cycles(m, k, n, array) for count, m, k, n in parts)
