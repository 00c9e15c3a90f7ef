"""Answers to unit 2: plausible mistakes that every check must catch, other right ones that pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.answers.u02 import SCHOOL_RULES
from autograder.framework import alternative, mutant
from course_lib.ir.build import abs, apply, const, maximum, neg, relu, rsqrt, select, sqrt, trace
from course_lib.ir.graph import Graph, Node, topological_order
from course_lib.ir.interp import evaluate
from course_lib.passes.fixpoint import same_program
from course_lib.passes.fold import SMALL
from course_lib.passes.manager import run_passes
from course_lib.passes.match import COMMUTATIVE, number_of
from course_lib.passes.provenance import origins
from course_lib.passes.rewrite import rewrite
from course_lib.passes.rule import rule
from course_lib.passes.simplify import MOVEMENT, whole
from course_lib.passes.strength import never_negative, positive_powers_of_two, powers_of_two

# ── passes.dce ──


@mutant("passes.dce")
def one_sweep(graph):
    """Removes what has no user, once: the chain behind it stays."""
    users = graph.users()
    kept = [n for n in graph.nodes if users[n] or n in graph.outputs or n.op == "input"]
    return replace(graph, nodes=tuple(kept))


@mutant("passes.dce")
def drops_unused_inputs(graph):
    live = topological_order(graph.outputs)
    return replace(graph, inputs=tuple(n for n in graph.inputs if n in live), nodes=tuple(live))


@mutant("passes.dce")
def keeps_constants(graph):
    live = set(topological_order(graph.outputs))
    kept = [n for n in graph.nodes if n in live or n.op in ("input", "constant")]
    return replace(graph, nodes=tuple(kept))


@mutant("passes.dce")
def recursive(graph):
    live = set(graph.inputs)

    def visit(node):
        if node not in live:
            live.add(node)
            for operand in node.inputs:
                visit(operand)

    for output in graph.outputs:
        visit(output)
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


@mutant("passes.dce")
def does_nothing(graph):
    return graph


@alternative("passes.dce")
def by_order_from_the_outputs(graph):
    return Graph.of(graph.inputs, graph.outputs, graph.name)


@alternative("passes.dce")
def with_a_worklist(graph):
    live, todo = set(graph.inputs), list(graph.outputs)
    while todo:
        node = todo.pop()
        if node not in live:
            live.add(node)
            todo += node.inputs
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


# ── passes.fold ──


def _fold(
    graph, allowed=lambda node, inputs: True, value_of=evaluate, cascade=True, origin=origins
):
    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = inputs if cascade else node.inputs
        if node.op == "constant" or any(i.op != "constant" for i in operands):
            return made
        if not allowed(made, inputs):
            return made
        try:
            value = value_of(made, [i.value for i in inputs])
        except (ValueError, TypeError, IndexError, ArithmeticError):
            return made
        return replace(const(value), name=node.name, origin=origin(made, *inputs))

    return graph.rebuild(visit)


def _is_small(node, inputs):
    if not node.type.is_static:
        return False
    return node.type.nbytes <= max(SMALL, sum(i.type.nbytes for i in set(inputs)))


@mutant("passes.fold")
def no_cascade(graph):
    return _fold(graph, _is_small, cascade=False)


@mutant("passes.fold")
def however_big(graph):
    return _fold(graph, lambda node, inputs: node.type.is_static)


@mutant("passes.fold")
def only_small(graph):
    return _fold(graph, lambda node, inputs: node.type.is_static and node.type.nbytes <= SMALL)


@mutant("passes.fold")
def in_double_precision(graph):
    def wide(node, arrays):
        wide = [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]
        return np.float32(np.round(evaluate(node, wide), 6))

    return _fold(graph, _is_small, wide)


@mutant("passes.fold")
def forgets_origins(graph):
    return _fold(graph, _is_small, origin=lambda *nodes: ())


@mutant("passes.fold")
def lets_errors_out(graph):
    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "constant" or any(i.op != "constant" for i in inputs):
            return made
        if not _is_small(made, inputs):
            return made
        value = evaluate(made, [i.value for i in inputs])
        return replace(const(value), name=node.name, origin=origins(made, *inputs))

    return graph.rebuild(visit)


@alternative("passes.fold")
def in_several_sweeps_and_clean(graph):
    """One level in each sweep, until nothing changes; takes dead nodes out as it goes."""
    for _ in range(100):
        after = _fold(graph, _is_small, cascade=False)
        after = Graph.of(after.inputs, after.outputs, after.name)
        if len(after.ops) == len(graph.ops):
            return after
        graph = after
    return graph


@alternative("passes.fold")
def less_eager_with_big_constants(graph):
    """Also fine: keeps only what does not grow the program, or is small."""

    def allowed(node, inputs):
        return node.type.is_static and (
            node.type.nbytes <= 1024 or node.type.nbytes <= sum(i.type.nbytes for i in set(inputs))
        )

    return _fold(graph, allowed)


# ── passes.cse ──


def _bytes(value):
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    return repr(value)


def _cse(graph, commutative=COMMUTATIVE, attrs=_bytes, use_attrs=True, chains=True):
    number, first = {n: k for k, n in enumerate(graph.inputs)}, {}
    old_number = {n: k for k, n in enumerate(graph.nodes)}

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = [number[i] for i in inputs] if chains else [old_number[i] for i in node.inputs]
        if commutative is None or node.op in commutative:
            operands.sort()
        key = tuple((k, attrs(v)) for k, v in node.attrs.items())
        if not use_attrs and node.op != "constant":
            key = ()
        kept = first.setdefault((node.op, tuple(operands), key, node.type), made)
        number.setdefault(kept, len(number) + 10_000)
        return kept

    return graph.rebuild(visit)


@mutant("passes.cse")
def everything_commutes(graph):
    return _cse(graph, commutative=None)


@mutant("passes.cse")
def nothing_commutes(graph):
    return _cse(graph, commutative=())


@mutant("passes.cse")
def ignores_attributes(graph):
    return _cse(graph, use_attrs=False)


@mutant("passes.cse")
def compares_numbers(graph):
    """0.0 == -0.0."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, tuple(value.ravel().tolist()))
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def by_printed_constants(graph):
    """Looks at the first elements of a constant only."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, repr(value.ravel()[:1].tolist()))
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def only_one_level(graph):
    return _cse(graph, chains=False)


@alternative("passes.cse")
def all_pairs(graph):
    """Quadratic, with a list; leaves the merged-away nodes behind, dead."""
    kept, new, nodes = [], {}, []
    for node in graph.nodes:
        inputs = tuple(new[i] for i in node.inputs)
        made = node if node.op == "input" else node.with_inputs(inputs)
        twin = next((k for k in kept if node.op != "input" and _alike(k, made)), None)
        new[node] = twin or made
        if twin is None:
            kept.append(made)
            nodes.append(made)
    return Graph(graph.name, graph.inputs, tuple(nodes), tuple(new[n] for n in graph.outputs))


def _alike(a, b):
    if (a.op, a.type) != (b.op, b.type) or len(a.inputs) != len(b.inputs):
        return False
    if {k: _bytes(v) for k, v in a.attrs.items()} != {k: _bytes(v) for k, v in b.attrs.items()}:
        return False
    if all(x is y for x, y in zip(a.inputs, b.inputs, strict=True)):
        return True
    turned = zip(a.inputs, b.inputs[::-1], strict=True)
    return a.op in COMMUTATIVE and all(x is y for x, y in turned)


@alternative("passes.cse")
def and_swept(graph):
    """Merges, then keeps what the outputs need, in another order."""
    after = _cse(graph)
    return Graph.of(after.inputs, after.outputs, after.name)


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


# ── passes.fixpoint ──


@mutant("passes.fixpoint")
def by_counting_nodes(graph, passes, limit=20):
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if len(before.nodes) == len(graph.nodes):
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def by_identity(graph, passes, limit=20):
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if before.nodes == graph.nodes:
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def after_the_last_pass(graph, passes, limit=20):
    for _ in range(limit):
        for one in passes:
            before, graph = graph, run_passes(graph, [one])
        if same_program(before, graph):
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def gives_up_in_silence(graph, passes, limit=20):
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if same_program(before, graph):
            break
    return graph


@mutant("passes.fixpoint")
def unverified(graph, passes, limit=20):
    for _ in range(limit):
        before = graph
        for one in passes:
            graph = one(graph)
        if graph is None or same_program(before, graph):
            return graph or before
    raise ValueError("no rest")


@alternative("passes.fixpoint")
def by_recursion(graph, passes, limit=20):
    if limit == 0:
        raise ValueError("the passes do not come to rest")
    after = run_passes(graph, passes)
    return after if same_program(graph, after) else by_recursion(after, passes, limit - 1)


# ── programs, numbers, evidence ──


@mutant("u02.after_fold")
def already_twice():
    """cse needs no fold here."""
    return trace(lambda x: relu(x * 2.0) + relu(x * 2.0), "f32[4]")


@mutant("u02.after_fold")
def never_equal():
    two, three = const(2.0), const(3.0)
    return trace(lambda x: x * 5.0 + x * (two * three), "f32[4]")


@mutant("u02.after_fold")
def the_copy_is_dead():
    two = const(2.0)
    graph = trace(lambda x: relu(x * (two + two)), "f32[4]")
    (x,) = graph.inputs
    four = const(4.0)
    return Graph("dead", (x,), (*graph.nodes, four, x * four), graph.outputs)


@alternative("u02.after_fold")
def with_a_negated_constant():
    return trace(lambda x: (x - 1.0) * (x - neg(const(-1.0))), "f32[4]")


_RIGHT = {
    "x + 0.0 -> x": -0.0,
    "0.0 - x -> -x": 0.0,
    "x - x -> 0.0": float("nan"),
    "x * 0.0 -> 0.0": float("-inf"),
    "x / 7.0 -> x * (1.0 / 7.0)": 12.0,
    "(x + 1.0) - 1.0 -> x": 0.1,
    "sqrt(x * x) -> abs(x)": 1e30,
    "x ** 0.5 -> sqrt(x)": -0.0,
}


@mutant("u02.witnesses")
def zeros_everywhere():
    return dict.fromkeys(SCHOOL_RULES, 0.0)


@mutant("u02.witnesses")
def without_the_last():
    return dict(list(_RIGHT.items())[:-1])


@mutant("u02.witnesses")
def a_harmless_seventh():
    return {**_RIGHT, "x / 7.0 -> x * (1.0 / 7.0)": 7.0}


@alternative("u02.witnesses")
def other_numbers():
    return {rule: np.float64(x) for rule, x in _RIGHT.items()}


@mutant("u02.sevenths")
def as_a_fraction():
    return 0.5476


@mutant("u02.sevenths")
def of_tenths():
    x = np.arange(0x3F800000, 0x40000000, dtype=np.uint32).view(np.float32)
    return float(100 * np.mean(x / np.float32(10) != x * np.float32(0.1)))


@mutant("u02.sevenths")
def about_half():
    return 50.0


@alternative("u02.sevenths")
def rounded():
    return 54.8


@mutant("u02.broken")
def the_wrong_pass():
    return ("simplify", "a")


@mutant("u02.broken")
def only_a_consequence():
    return ("cse", "e")


@mutant("u02.broken")
def only_the_pass():
    return "cse"


@alternative("u02.broken")
def as_a_list_with_percent_sign():
    return ["cse", "%d"]


@mutant("u02.every_pass")
def nothing_for_simplify():
    return trace(lambda x: x / relu(const(2.0)), "f32[4]")


@mutant("u02.every_pass")
def fold_eats_it_all():
    one = const(1.0)
    return trace(lambda x: relu(x) + one / const(1.0), "f32[4]")


@mutant("u02.every_pass")
def twenty_nodes():
    graph = every_pass_in_nine()
    (x,) = graph.inputs
    extra = [relu(x) for _ in range(12)]
    return Graph("long", (x,), (*graph.nodes, *extra), graph.outputs)


@alternative("u02.every_pass")
def every_pass_in_nine():
    one = const(1.0)
    return trace(lambda x: (x * 1.0) ** (one + const(1.0)), "f32[4]")
