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
from autograder.check.steps import with_steps
from autograder.units.u02.checks import merged
from autograder.units.u02.checks.compare import same_program_as, two_programs
from autograder.units.u02.checks.shared import (
    doubled_often,
    leaves,
    same_bits,
    works_in_the_compiler,
)
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


STEPS = 1_000_000  # ours takes 150,000; comparing all pairs, some millions
MANY_STEPS = 60_000  # ours takes a third of it; comparing all of a kind, twice as many or more


@checks("passes.cse", spec=[merged.ALONG, LINEAR])
def cse_takes_deep_programs(cse):
    """1,100 operations in a row, twice, in one walk and without comparing pairs."""
    why = "are all pairs compared, or one walk for each?"
    leaves(with_steps(cse, STEPS, "2,200 operations", why), _two_chains(), 1100, "Of 2,200 "
           "operations, 1,100 must be left.", "two equal chains of 1,100 relu",
           spec=merged.ALONG)  # fmt: skip
    return "two rows of 1,100 operations"


@functools.cache
def _two_chains() -> Graph:
    return _doubled(deep(1100))


@checks("passes.cse", spec=LINEAR)
def cse_takes_many_of_a_kind(cse):
    """200 constants, and 200 slices of one value, twice."""
    why = "is each node compared with all constants, or with all that read the same value?"
    few = with_steps(cse, MANY_STEPS, "200 constants and 800 operations", why)
    leaves(few, _many_of_a_kind(), 400, "Of 800 operations, 400 must be left.",
           "200 slices of x, each times a constant, twice", spec=merged.SAME)  # fmt: skip
    return "200 constants and 200 slices, twice"


@functools.cache
def _many_of_a_kind() -> Graph:
    def pieces(x: Node) -> list[Node]:
        return [
            apply("slice", x, starts=(k,), stops=(k + 1,)) * const(float(k)) for k in range(200)
        ]

    return _doubled(trace(pieces, "f32[200]"))


@checks("passes.cse", spec=LINEAR)
def cse_takes_values_with_many_users(cse):
    """Values with many users: 2**60 paths lead to the input."""
    why = "a shared value is looked at once for each path"
    few = with_steps(cse, 150_000, "360 operations", why)
    for graph, what in ((doubled_often(), "a value that is doubled 60 times"),
                        (diamond(), "60 values, each read by two operations")):  # fmt: skip
        count = len(graph.ops)
        leaves(few, _doubled(graph), count, f"Of {2 * count} operations, {count} must be left.",
               f"{what}, and all of that again")  # fmt: skip
    return "a program with 2**60 paths"


works_in_the_compiler("passes.cse", merged.SAME)


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
