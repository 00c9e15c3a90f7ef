"""Mutants and alternatives of unit 2: dead code and constants. Next room: merging.py."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.graph.node import const
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import fixpoint
from course_lib.passes.clean.fold import SMALL, fold

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

# ── passes.fold ──

_BIG = "node.type.nbytes > max(SMALL, _bytes(inputs))"
_MADE = "rebuilt = node.with_inputs(inputs)"
_ONE_LEVEL = ("for i in inputs)):", "for i in node.inputs)):")
_SKIPS = "node.op == 'constant' or any("

mutants(
    "passes.fold",
    no_cascade=_ONE_LEVEL,
    however_big=(f" or {_BIG}", ""),
    only_small=("max(SMALL, _bytes(inputs))", "SMALL"),
    in_double_precision=(
        "[i.value for i in inputs])",
        "[i.value.astype('f8' if i.value.dtype == 'f4' else i.value.dtype) for i in inputs])",
        "const(value)", "const(value.round(6).astype('f4'))"),
    forgets_origins=("origins(rebuilt, *inputs)", "()"),
    origins_of_two_operands=("*inputs))", "*inputs[:2]))"),
    lets_errors_out=("(ValueError, TypeError, ArithmeticError)", "()"),
    # Takes the operands away that nobody reads any more: that is dce.
    sweeps_as_it_goes=lambda graph: dce(fold(graph)),
    # 1,024 bytes are small, it says. `SMALL` is another number.
    with_a_limit_of_its_own=("SMALL", "1024"),
    # Compares with the biggest operand instead of all of them together.
    as_big_as_the_biggest_operand=("sum((node.type.nbytes for node in set(nodes)))",
                                   "max((node.type.nbytes for node in nodes), default=0)"),
    # Adds the sizes of the first two operands; a concat has more.
    as_big_as_two_operands=("_bytes(inputs)", "_bytes(inputs[:2])"),
    # Looks at the operands as they were, and knows the size of constants only.
    sizes_of_the_old_operands=("_bytes(inputs)",
                               "_bytes([i for i in node.inputs if i.op == 'constant'])"),
    # `SMALL` is 1,024 elements to it, whatever their type.
    four_bytes_for_each_element=(
        _BIG, "4 * node.type.numel > max(SMALL, 4 * sum(i.type.numel for i in set(inputs)))"),
    # Small is counted in bytes, and the operands in elements: a cast to f64 is no growth to it.
    no_more_elements_than_before=(
        _BIG, "(node.type.nbytes > SMALL"
              " and node.type.numel > sum(i.value.size for i in set(inputs)))"),
    # No operands, so none that is a constant: an iota stays.
    needs_an_operand=(_SKIPS, "not inputs or any("),
    # Nothing that it knows has more.
    up_to_four_operands=(_SKIPS, f"len(inputs) > 4 or {_SKIPS}"),
    # The new constant has lost the name of its node.
    without_a_name=("name=node.name, ", ""),
    # x * 0.0 is 0.0, it thinks, although one operand is no constant.
    multiplies_by_zero=(
        _MADE, f"{_MADE}\n"
        "        zeros = [i for i in inputs if i.op == 'constant' and not i.value.any()]\n"
        "        if node.op == 'mul' and zeros and node.type.is_static:\n"
        "            return const(zeros[0].value.repeat(node.type.numel)"
        "[:node.type.numel].reshape(node.type.dims))"),
    # Takes x * 1 away as well, for one of its operands is a constant.
    and_what_does_nothing=(
        _MADE, f"{_MADE}\n        if (node.op == 'mul' and inputs[1].op == 'constant'"
        " and inputs[0].type == node.type and (inputs[1].value == 1).all()):\n"
        "            return inputs[0]"),
    # 1/0 is an error to it. The interpreter says infinity.
    stops_at_infinity=(
        "        return replace(", "        if value.dtype.kind == 'f'"
        " and not (abs(value) < float('inf')).all():\n            return rebuilt\n"
        "        return replace("),
    # Computes the value of a small constant, too, and puts another node in its place.
    makes_constants_anew=(_SKIPS, "any("),
    # A node that is too big or has no value stays, it thinks, with the operands that it had.
    what_stays_keeps_its_operands=("(inputs)):\n            return rebuilt",
                                   "(inputs)):\n            return node",
                                   "Error):\n            return rebuilt",
                                   "Error):\n            return node"),
    # Folds up to the node that has no value, and nothing behind it.
    stops_at_the_first_error=("def visit", "failed = []\n\n    def visit",
                              _SKIPS, f"failed or {_SKIPS}",
                              "Error):\n", "Error):\n            failed.append(rebuilt)\n"),
    # Numbers are floats to it; an i64 beyond 2**53 is another number then.
    whole_numbers_as_floats=(
        "const(value)",
        "const(value.astype('f8').astype(value.dtype) if value.dtype.kind in 'iu' else value)"),
    # Makes the constant from a list, and a Python float becomes an f32.
    by_lists_of_numbers=("const(value)", "const(value.tolist())"),
)  # fmt: skip

alternatives(
    "passes.fold",
    # All conditions first, and each of them the other way round.
    asks_before_it_computes=(
        "node.op == 'constant' or any((i.op != 'constant' for i in inputs))",
        "node.op in ('input', 'constant') or not all(i.op == 'constant' for i in inputs)",
        f"not node.type.is_static or {_BIG}",
        f"not (node.type.is_static and not {_BIG})",
        "(ValueError, TypeError, ArithmeticError)", "Exception",
        "origins(rebuilt, *inputs)", "origins(node, *inputs)"),
)  # fmt: skip

_one_level = edited(fold, *_ONE_LEVEL)


@alternative("passes.fold")
def in_several_sweeps(graph):
    """One level in each sweep, until nothing changes."""
    while len((after := _one_level(graph)).ops) < len(graph.ops):
        graph = after
    return after


@alternative("passes.fold")
def with_a_table_of_values(graph):
    """Knows arrays, not nodes, and makes the constants at the end of each step."""
    values, new, nodes = {}, {}, []
    for node in graph.nodes:
        copy = node.with_inputs([new[i] for i in node.inputs])
        if node.op == "constant":
            values[copy] = node.value
        elif node.op != "input" and all(i in values for i in copy.inputs):
            copy = _computed(copy, values)
        new[node] = copy
        nodes.append(copy)
    return Graph(graph.name, graph.inputs, tuple(nodes), tuple(new[o] for o in graph.outputs))


def _computed(node, values):
    together = sum(i.type.nbytes for i in set(node.inputs))
    if not node.type.is_static or node.type.nbytes > max(SMALL, together):
        return node
    try:
        value = evaluate(node, [values[i] for i in node.inputs])
    except Exception:
        return node
    constant = replace(const(value, name=node.name), origin=origins(*node.inputs, node))
    values[constant] = constant.value
    return constant


for _fewer in ("(ValueError, ArithmeticError)", "(ValueError, TypeError):"):
    equivalent("passes.fold", "except (ValueError, TypeError", _fewer, because="of the ops of the "
               "table, those that refuse a value raise a ValueError")  # fmt: skip
