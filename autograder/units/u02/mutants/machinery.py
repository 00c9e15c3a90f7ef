"""Mutants and alternatives of unit 2: a fixpoint, a pass manager, a rewriter. Next: evidence.py."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import fixpoint, same_program
from course_lib.passes.infra.manager import run_passes

# ── passes.fixpoint ──

_ours = edited(fixpoint)  # a copy: the one in the library would ask the answer

_ROUND = "before, graph = (graph, run_passes(graph, passes))"
_SAME = "same_program(before, graph)"

mutants(
    "passes.fixpoint",
    by_counting_nodes=(_SAME, "len(before.nodes) == len(graph.nodes)"),
    by_identity=(_SAME, "before.nodes == graph.nodes"),
    # Two programs are the same if they print the same: names count, large constants do not.
    by_the_text=(_SAME, "repr(before) == repr(graph)"),
    # Dead code is no part of the program, it thinks: then dce never changes anything.
    what_outputs_need=(
        _SAME, "same_program(*(Graph.of(g.inputs, g.outputs) for g in (before, graph)))"),
    # A network has one output.
    by_the_first_output=(
        _SAME, "same_program(*(Graph(g.name, g.inputs, g.nodes, g.outputs[:1])"
        " for g in (before, graph)))"),
    after_the_last_pass=(_ROUND, "for one in passes:\n"
                         "            before, graph = (graph, run_passes(graph, [one]))"),
    unverified=(_ROUND, "before = graph\n        for one in passes:\n"
                "            graph = one(graph)\n        if graph is None:\n"
                "            return before"),
    gives_up_in_silence=("    names = ", "    return graph\n    names = "),
    # Allows limit + 1 rounds.
    one_round_too_many=("range(limit)", "range(limit + 1)"),
    # Brings each pass to rest before the next one begins.
    one_pass_after_the_other=lambda graph, passes, limit=20: reduce(
        lambda before, one: _ours(before, [one], limit), passes, graph),
)  # fmt: skip


# Runs and verifies one pass at a time, and compares after the last.
alternatives(
    "passes.fixpoint",
    each_pass_by_itself=(_ROUND, "before = graph\n        for one in passes:\n"
                         "            graph = run_passes(graph, [one])"),
)  # fmt: skip


@alternative("passes.fixpoint")
def with_a_list_of_states(graph, passes, limit=20):
    states = [graph]
    while len(states) <= limit:
        states.append(run_passes(states[-1], passes))
        if same_program(*states[-2:]):
            return states[-1]
    raise ValueError(f"{limit} rounds were not enough")


def _recursively(graph, passes, limit=20):
    if limit == 0:
        raise ValueError("the passes do not come to rest")
    after = run_passes(graph, passes)
    return after if same_program(graph, after) else _recursively(after, passes, limit - 1)


alternatives("passes.fixpoint", by_recursion=_recursively)


equivalent("passes.fixpoint", "same_program(before, graph)", "same_program(graph, before)",
           because="a program is the same as another if that is the same as it")  # fmt: skip
for part in ("[1:]", "[:-1]"):
    equivalent("passes.fixpoint", "pass_name(one) for one in passes", part,
               because="the words of the error are free")  # fmt: skip

# ── u02.careful ──

_EQUAL = "np.array_equal(got, before, equal_nan=got.dtype.kind == 'f')"
_STOP = "return (graph, count)"


def _equal_if(test):
    """The edit which compares two outputs in another way."""
    return (f"if not {_EQUAL}:",
            f"with np.errstate(invalid='ignore'):\n                equal = {test}\n"
            "            if not equal:")  # fmt: skip


mutants(
    "u02.careful",
    # Keeps the broken graph, and calls it the last good one.
    compares_with_the_pass_before=(
        "        graph = after", "        graph, wanted = (after, run(after, inputs))",
        _STOP, "return (after, count)"),
    the_first_output=("wanted, strict=True", "wanted[:1]"),
    close_is_enough=_equal_if("np.allclose(got, before, equal_nan=True)"),
    nan_is_not_nan=_equal_if("np.array_equal(got, before)"),
    # A NaN on either side is enough: x != x there.
    nan_is_anything=_equal_if("((got == before) | (got != got) | (before != before)).all()"),
    # The difference of two infinities is NaN, and NaN is not larger than 0.
    no_difference_is_seen=_equal_if("not (np.abs(got - before) > 0).any()"),
    # Lets the next number pass.
    up_to_one_rounding=_equal_if(
        "np.all((got == before) | (got != got) & (before != before) | (got.dtype.kind == 'f'"
        " and np.abs(got - before) <= np.spacing(np.abs(before))))"),
    # The same elements, wherever they stand.
    in_any_order=_equal_if("np.array_equal(np.sort(got), np.sort(before),"
                           " equal_nan=got.dtype.kind == 'f')"),
    # Compares where the first result is a number.
    finite_ones_alone=_equal_if(
        "np.array_equal(got[np.isfinite(before)], before[np.isfinite(before)])"),
    bits_of_zero=_equal_if("got.tobytes() == before.tobytes()"),
    on_inputs_of_its_own=(
        "    wanted = ",
        "    inputs = [np.ones(i.type.dims, i.type.dtype.numpy) for i in graph.inputs]\n"
        "    wanted = "),
    # Goes on behind it.
    skips_the_broken_one=(
        "    wanted = ", "    good = 0\n    wanted = ", _STOP, "break",
        "        graph = after", "        else:\n            graph, good = (after, good + 1)",
        "len(passes)", "good"),
    never_verified=("run_passes(graph, [one])", "one(graph)"),
    counts_from_one=(_STOP, "return (graph, count + 1)"),
)  # fmt: skip


def _same(a, b):
    pairs = zip(a, b, strict=True)
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)


alternatives(
    "u02.careful",
    plainly=("for count, one in enumerate(passes)", "count = 0\n    for one in passes",
             "        graph = after", "        graph, count = (after, count + 1)",
             "len(passes)", "count"),
)  # fmt: skip


@alternative("u02.careful")
def with_a_list_of_graphs(graph, passes, inputs):
    good = [graph]
    for one in passes:
        after = run_passes(good[-1], [one])
        if not _same(run(after, inputs), run(graph, inputs)):
            break
        good.append(after)
    return good[-1], len(good) - 1


@alternative("u02.careful")
def by_recursion(graph, passes, inputs):
    if not passes:
        return graph, 0
    after = run_passes(graph, passes[:1])
    if not _same(run(after, inputs), run(graph, inputs)):
        return graph, 0
    last, count = by_recursion(after, passes[1:], inputs)
    return last, count + 1


equivalent("u02.careful", "zip(run(after, inputs), wanted", "zip(",
           because="in which order outputs are compared is free")  # fmt: skip
equivalent("u02.careful", "np.array_equal(got, before", "np.array_equal(before, got",
           because="equal is equal in both directions")  # fmt: skip

# ── u02.apply_rules ──

_MADE = "rewritten = node.with_inputs(inputs)"
_STOPS = "if _first(rules, rewritten) is not None:"
_NEXT = "            rewritten = new\n"

mutants(
    "u02.apply_rules",
    # What a rule makes is not offered again.
    each_node_once=("range(100)", "range(1)", _STOPS, "if False:"),
    ninety_nine=("range(100)", "range(99)"),
    gives_up_in_silence=(_STOPS, "if False:"),
    # One budget for the whole program.
    a_hundred_in_all=("    def visit", "    left = [100]\n\n    def visit",
                      "range(100)", "range(left[0])", _NEXT, f"{_NEXT}            left[0] -= 1\n"),
    # Offers the node as it was, with the operands that it had.
    old_operands=(_MADE, "rewritten = node", "                return rewritten",
                  "                return None if rewritten is node else rewritten"),
    whatever_type=(" and new.type == node.type", ""),
    # Compares shapes, and not element types.
    the_shape_is_enough=("new.type == node.type", "new.type.dims == node.type.dims"),
    the_last_wins=("in rules:", "in rules[::-1]:"),
    # The first replacement is of another type, so no other rule is asked.
    a_first_of_another_type_ends_it=(" and new.type == node.type", "", "return new",
                                     "return new if new.type == node.type else None"),
    # Constants are never offered.
    operations_alone=(_MADE, f"if not inputs:\n            return node\n        {_MADE}"),
    # A replacement that the node has read is not offered again.
    an_operand_is_at_rest=(_NEXT, "            if any(new in i.inputs for i in rewritten.inputs):\n"
                           f"                return new\n{_NEXT}"),
    # After a replacement the next rule is asked, and the first one only in the next round.
    on_with_the_next_rule=("    for rule", "    last = None\n    for rule",
                           "return new", "node = last = new", "return None", "return last"),
    swept=lambda graph, rules: dce(with_a_while(graph, rules)),
)  # fmt: skip


@alternative("u02.apply_rules")
def with_a_while(graph, rules):
    return graph.rebuild(lambda node, inputs: _settled(rules, node.with_inputs(inputs)))


def _settled(rules, node):
    times = 0
    while (new := _first(rules, node)) is not None:
        if times == 100:
            raise ValueError(f"no rest at {node.op}")
        node, times = new, times + 1
    return node


def _first(rules, node):
    rewritten = (rule(node) for rule in rules)
    return next((new for new in rewritten if new is not None and new.type == node.type), None)


@alternative("u02.apply_rules")
def by_trying_again(graph, rules):
    """Begins with the first rule again whenever one has applied."""

    def visit(node, inputs):
        rewritten, k, times = node.with_inputs(inputs), 0, 0
        while k < len(rules):
            new = rules[k](rewritten)
            if new is None or new.type != rewritten.type:
                k += 1
                continue
            times += 1
            if times > 100:
                raise ValueError("the rules undo each other")
            rewritten, k = new, 0
        return rewritten

    return graph.rebuild(visit)


@alternative("u02.apply_rules")
def node_by_node(graph, rules):
    """Without rebuild."""
    new, order = {}, []

    def place(node):
        for operand in node.inputs:
            if operand not in order:
                place(operand)
        if node not in order:
            order.append(node)

    for node in graph.nodes:
        if node.op == "input":
            new[node] = node
        else:
            new[node] = _settled(rules, node.with_inputs([new[i] for i in node.inputs]))
        place(new[node])
    return replace(graph, nodes=tuple(order), outputs=tuple(new[n] for n in graph.outputs))


equivalent("u02.apply_rules", "return None", "pass", because="a function returns None at its end")
