"""Checks of unit 2 for common subexpressions.

Which node of equal ones is kept is said, so a small program has one right result. The programs
stand below, with what cse makes of them. Next room: match.py.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, graphs
from autograder.check.properties import live_ops, same_meaning
from autograder.units.u02.checks.compare import same_program_as
from autograder.units.u02.checks.shared import doubled_often, in_the_compiler, on_deep, same_bits
from course_lib.ir.graph.build import cast, concat, neg, select, softmax, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.infra.match import COMMUTATIVE


@checks("passes.cse")
def cse_keeps_apart_what_differs(cse):
    """Different constants, attributes, orders and inputs are different values."""
    for before, problem, spec in _different():
        same_program_as(before, cse(before), before, problem=f"Nothing merges here. {problem}",
                        spec=spec)  # fmt: skip
    return f"{len(_different())} programs in which nothing is equal"


@checks("passes.cse")
def cse_merges_what_is_equal(cse):
    """Equal chains, operands in either order, equal constants; the first is kept, dead code too."""
    for before, after, problem, spec in _equal():
        same_program_as(before, cse(before), after, problem=problem, spec=spec)
    return f"{len(_EQUAL)} programs with equal values"


@checks("passes.cse", spec="may stand in either order")
def cse_knows_what_commutes(cse):
    """x op y is y op x for each op in `COMMUTATIVE`, and for no other."""
    before = _both_orders()
    after = same_meaning(before, cse(before))
    for node, turned in zip(after.outputs[::2], after.outputs[1::2], strict=True):
        if (node is turned) != (node.op in COMMUTATIVE):
            said = "is" if node.op in COMMUTATIVE else "is not"
            raise Wrong(
                f"{node.op}(%x, %y) {said} {node.op}(%y, %x).",
                program=_pair_of(node),
                got=f"{node.op}(%x, %y) and {node.op}(%y, %x) are "
                + ("one node" if node is turned else "two nodes"),
                spec="`sub`, `div`, `matmul` are not commutative"
                if node.op not in COMMUTATIVE
                else "",
            )
    return "every op of two operands, in both orders"


@functools.cache
def _both_orders() -> Graph:
    """Each op of two operands of one type, in both orders."""
    kinds = {
        "f32[3,3]": ("add", "mul", "sub", "div", "max", "min", "pow", "matmul", "eq", "ne", "lt"),
        "i32[2]": ("bit_and", "bit_or", "bit_xor", "mod", "add", "mul", "max", "ge"),
        "bool[2]": ("and", "or", "xor", "eq", "ne"),
    }
    types = [kind for kind in kinds for _ in "xy"]

    def both(*inputs: Node) -> list[Node]:
        made = []
        for ops, x, y in zip(kinds.values(), inputs[::2], inputs[1::2], strict=True):
            made += [node for op in ops for node in (apply(op, x, y), apply(op, y, x))]
        return made

    return trace(both, *types)


def _pair_of(node: Node) -> Graph:
    types = [str(i.type) for i in node.inputs]
    return trace(lambda x, y: (apply(node.op, x, y), apply(node.op, y, x)), *types)


@checks("passes.cse", given=graphs(size=8), examples=15)
def cse_keeps_every_bit(cse, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(
        graph, cse(graph), spec="Two nodes are equal if they have the same op, equal operands"
    )


@checks(
    "passes.cse", given=graphs(size=5, repeats=False), examples=15, spec="may stand in either order"
)
def cse_merges_a_program_with_its_copy(cse, graph):
    """A program that computes everything twice, in the copy with operands the other way round."""
    twice = _doubled(graph)
    after = same_meaning(twice, cse(twice))
    half = len(after.outputs) // 2
    for first, second in zip(after.outputs[:half], after.outputs[half:], strict=True):
        if first is not second:
            names = value_names(after)
            raise Wrong(
                f"Every operation stands here twice, so at most {len(graph.ops)} of "
                f"{len(twice.ops)} are left. %{names[first]} and %{names[second]} are still two.",
                program=twice,
                got=after,
                marked=(names[second],),
            )


@checks("passes.cse", spec="in one walk from the inputs")
def cse_takes_deep_programs(cse):
    """1,100 operations in a row, twice."""
    if len(live_ops(on_deep(cse, _two_chains()))) != 1100:
        raise Wrong("Of 2,200 operations 1,100 are left.", program="two equal chains of 1,100 relu")
    return "two rows of 1,100 operations"


@functools.cache
def _two_chains() -> Graph:
    return _doubled(deep(1100))


@checks("passes.cse", spec="Near-linear time")
def cse_takes_values_with_many_users(cse):
    """A value that is doubled 60 times: 2**60 paths lead to the input."""
    twice = _doubled(doubled_often())
    if len(live_ops(on_deep(cse, twice))) != 60:
        raise Wrong("Of 120 operations 60 are left.",
                    program="a value that is doubled 60 times, and all of that again")  # fmt: skip
    return "2**60 paths"


@checks("passes.cse")
def cse_works_in_the_compiler(cse):
    """Compiled with your cse, a program computes what it computed."""
    in_the_compiler("passes.cse", cse)
    return "in the compiler"


@functools.lru_cache(maxsize=1000)
def _doubled(graph: Graph) -> Graph:
    """Every operation a second time, turned around where it commutes; both are returned."""
    copy: dict[Node, Node] = {n: n for n in graph.nodes if n.op in ("input", "constant")}
    nodes = list(graph.nodes)
    for node in graph.ops:
        inputs = [copy[i] for i in node.inputs]
        if node.op in COMMUTATIVE:
            inputs.reverse()
        copy[node] = apply(node.op, *inputs, **node.attrs)
        nodes.append(copy[node])
    outputs = (*graph.outputs, *(copy[n] for n in graph.outputs))
    return Graph(graph.name, graph.inputs, tuple(nodes), outputs)


@functools.cache
def _equal() -> list[tuple[Graph, Graph, str, str]]:
    large = np.linspace(0, 1, 300, dtype=np.float32)
    twice = trace(lambda x: (x + const(large)) * (x + const(large.copy())), "f32[300]")
    once = trace(lambda x: (y := x + const(large)) * y, "f32[300]")
    return [
        *(
            (parse_graph(f"graph @f{text}"), parse_graph(f"graph @f{wanted}"), problem, spec)
            for text, wanted, problem, spec in _EQUAL
        ),
        (twice, once, "The two constants are large, and hold the same bytes.", _BYTES),
    ]


_FIRST = "of several equal ones, the first is kept"
_ALONG = "two equal chains merge all along, in one walk from the inputs"
_BYTES = "Constants are equal if they have the same element type, shape and *bytes*"
_DEAD = (
    "The merged-away nodes are not in the result; dead nodes of `graph` are not removed otherwise"
)

# (program, what cse makes of it, why, words of the specification)
_EQUAL = [
    ("""(%x: f32[4]) -> (f32[4]) {
  %a = relu(%x) : f32[4]
  %b = neg(%a) : f32[4]
  %c = relu(%x) : f32[4]
  %d = neg(%c) : f32[4]
  %e = mul(%b, %d) : f32[4]
  return %e
}""", """(%x: f32[4]) -> (f32[4]) {
  %a = relu(%x) : f32[4]
  %b = neg(%a) : f32[4]
  %e = mul(%b, %b) : f32[4]
  return %e
}""", "Both chains are the same value: once the relu are one node, so are the neg.", _ALONG),
    ("""(%x: f32[4], %y: f32[4]) -> (f32[4]) {
  %left = add(%y, %x) : f32[4] loc("left")
  %right = add(%x, %y) : f32[4] loc("right")
  %again = add(%y, %x) : f32[4]
  %p = mul(%left, %right) : f32[4]
  %q = sub(%p, %again) : f32[4]
  return %q
}""", """(%x: f32[4], %y: f32[4]) -> (f32[4]) {
  %left = add(%y, %x) : f32[4] loc("left")
  %p = mul(%left, %left) : f32[4]
  %q = sub(%p, %left) : f32[4]
  return %q
}""", "The three sums are one value. The first is kept as it is: its name, its origin, its "
     "operands in its order.", _FIRST),
    ("""(%x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %a = relu(%x) : f32[4]
  %b = relu(%x) : f32[4]
  %dead = neg(%x) : f32[4]
  %unread = constant dense<7.0> : f32[]
  return %a, %b, %x
}""", """(%x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %a = relu(%x) : f32[4]
  %dead = neg(%x) : f32[4]
  %unread = constant dense<7.0> : f32[]
  return %a, %a, %x
}""", "One relu is left, and it is returned twice. What was dead stays, for dce.", _DEAD),
    ("""(%x: f32[2]) -> (f32[2]) {
  %two = constant dense<2.0> : f32[] loc("scale")
  %a = mul(%x, %two) : f32[2]
  %too = constant dense<2.0> : f32[]
  %b = mul(%too, %x) : f32[2]
  %c = sub(%a, %b) : f32[2]
  return %c
}""", """(%x: f32[2]) -> (f32[2]) {
  %two = constant dense<2.0> : f32[] loc("scale")
  %a = mul(%x, %two) : f32[2]
  %c = sub(%a, %a) : f32[2]
  return %c
}""", "The two constants hold the same bytes, so both products are the same value.", _BYTES),
    ("""(%x: f32[2], %k: i32[2]) -> (f32[2], i32[2], bool[2]) {
  %nan = constant dense<[nan, -0.0]> : f32[2]
  %same = constant dense<[nan, -0.0]> : f32[2]
  %a = add(%x, %nan) : f32[2]
  %b = add(%x, %same) : f32[2]
  %d = sub(%a, %b) : f32[2]
  %p = bit_and(%k, %k) : i32[2]
  %q = bit_and(%k, %k) : i32[2]
  %r = sub(%p, %q) : i32[2]
  %s = lt(%k, %p) : bool[2]
  %t = lt(%k, %q) : bool[2]
  %u = and(%s, %t) : bool[2]
  return %d, %r, %u
}""", """(%x: f32[2], %k: i32[2]) -> (f32[2], i32[2], bool[2]) {
  %nan = constant dense<[nan, -0.0]> : f32[2]
  %a = add(%x, %nan) : f32[2]
  %d = sub(%a, %a) : f32[2]
  %p = bit_and(%k, %k) : i32[2]
  %r = sub(%p, %p) : i32[2]
  %s = lt(%k, %p) : bool[2]
  %u = and(%s, %s) : bool[2]
  return %d, %r, %u
}""", "Equal bytes are equal, also those of NaN.", "NaN != NaN (but it may merge)"),
    ("""() -> (f32[0], f32[0]) {
  %a = constant dense<[]> : f32[0]
  %b = constant dense<[]> : f32[0]
  return %a, %b
}""", """() -> (f32[0], f32[0]) {
  %a = constant dense<[]> : f32[0]
  return %a, %a
}""", "Constants without elements are equal too.", _BYTES),
]  # fmt: skip


def _two_inputs_of_one_name() -> Graph:
    x, y = inp("x", "f32[4]"), inp("x", "f32[4]")
    return Graph.of([x, y], [neg(x) - neg(y)])


@functools.cache
def _different() -> list[tuple[Graph, str, str]]:
    """Programs that cse leaves alone: (program, why, words of the specification)."""
    long = np.where(np.arange(2000) == 999, 2.0, 1.0).astype(np.float32)

    def two_constants(a: Any, b: Any, type_: str = "f32[2]") -> Graph:
        return trace(lambda x: (x * const(a), x * const(b)), type_)

    bits = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)  # two NaN
    return [
        (trace(lambda x, y: (x - y) * (y - x), "f32[4]", "f32[4]"), "x - y is not y - x.",
         "`sub`, `div`, `matmul` are not commutative"),
        (trace(lambda x: softmax(x, 0) + softmax(x, 1), "f32[4,4]"),
         "softmax along axis 0 is not softmax along axis 1.",
         "Attributes count: softmax along axis 0 is not softmax along axis 1"),
        (trace(lambda x: (apply("reduce_sum", x, axes=(0,)), apply("reduce_sum", x, axes=(1,))),
               "f32[4,4]"), "The sums run along different axes.", "equal attributes"),
        (trace(lambda x: [apply("softmax", x, axis=a) for a in (-1, 1)], "f32[4,4]"),
         "axis = -1 and axis = 1 are different attributes; no rule says more.", "equal attributes"),
        (trace(lambda x: [apply("transpose", x, perm=p) for p in ((0, 1), (1, 0))], "f32[4,4]"),
         "One of them moves nothing, the other one turns the matrix.", "equal attributes"),
        (trace(lambda x, y: [concat(p, 0) for p in ([x, x, y], [x, y, y], [y, x, x])],
               "f32[2]", "f32[2]"), "The same operands, in other places or another number.",
         "equal operands"),
        (trace(lambda c, x, y: [select(c, x, y), select(c, y, x)], "bool[2]", "f32[2]", "f32[2]"),
         "The operands of a select are in another order.", "equal operands"),
        (_two_inputs_of_one_name(), "Two inputs may have the same name and type: they are two.",
         "Inputs are never merged with each other"),
        (trace(lambda x: [cast(x, to) for to in ("f64", "f16", "i32")], "f32[4]"),
         "Casts to different types.", "the same type"),
        (two_constants(0.0, -0.0), "0.0 == -0.0 is True, and x * 0.0 is not x * -0.0.",
         "-0.0 == 0.0 (but 1/x tells them apart)"),
        (two_constants([1.0, 2.0], [1.0, 3.0]), "The constants differ.", _BYTES),
        (two_constants([1.0, 2.0], [2.0, 1.0]), "The same numbers in another order.", _BYTES),
        (two_constants(bits[:1], bits[1:]), "Both are NaN, and their bytes differ.", _BYTES),
        (two_constants(long, long[::-1], "f32[2000]"),
         "The constants differ in two of 2,000 elements; str(array) shows neither.", _BYTES),
        (two_constants([[1.0, 1.0]], [1.0, 1.0]), "f32[1,2] is not f32[2].", _BYTES),
        (Graph.of([], [const(0, "i32"), const(0.0), const(0, "u32"), const([0], "u8"),
                       const(False), const(0, "i8"), const(0, "u8"), const([0.0])]),
         "Each of these constants has another type.",
         "The numbers 1 : i32 and 1.0 : f32 are different constants"),
        (trace(lambda x, y: (softmax(x) * softmax(y), y), "f32[4]", "f32[4]"),
         "Two inputs of one type are two values.", "Inputs are never merged with each other"),
        (trace(lambda x, y, z: ((x + y) + z, x + (y + z), (x + x) + y), *["f32[4]"] * 3),
         "Sums in another order are rounded otherwise.", "equal operands"),
        (trace(lambda x: (x + x, apply("neg", apply("neg", x)), apply("reshape", x, shape=(4,))),
               "f32[4]"), "Nothing is here twice; making it simpler is another pass.",
         "Merge nodes that compute the same value"),
    ]  # fmt: skip
