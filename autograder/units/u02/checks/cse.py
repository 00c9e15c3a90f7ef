"""Checks of unit 2 for common subexpressions.

Which node of equal ones is kept is said, so a small program has one right result. The programs
stand in merged.py, with what cse makes of them. Next room: merged.py.
"""

from __future__ import annotations

import functools

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, diamond, graphs
from autograder.check.properties import same_meaning
from autograder.units.u02.checks import merged
from autograder.units.u02.checks.compare import same_program_as, two_programs
from autograder.units.u02.checks.shared import compiles, doubled_often, same_bits, takes_large
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.infra.match import COMMUTATIVE

LINEAR = "Near-linear time: do not compare all pairs"


@for_each("passes.cse", merged.different(), "{} programs in which nothing is equal")
def cse_keeps_apart_what_differs(cse, before, why, spec):
    """Different constants, attributes, orders and inputs are different values."""
    problem = f"Nothing may merge here. {why}"
    same_program_as(before, cse(before), before, problem=problem, spec=spec,
                    label_spec=merged.FIRST)  # fmt: skip


@for_each("passes.cse", merged.EQUAL, "{} programs with equal values", spec=merged.FIRST)
def cse_merges_what_is_equal(cse, text, why, spec):
    """Equal chains, operands in either order, equal constants; the first is kept, dead code too."""
    before, after = two_programs(text) if isinstance(text, str) else text()
    same_program_as(before, cse(before), after, problem=why, spec=spec, label_spec=merged.FIRST)


@checks("passes.cse", spec=[merged.ORDER, merged.APART])
def cse_knows_what_commutes(cse):
    """x op y is y op x for each op in `COMMUTATIVE`, and for no other."""
    before = _both_orders()
    after = same_meaning(before, cse(before))
    for node, turned in zip(after.outputs[::2], after.outputs[1::2], strict=True):
        commutes = node.op in COMMUTATIVE
        if (node is turned) != commutes:
            one, two = f"{node.op}(%x, %y)", f"{node.op}(%y, %x)"
            raise Wrong(f"{one} {'is' if commutes else 'is not'} {two}.", program=_pair_of(node),
                        got=f"{one} and {two} are {'two nodes' if commutes else 'one node'}",
                        spec=merged.ORDER if commutes else merged.APART)  # fmt: skip
    return "every operation of two operands, in both orders"


@functools.cache
def _both_orders() -> Graph:
    """Each op of two operands of one type, in both orders."""
    kinds = {
        "f32[3,3]": ("add", "mul", "sub", "div", "max", "min", "pow", "matmul", "eq", "ne", "lt"),
        "i32[2]": ("bit_and", "bit_or", "bit_xor", "mod", "add", "mul", "max", "ge"),
        "bool[2]": ("and", "or", "xor", "eq", "ne"),
    }

    def both(*inputs: Node) -> list[Node]:
        rows = zip(kinds.values(), inputs[::2], inputs[1::2], strict=True)
        return [node for ops, x, y in rows for op in ops
                for node in (apply(op, x, y), apply(op, y, x))]  # fmt: skip

    return trace(both, *(kind for kind in kinds for _ in "xy"))


def _pair_of(node: Node) -> Graph:
    types = [str(i.type) for i in node.inputs]
    return trace(lambda x, y: (apply(node.op, x, y), apply(node.op, y, x)), *types)


@checks("passes.cse", given=graphs(size=8), examples=15, spec=merged.OPERANDS)
def cse_keeps_every_bit(cse, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(graph, cse(graph))


@checks("passes.cse", given=graphs(size=5, repeats=False), examples=15,
        spec=merged.ORDER)  # fmt: skip
def cse_merges_a_program_with_its_copy(cse, graph):
    """A program that computes everything twice, in the copy with operands the other way round."""
    twice = _doubled(graph)
    after = same_meaning(twice, cse(twice))
    half = len(after.outputs) // 2
    for first, second in zip(after.outputs[:half], after.outputs[half:], strict=True):
        if first is not second:
            names = value_names(after)
            raise Wrong(
                f"Every operation is here twice, so at most {len(graph.ops)} of {len(twice.ops)} "
                f"may be left, but %{names[first]} and %{names[second]} are still two.",
                program=twice, got=after, marked=(names[second],),
            )  # fmt: skip


def _many_of_a_kind() -> Graph:
    def piece(x: Node, k: int) -> Node:
        return apply("slice", x, starts=(k,), stops=(k + 1,)) * const(float(k))

    return _doubled(trace(lambda x: [piece(x, k) for k in range(200)], "f32[200]"))


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


SHARED = "a shared value is looked at once for each path"
takes_large("passes.cse", [  # ours takes a sixth to a third of the steps
    (lambda: _doubled(deep(1100)), 1_000_000, "two equal chains of 1,100 relu",
     "are all pairs compared, or one walk for each?", 1100, merged.ALONG),
    (_many_of_a_kind, 60_000, "200 slices of x, each times a constant, twice", "is each node "
     "compared with all constants, or with all that read the same value?", 400, LINEAR),
    (lambda: _doubled(doubled_often()), 150_000, "a value that is doubled 60 times, twice", SHARED,
     60, LINEAR),
    (lambda: _doubled(diamond()), 150_000, "60 values, each read by two operations, twice", SHARED,
     180, LINEAR),
])  # fmt: skip
compiles("passes.cse", merged.SAME)
