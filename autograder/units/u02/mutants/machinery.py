"""Mutants and alternatives of unit 2: a rewriter. Next room: __init__.py."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph import Graph

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
    return graph.rebuild(lambda node, inputs: _first(rules, node.with_inputs(inputs)))


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
def on_with_the_next_rule(graph, rules):
    """After a replacement the next rule is asked, and the first one only in the next round."""

    def visit(node, inputs):
        made, times, before = node.with_inputs(inputs), 0, None
        while made is not before:
            before = made
            for rule in rules:
                new = rule(made)
                if new is not None and new.type == made.type:
                    made, times = new, times + 1
                    if times > 100:
                        raise ValueError("no rest")
        return made

    return graph.rebuild(visit)


@mutant("u02.apply_rules")
def the_shape_is_enough(graph, rules):
    """Compares shapes, and not element types."""

    def first(rules, node):
        found = (rule(node) for rule in rules)
        return next((n for n in found if n is not None and n.type.dims == node.type.dims), None)

    return graph.rebuild(
        lambda node, inputs: _settled(rules, node.with_inputs(inputs), first=first)
    )


@mutant("u02.apply_rules")
def operations_alone(graph, rules):
    """Constants are never offered."""
    return graph.rebuild(
        lambda node, inputs: _settled(rules, node.with_inputs(inputs)) if inputs else node
    )


@mutant("u02.apply_rules")
def an_operand_is_at_rest(graph, rules):
    """A replacement that the node has read is not offered again."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        for _ in range(100):
            new = _first(rules, made)
            if new is None or new in [i for operand in made.inputs for i in operand.inputs]:
                return made if new is None else new
            made = new
        raise ValueError("no rest")

    return graph.rebuild(visit)


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


equivalent("u02.apply_rules", "return None", "pass", because="a function returns None at its end")
