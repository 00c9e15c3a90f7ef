"""Answers to unit 0: the clocks of a systolic array, a matmul that keeps it busy.

Next room: shape.py.
"""

import math

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.build import matmul, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp


@mutant("accelerator.systolic.cycles")
def forgets_ragged_tiles(m, k, n, array):
    tiles = (m // array.rows) * (n // array.cols)
    return tiles * (k + array.rows + array.cols - 2 + array.rows * array.drain)


@mutant("accelerator.systolic.cycles")
def forgets_the_fill(m, k, n, array):
    return -(-m // array.rows) * -(-n // array.cols) * (k + array.rows * array.drain)


@mutant("accelerator.systolic.cycles")
def always_drains(m, k, n, array):
    return -(-m // array.rows) * -(-n // array.cols) * (k + 2 * array.rows + array.cols - 2)


@mutant("accelerator.systolic.cycles")
def as_the_tool_reports(m, k, n, array):
    tiles = -(-m // array.rows) * -(-n // array.cols)
    return tiles * (k + array.rows + array.cols - 2 + array.rows * array.drain) - 1


@mutant("accelerator.systolic.cycles")
def weight_stationary(m, k, n, array):
    tiles = -(-k // array.rows) * -(-n // array.cols)
    return tiles * (m + 2 * array.rows + array.cols - 2)


@mutant("accelerator.systolic.cycles")
def drains_once(m, k, n, array):
    tiles = -(-m // array.rows) * -(-n // array.cols)
    return tiles * (k + array.rows + array.cols - 2) + array.rows * array.drain


@mutant("accelerator.systolic.cycles")
def by_floats_too_small(m, k, n, array):
    tiles = round(m / array.rows) * round(n / array.cols)
    return tiles * (k + array.rows + array.cols - 2 + array.rows * array.drain)


@alternative("accelerator.systolic.cycles")
def tile_by_tile(m, k, n, array):
    down, across = len(range(0, m, array.rows)), len(range(0, n, array.cols))
    last_starts = 1 + (array.rows - 1) + (array.cols - 1)
    ends = last_starts + k - 1
    return np.int64(down * across * (ends + (array.rows if array.drain else 0)))


@alternative("accelerator.systolic.cycles")
def in_closed_form(m, k, n, array):
    """One expression; a whole float is a number of clocks, too."""
    tiles = math.ceil(m / array.rows) * math.ceil(n / array.cols)
    return float(tiles * (k + array.rows * (1 + array.drain) + array.cols - 2))


@alternative("accelerator.systolic.cycles")
def by_rows_of_tiles(m, k, n, array):
    """The clocks of one row of tiles, for each row of tiles."""
    wait = sum([array.rows - 1, array.cols - 1])
    one = wait + k
    if array.drain:
        one += array.rows
    across, rest = divmod(n, array.cols)
    row = (across + (rest > 0)) * one
    return row * ((m + array.rows - 1) // array.rows)


OTHERS = "the text is about arrays that keep the outputs, and no others are given"
CYCLES = "accelerator.systolic.cycles"
equivalent(CYCLES, "if array.dataflow != 'os':", "pass", because=OTHERS)
equivalent(CYCLES, "raise ValueError", "pass", because=OTHERS)
equivalent(CYCLES, "raise ValueError", "raise ArithmeticError", because=OTHERS)


@mutant("u00.busy")
def many_tiles(array, macs):
    rows, cols = 4 * array.rows, 4 * array.cols
    k = max(macs // (rows * cols), 1)
    return trace(lambda x, w: x @ w, f"f32[{rows},{k}]", f"f32[{k},{cols}]")


@mutant("u00.busy")
def too_small(array, macs):
    return trace(lambda x, w: x @ w, f"f32[{array.rows},64]", f"f32[64,{array.cols}]")


@mutant("u00.busy")
def one_column(array, macs):
    """Keeps one column of cells busy."""
    k = macs // array.rows
    return trace(lambda x, w: x @ w, f"f32[{array.rows},{k}]", f"f32[{k},1]")


@mutant("u00.busy")
def rows_and_columns_exchanged(array, macs):
    k = macs // (array.rows * array.cols)
    return trace(lambda x, w: x @ w, f"f32[{array.cols},{k}]", f"f32[{k},{array.rows}]")


@mutant("u00.busy")
def two_operations(array, macs):
    k = macs // (array.rows * array.cols)
    return trace(lambda x, w: relu(x @ w), f"f32[{array.rows},{k}]", f"f32[{k},{array.cols}]")


@mutant("u00.busy")
def only_for_the_example(array, macs):
    return trace(lambda x, w: x @ w, "f32[16,256]", "f32[256,16]")


@alternative("u00.busy")
def two_tiles(array, macs):
    """Two tiles, one below the other, where that comes out even: slower, and fast enough."""
    k = macs // (array.rows * array.cols)
    tiles = 2 if k % 2 == 0 else 1
    x = inp("x", f"i8[{tiles * array.rows},{k // tiles}]")
    w = inp("w", f"i8[{k // tiles},{array.cols}]")
    return Graph.of([x, w], [apply("matmul", x, w)])


@alternative("u00.busy")
def named_and_typed(array, macs):
    """One tile, made by hand, of halves."""
    k = macs // array.rows // array.cols
    a, b = inp("a", f"f16[{array.rows},{k}]"), inp("b", f"f16[{k},{array.cols}]")
    return Graph.of([a, b], [a @ b], "busy")


@alternative("u00.busy")
def the_best_of_all(array, macs):
    """Tries every shape with so many multiply-accumulates, and takes the fastest."""
    fits = [d for d in range(1, macs + 1) if macs % d == 0]
    shapes = [(m, n) for m in fits for n in fits if macs % (m * n) == 0]

    def clocks(shape):
        m, n = shape
        tiles = -(-m // array.rows) * -(-n // array.cols)
        return tiles * (macs // (m * n) + array.rows + array.cols - 2)

    m, n = min(shapes, key=clocks)
    k = macs // (m * n)
    return trace(lambda x, w: matmul(x, w), f"f32[{m},{k}]", f"f32[{k},{n}]")
