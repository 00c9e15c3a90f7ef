"""Mutants and alternatives of unit 2: strength reduction. Next room: __init__.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.build import rsqrt, sqrt
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.clean.strength import never_negative, positive_powers_of_two, powers_of_two
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import rule

# ── passes.strength ──


def _strength(graph, divide=powers_of_two, root=never_negative, mask=positive_powers_of_two):
    def times_reciprocal(x: Node, c: Node) -> Node:
        return x * const(1 / c.value)

    def masked(x: Node, c: Node) -> Node:
        return apply("bit_and", x, const(c.value - 1))

    rules = [
        rule(lambda x, c: x / c, times_reciprocal, guard=divide),
        rule(lambda x: x**2, lambda x: x * x),
        rule(lambda x: x**0.5, lambda x: sqrt(x), guard=root),
        rule(lambda x: x**-0.5, lambda x: rsqrt(x), guard=root),
        rule(lambda x: x**-1.0, lambda x: apply("reciprocal", x)),
        rule(lambda x: 1.0 / sqrt(x), lambda x: rsqrt(x)),
        rule(lambda x: 1.0 / x, lambda x: apply("reciprocal", x)),
    ]
    if mask is not None:
        rules.append(rule(lambda x, c: apply("mod", x, c), masked, guard=mask))
    return rewrite(graph, rules)


@mutant("passes.strength")
def any_reciprocal(graph):
    return _strength(graph, lambda x, c: c.op == "constant" and c.type.dtype.is_float)


@mutant("passes.strength")
def any_root(graph):
    return _strength(graph, root=None)


@mutant("passes.strength")
def forgets_the_mask(graph):
    return _strength(graph, mask=None)


@mutant("passes.strength")
def masks_everything(graph):
    return _strength(graph, mask=lambda x, c: c.op == "constant")


@mutant("passes.strength")
def doubles_by_adding(graph):
    """x * 2 -> x + x: the same number, and no cheaper."""
    return _strength(rewrite(graph, [rule(lambda x: x * 2, lambda x: x + x)]))


@mutant("passes.strength")
def cubes_as_well(graph):
    """x ** 3 -> x * x * x is not in the list: it is rounded twice."""
    return _strength(rewrite(graph, [rule(lambda x: x**3, lambda x: x * x * x)]))


@mutant("passes.strength")
def by_one_number_alone(graph):
    """Divisors of more than one element stay."""
    return _strength(graph, lambda x, c: powers_of_two(x, c) and c.value.size == 1)


@mutant("passes.strength")
def by_mantissa_alone(graph):
    """A power of two, it sees; that 1/c may be too small to be exact, it does not."""

    def power(x, c):
        if c.op != "constant" or not c.type.dtype.is_float:
            return False
        return bool((np.abs(np.frexp(c.value)[0]) == 0.5).all())

    return _strength(graph, power)


@mutant("passes.strength")
def roots_are_not_negative(graph):
    """sqrt(x) ** 0.5: but sqrt(-0.0) is -0.0."""
    return _strength(graph, root=lambda x: never_negative(x) or x.op == "sqrt")


@mutant("passes.strength")
def signed_integers_only(graph):
    """A mask for u8 is a mask, too."""
    return _strength(
        graph, mask=lambda x, c: positive_powers_of_two(x, c) and c.value.dtype.kind == "i"
    )


@alternative("passes.strength")
def with_exact_exponents(graph):
    """1/c from the exponent of c alone."""

    def times_power(x, c):
        _, exponents = np.frexp(c.value)
        return x * const(np.copysign(np.ldexp(c.value.dtype.type(1), 1 - exponents), c.value))

    exact = rule(lambda x, c: x / c, times_power, guard=powers_of_two)
    return _strength(rewrite(graph, [exact]))


@alternative("passes.strength")
def in_two_walks(graph):
    """Divisions and remainders first, powers and roots in a second walk."""
    return _strength(_strength(graph, root=lambda x: False))


@alternative("passes.strength")
def by_functions_of_a_node(graph):
    """One function with cases for each op; divides by 1.0 not at all."""

    def cheaper(node):
        if node.op in ("div", "mod", "pow"):
            return {"div": _divided, "mod": _masked, "pow": _powered}[node.op](*node.inputs)
        return None

    return rewrite(graph, [cheaper])


def _divided(x, c):
    if x.op == "constant" and x.type.dtype.is_float and x.value.size and (x.value == 1).all():
        return rsqrt(c.inputs[0]) if c.op == "sqrt" else apply("reciprocal", c)
    return x * const(1 / c.value) if powers_of_two(x, c) else None


def _masked(x, c):
    return apply("bit_and", x, const(c.value - 1)) if positive_powers_of_two(x, c) else None


def _powered(x, c):
    if c.op != "constant" or not c.value.size or c.value.min() != c.value.max():
        return None
    made = {2: lambda: x * x, -1: lambda: apply("reciprocal", x)}
    if never_negative(x):
        made |= {0.5: lambda: sqrt(x), -0.5: lambda: rsqrt(x)}
    made = {k: f for k, f in made.items() if x.type.dtype.is_float or k == 2}
    return made.get(c.value.ravel()[0].item(), lambda: None)()


@mutant("passes.strength")
def two_divisions_in_one(graph):
    """(x / y) / z -> x / (y * z): two roundings at other places."""
    return _strength(
        rewrite(graph, [rule(lambda x, y, z: (x / y) / z, lambda x, y, z: x / (y * z))])
    )


equivalent("passes.strength", "x, const(c.value - 1)", "const(c.value - 1), x",
           because="bit_and commutes")  # fmt: skip
