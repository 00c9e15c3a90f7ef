"""Answers to unit 0: plausible mistakes that some check must catch, other right ones that pass."""

import math

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.accelerator.systolic import SystolicArray, cycles
from course_lib.exercises import slot
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.registry import flops

# ── u00.intensity ──

mutants(
    "u00.intensity",
    counts_elements=("(4 * elements)", "elements"),
    counts_a_multiply_add_once=("2 * images * inputs", "images * inputs"),
    bytes_per_flop=("flop / (4 * elements)", "4 * elements / flop"),
    not_a_number=lambda images, inputs, outputs: "half",
    # The weights are counted as if each image read its own.
    images_share_nothing=(
        "+ inputs * outputs + outputs +", "+ images * (inputs * outputs + outputs) +"),
    # They are in memory already, so only x, b and the result move.
    without_the_weights=("+ inputs * outputs + outputs", "+ outputs"),
    # As if the bias and relu were for nothing.
    only_the_product=("+ 2 * images * outputs", ""),
    to_three_decimals=("flop / (4 * elements)", "round(flop / (4 * elements), 3)"),
    learned_by_heart=lambda images, inputs, outputs: 0.49839,
)  # fmt: skip


@alternative("u00.intensity")
def by_arrays(images, inputs, outputs):
    """The arrays say how large they are."""
    x, w, b = (np.zeros(shape, "f4") for shape in ((images, inputs), (inputs, outputs), outputs))
    result = np.maximum(x @ w + b, 0)
    flop = 2 * x.size * b.size + 2 * result.size
    return np.array([flop / sum(array.nbytes for array in (x, w, b, result))])


@alternative("u00.intensity")
def by_the_library(images, inputs, outputs):
    """What each node of the graph does, and what the four tensors weigh."""
    types = f"f32[{images},{inputs}]", f"f32[{inputs},{outputs}]", f"f32[{outputs}]"
    graph = trace(lambda x, w, b: relu(x @ w + b), *types)
    moved = sum(node.type.nbytes for node in (*graph.inputs, *graph.outputs))
    return sum(map(flops, graph.ops)) / moved


@alternative("u00.intensity")
def for_each_result(images, inputs, outputs):
    """Each result: a product and a sum for each input, the bias, relu."""
    results = images * outputs
    moved = 4 * (images * inputs + (inputs + 1) * outputs + results)
    return np.float64(results * (inputs + inputs + 1 + 1)) / moved


# ── u00.claims ──

mutants(
    "u00.claims",
    all_of_them=lambda *extents: "ABCDEFG",
    the_true_ones=("in false.items() if wrong", "in 'ABCDEFG' if not false.get(letter)",
                   "letter for letter, wrong", "letter for letter"),
    # Believes that the bias is added for each k.
    the_bias_is_in_the_loop=("'A': True", "'A': k != 64"),
    words=lambda *extents: "the first",
    # Believes E where there are two threads.
    threads_share_k=("'E': True", "'E': mo != 2"),
    # Takes `ni` for one instruction, however long a register is.
    a_vector_is_one_register=("mi * ni // lanes", "mi"),
    only_for_the_printed_one=lambda *extents: "AE",
)  # fmt: skip


@alternative("u00.claims")
def one_by_one(mo, no, mi, ni, k, lanes):
    """A verdict on each claim."""
    true = {"A": False, "B": True, "C": mi * ni / lanes == 12, "D": True, "E": False,
            "F": no == 3, "G": mi * ni <= 16 * lanes}  # fmt: skip
    return {claim for claim, is_true in true.items() if not is_true}


@alternative("u00.claims")
def with_commas(mo, no, mi, ni, k, lanes):
    registers = mi * (ni // lanes)
    false = ["e", "a", *["f"] * (no != 3), *["c"] * (registers != 12), *["g"] * (registers >= 17)]
    return ", ".join(false)


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


# ── accelerator.systolic.cycles ──

CYCLES = "accelerator.systolic.cycles"
_TILES, _DRAIN = "-(-m // array.rows) * -(-n // array.cols)", "array.rows if array.drain else 0"

mutants(
    CYCLES,
    forgets_ragged_tiles=(_TILES, "(m // array.rows) * (n // array.cols)"),
    forgets_the_fill=("k + array.rows + array.cols - 2", "k"),
    always_drains=(_DRAIN, "array.rows"),
    as_the_tool_reports=("tiles * one", "tiles * one - 1"),
    weight_stationary=lambda m, k, n, a: (
        -(-k // a.rows) * -(-n // a.cols) * (m + 2 * a.rows + a.cols - 2)
    ),
    drains_once=(f"+ ({_DRAIN})", "", "tiles * one", f"tiles * one + ({_DRAIN})"),
    by_floats_too_small=(_TILES, "round(m / array.rows) * round(n / array.cols)"),
)


@alternative(CYCLES)
def tile_by_tile(m, k, n, array):
    down, across = len(range(0, m, array.rows)), len(range(0, n, array.cols))
    last_starts = 1 + (array.rows - 1) + (array.cols - 1)
    ends = last_starts + k - 1
    return np.int64(down * across * (ends + (array.rows if array.drain else 0)))


@alternative(CYCLES)
def in_closed_form(m, k, n, array):
    """One expression; a whole float is a number of clocks, too."""
    tiles = math.ceil(m / array.rows) * math.ceil(n / array.cols)
    return float(tiles * (k + array.rows * (1 + array.drain) + array.cols - 2))


@alternative(CYCLES)
def by_rows_of_tiles(m, k, n, array):
    """The clocks of one row of tiles, for each row of tiles."""
    one = sum([array.rows - 1, array.cols - 1]) + k
    if array.drain:
        one += array.rows
    across, rest = divmod(n, array.cols)
    row = (across + (rest > 0)) * one
    return row * ((m + array.rows - 1) // array.rows)


OTHERS = "the text is about arrays that keep the outputs, and no others are given"
equivalent(CYCLES, "if array.dataflow != 'os':", "pass", because=OTHERS)
equivalent(CYCLES, "raise ValueError", "pass", because=OTHERS)
equivalent(CYCLES, "raise ValueError", "raise ArithmeticError", because=OTHERS)

# ── u00.busy ──


def _product(m, k, n):
    return trace(lambda x, w: x @ w, f"f32[{m},{k}]", f"f32[{k},{n}]")


mutants(
    "u00.busy",
    many_tiles=lambda a, macs: _product(
        4 * a.rows, max(macs // (16 * a.rows * a.cols), 1), 4 * a.cols
    ),
    too_small=("k = macs // (array.rows * array.cols)", "k = 64"),
    # Keeps one column of cells busy.
    one_column=("// (array.rows * array.cols)", "// array.rows", "{array.cols}]", "1]"),
    rows_and_columns_exchanged=("{array.rows},{k}", "{array.cols},{k}", "{k},{array.cols}",
                                "{k},{array.rows}"),
    sums_of_at_most_4096=("k = macs // (array.rows * array.cols)",
                          "k = min(macs // (array.rows * array.cols), 4096)"),
    two_operations=("x @ w", "(x @ w) * 1.0"),
    only_for_the_example=lambda array, macs: _product(16, 256, 16),
)  # fmt: skip


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
    shapes = [(m, macs // (m * n), n) for m in fits for n in fits if macs % (m * n) == 0]
    return _product(*min(shapes, key=lambda shape: slot(CYCLES).reference(*shape, array)))


# ── u00.shape ──

_EVERY = "if cells % rows == 0"

mutants(
    "u00.shape",
    always_a_square=("return min(shapes", "return min(shapes[:(len(shapes) + 1) // 2][-1:]"),
    only_wide_ones=(_EVERY, f"{_EVERY} and rows * rows <= cells"),
    only_tall_ones=(_EVERY, f"{_EVERY} and rows * rows >= cells"),
    # The most that one of them takes, not the sum.
    the_longest_product_alone=("key=lambda s: sum(", "key=lambda s: max("),
    only_powers_of_two=(_EVERY, f"{_EVERY} and rows & (rows - 1) == 0"),
    forgets_the_count=("count * cycles", "cycles"),
    only_the_first_product=("in parts", "in parts[:1]"),
    only_five_products=("in parts", "in parts[:5]"),
    a_product_that_comes_again_is_known=("in parts", "in set(parts)"),
    at_most_512_rows=(_EVERY, f"{_EVERY} and rows <= 512"),
    at_most_100_of_each=("count * cycles", "min(count, 100) * cycles"),
    two_clocks_more_for_each_tile=(
        "SystolicArray(*s))",
        "SystolicArray(*s)) + 2 * count * -(-m // s[0]) * -(-n // s[1])",
    ),
    counts_the_drain=("SystolicArray(*s)", "SystolicArray(*s, drain=True)"),
    fewer_cells=lambda parts, cells: (math.isqrt(cells), math.isqrt(cells)),
)
# The last of equally fast shapes.
alternatives("u00.shape", from_tall_to_wide=("min(shapes", "min(shapes[::-1]"),
             as_an_array=lambda parts, cells: np.array(as_a_list_of_two(parts, cells)))  # fmt: skip


@alternative("u00.shape")
def as_a_list_of_two(parts, cells):
    best = None
    for rows in (d for d in range(1, cells + 1) if cells % d == 0):
        cols, clocks = cells // rows, 0
        for count, m, k, n in parts:
            clocks += count * -(-m // rows) * -(-n // cols) * (k + rows + cols - 2)
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
