"""Checks of unit 2 for the pattern matcher: pairs of a pattern and a node, some of which fit.

A match is checked by what it says: every node of the pattern is mapped to a node that looks like
it. So a check needs no matcher of its own. Next room: simplify.py.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.programs import graphs
from autograder.units.u02.checks.cse import ATTRIBUTED
from course_lib.ir.graph.build import neg, relu, select, softmax
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import Sym, TensorType, f32
from course_lib.passes.infra.match import COMMUTATIVE, number_of

Pairs = list[tuple[Node, Node, str, str]]  # (pattern, node, why, words of the specification)

WHETHER = "How `node` matches `pattern`, or None if it does not"
VARIABLE = "An *input* of the pattern is a variable"
ANY = "It matches any node of its element type (whatever its shape and whatever its name)"
NUMBER = "It matches a constant of any shape, of the same element type"
ELEMENTS = "all of whose elements are that number"
NUMBER_OF = "`number_of` says which it is"
A_NUMBER = "A *constant* of the pattern is a number"
SAME_OP = "Any other pattern node matches a node of the same op with equal attributes"
AS_MANY = "as many operands, if the operands match in turn"
EITHER = "The operands of a COMMUTATIVE op match in either order"
RESULT = "The result maps every node of the pattern (inputs, constants and ops) to the node that it"
ALL = "All combinations count: (a + b) * a matches (%x + %y) * %y"
FIRST = "The order as written is tried first"
TWICE = "A pattern node that is used twice must match one and the same node both times"
# What `sound` asks of a match.
MATCH = [WHETHER, RESULT, VARIABLE, NUMBER, SAME_OP, AS_MANY, EITHER]

A, B, K = inp("a", "f32[]"), inp("b", "f32[]"), inp("k", "i32[]")
P, Q = inp("p", "f32[1]"), inp("q", "f32[1]")
C, E = inp("c", "bool[]"), inp("e", "bool[4]")
TWIN, WIDE = inp("x", "f32[4,4]"), inp("m", "f32[2,2]")  # another x; a matrix of the pattern
X, Y, Z = inp("x", "f32[4,4]"), inp("y", "f32[4,4]"), inp("z", "i32[2]")


def _row(*operands: Node) -> Node:
    return apply("concat", *operands, axis=0)


PAIRS_THAT_FIT: Pairs = [
    (A + B, X + X, "Two variables may stand for one value.", VARIABLE),
    (neg(A), neg(softmax(X)), "A variable matches any operation.", ANY),
    (A + B, X + const(np.ones((4, 4), np.float32)), "A variable matches a constant, too.", ANY),
    (inp("x", "f32[3,3]"), inp("x", "f32[]"),
     "A variable matches a value of any shape and any name, even its own name.", ANY),
    (A, relu(X), "A pattern may be a variable and nothing else.", VARIABLE),
    (A - inp("a", "f32[]"), X - Y, "The pattern has two variables that are called a: two "
     "nodes are two variables, whatever their names.", VARIABLE),
    (A - A, (r := relu(X)) - r, "Both operands are the same node.", TWICE),
    (neg(A) - A, neg(X) - X, "The variable stands for x in both places.", TWICE),
    (neg(A), neg(inp("e", "f32[0,4]")), "A value without elements is a value.", ANY),
    (neg(A), neg(inp("s", TensorType(f32, (Sym.named("n"), 4)))), "Its size is not known yet.",
     ANY),
    (A * 1.0, X * const(np.ones((4, 4), np.float32)), "A tensor full of 1.0 is the number 1.0.",
     NUMBER),
    (A * 1.0, apply("mul", 1.0, X), "mul is commutative, in a pattern with a number too.",
     EITHER),
    (K + const(0, "i32"), Z + const([0, 0], "i32"), "Integers are numbers, too.", NUMBER),
    (A + const(np.nan), X + const(np.full(4, np.nan, np.float32)),
     "number_of compares bytes, and so NaN is NaN.", NUMBER_OF),
    (A * const([2.0]), X * const([2.0] * 4), "An f32[1] holds one number, too.", NUMBER),
    (const(2.0), const([2.0, 2.0]), "A pattern may be a number and nothing else.", A_NUMBER),
    (select(const(True), A, B), select(const([True] * 4), X, Y), "True is a number, too.",
     NUMBER),
    (neg(relu(inp("m", "f32[3,3]"))), neg(relu(inp("n", "f32[2]"))), "Shapes of inner nodes do "
     "not count.", "Types of inner nodes are not compared"),
    (_row(P, Q), _row(X, X), "Equal attributes.",
     SAME_OP),
    (select(C, A, B), select(E, X, Y), "Three operands.", AS_MANY),
    (_row(P, Q, P, Q, neg(P)), _row(X, Y, X, Y, neg(X)), "Five operands.", AS_MANY),
]  # fmt: skip

PAIRS_THAT_DIFFER: Pairs = [
    (A - A, X - Y, "One variable stands for one value.", TWICE),
    (A - A, X - TWIN, "Two inputs with one name and one type are two values.", TWICE),
    ((r := relu(A)) * r, relu(X) * relu(X), "Two relu of x are two nodes.", TWICE),
    ((two := const(2.0)) * A + two * B, const(2.0) * X + const(2.0) * Y,
     "The pattern has one node 2.0, and the program has two.", TWICE),
    (neg(A), neg(inp("k", "i32[4,4]")), "f32 is not i32.", ANY),
    (neg(A), neg(inp("d", "f64[4]")), "f32 is not f64.", ANY),
    (neg(K), neg(inp("w", "i64[]")), "i32 is not i64.", ANY),
    (K, X, "A variable of i32 does not match an f32.", ANY),
    (A - 1.0, X - 2.0, "1.0 is not 2.0.", ELEMENTS),
    (A * 1.0, X * const(np.nextafter(np.float32(1), np.float32(2))),
     "The next number after 1.0 is not 1.0.", ELEMENTS),
    (A + 0.0, X + 1e-30, "1e-30 is small, but it is not 0.0.", ELEMENTS),
    (A + 0.0, X + -0.0, "0.0 is not -0.0: the bytes differ.", NUMBER_OF),
    (A * 2.0, X * Y, "A number matches only a constant.", A_NUMBER),
    (A * const([2.0]), X * const([2.0, 2.0, 2.0, 3.0]), "Not all elements are 2.0.", ELEMENTS),
    (const(0, "i32"), const(0.0),
     "0 : i32 and 0.0 : f32 have the same bytes, but different types.", NUMBER),
    *((A * 2.0, inp("r", "f32[4]") * const(row), "Not all elements are 2.0.", ELEMENTS)
      for row in ([3.0, 2.0, 2.0, 2.0], [2.0, 3.0, 2.0, 2.0], [2.0, 2.0, 3.0, 2.0],
                  [2.0, 2.0, 2.0, 3.0], [[2.0] * 4, [2.0, 3.0, 2.0, 2.0], [2.0] * 4])),
    (inp("l", "i64[]") + const(2**53, "i64"), inp("m", "i64[2]") + const([2**53 + 1], "i64"),
     "As floats, 2**53 and 2**53 + 1 are equal; they are i64.", ELEMENTS),
    (inp("d", "f64[]") * const(np.float64(0.1)),
     inp("f", "f64[2]") * const(np.nextafter(np.full(2, 0.1), 1)),
     "As f32 these numbers are equal; they are f64.", ELEMENTS),
    (const(0.0), const(np.zeros((0,), np.float32)),
     "A constant without elements holds no number.", NUMBER_OF),
    (A - B, X + Y, "sub is not add.", SAME_OP),
    (A + B, X - Y, "add matches add.", SAME_OP),
    (_row(P, Q), _row(X, Y, X),
     "The pattern has two operands, not three.", AS_MANY),
    (_row(P, Q), _row(X),
     "The pattern has two operands, not one.", AS_MANY),
    (_row(neg(P), Q), _row(X, neg(Y)),
     "concat does not commute.", EITHER),
    (neg(WIDE) @ WIDE, X @ neg(X), "matmul does not commute.", EITHER),
    (select(C, neg(A), B), select(E, X, neg(X)), "select does not commute.", EITHER),
    (select(C, A, A), select(E, X, Y), "The last operands differ.", TWICE),
    *((_row(P, P, P, P, P), _row(*[X] * k, Y, *[X] * (4 - k)),
       "One of the five operands is another one.", TWICE)
      for k in range(1, 5)),
    (_row(P, P, P, P, neg(P)), _row(X, X, X, X, X), "The last operand must be a neg.", AS_MANY),
    (_row(P, P, P, P), apply("concat", X, X, X, X, axis=1), "They run along other axes.",
     SAME_OP),
    *((apply(op, inp("p", kind), **mine), apply(op, inp("x", kind), **other), why, SAME_OP)
      for op, kind, attrs, why in ATTRIBUTED for mine, other in itertools.permutations(attrs, 2)),
]  # fmt: skip


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


def matched(match: Any, pattern: Node, node: Node, problem: str, spec: str) -> Any:
    """What the answer returns; Wrong if that is None, or no match."""
    bindings = match(pattern, node)
    if bindings is None:
        raise Wrong(problem, program=pair_of(pattern, node), got="None", spec=spec)
    sound(bindings, pattern, node)
    return bindings


@for_each("passes.match", PAIRS_THAT_FIT, "{} pairs that match", spec=MATCH)
def match_accepts(match, pattern, node, why, spec):
    """Numbers match filled tensors, variables match anything of their type, twice the same."""
    matched(match, pattern, node, f"This must match. {why}", spec)


@checks("passes.match", spec=[EITHER, *MATCH])
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
                            program=pair_of(pattern, node), spec=EITHER,
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


@for_each("passes.match", PAIRS_THAT_DIFFER, "pairs that do not match", spec=WHETHER)
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
        spec=[ALL, TWICE, *MATCH])  # fmt: skip
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
        return ("", "") if same else ("A variable must match its own element type.", VARIABLE)
    if p.op == "constant":
        if n.op == "constant" and number_of(n) == number_of(p):
            return "", ""
        return "A number must match a constant filled with it.", NUMBER
    if (p.op, dict(p.attrs)) != (n.op, dict(n.attrs)) or len(p.inputs) != len(n.inputs):
        return "An operation must match the same operation with the same attributes.", SAME_OP
    got = [bindings[i] for i in p.inputs]
    orders = [list(n.inputs)] + [list(n.inputs)[::-1]] * (p.op in COMMUTATIVE)
    if not any(all(a is b for a, b in zip(got, order, strict=True)) for order in orders):
        return f"The operands of this {p.op} must be mapped to those of the {n.op}.", AS_MANY
    return "", ""


def pair_of(pattern: Node, node: Node) -> str:
    parts = []
    for name, root in (("pattern", pattern), ("node", node)):
        inputs = [n for n in topological_order([root]) if n.op == "input"]
        parts.append(print_graph(Graph.of(inputs, [root], name)))
    return "\n".join(parts)
