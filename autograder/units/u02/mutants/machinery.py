"""Mutants and alternatives of unit 2: a pass manager, a rewriter. Next room: __init__.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.passes.infra.manager import run_passes

# ── u02.careful ──


def _same(a, b):
    return all(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True)
    )


@mutant("u02.careful")
def compares_with_the_pass_before(graph, passes, inputs):
    """Keeps the broken graph, and calls it the last good one."""
    for count, one in enumerate(passes):
        before, graph = graph, run_passes(graph, [one])
        if not _same(run(before, inputs), run(graph, inputs)):
            return graph, count
    return graph, len(passes)


@mutant("u02.careful")
def the_first_output(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if not _same(run(after, inputs)[:1], wanted[:1]):
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def close_is_enough(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        got = run(after, inputs)
        if not all(np.allclose(a, b, equal_nan=True) for a, b in zip(got, wanted, strict=True)):
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def nan_is_not_nan(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if not all(np.array_equal(a, b) for a, b in zip(run(after, inputs), wanted, strict=True)):
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def skips_the_broken_one(graph, passes, inputs):
    """Goes on behind it."""
    wanted, good = run(graph, inputs), 0
    for one in passes:
        after = run_passes(graph, [one])
        if _same(run(after, inputs), wanted):
            graph, good = after, good + 1
    return graph, good


@mutant("u02.careful")
def never_verified(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = one(graph)
        try:
            if not _same(run(after, inputs), wanted):
                return graph, count
        except Exception:
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def counts_from_one(graph, passes, inputs):
    after, count = plainly(graph, passes, inputs)
    return after, min(count + 1, len(passes))


@mutant("u02.careful")
def bits_of_zero(graph, passes, inputs):
    wanted = [a.tobytes() for a in run(graph, inputs)]
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if [a.tobytes() for a in run(after, inputs)] != wanted:
            return graph, count
        graph = after
    return graph, len(passes)


@alternative("u02.careful")
def plainly(graph, passes, inputs):
    wanted, count = run(graph, inputs), 0
    for one in passes:
        after = run_passes(graph, [one])
        if not _same(run(after, inputs), wanted):
            break
        graph, count = after, count + 1
    return graph, count


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


# ── u02.apply_rules ──


def _first(rules, node):
    for rule in rules:
        new = rule(node)
        if new is not None and new.type == node.type:
            return new
    return None


@mutant("u02.apply_rules")
def each_node_once(graph, rules):
    """What a rule makes is not offered again."""
    return graph.rebuild(
        lambda node, inputs: _first(rules, made := node.with_inputs(inputs)) or made
    )


@mutant("u02.apply_rules")
def old_operands(graph, rules):
    """Offers the node as it was, with the operands that it had."""

    def visit(node, inputs):
        new = _first(rules, node)
        if new is None:
            return node.with_inputs(inputs)
        for _ in range(100):
            again = _first(rules, new)
            if again is None:
                return new
            new = again
        raise ValueError("no rest")

    return graph.rebuild(visit)


def _settled(rules, made, first=_first, limit=100):
    for _ in range(limit):
        new = first(rules, made)
        if new is None:
            return made
        made = new
    if first(rules, made) is not None:
        raise ValueError("no rest")
    return made


@mutant("u02.apply_rules")
def whatever_type(graph, rules):
    def first(rules, node):
        return next((new for rule in rules if (new := rule(node)) is not None), None)

    return graph.rebuild(
        lambda node, inputs: _settled(rules, node.with_inputs(inputs), first=first)
    )


@mutant("u02.apply_rules")
def the_last_wins(graph, rules):
    return graph.rebuild(lambda node, inputs: _settled(rules[::-1], node.with_inputs(inputs)))


@mutant("u02.apply_rules")
def a_first_of_another_type_ends_it(graph, rules):
    """The first replacement is of another type, so no other rule is asked."""

    def first(rules, node):
        new = next((new for rule in rules if (new := rule(node)) is not None), None)
        return new if new is not None and new.type == node.type else None

    return graph.rebuild(
        lambda node, inputs: _settled(rules, node.with_inputs(inputs), first=first)
    )


@mutant("u02.apply_rules")
def gives_up_in_silence(graph, rules):
    def settled(made):
        for _ in range(100):
            new = _first(rules, made)
            if new is None:
                return made
            made = new
        return made

    return graph.rebuild(lambda node, inputs: settled(node.with_inputs(inputs)))


@mutant("u02.apply_rules")
def a_hundred_in_all(graph, rules):
    """One budget for the whole program."""
    left = [100]

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        while (new := _first(rules, made)) is not None:
            if not left[0]:
                raise ValueError("no rest")
            left[0] -= 1
            made = new
        return made

    return graph.rebuild(visit)


@mutant("u02.apply_rules")
def ninety_nine(graph, rules):
    return graph.rebuild(lambda node, inputs: _settled(rules, node.with_inputs(inputs), limit=99))


@mutant("u02.apply_rules")
def swept(graph, rules):
    after = with_a_while(graph, rules)
    return Graph.of(after.inputs, after.outputs, after.name)


@alternative("u02.apply_rules")
def with_a_while(graph, rules):
    def visit(node, inputs):
        made, times = node.with_inputs(inputs), 0
        while (new := _first(rules, made)) is not None:
            if times == 100:
                raise ValueError(f"no rest at {node.op}")
            made, times = new, times + 1
        return made

    return graph.rebuild(visit)


@alternative("u02.apply_rules")
def by_trying_again(graph, rules):
    """Begins with the first rule again whenever one has applied."""

    def visit(node, inputs):
        made, k, times = node.with_inputs(inputs), 0, 0
        while k < len(rules):
            new = rules[k](made)
            if new is None or new.type != made.type:
                k += 1
                continue
            times += 1
            if times > 100:
                raise ValueError("the rules undo each other")
            made, k = new, 0
        return made

    return graph.rebuild(visit)


@alternative("u02.apply_rules")
def node_by_node(graph, rules):
    """Without rebuild."""
    from dataclasses import replace

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


equivalent("u02.careful", "zip(run(after, inputs), wanted", "zip(",
           because="in which order outputs are compared is free")  # fmt: skip
equivalent("u02.careful", "np.array_equal(got, before", "np.array_equal(before, got",
           because="equal is equal in both directions")  # fmt: skip
equivalent("u02.apply_rules", "return None", "pass", because="a function returns None at its end")
