"""Checks of unit 2 for the pattern matcher.

A match is checked by what it says: every node of the pattern is mapped to a node that looks like
it. So a check needs no matcher of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from autograder.check.programs import graphs
from course_lib.ir.graph.build import neg, reduce_sum, relu, softmax
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


@checks("passes.match")
def match_accepts(match):
    """Numbers match filled tensors, variables match anything of their type, twice the same."""
    for pattern, node, why, spec in _pairs_that_fit():
        found = match(pattern, node)
        if found is None:
            raise Wrong(
                f"This matches. {why}", program=pair_of(pattern, node), got="None", spec=spec
            )
        sound(found, pattern, node)
    return f"{len(_pairs_that_fit())} pairs that do"


def _pairs_that_fit() -> list[tuple[Node, Node, str, str]]:
    a, b, k = inp("a", "f32[]"), inp("b", "f32[]"), inp("k", "i32[]")
    p, q = inp("p", "f32[1]"), inp("q", "f32[1]")
    x, y = inp("x", "f32[4,4]"), inp("y", "i32[2]")
    ones = const(np.ones((4, 4), np.float32))
    number = "It matches a constant of any shape, of the same\n  element type"
    variable = (
        "It matches any node of its element type (whatever\n  its shape and whatever its name)"
    )
    return [
        (a * 1.0, x * ones, "A tensor full of 1.0 is the number 1.0.", number),
        (a * 1.0, apply("mul", 1.0, x), "mul is commutative: also in a pattern with a number.",
         "The operands of a COMMUTATIVE op match in either order"),
        (a - a, (r := relu(x)) - r, "Both operands are the same node.",
         "A pattern node that is used twice must match one and the same node both times"),
        (a + b, x + x, "Two variables may stand for one value.", variable),
        (neg(a), neg(softmax(x)), "A variable matches any operation.", variable),
        (a + b, x + ones, "A variable matches a constant, too.", variable),
        (inp("x", "f32[3,3]"), inp("x", "f32[]"), "A variable matches whatever shape and whatever "
         "name a value has, also its own name.", variable),
        (neg(relu(inp("m", "f32[3,3]"))), neg(relu(inp("n", "f32[2]"))), "Shapes of inner nodes do "
         "not count.", "Types of inner nodes are not compared"),
        (a, relu(x), "A pattern may be a variable and nothing else.", variable),
        (k + const(0, "i32"), y + const([0, 0], "i32"), "Integers are numbers, too.", number),
        (a + const(np.nan), x + const(np.full(4, np.nan, np.float32)), "number_of compares bytes, "
         "and so NaN is NaN.", "`number_of` says which it is"),
        (neg(a) - a, neg(x) - x, "The variable stands for x at both places.",
         "A pattern node that is used twice must match one and the same node both times"),
        (apply("concat", p, q, axis=0), apply("concat", x, x, axis=0), "Equal attributes.",
         "with equal attributes and as many\n  operands"),
    ]  # fmt: skip


@checks("passes.match", spec="The operands of a COMMUTATIVE op match in either order")
def match_knows_what_commutes(match):
    """-a op b matches x op -y for each op in `COMMUTATIVE`, and for no other."""
    for kind, ops in _TWO_OPERANDS.items():
        a, b = inp("a", f"{kind}[]"), inp("b", f"{kind}[]")
        x, y = inp("x", f"{kind}[2,2]"), inp("y", f"{kind}[2,2]")
        inner = "not" if kind == "bool" else "neg"
        for op in ops:
            pattern, node = apply(op, apply(inner, a), b), apply(op, x, apply(inner, y))
            found = match(pattern, node)
            if (found is not None) != (op in COMMUTATIVE):
                raise Wrong(
                    f"{op} is {'' if op in COMMUTATIVE else 'not '}commutative.",
                    program=pair_of(pattern, node),
                    got="None" if found is None else "a match",
                )
            sound(found, pattern, node)
    return "every op of two operands"


_TWO_OPERANDS = {
    "f32": ("add", "mul", "sub", "div", "max", "min", "pow"),
    "i32": ("bit_and", "bit_or", "bit_xor", "eq", "ne", "mod", "lt"),
    "bool": ("and", "or", "xor"),
}


@checks("passes.match", spec="The order as written is tried first")
def match_tries_the_order_as_written_first(match):
    """a + b matches x + y with a = x and b = y."""
    a, b, c = (inp(n, "f32[]") for n in "abc")
    x, y, z = (inp(n, "f32[4]") for n in "xyz")
    for pattern, node in (
        (a + b, x + y),
        ((a * b) + c, (x * y) + z),
        ((a + b) * (b + c), (x + y) * (y + z)),
        ((a + b) + (b + a), (x + y) + (y + x)),
    ):
        found = match(pattern, node)
        sound(found, pattern, node)
        got = [found[v].name for v in (a, b, c) if v in found] if found else []
        if got != ["x", "y", "z"][: len(got)] or not got:
            raise Wrong(
                "As it is written, a is x, b is y and c is z, and that works.",
                program=pair_of(pattern, node),
                got=", ".join(f"{v} = {n}" for v, n in zip("abc", got, strict=False)) or "None",
            )
    return "the order as written"


@checks("passes.match")
def match_refuses(match):
    """Other numbers, other attributes, other element types, two values for one variable."""
    for pattern, node, why, spec in _pairs_that_differ():
        if match(pattern, node) is not None:
            raise Wrong(
                f"This does not match. {why}", program=pair_of(pattern, node), got="a match",
                expected="None", spec=spec,
            )  # fmt: skip
    return "pairs that do not match"


def _pairs_that_differ() -> list[tuple[Node, Node, str, str]]:
    """(pattern, node, why it does not match, words of the specification)"""
    a, b = inp("a", "f32[]"), inp("b", "f32[]")
    p, q = inp("p", "f32[1]"), inp("q", "f32[1]")
    x, y, k = inp("x", "f32[4,4]"), inp("y", "f32[4,4]"), inp("k", "i32[4,4]")
    twice = "A pattern node that is used twice must match one and the same node both times"
    same_op = "Any other pattern node matches a node of the same op"
    all_elements = "all of whose elements are that number"
    mixed = const([2.0, 2.0, 2.0, 3.0])
    return [
        (a - a, x - y, "One variable stands for one value.", twice),
        (a - b, x + y, "sub is not add.", same_op),
        (a - 1.0, x - 2.0, "1.0 is not 2.0.", all_elements),
        (a + 0.0, x + -0.0, "0.0 is not -0.0: the bytes differ.", "`number_of` says which it is"),
        (a * 2.0, x * y, "A number matches a constant only.",
         "A *constant* of the pattern is a number"),
        (neg(a), neg(k), "f32 is not i32.", "any node of its element type"),
        (reduce_sum(a, ()), reduce_sum(x, (0,)), "The sums run along different axes.",
         "matches a node of the same op with equal attributes"),
        (a + b, x - y, "add matches add.", same_op),
        (a * const([2.0]), x * mixed, "Not all elements are 2.0.", all_elements),
        (const(0, "i32"), const(0.0), "0 : i32 and 0.0 : f32 have the same bytes, and other types.",
         "of the same\n  element type"),
        (const(0.0), const(np.zeros((0,), np.float32)),
         "A constant without elements holds no number.", "`number_of` says which it is"),
        ((two := const(2.0)) * a + two * b, const(2.0) * x + const(2.0) * y,
         "The pattern has one 2.0, the program has two nodes.", twice),
        ((r := relu(a)) * r, relu(x) * relu(x), "Two relu of x are two nodes.", twice),
        (apply("concat", p, q, axis=0), apply("concat", x, y, x, axis=0), "Two, not three.",
         "with equal attributes and as many\n  operands"),
        (apply("concat", p, q, axis=0), apply("concat", x, axis=0), "Two operands, not one.",
         "with equal attributes and as many\n  operands"),
        (neg(a), neg(inp("d", "f64[4]")), "f32 is not f64.", "any node of its element type"),
        (neg(inp("v", "i32[]")), neg(inp("w", "i64[]")), "i32 is not i64.",
         "any node of its element type"),
        (apply("reshape", inp("m", "f32[2,2]"), shape=(4,)), apply("reshape", x, shape=(2, 8)),
         "They reshape to other shapes.", "matches a node of the same op with equal attributes"),
        (inp("v", "i32[]"), x,
         "A variable of i32 does not match an f32.", "any node of its element type"),
        (apply("transpose", inp("m", "f32[2,2]"), perm=(1, 0)),
         apply("transpose", x, perm=(0, 1)), "The matrix is turned, and x stays as it is.",
         "matches a node of the same op with equal attributes"),
    ]  # fmt: skip


@checks("passes.match")
def match_tries_all_combinations(match):
    """(a + b) * a matches (x + y) * y: the first idea, a = x, leads nowhere."""
    a, b, c = (inp(n, "f32[]") for n in "abc")
    x, y, z = (inp(n, "f32[4]") for n in "xyz")
    for pattern, node in (
        ((a + b) * a, (x + y) * y),
        ((a + b) * (b + c) * c, (x + y) * (z + x) * z),
        ((a * b) + (a * c), (x * y) + (z * y)),
        ((a + b) - b, (x + y) - x),
    ):
        found = match(pattern, node)
        if found is None:
            raise Wrong(
                "The first way to bind the variables leads nowhere, and another one works.",
                program=pair_of(pattern, node),
                got="None",
                spec="All combinations count: (a + b) * a matches (%x + %y) * %y",
            )
        sound(found, pattern, node)
    return "four patterns whose first idea fails"


@checks("passes.match", given=patterns(), examples=25, what="random pairs")
def match_binds_what_it_says(match, example):
    """What the result maps to really looks like the pattern; a turned-around copy matches."""
    pattern, node, must = example
    found = match(pattern, node)
    if found is None and must:
        raise Wrong(
            "This node is the pattern with operands of add or mul turned around: it matches.",
            program=pair_of(pattern, node),
            got="None",
            spec="All combinations count: (a + b) * a matches (%x + %y) * %y",
        )
    sound(found, pattern, node)


def sound(found: Any, pattern: Node, node: Node) -> None:
    """Is what `match` returned a match? `None` is not looked at."""
    if found is None:
        return
    program = pair_of(pattern, node)
    nodes = topological_order([pattern])
    if not isinstance(found, Mapping) or any(not isinstance(v, Node) for v in found.values()):
        raise Wrong("The result is a dict from node to node, or None.", program=program)
    missing = [p for p in nodes if p not in found]
    if missing:
        raise Wrong(
            f"The result maps every node of the pattern. It has no {missing[0]!r}.",
            program=program,
            spec="maps every node of the pattern",
        )
    if len(found) > len(nodes):
        raise Wrong("The result maps the nodes of the pattern, and no others.", program=program,
                    spec="maps every node of the pattern")  # fmt: skip
    if found[pattern] is not node:
        raise Wrong("The pattern itself is mapped to the node.", program=program)
    for p in nodes:
        problem = _unlike(p, found)
        if problem:
            raise Wrong(f"{problem}", program=program, got=f"{p!r}  ->  {found[p]!r}")


def _unlike(p: Node, found: Mapping[Node, Node]) -> str:
    n = found[p]
    if p.op == "input":
        return "" if p.type.dtype == n.type.dtype else "A variable matches its element type only."
    if p.op == "constant":
        same = n.op == "constant" and number_of(n) == number_of(p)
        return "" if same else "A number matches a constant filled with that number."
    if (p.op, dict(p.attrs)) != (n.op, dict(n.attrs)) or len(p.inputs) != len(n.inputs):
        return "An operation matches the same operation with the same attributes."
    got = [found[i] for i in p.inputs]
    orders = [list(n.inputs)] + [list(n.inputs)[::-1]] * (p.op in COMMUTATIVE)
    if not any(all(a is b for a, b in zip(got, order, strict=True)) for order in orders):
        return f"The operands of this {p.op} are mapped to others than those that the {n.op} reads."
    return ""


def pair_of(pattern: Node, node: Node) -> str:
    parts = []
    for name, root in (("pattern", pattern), ("node", node)):
        inputs = [n for n in topological_order([root]) if n.op == "input"]
        parts.append(print_graph(Graph.of(inputs, [root], name)))
    return "\n".join(parts)
