"""Answers to u16.attention and u16.normalize, wrong and right. Next room: docs/units/u16.md."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants

QUERY = "query = R.permute_dims(q, axes=[0, 2, 1, 3])"
AFTER = "R.nn.attention(q, k, v, scale=0.125)"
mutants(
    "u16.attention",
    # as torch has it: [batch, heads, tokens, size]
    heads_before_tokens=(f"return {AFTER}", "return R.permute_dims(R.nn.attention("
                         "R.permute_dims(q, axes=[0, 2, 1, 3]), R.permute_dims(k, axes=[0, 2, 1, "
                         "3]), R.permute_dims(v, axes=[0, 2, 1, 3])), axes=[0, 2, 1, 3])"),
    key_and_value_changed_places=("R.nn.attention(q, k, v", "R.nn.attention(q, v, k"),
    key_before_query=("R.nn.attention(q, k, v", "R.nn.attention(k, q, v"),
    scaled_by_eight=("scale=0.125", "scale=8.0"),
    divided_twice=("scale=0.125", "scale=0.015625"),
    no_scale_at_all=("scale=0.125", "scale=1.0"),
    the_scale_of_128_tokens=("scale=0.125", "scale=0.08838834764"),
    before_without_the_division=('scaled = R.divide(products, R.const(8.0, "float32"))',
                                 "scaled = products"),
    multiplied_instead=('R.divide(products, R.const(8.0, "float32"))',
                        'R.multiply(products, R.const(0.125, "float32"))'),
    softmax_along_another_axis=("axis=-1", "axis=2"),
    # the same axis under another name; the block has -1
    the_axis_from_the_front=("axis=-1", "axis=3"),
    one_permutation_for_the_key=(
        "swapped = R.permute_dims(k, axes=[0, 2, 1, 3])", "",
        "R.permute_dims(swapped, axes=[0, 1, 3, 2])", "R.permute_dims(k, axes=[0, 2, 3, 1])",
    ),
    the_key_as_it_is=("R.matmul(query, key)", "R.matmul(query, swapped)"),
    ends_with_the_product=("return R.permute_dims(mixed, axes=[0, 2, 1, 3])", "return mixed"),
    begins_after_the_permutations=(QUERY, "query = q"),
    weights_and_value_changed_places=("R.matmul(weights, value)", "R.matmul(value, weights)"),
    after_alone=("def before(q, k, v)", "def pattern(q, k, v)"),
    with_the_whole_block=("def before(q, k, v)", "def before(x, q, k, v)"),
    # both compute the right numbers on arrays, and are no operations of R
    divided_by_a_number=('R.divide(products, R.const(8.0, "float32"))', "products / 8.0"),
    query_times_a_number=(AFTER, "R.nn.attention(q * 0.125, k, v, scale=1.0)"),
    after_in_another_function=(
        f"return {AFTER}", "return all_of_it(q, k, v)\\n\\n"
        "    def all_of_it(q, k, v):\\n"
        "        swapped = R.permute_dims(q, axes=[0, 2, 1, 3])\\n"
        "        return R.nn.attention(R.permute_dims(swapped, axes=[0, 2, 1, 3]), k, v)",
    ),
    a_whole_number=('R.const(8.0, "float32")', "R.const(8)"),
    both_alike=(f"return {AFTER}", "query = R.permute_dims(q, axes=[0, 2, 1, 3])\\n"
                "        return R.nn.attention(q, k, v)"),
)  # fmt: skip
alternatives(
    "u16.attention",
    the_default_scale=(", scale=0.125", ""),
    attributes_by_position=("axes=[0, 1, 3, 2]", "[0, 1, 3, 2]"),
    a_constant_without_a_type=('R.const(8.0, "float32")', "R.const(8.0)"),
    operands_by_name=("R.nn.attention(q, k, v", "R.nn.attention(query=q, key=k, value=v"),
    with_a_function_beside=(
        "R.permute_dims(q, axes=[0, 2, 1, 3])",
        "heads(q)",
        "\\n    def after",
        "\\n    def heads(x):\\n"
        "        return R.permute_dims(x, axes=[0, 2, 1, 3])\\n\\n    def after",
    ),
    with_out_dtype=("R.matmul(query, key)", 'R.matmul(query, key, out_dtype="float32")'),
)

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
    # the block of the example, whatever BLOCK is
    always_1024_lanes=("tl.arange(0, BLOCK)", "tl.arange(0, 1024)"),
    as_many_lanes_as_there_can_be=("tl.arange(0, BLOCK)", "tl.arange(0, 65536)"),
    # Triton: arange's arguments must be of type tl.constexpr
    a_size_that_comes_later=("BLOCK: tl.constexpr", "BLOCK"),
    zeros_are_outside=(WHERE, "d = tl.where(v != 0.0, v - m, 0.0)"),
    the_small_number_at_least=("s + 0.00001", "tl.maximum(s, 0.00001)"),
    another_name=("\\n    def normalize(out", "\\n    def kernel(out"),
    in_place=("tl.store(out +", "tl.store(x +"),
)  # fmt: skip
alternatives(
    "u16.normalize",
    with_rsqrt=("d / tl.sqrt(s + 0.00001)", "d * tl.rsqrt(s + 0.00001)"),
    the_mask_as_a_number=(WHERE, "d = (v - m) * inside"),
    the_mask_in_f32=(WHERE, "d = (v - m) * inside.to(tl.float32)"),
    the_root_of_math=("tl.sqrt", "tl.math.sqrt"),
    sums_as_methods=("tl.sum(d * d, 0)", "(d * d).sum(0)"),
    a_mean_beside=(
        "m = tl.sum(v, 0) / n", "m = mean(v, n)",
        "\\n    def normalize", "\\n    def mean(v, n):\\n        return tl.sum(v, 0) / n\\n\\n"
        "    def normalize",
    ),
    the_pointer_moves=("x + row * n + cols", "x + (row * n + cols)"),
)  # fmt: skip
