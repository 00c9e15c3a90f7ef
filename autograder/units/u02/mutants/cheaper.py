"""Mutants and alternatives of unit 2: strength reduction. Next room: rest.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.ir.graph.build import rsqrt, sqrt
from course_lib.ir.graph.node import apply, const
from course_lib.passes.clean.strength import never_negative, positive_powers_of_two, powers_of_two
from course_lib.passes.infra.rewrite import rewrite

# ── passes.strength ──

_DIVIDE = "guard=powers_of_two"
_MASK = "guard=positive_powers_of_two"
_REWRITE = "return rewrite(graph, rules)"


def _and(rule):
    return "rules = [", f"rules = [{rule}, "


mutants(
    "passes.strength",
    any_reciprocal=(_DIVIDE, "guard=lambda x, c: c.op == 'constant' and c.type.dtype.is_float"),
    # Divisors of more than one element stay.
    by_one_number_alone=(_DIVIDE, "guard=lambda x, c: powers_of_two(x, c) and c.value.size == 1"),
    # A power of two, it sees; that 1/c may be too small to be exact, it does not.
    by_mantissa_alone=(
        _DIVIDE, "guard=lambda x, c: c.op == 'constant' and c.type.dtype.is_float"
        " and bool((np.abs(np.frexp(c.value)[0]) == 0.5).all())"),
    any_root=("    rules = [", "    never_negative = None\n    rules = ["),
    # sqrt(x) ** 0.5: but sqrt(-0.0) is -0.0.
    roots_are_not_negative=(
        "lambda x: sqrt(x), guard=never_negative",
        "lambda x: sqrt(x), guard=lambda x: never_negative(x) or x.op == 'sqrt'"),
    forgets_the_mask=(f", rule(lambda x, c: apply('mod', x, c), masked, {_MASK})", ""),
    masks_everything=(_MASK, "guard=lambda x, c: c.op == 'constant'"),
    # A mask for u8 is a mask, too.
    signed_integers_only=(
        _MASK, "guard=lambda x, c: positive_powers_of_two(x, c) and c.value.dtype.kind == 'i'"),
    # x * 2 -> x + x: the same number, and no cheaper.
    doubles_by_adding=_and("rule(lambda x: x * 2, lambda x: x + x)"),
    # x ** 3 -> x * x * x is not in the list: it is rounded twice.
    cubes_as_well=_and("rule(lambda x: x ** 3, lambda x: x * x * x)"),
    # (x / y) / z -> x / (y * z): two roundings at other places.
    two_divisions_in_one=_and("rule(lambda x, y, z: x / y / z, lambda x, y, z: x / (y * z))"),
)  # fmt: skip

alternatives(
    "passes.strength",
    # 1/c from the exponent of c alone.
    with_exact_exponents=(
        "const(1 / c.value)", "const(np.copysign("
        "np.ldexp(c.value.dtype.type(1), 1 - np.frexp(c.value)[1]), c.value))"),
    # Divisions and remainders first, powers and roots in a second walk.
    in_two_walks=(_REWRITE, "return rewrite(rewrite(graph, [rules[0], rules[-1]]), rules)"),
)  # fmt: skip


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


equivalent("passes.strength", "x, const(c.value - 1)", "const(c.value - 1), x",
           because="bit_and commutes")  # fmt: skip
