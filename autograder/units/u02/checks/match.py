"""Checks of unit 2 for the pattern matcher.

A match is checked by what it says: every node of the pattern is mapped to a node that looks like
it. So a check needs no matcher of its own. Next room: pairs.py, what is matched.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.programs import graphs
from autograder.units.u02.checks import pairs
from course_lib.ir.graph.build import neg
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.passes.infra.match import COMMUTATIVE, number_of


@st.composite
def patterns(draw: Any, size: int = 5) -> tuple[Node, Node, bool]:
    """A pattern, a node, and whether the node is the pattern with operands turned around."""
    graph = draw(graphs(size=size, outputs=1, ops=("add", "mul", "sub", "neg", "relu")))
    if not draw(st.booleans()):
        other = draw(graphs(size=size, outputs=1, ops=("add", "mul", "sub", "neg", "relu")))
        return graph.outputs[0], other.outputs[0], False
    inputs = [inp(f"v{k}", n.type) for k, n in enumerate(graph.inputs)]
    new: dict[Node, Node] = dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        if node.op == "constant":
            new[node] = const(node.value)
        elif node.op != "input":
            operands = [new[i] for i in node.inputs]
            if node.op in COMMUTATIVE and draw(st.booleans()):
                operands.reverse()
            new[node] = apply(node.op, *operands, **node.attrs)
    return graph.outputs[0], new[graph.outputs[0]], True


RESULT = "The result maps every node of the pattern (inputs, constants and ops) to the node that it"
ALL = "All combinations count: (a + b) * a matches (%x + %y) * %y"
FIRST = "The order as written is tried first"
# What `sound` asks of a match.
MATCH = [pairs.WHETHER, RESULT, pairs.VARIABLE, pairs.NUMBER, pairs.SAME_OP, pairs.AS_MANY,
         pairs.EITHER]  # fmt: skip


def matched(match: Any, pattern: Node, node: Node, problem: str, spec: str) -> Any:
    """What the answer returns; Wrong if that is None, or no match."""
    bindings = match(pattern, node)
    if bindings is None:
        raise Wrong(problem, program=pair_of(pattern, node), got="None", spec=spec)
    sound(bindings, pattern, node)
    return bindings


@for_each("passes.match", pairs.PAIRS_THAT_FIT, "{} pairs that match", spec=MATCH)
def match_accepts(match, pattern, node, why, spec):
    """Numbers match filled tensors, variables match anything of their type, twice the same."""
    matched(match, pattern, node, f"This must match. {why}", spec)


@checks("passes.match", spec=[pairs.EITHER, *MATCH])
def match_knows_what_commutes(match):
    """-a op b matches x op -y for each op in `COMMUTATIVE`, and for no other."""
    for kind, ops in _TWO_OPERANDS.items():
        a, b = inp("a", f"{kind}[]"), inp("b", f"{kind}[]")
        x, y = inp("x", f"{kind}[2,2]"), inp("y", f"{kind}[2,2]")
        inner = "not" if kind == "bool" else "neg"
        for op in ops:
            pattern, node = apply(op, apply(inner, a), b), apply(op, x, apply(inner, y))
            bindings, commutes = match(pattern, node), op in COMMUTATIVE
            if (bindings is not None) != commutes:
                raise Wrong(f"{op} is {'' if commutes else 'not '}commutative.",
                            program=pair_of(pattern, node), spec=pairs.EITHER,
                            got="None" if bindings is None else "a match")  # fmt: skip
            sound(bindings, pattern, node)
    return "every operation of two operands"


_TWO_OPERANDS = {
    "f32": ("add", "mul", "sub", "div", "max", "min", "pow"),
    "i32": ("bit_and", "bit_or", "bit_xor", "eq", "ne", "mod", "lt"),
    "bool": ("and", "or", "xor"),
}
VARIABLES = [inp(name, "f32[]") for name in "abc"]
VALUES = [inp(name, "f32[4]") for name in "xyz"]


@checks("passes.match", spec=[FIRST, *MATCH])
def match_tries_the_order_as_written_first(match):
    """a + b matches x + y with a = x and b = y."""
    for make in (
        lambda a, b, c: a + b,
        lambda a, b, c: (a * b) + c,
        lambda a, b, c: (a + b) * (b + c),
        lambda a, b, c: (a + b) + (b + a),
        lambda a, b, c: neg(neg(a * b)) - c,
        lambda a, b, c: neg(a) + neg(neg(b) + neg(neg(c) * a)),
    ):
        pattern, node = make(*VARIABLES), make(*VALUES)
        bindings = match(pattern, node)
        sound(bindings, pattern, node)
        needed = topological_order([pattern])
        wanted = {v: n for v, n in zip(VARIABLES, VALUES, strict=True) if v in needed}
        got = bindings and {v: bindings[v] for v in wanted}
        if got != wanted:
            problem = f"The order as written must be tried first, and it works: {_bound(wanted)}."
            raise Wrong(problem, program=pair_of(pattern, node), got=_bound(got) if got else "None",
                        spec=FIRST)  # fmt: skip
    return "operands in the order written"


def _bound(variables: Mapping[Node, Node]) -> str:
    return ", ".join(f"{variable.name} = {node.name}" for variable, node in variables.items())


@for_each("passes.match", pairs.PAIRS_THAT_DIFFER, "pairs that do not match", spec=pairs.WHETHER)
def match_refuses(match, pattern, node, why, spec):
    """Other numbers, other attributes, other element types, two values for one variable."""
    if match(pattern, node) is not None:
        raise Wrong(f"This must not match. {why}", program=pair_of(pattern, node), got="a match",
                    expected="None", spec=spec)  # fmt: skip


@checks("passes.match", spec=[ALL, *MATCH])
def match_tries_all_combinations(match):
    """(a + b) * a matches (x + y) * y: the first idea, a = x, leads nowhere."""
    (a, b, c), (x, y, z) = VARIABLES, VALUES
    problem = "This must match: the first way to bind the variables leads nowhere, but another "
    for pattern, node in (
        ((a + b) * a, (x + y) * y),
        ((a + b) * (b + c) * c, (x + y) * (z + x) * z),
        ((a * b) + (a * c), (x * y) + (z * y)),
        ((a + b) - b, (x + y) - x),
    ):
        matched(match, pattern, node, f"{problem}one works.", ALL)
    return "four patterns whose first idea fails"


@checks("passes.match", given=patterns(), examples=25, what="random pairs",
        spec=[ALL, pairs.TWICE, *MATCH])  # fmt: skip
def match_binds_what_it_says(match, example):
    """What the result maps to really looks like the pattern; a turned-around copy matches."""
    pattern, node, must = example
    problem = "This node is the pattern, perhaps with operands of add or mul swapped, so it must "
    if must:
        matched(match, pattern, node, f"{problem}match.", ALL)
    else:
        sound(match(pattern, node), pattern, node)


def sound(bindings: Any, pattern: Node, node: Node) -> None:
    """Is what `match` returned a match? `None` is not looked at."""
    if bindings is None:
        return
    wrong = functools.partial(Wrong, program=pair_of(pattern, node))
    nodes = topological_order([pattern])
    if not isinstance(bindings, Mapping) or any(not isinstance(v, Node) for v in bindings.values()):
        problem = "The result must be a dict from node to node, or None."
        raise wrong(problem, got=type(bindings).__name__, spec=RESULT)
    missing = [p for p in nodes if p not in bindings]
    if missing:
        problem = "The result must map every node of the pattern. It has no entry for "
        raise wrong(f"{problem}{missing[0]!r}.", spec=RESULT)
    if len(bindings) > len(nodes):
        raise wrong("The result must map the nodes of the pattern, and no others.", spec=RESULT)
    if bindings[pattern] is not node:
        raise wrong("The pattern itself must be mapped to the node.", spec=RESULT)
    for p in nodes:
        problem, spec = _unlike(p, bindings)
        if problem:
            raise wrong(problem, got=f"{p!r}  ->  {bindings[p]!r}", spec=spec)


def _unlike(p: Node, bindings: Mapping[Node, Node]) -> tuple[str, str]:
    """Why `bindings[p]` does not look like `p`, and the words that say so; empty if it does."""
    n = bindings[p]
    if p.op == "input":
        same = p.type.dtype == n.type.dtype
        return ("", "") if same else ("A variable must match its own element type.", pairs.VARIABLE)
    if p.op == "constant":
        same = n.op == "constant" and number_of(n) == number_of(p)
        return (
            ("", "") if same else ("A number must match a constant filled with it.", pairs.NUMBER)
        )
    if (p.op, dict(p.attrs)) != (n.op, dict(n.attrs)) or len(p.inputs) != len(n.inputs):
        return "An operation must match the same operation with the same attributes.", pairs.SAME_OP
    got = [bindings[i] for i in p.inputs]
    orders = [list(n.inputs)] + [list(n.inputs)[::-1]] * (p.op in COMMUTATIVE)
    if not any(all(a is b for a, b in zip(got, order, strict=True)) for order in orders):
        return f"The operands of this {p.op} must be mapped to those of the {n.op}.", pairs.AS_MANY
    return "", ""


def pair_of(pattern: Node, node: Node) -> str:
    parts = []
    for name, root in (("pattern", pattern), ("node", node)):
        inputs = [n for n in topological_order([root]) if n.op == "input"]
        parts.append(print_graph(Graph.of(inputs, [root], name)))
    return "\n".join(parts)
