"""Wrong and right answers to the exercises of unit 0."""

import math

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.accelerator.systolic import SystolicArray
from course_lib.ir.graph.build import matmul, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.registry import flops


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


@mutant("u00.intensity")
def four_images_share_nothing():
    """The weights are counted as if each operation read its own."""
    return (2 * 784 * 512 + 1024) / (4 * 2 * 784 * 512)


@mutant("u00.intensity")
def without_the_weights():
    """They are in memory already, so only x, b and the result move."""
    return 803_840 / (4 * (784 + 512 + 512))


@alternative("u00.intensity")
def by_arrays():
    """The arrays say how large they are."""
    x, w, b = (np.zeros(shape, np.float32) for shape in ((1, 784), (784, 512), (512,)))
    result = np.maximum(x @ w + b, 0)
    flop = 2 * x.size * b.size + 2 * result.size
    return np.array([flop / sum(array.nbytes for array in (x, w, b, result))])


@alternative("u00.intensity")
def by_the_library():
    """What each node of the graph does, and what the four tensors weigh."""

    def layer(x, w, b):
        return relu(x @ w + b)

    graph = trace(layer, "f32[1,784]", "f32[784,512]", "f32[512]")
    return sum(map(flops, graph.ops)) / sum(
        node.type.nbytes for node in (*graph.inputs, *graph.outputs)
    )


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


@mutant("u00.claims")
def threads_share_k():
    """Believes E, and that the accumulators are more than twelve registers."""
    return "AC"


@alternative("u00.claims")
def one_by_one():
    """A verdict on each claim."""
    true = {
        "A": False,
        "B": True,
        "C": 6 * 16 // 8 == 12,
        "D": True,
        "E": False,
        "F": 48 // 16 == 3,
    }
    return {claim for claim, is_true in true.items() if not is_true}


@alternative("u00.claims")
def with_a_comma():
    return "a, e"


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


@alternative("u00.busy")
def named_and_typed():
    """One tile, made by hand, of halves."""
    a, b = inp("a", "f16[16,256]"), inp("b", "f16[256,16]")
    return Graph.of([a, b], [a @ b], "busy")


@alternative("u00.busy")
def the_best_of_all():
    """Tries every shape of 65,536 multiply-accumulates, and takes the fastest."""
    shapes = [(2**i, 2**j, 2 ** (16 - i - j)) for i in range(17) for j in range(17 - i)]
    array = SystolicArray(16, 16)
    m, k, n = min(
        shapes,
        key=lambda s: -(-s[0] // 16) * -(-s[2] // 16) * (s[1] + array.rows + array.cols - 2),
    )
    return trace(lambda x, w: matmul(x, w), f"f32[{m},{k}]", f"f32[{k},{n}]")
