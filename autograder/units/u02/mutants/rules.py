"""Mutants and alternatives of unit 2: simplification. Next room: cheaper.py."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.build import abs, maximum, neg, relu, select
from course_lib.ir.graph.node import apply, const
from course_lib.passes.clean.simplify import MOVEMENT, whole
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import rule

# ── passes.simplify ──


def _exact_rules():
    return [
        rule(lambda x: x * 1, lambda x: x),
        rule(lambda x: x / 1, lambda x: x),
        rule(lambda x: x - 0, lambda x: x),
        rule(lambda x: x * -1, lambda x: -x),
        rule(lambda x: neg(neg(x)), lambda x: x),
        rule(lambda x, y: x + -y, lambda x, y: x - y),
        rule(lambda x, y: x - -y, lambda x, y: x + y),
        rule(lambda x: x**1, lambda x: x),
        rule(lambda x: x + -0.0, lambda x: x),
        rule(lambda x: -0.0 - x, lambda x: -x),
        rule(lambda x: maximum(x, x), lambda x: x),
        rule(lambda x: apply("min", x, x), lambda x: x),
        rule(lambda x: abs(abs(x)), lambda x: abs(x)),
        rule(lambda x: abs(neg(x)), lambda x: abs(x)),
        rule(lambda x: relu(relu(x)), lambda x: relu(x)),
        rule(lambda c: apply("not", apply("not", c)), lambda c: c),
        rule(lambda c, x: select(c, x, x), lambda c, x: x, types={"c": "bool[]"}),
        rule(lambda x, y: select(const(True), x, y), lambda x, y: x),
        rule(lambda x, y: select(const(False), x, y), lambda x, y: y),
    ]


def _integer_rules(guard=whole):
    return [
        rule(lambda x: x + 0, lambda x: x, guard=guard),
        rule(lambda x: 0 - x, lambda x: -x, guard=guard),
        rule(lambda x: x - x, lambda x: 0, guard=guard),
        rule(lambda x: x * 0, lambda x: 0, guard=guard),
    ]


@mutant("passes.simplify")
def without_guards(graph):
    """School algebra: x + 0 -> x, x - x -> 0, x * 0 -> 0 for floats too."""
    return rewrite(graph, [*_exact_rules(), *_integer_rules(guard=None), *MOVEMENT])


@mutant("passes.simplify")
def adds_zero_away(graph):
    """One rule too many."""
    school = rule(lambda x: x + 0.0, lambda x: x)
    return rewrite(graph, [school, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def no_subtraction_rules(graph):
    rules = [r for r in _exact_rules() if "neg(%y)" not in str(r)]
    return rewrite(graph, [*rules, *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def forgets_movement(graph):
    return rewrite(graph, [*_exact_rules(), *_integer_rules()])


@mutant("passes.simplify")
def stretches_wrongly(graph):
    """x + -y -> y - x."""
    wrong = rule(lambda x, y: x + -y, lambda x, y: y - x)
    return rewrite(graph, [wrong, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def one_rule_more(graph):
    """relu(abs(x)) -> abs(x), it thinks. The absolute value of the least integer is negative."""
    more = rule(lambda x: relu(abs(x)), lambda x: abs(x))
    return rewrite(graph, [*MOVEMENT, *_integer_rules(), *_exact_rules(), more])


@mutant("passes.simplify")
def divides_by_itself(graph):
    """x / x -> 1: true for every number but 0, infinity and NaN."""
    more = rule(lambda x: x / x, lambda x: 1)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def adds_and_takes_away(graph):
    """(x + y) - y -> x: what y rounded away is lost."""
    more = rule(lambda x, y: (x + y) - y, lambda x, y: x)
    return rewrite(graph, [*_exact_rules(), *_integer_rules(), *MOVEMENT, more])


@mutant("passes.simplify")
def knows_32_bits(graph):
    """Every identity for f32 and i32 alone."""
    kinds = {n.type.dtype.name for n in graph.nodes}
    if kinds - {"f32", "i32", "bool"}:
        return graph
    return rewrite(graph, [*_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def each_node_once(graph):
    """What a rule makes is not looked at again."""
    rules = [*_exact_rules(), *_integer_rules(), *MOVEMENT]

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        new = next((n for one in rules if (n := one(made)) is not None), made)
        return new if new.type == made.type else made

    return graph.rebuild(visit)


@alternative("passes.simplify")
def in_two_rounds(graph):
    """First the rules for integers, then the others, until both are done."""
    for _ in range(len(graph.nodes)):
        before = [n.op for n in graph.nodes]
        graph = rewrite(rewrite(graph, _integer_rules()), [*MOVEMENT, *_exact_rules()])
        if [n.op for n in graph.nodes] == before:
            break
    return graph


@alternative("passes.simplify")
def from_the_last_rule_to_the_first(graph):
    return rewrite(graph, [*MOVEMENT, *_integer_rules(), *_exact_rules()][::-1])


@alternative("passes.simplify")
def with_one_by_hand(graph):
    """1 by an ordinary function, which may replace x by x where the shape fits."""

    def no_effect(node):
        if node.op != "mul":
            return None
        for x, one in (node.inputs, node.inputs[::-1]):
            if one.op == "constant" and one.value.size and (one.value == 1).all():
                return x
        return None

    return rewrite(graph, [*MOVEMENT, *_integer_rules(), no_effect, *_exact_rules()])


@mutant("passes.simplify")
def the_type_is_enough(graph):
    """What has the type of its operand moves nothing, it thinks: but a square may be turned."""

    def idle(node):
        one = len(node.inputs) == 1 and node.op in ("reshape", "transpose", "slice", "cast", "pad")
        return node.inputs[0] if one and node.type == node.inputs[0].type else None

    return rewrite(graph, [idle, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def casts_there_and_back(graph):
    """f32 -> i32 -> f32 is x, it thinks."""

    def back(node):
        inner = node.inputs[0] if node.inputs else node
        if (node.op, inner.op) != ("cast", "cast"):
            return None
        return inner.inputs[0] if inner.inputs[0].type == node.type else None

    return rewrite(graph, [back, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def one_rule_after_the_other(graph):
    """Brings each rule to rest, twice through the list."""
    for one in [*_exact_rules(), *_integer_rules(), *MOVEMENT] * 2:
        graph = rewrite(graph, [one])
    return graph


@mutant("passes.simplify")
def no_negative_number(graph):
    """relu(-relu(x)) -> 0: and NaN?"""
    more = rule(lambda x: relu(neg(relu(x))), lambda x: 0)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def doubles_and_halves(graph):
    """(x * 2) / 2 -> x: what is too large to be doubled is lost."""
    more = rule(lambda x: (x * 2) / 2, lambda x: x)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def multiplies_and_divides(graph):
    """(x * y) / y -> x for integers, which know no rounding; but 0 / 0 is 0."""
    more = rule(lambda x, y: (x * y) / y, lambda x, y: x, guard=whole)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def up_and_down(graph):
    """log(exp(x)) -> x: exp of 100 is infinite, and every result is rounded."""
    more = rule(lambda x: apply("log", apply("exp", x)), lambda x: x)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def twice_upside_down(graph):
    """1 / (1 / x) -> x, written with reciprocal: it is rounded twice."""
    more = rule(lambda x: apply("reciprocal", apply("reciprocal", x)), lambda x: x)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def sign_of_an_odd_function(graph):
    """sigmoid(-x) -> -sigmoid(x), as tanh does; sigmoid is not odd."""
    more = rule(lambda x: apply("sigmoid", -x), lambda x: -apply("sigmoid", x))
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def not_less_is_at_least(graph):
    """not (x < y) -> x >= y: neither holds if one of them is NaN."""
    more = rule(lambda x, y: apply("not", apply("lt", x, y)), lambda x, y: apply("ge", x, y),
                types={"x": "f32[]", "y": "f32[]"})  # fmt: skip
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def equal_to_itself(graph):
    """x == x -> true: not for NaN."""
    more = rule(lambda x: apply("eq", x, x), lambda x: True)
    return rewrite(graph, [more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@mutant("passes.simplify")
def sums_of_one(graph):
    """The sum over an axis of size 1 is x, it thinks: but a sum begins at 0.0, and -0.0 is lost."""

    def only_one(node):
        one = node.op == "reduce_sum" and node.type.numel == node.inputs[0].type.numel
        return apply("reshape", node.inputs[0], shape=node.type.shape) if one else None

    return rewrite(graph, [*MOVEMENT, *_integer_rules(), *_exact_rules(), only_one])


@mutant("passes.simplify")
def integers_of_32_bits(graph):
    """The rules for integers, for i32 alone."""
    rules = _integer_rules(guard=lambda x: x.type.dtype.name == "i32")
    return rewrite(graph, [*MOVEMENT, *rules, *_exact_rules()])


@alternative("passes.simplify")
def with_rules_for_other_ops(graph):
    """Identities of ops that the list does not name, each of which keeps every bit."""
    more = [
        rule(lambda x: apply("floor", apply("floor", x)), lambda x: apply("floor", x)),
        rule(lambda x: abs(apply("exp", x)), lambda x: apply("exp", x)),
        rule(lambda x: apply("sign", apply("sign", x)), lambda x: apply("sign", x)),
        rule(lambda x, y: maximum(maximum(x, y), y), lambda x, y: maximum(x, y)),
        rule(lambda x, y: apply("not", apply("eq", x, y)), lambda x, y: apply("ne", x, y)),
        rule(lambda x: apply("bit_and", x, x), lambda x: x),
        rule(lambda x: apply("eq", x, x), lambda x: True, guard=whole),
    ]
    return rewrite(graph, [*more, *_exact_rules(), *_integer_rules(), *MOVEMENT])


@alternative("passes.simplify")
def with_further_exact_rules(graph):
    """For floats abs never gives -0.0 nor anything negative; doubling is adding."""

    def floats(x):
        return x.type.dtype.is_float

    more = [
        rule(lambda x: relu(abs(x)), lambda x: abs(x), guard=floats),
        rule(lambda x: abs(x) + 0.0, lambda x: abs(x)),
        rule(lambda x: x**0.0, lambda x: 1.0),
    ]
    return rewrite(graph, [*_exact_rules(), *_integer_rules(), *more, *MOVEMENT])


_ORDER = "the rules come to the same result in any order"
equivalent(
    "passes.simplify", "rules = [rule(lambda x: x * 1", "= [rule(lambda x, y:", because=_ORDER
)
equivalent("passes.simplify", "[*rules, *MOVEMENT]", "[*MOVEMENT, *rules]", because=_ORDER)
