"""Wrong and right answers to the exercises of unit 0."""

import math

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.accelerator.systolic import SystolicArray, cycles
from course_lib.exercises import slot
from course_lib.ir.graph.build import matmul, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.registry import flops


@mutant("u00.intensity")
def counts_elements(images, inputs, outputs):
    """Elements, not bytes."""
    return 4 * slot("u00.intensity").reference(images, inputs, outputs)


@mutant("u00.intensity")
def counts_a_multiply_add_once(images, inputs, outputs):
    flop = images * inputs * outputs + 2 * images * outputs
    return flop / moved(images, inputs, outputs)


@mutant("u00.intensity")
def bytes_per_flop(images, inputs, outputs):
    return 1 / slot("u00.intensity").reference(images, inputs, outputs)


@mutant("u00.intensity")
def not_a_number(images, inputs, outputs):
    return "half"


@mutant("u00.intensity")
def images_share_nothing(images, inputs, outputs):
    """The weights are counted as if each image read its own."""
    flop = 2 * images * inputs * outputs + 2 * images * outputs
    return flop / (images * moved(1, inputs, outputs))


@mutant("u00.intensity")
def without_the_weights(images, inputs, outputs):
    """They are in memory already, so only x, b and the result move."""
    flop = 2 * images * inputs * outputs + 2 * images * outputs
    return flop / (moved(images, inputs, outputs) - 4 * inputs * outputs)


@mutant("u00.intensity")
def only_the_product(images, inputs, outputs):
    """As if the bias and relu were for nothing."""
    return 2 * images * inputs * outputs / moved(images, inputs, outputs)


@mutant("u00.intensity")
def learned_by_heart(images, inputs, outputs):
    return 0.49839


def moved(images, inputs, outputs):
    return 4 * (images * inputs + inputs * outputs + outputs + images * outputs)


@alternative("u00.intensity")
def by_arrays(images, inputs, outputs):
    """The arrays say how large they are."""
    x, w, b = (
        np.zeros(shape, np.float32) for shape in ((images, inputs), (inputs, outputs), outputs)
    )
    result = np.maximum(x @ w + b, 0)
    flop = 2 * x.size * b.size + 2 * result.size
    return np.array([flop / sum(array.nbytes for array in (x, w, b, result))])


@alternative("u00.intensity")
def by_the_library(images, inputs, outputs):
    """What each node of the graph does, and what the four tensors weigh."""

    def layer(x, w, b):
        return relu(x @ w + b)

    graph = trace(layer, f"f32[{images},{inputs}]", f"f32[{inputs},{outputs}]", f"f32[{outputs}]")
    return sum(map(flops, graph.ops)) / sum(
        node.type.nbytes for node in (*graph.inputs, *graph.outputs)
    )


@alternative("u00.intensity")
def for_each_result(images, inputs, outputs):
    """Each result: a product and a sum for each input, the bias, relu."""
    results = images * outputs
    return np.float64(results * (inputs + inputs + 1 + 1)) / moved(images, inputs, outputs)


@mutant("u00.claims")
def all_of_them(mo, no, mi, ni, k, lanes):
    return "ABCDEFG"


@mutant("u00.claims")
def the_true_ones(mo, no, mi, ni, k, lanes):
    return "".join(sorted(set("ABCDEFG") - set(truth(mo, no, mi, ni, k, lanes))))


@mutant("u00.claims")
def the_bias_is_in_the_loop(mo, no, mi, ni, k, lanes):
    """Believes that the bias is added for each k."""
    false = set(truth(mo, no, mi, ni, k, lanes))
    return "".join(sorted(false - {"A"} if k == 64 else false))


@mutant("u00.claims")
def words(mo, no, mi, ni, k, lanes):
    return "the first"


@mutant("u00.claims")
def threads_share_k(mo, no, mi, ni, k, lanes):
    """Believes E where there are two threads."""
    false = set(truth(mo, no, mi, ni, k, lanes))
    return "".join(sorted(false - {"E"} if mo == 2 else false))


@mutant("u00.claims")
def a_vector_is_one_register(mo, no, mi, ni, k, lanes):
    """Takes `ni` for one instruction, however long a register is."""
    false = {"A": True, "C": mi != 12, "E": True, "F": no != 3, "G": mi > 16}
    return "".join(letter for letter, wrong in false.items() if wrong)


@mutant("u00.claims")
def only_for_the_printed_one(mo, no, mi, ni, k, lanes):
    return "AE"


def truth(mo, no, mi, ni, k, lanes):
    return slot("u00.claims").reference(mo, no, mi, ni, k, lanes)


@alternative("u00.claims")
def one_by_one(mo, no, mi, ni, k, lanes):
    """A verdict on each claim."""
    true = {
        "A": False,
        "B": True,
        "C": mi * ni / lanes == 12,
        "D": True,
        "E": False,
        "F": no == 3,
        "G": mi * ni <= 16 * lanes,
    }
    return {claim for claim, is_true in true.items() if not is_true}


@alternative("u00.claims")
def with_commas(mo, no, mi, ni, k, lanes):
    found = ["e", "a"] + ["f"] * (no != 3)
    found += ["c"] * (mi * (ni // lanes) != 12) + ["g"] * (mi * (ni // lanes) >= 17)
    return ", ".join(found)


@alternative("u00.claims")
def as_a_list(mo, no, mi, ni, k, lanes):
    answer = ["A", "E"]
    if no in (1, 2) or no > 3:
        answer.append("F")
    sums = mi * ni
    if sums - 12 * lanes:
        answer.append("C")
    if sums > lanes << 4:
        answer.append("G")
    return answer


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


@mutant("u00.shape")
def always_a_square(parts, cells):
    side = math.isqrt(cells)
    while cells % side:
        side -= 1
    return side, cells // side


@mutant("u00.shape")
def only_wide_ones(parts, cells):
    return fastest(parts, [s for s in divisors(cells) if s[0] <= s[1]])


@mutant("u00.shape")
def only_tall_ones(parts, cells):
    return fastest(parts, [s for s in divisors(cells) if s[0] >= s[1]])


@mutant("u00.shape")
def the_longest_product_alone(parts, cells):
    """The most that one of them takes, not the sum."""

    def longest(shape):
        return max(clocks_on([part], *shape) for part in parts)

    return min(divisors(cells), key=longest)


@mutant("u00.shape")
def only_powers_of_two(parts, cells):
    return fastest(parts, [s for s in divisors(cells) if s[0] & (s[0] - 1) == 0])


@mutant("u00.shape")
def forgets_the_count(parts, cells):
    return fastest([(1, m, k, n) for _, m, k, n in parts], divisors(cells))


@mutant("u00.shape")
def only_the_first_product(parts, cells):
    return fastest(parts[:1], divisors(cells))


@mutant("u00.shape")
def counts_the_drain(parts, cells):
    return fastest(parts, divisors(cells), drain=True)


@mutant("u00.shape")
def fewer_cells(parts, cells):
    side = math.isqrt(cells)
    return side, side


def divisors(cells):
    return [(d, cells // d) for d in range(1, cells + 1) if cells % d == 0]


def clocks_on(parts, rows, cols, drain=False):
    one = rows + cols - 2 + rows * drain
    return sum(c * -(-m // rows) * -(-n // cols) * (k + one) for c, m, k, n in parts)


def fastest(parts, shapes, drain=False):
    return min(shapes, key=lambda s: clocks_on(parts, *s, drain=drain))


@alternative("u00.shape")
def from_tall_to_wide(parts, cells):
    """The last of equally fast shapes."""
    return fastest(parts, divisors(cells)[::-1])


@alternative("u00.shape")
def as_a_list_of_two(parts, cells):
    best = None
    for rows, cols in divisors(cells):
        clocks = clocks_on(parts, rows, cols)
        if best is None or clocks < best[0]:
            best = clocks, rows, cols
    return list(best[1:])


@alternative("u00.shape")
def with_the_library(parts, cells):
    """Asks the library's array for its clocks, row by row of the factors."""
    total = {}
    for rows in range(1, cells + 1):
        cols, rest = divmod(cells, rows)
        if not rest:
            array = SystolicArray(rows, cols)
            total[rows] = sum(c * cycles(m, k, n, array) for c, m, k, n in parts)
    rows = min(total, key=total.__getitem__)
    return np.int64(rows), np.int64(cells // rows)


equivalent("u00.shape", "for rows in range(", "reversed(", because="another of equal ones")
equivalent("u00.shape", "(rows, cells // rows)", "(cells // rows, rows)", because="the same shapes")
equivalent("u00.shape", "cells + 1)", "cells + 2)", because="cells + 1 does not divide cells")
