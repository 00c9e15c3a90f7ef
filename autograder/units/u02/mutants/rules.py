"""Mutants and alternatives of unit 2: simplification. Next room: cheaper.py."""

from __future__ import annotations

from autograder.check.framework import alternatives, equivalent, mutants

# ── passes.simplify ──


def _and(*more):
    """The edit which adds rules, each in the spelling of ours."""
    return "[*rules, *MOVEMENT]", f"[{', '.join(more)}, *rules, *MOVEMENT]"


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
equivalent(
    "passes.simplify", "rules = [rule(lambda x: x * 1", "= [rule(lambda x, y:", because=_ORDER
)
equivalent("passes.simplify", "[*rules, *MOVEMENT]", "[*MOVEMENT, *rules]", because=_ORDER)
