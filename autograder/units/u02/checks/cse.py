"""Checks of unit 2 for common subexpressions.

Which node of equal ones is kept is said, so a small program has one right result. The programs
stand in merged.py, with what cse makes of them. Next room: merged.py.
"""

from __future__ import annotations

import functools

from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, diamond, graphs
from autograder.check.properties import live_ops, same_meaning
from autograder.check.steps import with_steps
from autograder.units.u02.checks.compare import same_program_as
from autograder.units.u02.checks.merged import (
    ALONG,
    APART,
    EQUAL,
    FIRST,
    OPERANDS,
    ORDER,
    SAME,
    different,
    equal,
)
from autograder.units.u02.checks.shared import doubled_often, in_the_compiler, on_deep, same_bits
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.infra.match import COMMUTATIVE


@checks("passes.cse", spec=[spec for _, _, spec in different()])
def cse_keeps_apart_what_differs(cse):
    """Different constants, attributes, orders and inputs are different values."""
    for before, problem, spec in different():
        same_program_as(before, cse(before), before, problem=f"Nothing may merge here. {problem}",
                        spec=spec, label_spec=FIRST)  # fmt: skip
    return f"{len(different())} programs in which nothing is equal"


@checks("passes.cse", spec=[FIRST, *(spec for _, _, _, spec in equal())])
def cse_merges_what_is_equal(cse):
    """Equal chains, operands in either order, equal constants; the first is kept, dead code too."""
    for before, after, problem, spec in equal():
        same_program_as(before, cse(before), after, problem=problem, spec=spec,
                        label_spec=FIRST)  # fmt: skip
    return f"{len(EQUAL)} programs with equal values"


@checks("passes.cse", spec=[ORDER, APART])
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
                spec=ORDER if node.op in COMMUTATIVE else APART,
            )
    return "every operation of two operands, in both orders"


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


@checks("passes.cse", given=graphs(size=8), examples=15, spec=OPERANDS)
def cse_keeps_every_bit(cse, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(graph, cse(graph))


@checks("passes.cse", given=graphs(size=5, repeats=False), examples=15, spec=ORDER)
def cse_merges_a_program_with_its_copy(cse, graph):
    """A program that computes everything twice, in the copy with operands the other way round."""
    twice = _doubled(graph)
    after = same_meaning(twice, cse(twice))
    half = len(after.outputs) // 2
    for first, second in zip(after.outputs[:half], after.outputs[half:], strict=True):
        if first is not second:
            names = value_names(after)
            raise Wrong(
                f"Every operation is here twice, so at most {len(graph.ops)} of "
                f"{len(twice.ops)} may be left, but %{names[first]} and %{names[second]} are "
                "still two.",
                program=twice,
                got=after,
                marked=(names[second],),
            )


@checks("passes.cse", spec=[ALONG, "Near-linear time: do not compare all pairs"])
def cse_takes_deep_programs(cse):
    """1,100 operations in a row, twice, in one walk and without comparing pairs."""
    few = with_steps(
        cse, STEPS, "2,200 operations", "are all pairs compared, or one walk for each?"
    )
    if len(live_ops(on_deep(few, _two_chains()))) != 1100:
        raise Wrong("Of 2,200 operations, 1,100 must be left.", spec=ALONG,
                    program="two equal chains of 1,100 relu")  # fmt: skip
    return "two rows of 1,100 operations"


STEPS = 1_000_000  # ours takes 150,000; comparing all pairs, some millions


@functools.cache
def _two_chains() -> Graph:
    return _doubled(deep(1100))


@checks("passes.cse", spec="Near-linear time: do not compare all pairs")
def cse_takes_many_of_a_kind(cse):
    """200 constants, and 200 slices of one value, twice."""
    few = with_steps(
        cse,
        MANY_STEPS,
        "200 constants and 800 operations",
        "is each node compared with all constants, or with all that read the same value?",
    )
    if len(live_ops(on_deep(few, _many_of_a_kind()))) != 400:
        raise Wrong("Of 800 operations, 400 must be left.", spec=SAME,
                    program="200 slices of x, each times a constant, twice")  # fmt: skip
    return "200 constants and 200 slices, twice"


MANY_STEPS = 60_000  # ours takes a third of it; comparing all of a kind, twice as many or more


@functools.cache
def _many_of_a_kind() -> Graph:
    def pieces(x: Node) -> list[Node]:
        return [
            apply("slice", x, starts=(k,), stops=(k + 1,)) * const(float(k)) for k in range(200)
        ]

    return _doubled(trace(pieces, "f32[200]"))


@checks("passes.cse", spec="Near-linear time: do not compare all pairs")
def cse_takes_values_with_many_users(cse):
    """Values with many users: 2**60 paths lead to the input."""
    few = with_steps(
        cse, 150_000, "360 operations", "a shared value is looked at once for each path"
    )
    for graph, what in ((doubled_often(), "a value that is doubled 60 times"),
                        (diamond(), "60 values, each read by two operations")):  # fmt: skip
        twice = _doubled(graph)
        if len(live_ops(on_deep(few, twice))) != len(graph.ops):
            raise Wrong(f"Of {len(twice.ops)} operations, {len(graph.ops)} must be left.",
                        program=f"{what}, and all of that again")  # fmt: skip
    return "a program with 2**60 paths"


@checks("passes.cse", spec=SAME)
def cse_works_in_the_compiler(cse):
    """Compiled with your cse, a program computes what it computed."""
    in_the_compiler("passes.cse", cse)
    return "programs compiled with your function"


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
