"""Strength reduction: replace an operation by a cheaper one, with the same result or nearly so.

    %0 = constant dense<2.0> : f32[]            %0 = constant dense<0.5> : f32[]
    %1 = div(%x, %0) : f32[4]           ==>     %1 = mul(%x, %0) : f32[4]

In our compiled code (measured on a Zen 4 core, chains of 32 operations in cache) a division takes
as long as four multiplications and a power, a library call for each element, as long as a
thousand. Next room: `bn_fold.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.graph.build import rsqrt, sqrt
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.clean.dce import keep
from course_lib.passes.infra.contract import contract
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import rule


@contract(wants=["no groups"])
@exercise("passes.strength", unit=2, points=3, baseline=keep, uses=("passes.match",), further=True)
def strength(graph: Graph) -> Graph:
    """Replace these operations by cheaper ones.

        x / c        -> x * (1/c)      floats; c is a constant, all powers of two (4.0, -0.5)
        x ** 2       -> x * x          integers and floats
        x ** 0.5     -> sqrt(x)        if x is never negative
        x ** -0.5    -> rsqrt(x)       if x is never negative
        x ** -1.0    -> reciprocal(x)
        1.0 / x      -> reciprocal(x)
        1.0 / sqrt(x) -> rsqrt(x)
        x mod c      -> bit_and(x, c - 1)    integers; c is a constant, all positive powers of two

    `powers_of_two`, `positive_powers_of_two` and `never_negative` are ready to use as guards.
    `rewrite` tries the rules in their order, and the first that applies wins.

    - x / 10.0 stays: 1/10 is not a float, and x * 0.1 differs from x / 10.0 in the last bit for
      one x in five. 1/c is exact for powers of two alone, unless it overflows. Where it is
      subnormal, the division stays, too: some processors read subnormal numbers as 0.0.
    - x ** 0.5 stays for an unknown x: (-inf) ** 0.5 is inf, sqrt(-inf) is NaN. And -0.0 counts as
      negative: (-0.0) ** 0.5 is 0.0, sqrt(-0.0) is -0.0.
    - An integer division stays, even by 2: a shift rounds down, and division rounds towards
      zero, so they disagree on -1 (and for unsigned numbers, there is no shift in our IR).
      `mod` has the sign of c, so it is a mask; `fmod` is not.
    - x * 2 stays: x + x is exact too, but an addition is no cheaper than a multiplication.

    Apart from powers, every result is the same bit for bit. Powers differ in the last bits: `pow`
    is a library function that may be off by a whole unit in the last place (numpy's is, where it
    uses AVX-512), while x * x, `sqrt` and `reciprocal` are rounded once and off by half a unit at
    most. `rsqrt` is rounded twice and can be off by one and a half; it is the one line that may
    cost accuracy.

    >>> from course_lib.ir.graph.build import trace
    >>> from course_lib.passes.clean.dce import dce
    >>> dce(strength(trace(lambda x: x / 8.0 / 10.0, "f32[4]")))
    graph @main(%x0: f32[4]) -> (f32[4]) {
      %0 = constant dense<0.125> : f32[]
      %1 = mul(%x0, %0) : f32[4]
      %2 = constant dense<10.0> : f32[]
      %3 = div(%1, %2) : f32[4]
      return %3
    }
    <BLANKLINE>
    """

    def times_reciprocal(x: Node, c: Node) -> Node:
        return x * const(1 / c.value)

    def masked(x: Node, c: Node) -> Node:
        return apply("bit_and", x, const(c.value - 1))

    rules = [
        rule(lambda x, c: x / c, times_reciprocal, guard=powers_of_two),
        rule(lambda x: x**2, lambda x: x * x),
        rule(lambda x: x**0.5, lambda x: sqrt(x), guard=never_negative),
        rule(lambda x: x**-0.5, lambda x: rsqrt(x), guard=never_negative),
        rule(lambda x: x**-1.0, lambda x: apply("reciprocal", x)),
        rule(lambda x: 1.0 / sqrt(x), lambda x: rsqrt(x)),
        rule(lambda x: 1.0 / x, lambda x: apply("reciprocal", x)),
        rule(lambda x, c: apply("mod", x, c), masked, guard=positive_powers_of_two),
    ]
    return rewrite(graph, rules)


def powers_of_two(x: Node, c: Node) -> bool:
    """Is `c` a float constant of powers of two whose reciprocals are finite and not subnormal?"""
    if c.op != "constant" or not c.type.dtype.is_float:
        return False
    with np.errstate(all="ignore"):
        mantissa, _ = np.frexp(c.value)
        size = np.abs(1 / c.value)
    normal = (size >= np.finfo(size.dtype).tiny) & np.isfinite(size)
    return bool(np.all((np.abs(mantissa) == 0.5) & normal))


def positive_powers_of_two(x: Node, c: Node) -> bool:
    """Is `c` an integer constant whose elements are all 1, 2, 4, 8, ...?"""
    if c.op != "constant" or c.type.dtype.kind not in ("int", "uint"):
        return False
    return bool(np.all((c.value > 0) & (c.value & (c.value - 1) == 0)))


def never_negative(x: Node, depth: int = 8) -> bool:
    """Can the values of `x` be shown to be 0.0 or more, or NaN, but not -0.0? False: not known."""
    if x.op == "constant":
        return bool(np.all(x.value >= 0) and not np.any(np.signbit(x.value)))
    if x.op in ("abs", "exp", "relu", "sigmoid"):  # not sqrt: sqrt(-0.0) is -0.0
        return True
    if x.op == "mul" and x.inputs[0] is x.inputs[1]:
        return True
    if depth == 0 or x.op not in ("add", "mul", "max", "reduce_sum", "reduce_max", "mean"):
        return False
    if x.op == "max" and any(i.op == "constant" and np.all(i.value > 0) for i in x.inputs):
        return True
    return all(never_negative(i, depth - 1) for i in x.inputs)
