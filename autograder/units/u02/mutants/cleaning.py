"""Mutants and alternatives of unit 2: dead code. Next room: folding.py."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.order import topological_order

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


@mutant("passes.dce")
def looks_at_two_operands(graph):
    """Most operations have two. A select has three."""
    live = set(graph.outputs) | set(graph.inputs)
    for node in reversed(graph.nodes):
        if node in live:
            live.update(node.inputs[:2])
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


@mutant("passes.dce")
def returns_each_value_once(graph):
    """The outputs as a set: a caller who expects two results gets one."""
    after = with_a_worklist(graph)
    return replace(after, outputs=tuple(dict.fromkeys(graph.outputs)))


@mutant("passes.dce")
def makes_the_nodes_anew(graph):
    """Copies of the live nodes: they compute the same, and whoever knows the old ones is lost."""
    after = with_a_worklist(graph)
    return after.rebuild(lambda node, inputs: replace(node, inputs=inputs))


@mutant("passes.dce")
def merges_as_well(graph):
    """Two jobs in one pass: equal nodes become one."""
    first = {}

    def visit(node, inputs):
        key = (node.op, inputs, repr(node.attrs), node.type)
        return first.setdefault(key, node.with_inputs(inputs))

    return with_a_worklist(graph.rebuild(visit))


@mutant("passes.dce")
def down_each_path(graph):
    """Never asks whether it was here before: 2**60 paths take for ever."""
    live, todo = set(graph.inputs), list(graph.outputs)
    while todo:
        node = todo.pop()
        live.add(node)
        todo += node.inputs
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


@alternative("passes.dce")
def by_counting_users(graph):
    """Forwards: takes away what has no user, and then what that was the last user of."""
    users = {node: len(readers) for node, readers in graph.users().items()}
    kept = {*graph.outputs, *graph.inputs}
    todo, gone = [n for n in graph.nodes if not users[n] and n not in kept], set()
    while todo:
        node = todo.pop()
        gone.add(node)
        for operand in node.inputs:
            users[operand] -= 1
            if not users[operand] and operand not in kept:
                todo.append(operand)
    return replace(graph, nodes=tuple(n for n in graph.nodes if n not in gone))


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


@mutant("passes.dce")
def sweep_after_sweep(graph):
    """Right in the end, after as many sweeps as the longest dead chain has nodes."""
    while True:
        users = graph.users()
        kept = [n for n in graph.nodes if users[n] or n in graph.outputs or n.op == "input"]
        if len(kept) == len(graph.nodes):
            return graph
        graph = replace(graph, nodes=tuple(kept))


@mutant("passes.dce")
def what_has_a_name_stays(graph):
    """Somebody gave it a name, so somebody wants it."""
    live = {*topological_order(graph.outputs), *graph.inputs}
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live or n.name or n.origin))


def _marked(graph, operands_of):
    live = {*graph.outputs, *graph.inputs}
    for node in reversed(graph.nodes):
        if node in live:
            live.update(operands_of(node.inputs))
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


@mutant("passes.dce")
def looks_at_three_operands(graph):
    """A select has three. A concat may have more."""
    return _marked(graph, lambda inputs: inputs[:3])


@mutant("passes.dce")
def looks_at_both_ends(graph):
    """The first two operands and the last two, and none between."""
    return _marked(graph, lambda inputs: (*inputs[:2], *inputs[-2:]))


@mutant("passes.dce")
def forgets_the_name(graph):
    """A new graph of the same outputs; it is called @main, whatever the old one was called."""
    return Graph.of(graph.inputs, graph.outputs)


@mutant("passes.dce")
def needs_of_three_outputs(graph):
    """Marks what the first three outputs need."""
    live = {*topological_order(graph.outputs[:3]), *graph.outputs, *graph.inputs}
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


@mutant("passes.dce")
def a_walk_for_each_output(graph):
    """Right, and walks from each output to the inputs, over what it knows already."""
    live = set(graph.inputs)
    for output in graph.outputs:
        live.update(topological_order([output]))
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


equivalent("passes.dce", "reversed(graph.nodes)", "reversed(graph.ops)",
           because="inputs and constants have no operands to mark")  # fmt: skip
equivalent("passes.dce", "in reversed(graph.nodes)", "[:-1]",
           because="the first node is an input or has no operands")  # fmt: skip
