"""Wrong and right answers to the exercises of unit 0."""

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import matmul, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp


@mutant("u00.intensity")
def counts_elements():
    return 803_840 / 403_216


@mutant("u00.intensity")
def counts_a_multiply_add_once():
    return 402_432 / 1_612_864


@mutant("u00.intensity")
def bytes_per_flop():
    return 1_612_864 / 803_840


@mutant("u00.intensity")
def not_a_number():
    return "half"


@alternative("u00.intensity")
def only_the_product():
    return np.float32(2 * 784 * 512 / (4 * 784 * 512))


@mutant("u00.claims")
def all_of_them():
    return "ABCDEF"


@mutant("u00.claims")
def the_true_ones():
    return "BCDF"


@mutant("u00.claims")
def one_is_missing():
    return "A"


@mutant("u00.claims")
def words():
    return "the first"


@alternative("u00.claims")
def as_a_list():
    return ["e", "a"]


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


@mutant("u00.busy")
def many_tiles():
    return trace(lambda x, w: x @ w, "f32[64,16]", "f32[16,64]")


@mutant("u00.busy")
def too_small():
    return trace(lambda x, w: x @ w, "f32[16,64]", "f32[64,16]")


@mutant("u00.busy")
def half_of_the_cells():
    return trace(lambda x, w: x @ w, "f32[8,512]", "f32[512,16]")


@mutant("u00.busy")
def two_operations():
    return trace(lambda x, w: relu(x @ w), "f32[16,256]", "f32[256,16]")


@mutant("u00.busy")
def a_batch():
    return trace(matmul, "f32[2,16,128]", "f32[2,128,16]")


@alternative("u00.busy")
def two_tiles():
    x, w = inp("x", "i8[32,128]"), inp("w", "i8[128,16]")
    return Graph.of([x, w], [apply("matmul", x, w)])
