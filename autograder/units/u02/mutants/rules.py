"""Mutants and alternatives of unit 2: matching, simplification, strength reduction."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import abs, maximum, neg, relu, rsqrt, select, sqrt
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.clean.simplify import MOVEMENT, whole
from course_lib.passes.clean.strength import never_negative, positive_powers_of_two, powers_of_two
from course_lib.passes.infra.match import COMMUTATIVE, number_of
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import rule

# ── passes.match ──


def _greedy(pattern, node, bound, both_orders=True):
    """Takes the first order that works for this node alone."""
    if pattern in bound:
        return bound if bound[pattern] is node else None
    if pattern.op == "input":
        return {**bound, pattern: node} if pattern.type.dtype == node.type.dtype else None
    if pattern.op == "constant":
        return {**bound, pattern: node} if number_of(pattern) == number_of(node) else None
    if (pattern.op, pattern.attrs) != (node.op, node.attrs):
        return None
    orders = [node.inputs]
    if both_orders and node.op in COMMUTATIVE:
        orders.append(node.inputs[::-1])
    for operands in orders:
        found = {**bound, pattern: node}
        for p, n in zip(pattern.inputs, operands, strict=False):
            found = found if found is None else _greedy(p, n, found, both_orders)
        if found is not None:
            return found
    return None


@mutant("passes.match")
def without_going_back(pattern, node):
    return _greedy(pattern, node, {})


@mutant("passes.match")
def as_written_only(pattern, node):
    return _greedy(pattern, node, {}, both_orders=False)


@mutant("passes.match")
def one_variable_two_values(pattern, node):
    found = {}

    def look(p, n):
        found[p] = n
        if p.op == "input":
            return p.type.dtype == n.type.dtype
        if p.op == "constant":
            return number_of(p) == number_of(n)
        if (p.op, p.attrs) != (n.op, n.attrs):
            return False
        orders = [n.inputs] + ([n.inputs[::-1]] if n.op in COMMUTATIVE else [])
        return any(all(look(*pair) for pair in zip(p.inputs, o, strict=False)) for o in orders)

    return found if look(pattern, node) else None


def _all_ways(p, n, bound, same_number=lambda a, b: number_of(a) == number_of(b), attrs=True):
    """A list of every way to extend `bound`."""
    if p in bound:
        return [bound] if bound[p] is n else []
    if p.op == "input":
        return [{**bound, p: n}] if p.type.dtype == n.type.dtype else []
    if p.op == "constant":
        return [{**bound, p: n}] if n.op == "constant" and same_number(p, n) else []
    if p.op != n.op or len(p.inputs) != len(n.inputs) or (attrs and p.attrs != n.attrs):
        return []
    ways = []
    for operands in [n.inputs] + ([n.inputs[::-1]] if n.op in COMMUTATIVE else []):
        now = [{**bound, p: n}]
        for a, b in zip(p.inputs, operands, strict=True):
            now = [w for one in now for w in _all_ways(a, b, one, same_number, attrs)]
        ways += now
    return ways


@mutant("passes.match")
def numbers_by_value(pattern, node):
    def same(a, b):
        return a.type.dtype == b.type.dtype and bool((b.value == a.value.ravel()[0]).all())

    return next(iter(_all_ways(pattern, node, {}, same)), None)


@mutant("passes.match")
def any_attributes(pattern, node):
    return next(iter(_all_ways(pattern, node, {}, attrs=False)), None)


@alternative("passes.match")
def by_listing_all_ways(pattern, node):
    return next(iter(_all_ways(pattern, node, {})), None)


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


@alternative("passes.simplify")
def with_one_rule_more_and_one_by_hand(graph):
    """-0.0 and 1 by an ordinary function; relu(abs(x)) -> abs(x) is exact, too."""

    def no_effect(node):
        if node.op != "mul":
            return None
        for x, one in (node.inputs, node.inputs[::-1]):
            if one.op == "constant" and one.value.size and (one.value == 1).all():
                return x
        return None

    more = [no_effect, rule(lambda x: relu(abs(x)), lambda x: abs(x))]
    return rewrite(graph, [*MOVEMENT, *_integer_rules(), *more, *_exact_rules()])


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


@alternative("passes.strength")
def by_functions_of_a_node(graph):
    """One function with cases for each op; divides by 1.0 not at all."""

    def cheaper(node):
        if node.op in ("div", "mod", "pow"):
            return {"div": _divided, "mod": _masked, "pow": _powered}[node.op](*node.inputs)
        return None

    return rewrite(graph, [cheaper])


def _divided(x, c):
    if number_of(x) == number_of(const(1.0)):
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
