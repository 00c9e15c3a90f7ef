"""Mutants and alternatives of unit 2: dead code. Next room: folding.py."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.edits import edited
from autograder.check.framework import alternative, equivalent, mutants
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.order import topological_order
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import fixpoint

# ── passes.dce ──


def _kept(graph, *live):
    """The graph with the nodes of these collections, and no others."""
    together = set().union(*live)
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in together))


_MARK = """for node in reversed(graph.nodes):
        if node in live:
            live.update(node.inputs)"""
_SWEEP = (_MARK, "live |= {node for node, users in graph.users().items() if users}")

mutants(
    "passes.dce",
    # Removes what has no user, once: the chain behind it stays.
    one_sweep=_SWEEP,
    # Right in the end, after as many sweeps as the longest dead chain has nodes.
    sweep_after_sweep=lambda graph: fixpoint(graph, [edited(dce, *_SWEEP)], len(graph.nodes) + 1),
    recursive=(_MARK, "def visit(node):\n        for one in set(node.inputs) - live:\n"
               "            live.add(one)\n            visit(one)\n"
               "    for node in graph.outputs:\n        visit(node)"),
    # Never asks whether it was here before: 2**60 paths take for ever.
    down_each_path=(_MARK, "todo = list(graph.outputs)\n    while todo:\n"
                    "        live.add(todo[-1])\n        todo += todo.pop().inputs"),
    drops_unused_inputs=(
        " | set(graph.inputs)", "",
        "graph, nodes=", "graph, inputs=tuple(i for i in graph.inputs if i in live), nodes="),
    keeps_constants=("if node in live))", "if node in live or node.op == 'constant'))"),
    does_nothing=lambda graph: graph,
    # Most operations have two. A select has three, a concat may have more.
    looks_at_two_operands=("node.inputs)", "node.inputs[:2])"),
    looks_at_three_operands=("node.inputs)", "node.inputs[:3])"),
    looks_at_both_ends=("node.inputs)", "node.inputs[:2] + node.inputs[-2:])"),
    # The outputs as a set: a caller who expects two results gets one.
    returns_each_value_once=("graph, nodes=",
                             "graph, outputs=tuple(dict.fromkeys(graph.outputs)), nodes="),
    # Copies of the live nodes: they compute the same, and whoever knows the old ones is lost.
    makes_the_nodes_anew=lambda graph: with_a_worklist(graph).rebuild(
        lambda node, inputs: replace(node, inputs=inputs)),
    # Two jobs in one pass: equal nodes become one.
    merges_as_well=lambda graph: with_a_worklist(cse(graph)),
    # Somebody gave it a name, so somebody wants it.
    what_has_a_name_stays=("if node in live))", "if node in live or node.name or node.origin))"),
    # A new graph of the same outputs; it is called @main, whatever the old one was called.
    forgets_the_name=lambda graph: Graph.of(graph.inputs, graph.outputs),
    # Marks what the first three outputs need.
    needs_of_three_outputs=lambda graph: _kept(
        graph, topological_order(graph.outputs[:3]), graph.outputs, graph.inputs),
    # Right, and walks from each output to the inputs, over what it knows already.
    a_walk_for_each_output=lambda graph: _kept(
        graph, graph.inputs, *(topological_order([output]) for output in graph.outputs)),
)  # fmt: skip


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
    return _kept(graph, live)


equivalent("passes.dce", "reversed(graph.nodes)", "reversed(graph.ops)",
           because="inputs and constants have no operands to mark")  # fmt: skip
equivalent("passes.dce", "in reversed(graph.nodes)", "[:-1]",
           because="the first node is an input or has no operands")  # fmt: skip
