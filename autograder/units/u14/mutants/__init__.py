"""Answers to unit 14: plausible mistakes that every check must catch, other right ones that pass.

Here: rows, a program that deadlocks, the clocks of a layer. plans.py: regions. costs.py: what to
offload. Next room: plans.py.
"""

from __future__ import annotations

import math

from autograder.check.framework import alternative, alternatives, mutants
from course_lib.exercises import slot
from course_lib.ir.graph.build import neg, relu, trace

LOOKUP, DENSE = slot("u14.rows").reference()
PRODUCT = "('matmul', 'x', '*weights')"
FLOAT, SUMS = "('dequantize', 'x', '*scale')", f"('add?', {PRODUCT}, '*bias')"
mutants(
    "u14.rows",
    # written in the order in which it is computed
    innermost_first=("'dequantize', 'x'", "'quantize', 'x'",
                     "('quantize', ('gelu?'", "('dequantize', ('gelu?'"),
    the_gelu_is_always_there=("gelu?", "gelu"),
    scales_without_a_star=("'*scale')), '*new_scale'", "'scale')), 'new_scale'"),
    everything_has_a_star=("'dequantize', 'x'", "'dequantize', '*x'"),
    no_scales=("'x', '*scale')), '*new_scale'", "'x'))"),
    # the product of attention would go to a chip that cannot have it
    weights_may_be_computed=("'*weights'", "'weights'"),
    the_relu_before_the_bias=(f"('relu?', {SUMS})", f"('add?', ('relu?', {PRODUCT}), '*bias')"),
    the_relu_after_the_rescaling=(f"('requantize', ('relu?', {SUMS}), '*scale')",
                                  f"('relu?', ('requantize', {SUMS}, '*scale'))"),
    the_bias_is_always_there=("add?", "add"),
    the_relu_is_always_there=("relu?", "relu"),
    # the mark on the operand in place of the addition
    the_bias_itself_is_optional=("add?", "add", "'*bias'", "'*bias?'"),
    the_row_of_the_table=(f"('relu?', {SUMS})", SUMS),
    a_gelu_or_two=(FLOAT, f"('gelu?', {FLOAT})"),
    a_relu_before_the_product=(PRODUCT, "('matmul', ('relu?', 'x'), '*weights')"),
    a_relu_behind_the_gelu=(f"('gelu?', {FLOAT})", f"('relu?', ('gelu?', {FLOAT}))"),
    a_bias_or_two=(SUMS, f"('add?', {SUMS}, '*other')"),
    in_the_other_order=lambda: [DENSE, LOOKUP],
    # the matcher keeps one operand for each name, and would check only the last
    one_name_for_both_scales=("*new_scale", "*scale"),
    with_their_names=lambda: [("lookup", LOOKUP), ("early_relu", DENSE)],
    the_mark_in_front=("gelu?", "?gelu"),
    as_text=lambda: [
        "quantize(gelu?(dequantize(x, *scale)), *new_scale)",
        "requantize(relu?(add?(matmul(x, *weights), *bias)), *scale)",
    ],
)  # fmt: skip


def _listed(part):
    return part if isinstance(part, str) else [_listed(inside) for inside in part]


alternatives("u14.rows", as_lists=lambda: _listed([LOOKUP, DENSE]))


@alternative("u14.rows")
def step_by_step():
    value = ("dequantize", "value", "*before")
    product = ("matmul", "value", "*matrix")
    for op in ("gelu?",):
        value = (op, value)
    return (("quantize", value, "*after"),
            ("requantize", ("relu?", ("add?", product, "*vector")), "*rescaling"))  # fmt: skip


@alternative("u14.rows")
def by_a_function():
    def row(end, inner):
        return end, inner, "*scale_behind"

    return [row("quantize", ("gelu?", ("dequantize", "a", "*scale_before"))),
            row("requantize", ("relu?", ("add?", ("matmul", "a", "*b"), "*c")))]  # fmt: skip


# ── a program that deadlocks ──

OUT, RELUS, TYPES = "[a + neg(b), b + neg(a)]", "(relu(x), relu(y))", "'f32[4]', 'f32[4]'"
mutants(
    "u14.deadlock",
    # one region could wait for itself, so `joined` does not make it
    out_and_back=lambda: trace(lambda x: relu(x) + neg(relu(x)), "f32[4]"),
    the_same_value_out_and_back=(OUT, "a + neg(a)"),
    # the second region waits for the first, and that is all
    one_way_only=(OUT, "[a + x, b + neg(a)]"),
    through_the_processor_once=(OUT, "[relu(a), b + neg(a)]"),
    # all neighbours, so all becomes one region
    no_processor_between=(OUT, "[a + b, b + a]"),
    too_large=(OUT, "[neg(neg(a + neg(b))), neg(b + neg(a))]"),
    only_the_processor=lambda: trace(lambda x: neg(neg(x)), "f32[4]"),
)
alternatives(
    "u14.deadlock",
    crossed_the_other_way=(OUT, "[neg(b) + a, neg(a) + b]", TYPES, "'f32[2,3]', 'f32[2,3]'"),
    one_of_the_values_directly=(OUT, "[a + b, b + neg(a)]"),
    from_one_input=(RELUS, "(relu(x), x + x)", "x: Node, y: Node", "x", TYPES, "'f32[5]'"),
    with_eight=(RELUS, "(x + y, relu(y))", OUT, "[relu(a + neg(b)), relu(b + neg(a))]"),
)

# ── the fewest clocks of a layer ──

ARRAY, LAYER = "-(-m * k * n // chip.macs)", "-(-layer // chip.dma_bytes)"
INNER = "-(-product // chip.dma_bytes)"
VECTORS, RESULTS = "4 * n + 4 * n", "operands + 4 * m * n"
mutants(
    "u14.least",
    sums_of_one_byte=(RESULTS, "operands + m * n"),
    bias_and_scale_in_both=(RESULTS, f"{RESULTS} + 8 * n"),
    bias_and_scale_of_one_byte=(VECTORS, "n + n"),
    a_bias_for_each_result=(VECTORS, "8 * m * n"),
    weights_are_there_already=("m * k + k * n", "m * k"),
    one_after_the_other=(f"max(array, {LAYER})", f"array + {LAYER}",
                         f"max(array, {INNER})", f"array + {INNER}"),
    the_port_alone=(ARRAY, "0"),
    both_directions_at_once=(f"operands + {VECTORS} + m * n", "max(operands + 8 * n, m * n)",
                             RESULTS, "max(operands, 4 * m * n)"),
    rounded_down=(ARRAY, "m * k * n // chip.macs", LAYER, "layer // chip.dma_bytes",
                  INNER, "product // chip.dma_bytes"),
)  # fmt: skip


@alternative("u14.least")
def by_names(m, k, n, chip):
    sizes = {"x": m * k, "weights": k * n, "bias": 4 * n, "scale": 4 * n, "y": m * n}
    sums = sizes["x"] + sizes["weights"] + 4 * sizes["y"]
    return [max(math.ceil(m * k * n / chip.macs), math.ceil(moved / chip.dma_bytes))
            for moved in (sum(sizes.values()), sums)]  # fmt: skip


@alternative("u14.least")
def without_division(m, k, n, chip):
    costs = []
    for moved in (m * k + k * n + 4 * (n + n) + m * n, m * k + k * n + m * n * 4):
        clocks = max(m * k * n // chip.macs, moved // chip.dma_bytes)
        while clocks * chip.macs < m * k * n or clocks * chip.dma_bytes < moved:
            clocks += 1
        costs.append(clocks)
    return tuple(costs)


@alternative("u14.least")
def the_larger_first(m, k, n, chip):
    both = m * k + k * n
    candidates = [(m * k * n, chip.macs), (both + n * (8 + m), chip.dma_bytes)]
    layer = max((work + rate - 1) // rate for work, rate in candidates)
    candidates[1] = both + 4 * n * m, chip.dma_bytes
    return layer, max((work + rate - 1) // rate for work, rate in candidates)
