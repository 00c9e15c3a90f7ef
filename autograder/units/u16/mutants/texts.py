"""Answers to u16.together and u16.normalize, wrong and right. Next room: docs/units/u16.md."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants

SPLIT, PARTS = "parts = R.split(a, 3, axis=-1)", "return parts[0], parts[1], parts[2]"
mutants(
    "u16.together",
    # right for matrices alone
    split_along_axis_1=("a, 3, axis=-1", "a, 3, axis=1"),
    split_along_axis_0=("a, 3, axis=-1", "a, 3"),
    weights_one_below_the_other=("(w1, w2, w3), axis=1", "(w1, w2, w3), axis=0"),
    one_bias_for_all=("b = R.concat((b1, b2, b3), axis=0)", "b = R.concat((b1, b1, b1), axis=0)"),
    biases_in_another_order=("(b1, b2, b3)", "(b3, b2, b1)"),
    weights_in_another_order=("(w1, w2, w3)", "(w2, w1, w3)"),
    results_in_another_order=(PARTS, "return parts[0], parts[2], parts[1]"),
    two_results=(PARTS, "return parts[0], parts[1]"),
    one_result=(SPLIT, "", PARTS, "return a"),
    biases_added_afterwards=(
        "a = R.add(m, b)", "", SPLIT, "p = R.split(m, 3, axis=-1)",
        PARTS, "return R.add(p[0], b1), R.add(p[1], b2), R.add(p[2], b3)",
    ),
    no_bias=("a = R.add(m, b)", "a = m"),
    the_same_matrix_twice=("m2 = R.matmul(x, w2)", "m2 = R.matmul(x, w1)"),
    one_after_another=("m2 = R.matmul(x, w2)", "m2 = R.matmul(a1, w2)"),
    before_without_biases=("return a1, a2, a3", "return m1, m2, m3"),
    three_products_in_after=("m = R.matmul(x, w)", "n1 = R.matmul(x, w1)\\n        "
                             "n2 = R.matmul(x, w2)\\n        m = R.matmul(x, w)"),
    other_names=("def after(x, w1, w2, w3, b1, b2, b3)", "def after(x, w1, w2, w3, b1, b2)"),
    before_alone=("def after(", "def later("),
    numpy_instead=("m = R.matmul(x, w)", "m = np.matmul(x, w)"),
    two_equal_halves=("a, 3, axis=-1", "a, 2, axis=-1"),
)  # fmt: skip
alternatives(
    "u16.together",
    stacked_from_the_end=("(w1, w2, w3), axis=1", "(w1, w2, w3), axis=-1"),
    in_a_list=("(w1, w2, w3)", "[w1, w2, w3]", PARTS, "return (parts[0], parts[1], parts[2])"),
    backwards_everywhere=("(w1, w2, w3)", "(w3, w2, w1)", "(b1, b2, b3)", "(b3, b2, b1)",
                          PARTS, "return parts[2], parts[1], parts[0]"),
)  # fmt: skip

WHERE = "d = tl.where(inside, v - m, 0.0)"
LOAD, STORE = "mask=inside, other=0.0", "tl.sqrt(s + 0.00001), mask=inside"
mutants(
    "u16.normalize",
    # lanes that were masked out count as (0 - m)²
    the_mask_is_forgotten_in_the_mean_square=(WHERE, "d = v - m"),
    no_mask_at_the_load=(f", {LOAD}", ""),
    no_other=(LOAD, "mask=inside"),
    no_mask_at_the_store=(STORE, "tl.sqrt(s + 0.00001)"),
    divided_by_the_block=("m = tl.sum(v, 0) / n", "m = tl.sum(v, 0) / BLOCK"),
    squares_divided_by_the_block=("tl.sum(d * d, 0) / n", "tl.sum(d * d, 0) / BLOCK"),
    # as numpy's var(ddof=1)
    divided_by_one_less=("tl.sum(d * d, 0) / n", "tl.sum(d * d, 0) / (n - 1)"),
    # in f32, two large numbers that are nearly equal
    mean_of_squares_less_the_square=("s = tl.sum(d * d, 0) / n",
                                     "s = tl.sum(v * v, 0) / n - m * m"),
    rows_of_block_numbers=("x + row * n + cols", "x + row * BLOCK + cols"),
    stored_in_rows_of_block_numbers=("out + row * n + cols", "out + row * BLOCK + cols"),
    the_first_row_only=("x + row * n + cols", "x + cols"),
    without_the_small_number=("s + 0.00001", "s"),
    the_small_number_outside=("tl.sqrt(s + 0.00001)", "(tl.sqrt(s) + 0.00001)"),
    not_centred=("d / tl.sqrt", "v / tl.sqrt"),
    not_the_root=("tl.sqrt(s + 0.00001)", "(s + 0.00001)"),
    one_lane_too_many=("cols < n", "cols <= n"),
    one_lane_too_few=("cols < n", "cols < n - 1"),
    loaded_twice=(WHERE, "d = tl.where(inside, tl.load(x + row * n + cols, mask=inside, "
                  "other=0.0) - m, 0.0)"),
    lanes_of_n_numbers=("tl.arange(0, BLOCK)", "tl.arange(0, n)"),
    the_largest_instead_of_the_mean=("m = tl.sum(v, 0) / n", "m = tl.max(v, 0)"),
    another_name=("\\n    def normalize(out", "\\n    def kernel(out"),
    in_place=("tl.store(out +", "tl.store(x +"),
)  # fmt: skip
alternatives(
    "u16.normalize",
    with_rsqrt=("d / tl.sqrt(s + 0.00001)", "d * tl.rsqrt(s + 0.00001)"),
    the_mask_as_a_number=(WHERE, "d = (v - m) * inside"),
    the_pointer_moves=("x + row * n + cols", "x + (row * n + cols)"),
)  # fmt: skip
