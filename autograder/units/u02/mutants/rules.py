"""Mutants and alternatives of unit 2: matching, simplification, strength reduction."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import abs, maximum, neg, relu, select
from course_lib.ir.graph.node import apply, const
from course_lib.passes.clean.simplify import MOVEMENT, whole
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
    if len(pattern.inputs) != len(node.inputs):
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


@mutant("passes.match")
def bytes_of_any_type(pattern, node):
    """0 : i32 and 0.0 : f32 have the same bytes."""

    def same(a, b):
        mine, theirs = number_of(a), number_of(b)
        return mine is not None and theirs is not None and mine[1] == theirs[1]

    return next(iter(_all_ways(pattern, node, {}, same)), None)


@mutant("passes.match")
def a_variable_is_no_number(pattern, node):
    """x + y does not match x + 1.0, it says."""
    found = by_a_stack(pattern, node)
    numbers = [n for p, n in (found or {}).items() if p.op == "input" and n.op == "constant"]
    return None if numbers else found


@mutant("passes.match")
def without_the_numbers(pattern, node):
    """The result maps variables and operations; the constants of the pattern are missing."""
    found = by_a_stack(pattern, node)
    return found and {p: n for p, n in found.items() if p.op != "constant"}


@mutant("passes.match")
def the_other_way_first(pattern, node):
    """Finds every match, with the operands turned around before they are as written."""
    return next(reversed(_all_ways(pattern, node, {})), None)


@mutant("passes.match")
def equal_is_the_same(pattern, node):
    """A variable that is used twice may stand for two equal nodes."""
    merged = {}

    def one(n):
        inputs = tuple(one(i) for i in n.inputs)
        key = n if n.op == "input" else (n.op, inputs, repr(n.attrs), n.type)
        return merged.setdefault(key, n.with_inputs(inputs))

    return by_a_stack(pattern, one(node))


@alternative("passes.match")
def by_a_stack(pattern, node):
    """The ways that are still to be tried lie on a stack; no function calls itself."""
    stack = [([(pattern, node)], {})]
    while stack:
        pairs, bound = stack.pop()
        if not pairs:
            return bound
        (p, n), *rest = pairs
        if p in bound:
            if bound[p] is n:
                stack.append((rest, bound))
            continue
        now = {**bound, p: n}
        if (p.op == "input" and p.type.dtype == n.type.dtype) or (
            p.op == "constant" and number_of(p) is not None and number_of(p) == number_of(n)
        ):
            stack.append((rest, now))
        elif p.inputs and (p.op, p.attrs, len(p.inputs)) == (n.op, n.attrs, len(n.inputs)):
            orders = [n.inputs, n.inputs[::-1]] if n.op in COMMUTATIVE else [n.inputs]
            stack += [([*zip(p.inputs, o, strict=True), *rest], now) for o in orders[::-1]]
    return None


@alternative("passes.match")
def with_what_comes_after(pattern, node):
    """Each step is told what is to be done once it has found something."""

    def look(p, n, bound, after):
        if p in bound:
            return after(bound) if bound[p] is n else None
        now = {**bound, p: n}
        if p.op == "input":
            return after(now) if p.type.dtype == n.type.dtype else None
        if p.op == "constant":
            return after(now) if number_of(p) == number_of(n) else None
        if p.op != n.op or p.attrs != n.attrs or len(p.inputs) != len(n.inputs):
            return None
        found = look_at_all(p.inputs, n.inputs, now, after)
        if found is None and p.op in COMMUTATIVE:
            found = look_at_all(p.inputs, n.inputs[::-1], now, after)
        return found

    def look_at_all(ps, ns, bound, after):
        if not ps:
            return after(bound)
        rest = lambda now: look_at_all(ps[1:], ns[1:], now, after)  # noqa: E731
        return look(ps[0], ns[0], bound, rest)

    return look(pattern, node, {}, lambda bound: bound)


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
