"""Checks of unit 2 for strength: each line of its specification, and what stays as it is.

Next room: fixpoint.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.programs import graphs
from autograder.check.properties import live_ops, same_meaning
from autograder.units.u02.checks.shared import compiles, same_bits, special_inputs, stays
from autograder.units.u02.checks.simplify import NO_MATCH, F, I
from course_lib.ir.graph.build import abs, rsqrt, sqrt, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const

REPLACE = "Replace these operations by cheaper ones"
SAME = "Apart from powers, every result is the same bit for bit"
DIVIDED = "c is a constant, all powers of two (4.0, -0.5)"
MASKS = "c is a constant, all positive powers of two"
ORDER = "`rewrite` tries the rules in their order, and the first that applies wins"
POWERS = "1/c is exact for powers of two alone, unless it overflows"
SUBNORMAL = "Where it is subnormal, the division stays, too"
UNKNOWN = "x ** 0.5 stays for an unknown x"
WHOLE = "An integer division stays, even by 2"
SIGN = "`mod` has the sign of c, so it is a mask; `fmod` is not"

background("passes.strength", "Powers differ in the last bits ... half a unit at most",
           because="measured in the notebook: the library computes pow")  # fmt: skip
background("passes.strength", "`rsqrt` is rounded twice ... that may cost accuracy",
           because="measured in the notebook")  # fmt: skip
background("passes.strength", "`powers_of_two`, `positive_powers_of_two` and ... as guards",
           because="an offer: other guards are right, too")  # fmt: skip


# The lines of the specification of strength: (program, types, ops that must be gone, line).
CHEAPER = [
    (lambda x: x / 2.0, [F], "div", "x / c -> x * (1/c)"),
    (lambda x: x / -0.5, [F], "div", "x / c -> x * (1/c)"),
    (lambda x: x / const([1.0, 2.0, 4.0, -8.0]), [F], "div", "x / c -> x * (1/c)"),
    (lambda x: x**2.0, [F], "pow", "x ** 2 -> x * x"),
    (lambda x: x**2, [I], "pow", "x ** 2 -> x * x"),
    (lambda x: abs(x) ** 0.5, [F], "pow", "x ** 0.5 -> sqrt(x)"),
    (lambda x: (x * x) ** -0.5, [F], "pow", "x ** -0.5 -> rsqrt(x)"),
    (lambda x: x**-1.0, [F], "pow", "x ** -1.0 -> reciprocal(x)"),
    (lambda x: apply("div", 1.0, x), [F], "div", "1.0 / x -> reciprocal(x)"),
    (lambda x: apply("div", 1.0, sqrt(abs(x))), [F], "div sqrt", "1.0 / sqrt(x) -> rsqrt(x)"),
    (lambda x: apply("mod", x, 8), [I], "mod", "x mod c -> bit_and(x, c - 1)"),
    (lambda x: apply("mod", x, 16), ["u8[4]"], "mod", "x mod c -> bit_and(x, c - 1)"),
    (lambda x: x / 4.0, ["f64[4]"], "div", "x / c -> x * (1/c)"),
    (lambda x: apply("div", 1.0, x), ["f16[4]"], "div", "1.0 / x -> reciprocal(x)"),
]

DIVISION = "x / c -> x * (1/c)"

# What strength must leave alone: (program, types, why, words of the specification).
AS_CHEAP = [
    (lambda x: x / 10.0, [F], "1/10 is not a float.", "x / 10.0 stays: 1/10 is not a float"),
    (lambda x: x / const([2.0, 3.0, 4.0, 8.0]), [F], "1/3 is not a float.", DIVIDED),
    (lambda x: x / 2, [I], "-1 / 2 is 0, and a shift gives -1.", WHOLE),
    (lambda x: x * 2.0, [F], "An addition is no cheaper.", "x * 2 stays: x + x is exact too"),
    (lambda x: (x**3.0, x**1.0, x**0.0), [F], "No line covers these powers.", REPLACE),
    (lambda x, y: ((x / y) / x, x / sqrt(y), sqrt(x) * sqrt(y)), [F, F],
     "No line covers a divisor that is not a constant, and two roundings are not one.", SAME),
    (lambda x, y: x**0.5 + (x * y) ** -0.5, [F, F], "x * y may be negative.", UNKNOWN),
    (lambda x: apply("mod", x, const([4, 8, 6, 2], "i32")), [I], "6 is among them.", MASKS),
    (lambda x: sqrt(x) ** 0.5, [F], "sqrt(-0.0) is -0.0.", "And -0.0 counts as negative"),
    (lambda x: x**0.5, [F], "x may be -infinity.", UNKNOWN),
    (lambda x: x / float(2.0**127), [F], "1/c is subnormal.", SUBNORMAL),
    (lambda x: x / float(2.0**-140), [F], "1/c is infinite.", POWERS),
    (lambda x: apply("mod", x, 6), [I], "6 is not a power of two.", MASKS),
    (lambda x: apply("mod", x, -8), [I], "-8 is negative.", MASKS),
    (lambda x: apply("fmod", x, 8), [I], "fmod has the sign of x.", SIGN),
]  # fmt: skip


@for_each("passes.strength", CHEAPER, "the {} rules", spec=REPLACE)
def strength_applies_each_rule(strength, before, types, gone, line):
    """Each line of the specification is applied, and the result is the same."""
    program = trace(before, *types)
    after = same_meaning(program, strength(program), rtol=1e-6, spec=line)
    _same_specials(program, after, line)
    if any(n.op in gone.split() for n in live_ops(after)):
        problem = f"`{line}` must be applied here, and is not."
        problem += f" {NO_MATCH}" if line == "1.0 / sqrt(x) -> rsqrt(x)" else ""
        raise Wrong(problem, program=program, got=after, spec=line)


@for_each("passes.strength", AS_CHEAP, "programs that must stay as they are")
def strength_leaves_the_rest_alone(strength, before, types, why, spec):
    """Where the cheap operation gives another result, the expensive one stays."""
    stays(strength, trace(before, *types), f"This must stay as it is. {why}", spec)


@checks("passes.strength", given=graphs(size=6, ops=("half", "relu", "add", "neg")), examples=15,
        spec=[SAME, DIVISION])  # fmt: skip
def strength_halves_exactly(strength, graph):
    """Divisions by 2.0 become multiplications, bit for bit the same, wherever they are."""
    after = same_bits(graph, strength(graph), spec=SAME)
    if any(n.op == "div" for n in live_ops(after)):
        problem = "No division by 2.0 may be left, but here is one."
        raise Wrong(problem, program=graph, got=after, spec=DIVISION)


@checks("passes.strength", given=graphs(size=6), examples=10, spec=SAME)
def strength_keeps_the_meaning(strength, graph):
    """The result computes what the program computes."""
    same_meaning(graph, strength(graph), spec=SAME)


def _same_specials(before: Graph, after: Graph, spec: str) -> None:
    """Equal on -0.0, infinity and NaN; other numbers to one part in a million."""
    inputs = special_inputs(before)
    got, expected = run(after, inputs)[0], run(before, inputs)[0]
    apart = ~np.isclose(got, expected, rtol=1e-6, atol=0, equal_nan=True)
    if apart.any():
        at = tuple(int(i) for i in np.argwhere(apart)[0])
        problem = f"For x = {inputs[0][at]!s}, the result is {got[at]!s} instead of "
        raise Wrong(f"{problem}{expected[at]!s}.", program=before, got=after, spec=spec)


@checks("passes.strength", spec=ORDER)
def strength_prefers_the_first_rule(strength):
    """1.0 / sqrt(x) is one rsqrt, and no reciprocal of a root."""
    before = trace(lambda x, y: apply("div", 1.0, sqrt(abs(x))) + apply("div", 1.0, y), F, F)
    after = strength(before)
    wanted = trace(lambda x, y: rsqrt(abs(x)) + apply("reciprocal", y), F, F)
    same_meaning(before, after, rtol=1e-6, spec=SAME)
    if sorted(n.op for n in live_ops(after)) != sorted(n.op for n in wanted.ops):
        raise Wrong("1.0 / sqrt(x) stands before 1.0 / x in the list, so it must win.",
                    program=before, got=after, expected=wanted, spec=ORDER)  # fmt: skip
    return "the first rule that applies"


compiles("passes.strength", REPLACE)
