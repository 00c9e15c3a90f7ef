"""Mutants and alternatives of unit 2: simplification and strength reduction.

Next room: zeros.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.ir.graph.build import rsqrt, sqrt
from course_lib.ir.graph.node import apply, const
from course_lib.passes.clean.strength import never_negative, positive_powers_of_two, powers_of_two
from course_lib.passes.infra.rewrite import rewrite

# ── passes.simplify ──


def _and(*more):
    """The edit which adds rules, each in the spelling of ours."""
    return "    rules = [", f"    rules = [{', '.join(more)}, "


_GUARD = "    rules = ["
_REWRITE = "return rewrite(graph, [*rules, *MOVEMENT])"

mutants(
    "passes.simplify",
    # School algebra: x + 0 -> x, x - x -> 0, x * 0 -> 0 for floats too.
    without_guards=(_GUARD, f"    whole = None\n{_GUARD}"),
    # The rules for integers, for i32 alone.
    integers_of_32_bits=(_GUARD, f"    whole = lambda x: x.type.dtype.name == 'i32'\n{_GUARD}"),
    # Every identity for f32 and i32 alone.
    knows_32_bits=(
        _GUARD, "    if {n.type.dtype.name for n in graph.nodes} - {'f32', 'i32', 'bool'}:\n"
        f"        return graph\n{_GUARD}"),
    # One rule too many.
    adds_zero_away=_and("rule(lambda x: x + 0.0, lambda x: x)"),
    no_subtraction_rules=("rule(lambda x, y: x + -y, lambda x, y: x - y), "
                          "rule(lambda x, y: x - -y, lambda x, y: x + y), ", ""),
    forgets_movement=("[*rules, *MOVEMENT]", "rules"),
    # x + -y -> y - x.
    stretches_wrongly=("lambda x, y: x - y)", "lambda x, y: y - x)"),
    # relu(abs(x)) -> abs(x), it thinks. The absolute value of the least integer is negative.
    one_rule_more=_and("rule(lambda x: relu(abs(x)), lambda x: abs(x))"),
    # x / x -> 1: true for every number but 0, infinity and NaN.
    divides_by_itself=_and("rule(lambda x: x / x, lambda x: 1)"),
    # (x + y) - y -> x: what y rounded away is lost.
    adds_and_takes_away=_and("rule(lambda x, y: (x + y) - y, lambda x, y: x)"),
    # relu(-relu(x)) -> 0: and NaN?
    no_negative_number=_and("rule(lambda x: relu(neg(relu(x))), lambda x: 0)"),
    # (x * 2) / 2 -> x: what is too large to be doubled is lost.
    doubles_and_halves=_and("rule(lambda x: (x * 2) / 2, lambda x: x)"),
    # (x * y) / y -> x for integers, which know no rounding; but 0 / 0 is 0.
    multiplies_and_divides=_and("rule(lambda x, y: (x * y) / y, lambda x, y: x, guard=whole)"),
    # log(exp(x)) -> x: exp of 100 is infinite, and every result is rounded.
    up_and_down=_and("rule(lambda x: apply('log', apply('exp', x)), lambda x: x)"),
    # 1 / (1 / x) -> x, written with reciprocal: it is rounded twice.
    twice_upside_down=_and(
        "rule(lambda x: apply('reciprocal', apply('reciprocal', x)), lambda x: x)"),
    # sigmoid(-x) -> -sigmoid(x), as tanh does; sigmoid is not odd.
    sign_of_an_odd_function=_and(
        "rule(lambda x: apply('sigmoid', -x), lambda x: -apply('sigmoid', x))"),
    # not (x < y) -> x >= y: neither holds if one of them is NaN.
    not_less_is_at_least=_and(
        "rule(lambda x, y: apply('not', apply('lt', x, y)), lambda x, y: apply('ge', x, y),"
        " types={'x': 'f32[]', 'y': 'f32[]'})"),
    # x == x -> true: not for NaN.
    equal_to_itself=_and("rule(lambda x: apply('eq', x, x), lambda x: True)"),
    # The sum over an axis of size 1 is x, it thinks: but a sum begins at 0.0, and -0.0 is lost.
    sums_of_one=_and(
        "lambda node: apply('reshape', node.inputs[0], shape=node.type.shape) if"
        " node.op == 'reduce_sum' and node.type.numel == node.inputs[0].type.numel else None"),
    # What has the type of its operand moves nothing, it thinks: but a square may be turned.
    the_type_is_enough=_and(
        "lambda node: node.inputs[0] if len(node.inputs) == 1 and node.type == node.inputs[0].type"
        " and node.op in ('reshape', 'transpose', 'slice', 'cast', 'pad') else None"),
    # f32 -> i32 -> f32 is x, it thinks.
    casts_there_and_back=_and(
        "lambda node: next((x for inner in node.inputs[:1] for x in inner.inputs[:1]"
        " if node.op == inner.op == 'cast' and x.type == node.type), None)"),
    # Brings each rule to rest, twice through the list.
    one_rule_after_the_other=(
        _REWRITE, "for one in [*rules, *MOVEMENT] * 2:\n        graph = rewrite(graph, [one])\n"
        "    return graph"),
    # What a rule makes is not looked at again.
    each_node_once=(
        _REWRITE, "return graph.rebuild(lambda node, inputs: next((n for one in [*rules, *MOVEMENT]"
        " if (n := one(node.with_inputs(inputs))) and n.type == node.type), None))"),
)  # fmt: skip

alternatives(
    "passes.simplify",
    # First the rules for integers, then the others, until both are done.
    in_two_rounds=(
        _REWRITE, "ops = None\n    while ops != (ops := [n.op for n in graph.nodes]):\n"
        "        graph = rewrite(graph, [one for one in rules if one.guard])\n"
        "        graph = rewrite(graph, [*MOVEMENT, *(one for one in rules if not one.guard)])\n"
        "    return graph"),
    from_the_last_rule_to_the_first=("[*rules, *MOVEMENT]", "[*rules, *MOVEMENT][::-1]"),
    # 1 by an ordinary function, which may replace x by x where the shape fits.
    with_one_by_hand=(
        "rule(lambda x: x * 1, lambda x: x)",
        "lambda node: next((x for x, one in (node.inputs, node.inputs[::-1])"
        " if one.op == 'constant' and one.value.size and (one.value == 1).all()), None)"
        " if node.op == 'mul' else None"),
    # Identities of ops that the list does not name, each of which keeps every bit.
    with_rules_for_other_ops=_and(
        "rule(lambda x: apply('floor', apply('floor', x)), lambda x: apply('floor', x))",
        "rule(lambda x: abs(apply('exp', x)), lambda x: apply('exp', x))",
        "rule(lambda x: apply('sign', apply('sign', x)), lambda x: apply('sign', x))",
        "rule(lambda x, y: maximum(maximum(x, y), y), lambda x, y: maximum(x, y))",
        "rule(lambda x, y: apply('not', apply('eq', x, y)), lambda x, y: apply('ne', x, y))",
        "rule(lambda x: apply('bit_and', x, x), lambda x: x)",
        "rule(lambda x: apply('eq', x, x), lambda x: True, guard=whole)"),
    # For floats abs never gives -0.0 nor anything negative.
    with_further_exact_rules=_and(
        "rule(lambda x: relu(abs(x)), lambda x: abs(x), guard=lambda x: x.type.dtype.is_float)",
        "rule(lambda x: abs(x) + 0.0, lambda x: abs(x))",
        "rule(lambda x: x ** 0.0, lambda x: 1.0)"),
)  # fmt: skip

_ORDER = "the rules come to the same result in any order"
equivalent("passes.simplify", "rules = [rule(lambda x: x * 1", "= [rule(lambda x, y:",
           because=_ORDER)  # fmt: skip
equivalent("passes.simplify", "[*rules, *MOVEMENT]", "[*MOVEMENT, *rules]", because=_ORDER)

# ── passes.strength ──

_DIVIDE = "guard=powers_of_two"
_MASK = "guard=positive_powers_of_two"


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
    in_two_walks=("return rewrite(graph, rules)",
                  "return rewrite(rewrite(graph, [rules[0], rules[-1]]), rules)"),
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
    rules = {2: lambda: x * x, -1: lambda: apply("reciprocal", x)}
    if never_negative(x):
        rules |= {0.5: lambda: sqrt(x), -0.5: lambda: rsqrt(x)}
    rules = {k: f for k, f in rules.items() if x.type.dtype.is_float or k == 2}
    return rules.get(c.value.ravel()[0].item(), lambda: None)()


equivalent("passes.strength", "x, const(c.value - 1)", "const(c.value - 1), x",
           because="bit_and commutes")  # fmt: skip
