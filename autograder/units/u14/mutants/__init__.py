"""Answers to unit 14: plausible mistakes that every check must catch, other right ones that pass.

Here: rows, a program that deadlocks, the clocks of a layer. plans.py: regions. costs.py: what to
offload. Next room: plans.py.
"""

from __future__ import annotations

import math

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import neg, relu, trace

LOOKUP = ("quantize", ("gelu?", ("dequantize", "x", "*scale")), "*new_scale")
DENSE = ("requantize", ("relu?", ("add?", ("matmul", "x", "*weights"), "*bias")), "*scale")


@mutant("u14.rows")
def innermost_first():
    """Written in the order in which it is computed."""
    return [("dequantize", ("gelu?", ("quantize", "x", "*scale")), "*new_scale"), DENSE]


@mutant("u14.rows")
def the_gelu_is_always_there():
    return [("quantize", ("gelu", ("dequantize", "x", "*scale")), "*new_scale"), DENSE]


@mutant("u14.rows")
def scales_without_a_star():
    return [("quantize", ("gelu?", ("dequantize", "x", "scale")), "new_scale"), DENSE]


@mutant("u14.rows")
def everything_has_a_star():
    return [("quantize", ("gelu?", ("dequantize", "*x", "*scale")), "*new_scale"), DENSE]


@mutant("u14.rows")
def no_scales():
    return [("quantize", ("gelu?", ("dequantize", "x"))), DENSE]


@mutant("u14.rows")
def weights_may_be_computed():
    """The product of attention would go to a chip that cannot have it."""
    return [LOOKUP, ("requantize", ("relu?", ("add?", ("matmul", "x", "weights"), "*bias")),
                     "*scale")]  # fmt: skip


@mutant("u14.rows")
def the_relu_before_the_bias():
    return [LOOKUP, ("requantize", ("add?", ("relu?", ("matmul", "x", "*weights")), "*bias"),
                     "*scale")]  # fmt: skip


@mutant("u14.rows")
def the_relu_after_the_rescaling():
    return [LOOKUP, ("relu?", ("requantize", ("add?", ("matmul", "x", "*weights"), "*bias"),
                               "*scale"))]  # fmt: skip


@mutant("u14.rows")
def the_bias_is_always_there():
    return [LOOKUP, ("requantize", ("relu?", ("add", ("matmul", "x", "*weights"), "*bias")),
                     "*scale")]  # fmt: skip


@mutant("u14.rows")
def the_relu_is_always_there():
    return [LOOKUP, ("requantize", ("relu", ("add?", ("matmul", "x", "*weights"), "*bias")),
                     "*scale")]  # fmt: skip


@mutant("u14.rows")
def the_bias_itself_is_optional():
    """The mark on the operand in place of the addition."""
    return [LOOKUP, ("requantize", ("relu?", ("add", ("matmul", "x", "*weights"), "*bias?")),
                     "*scale")]  # fmt: skip


@mutant("u14.rows")
def the_row_of_the_table():
    return [LOOKUP, ("requantize", ("add?", ("matmul", "x", "*weights"), "*bias"), "*scale")]


@mutant("u14.rows")
def a_gelu_or_two():
    return [("quantize", ("gelu?", ("gelu?", ("dequantize", "x", "*scale"))), "*new_scale"), DENSE]


@mutant("u14.rows")
def a_relu_behind_the_gelu():
    return [("quantize", ("relu?", ("gelu?", ("dequantize", "x", "*scale"))), "*new_scale"), DENSE]


@mutant("u14.rows")
def a_bias_or_two():
    sums = ("add?", ("add?", ("matmul", "x", "*weights"), "*bias"), "*other")
    return [LOOKUP, ("requantize", ("relu?", sums), "*scale")]


@mutant("u14.rows")
def in_the_other_order():
    return [DENSE, LOOKUP]


@mutant("u14.rows")
def one_name_for_both_scales():
    """The matcher keeps one operand for each name, and would check only the last."""
    return [("quantize", ("gelu?", ("dequantize", "x", "*scale")), "*scale"), DENSE]


@mutant("u14.rows")
def with_their_names():
    return [("lookup", LOOKUP), ("early_relu", DENSE)]


@mutant("u14.rows")
def the_mark_in_front():
    return [("quantize", ("?gelu", ("dequantize", "x", "*scale")), "*new_scale"), DENSE]


@mutant("u14.rows")
def as_text():
    return ["quantize(gelu?(dequantize(x, *scale)), *new_scale)",
            "requantize(relu?(add?(matmul(x, *weights), *bias)), *scale)"]  # fmt: skip


@alternative("u14.rows")
def as_lists():
    return [["quantize", ["gelu?", ["dequantize", "x", "*s"]], "*t"],
            ["requantize", ["relu?", ["add?", ["matmul", "x", "*w"], "*b"]], "*s"]]  # fmt: skip


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


@mutant("u14.deadlock")
def out_and_back():
    """One region could wait for itself, so `joined` does not make it."""
    return trace(lambda x: relu(x) + neg(relu(x)), "f32[4]")


@mutant("u14.deadlock")
def the_same_value_out_and_back():
    def f(x):
        a = relu(x)
        return a + neg(a)

    return trace(f, "f32[4]")


@mutant("u14.deadlock")
def one_way_only():
    """The second region waits for the first, and that is all."""

    def f(x, y):
        a, b = relu(x), relu(y)
        return [a + x, b + neg(a)]

    return trace(f, "f32[4]", "f32[4]")


@mutant("u14.deadlock")
def through_the_processor_once():
    def f(x, y):
        a, b = relu(x), relu(y)
        return [relu(a), b + neg(a)]

    return trace(f, "f32[4]", "f32[4]")


@mutant("u14.deadlock")
def no_processor_between():
    """All neighbours, so all becomes one region."""

    def f(x, y):
        a, b = relu(x), relu(y)
        return [a + b, b + a]

    return trace(f, "f32[4]", "f32[4]")


@mutant("u14.deadlock")
def too_large():
    def f(x, y):
        a, b = relu(x), relu(y)
        c, d = a + neg(b), b + neg(a)
        return [neg(neg(c)), neg(d)]

    return trace(f, "f32[4]", "f32[4]")


@mutant("u14.deadlock")
def only_the_processor():
    return trace(lambda x: neg(neg(x)), "f32[4]")


@alternative("u14.deadlock")
def crossed_the_other_way():
    def f(x, y):
        a, b = relu(x), relu(y)
        return [neg(b) + a, neg(a) + b]

    return trace(f, "f32[2,3]", "f32[2,3]")


@alternative("u14.deadlock")
def one_of_the_values_directly():
    def f(x, y):
        a, b = relu(x), relu(y)
        return [a + b, b + neg(a)]

    return trace(f, "f32[4]", "f32[4]")


@alternative("u14.deadlock")
def from_one_input():
    def f(x):
        a, b = relu(x), x + x
        return [a + neg(b), b + neg(a)]

    return trace(f, "f32[5]")


@alternative("u14.deadlock")
def with_eight():
    def f(x, y):
        a, b = x + y, relu(y)
        return [relu(a + neg(b)), relu(b + neg(a))]

    return trace(f, "f32[4]", "f32[4]")


# ── the fewest clocks of a layer ──


def _clocks(m, k, n, chip, layer, product):
    return tuple(max(math.ceil(m * k * n / chip.macs), math.ceil(moved / chip.dma_bytes))
                 for moved in (layer, product))  # fmt: skip


@mutant("u14.least")
def sums_of_one_byte(m, k, n, chip):
    return _clocks(m, k, n, chip, m * k + k * n + 8 * n + m * n, m * k + k * n + m * n)


@mutant("u14.least")
def bias_and_scale_in_both(m, k, n, chip):
    moved = m * k + k * n + 8 * n
    return _clocks(m, k, n, chip, moved + m * n, moved + 4 * m * n)


@mutant("u14.least")
def bias_and_scale_of_one_byte(m, k, n, chip):
    moved = m * k + k * n
    return _clocks(m, k, n, chip, moved + 2 * n + m * n, moved + 4 * m * n)


@mutant("u14.least")
def a_bias_for_each_result(m, k, n, chip):
    moved = m * k + k * n
    return _clocks(m, k, n, chip, moved + 8 * m * n + m * n, moved + 4 * m * n)


@mutant("u14.least")
def weights_are_there_already(m, k, n, chip):
    return _clocks(m, k, n, chip, m * k + 8 * n + m * n, m * k + 4 * m * n)


@mutant("u14.least")
def one_after_the_other(m, k, n, chip):
    moved = m * k + k * n
    array = math.ceil(m * k * n / chip.macs)
    return (array + math.ceil((moved + 8 * n + m * n) / chip.dma_bytes),
            array + math.ceil((moved + 4 * m * n) / chip.dma_bytes))  # fmt: skip


@mutant("u14.least")
def the_port_alone(m, k, n, chip):
    moved = m * k + k * n
    return (math.ceil((moved + 8 * n + m * n) / chip.dma_bytes),
            math.ceil((moved + 4 * m * n) / chip.dma_bytes))  # fmt: skip


@mutant("u14.least")
def both_directions_at_once(m, k, n, chip):
    moved = m * k + k * n
    array = math.ceil(m * k * n / chip.macs)
    return (max(array, math.ceil(max(moved + 8 * n, m * n) / chip.dma_bytes)),
            max(array, math.ceil(max(moved, 4 * m * n) / chip.dma_bytes)))  # fmt: skip


@mutant("u14.least")
def rounded_down(m, k, n, chip):
    moved, array = m * k + k * n, m * k * n // chip.macs
    return (max(array, (moved + 8 * n + m * n) // chip.dma_bytes),
            max(array, (moved + 4 * m * n) // chip.dma_bytes))  # fmt: skip


@alternative("u14.least")
def by_names(m, k, n, chip):
    sizes = {"x": m * k, "weights": k * n, "bias": 4 * n, "scale": 4 * n, "y": m * n}
    sums = sizes["x"] + sizes["weights"] + 4 * sizes["y"]
    return [*_clocks(m, k, n, chip, sum(sizes.values()), sums)]


@alternative("u14.least")
def without_division(m, k, n, chip):
    found = []
    for moved in (m * k + k * n + 4 * (n + n) + m * n, m * k + k * n + m * n * 4):
        clocks = max(m * k * n // chip.macs, moved // chip.dma_bytes)
        while clocks * chip.macs < m * k * n or clocks * chip.dma_bytes < moved:
            clocks += 1
        found.append(clocks)
    return tuple(found)


@alternative("u14.least")
def the_larger_first(m, k, n, chip):
    both = m * k + k * n
    candidates = [(m * k * n, chip.macs), (both + n * (8 + m), chip.dma_bytes)]
    layer = max((work + rate - 1) // rate for work, rate in candidates)
    candidates[1] = both + 4 * n * m, chip.dma_bytes
    return layer, max((work + rate - 1) // rate for work, rate in candidates)
