"""Mutants and alternatives of unit 2: a rewriter. Next room: __init__.py."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, equivalent, mutant, mutants
from course_lib.passes.clean.dce import dce

# ── u02.apply_rules ──

_MADE = "made = node.with_inputs(inputs)"
_STOPS = "if _first(rules, made) is not None:"
_NEXT = "            made = new\n"

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
    old_operands=(_MADE, "made = node", "                return made",
                  "                return None if made is node else made"),
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
    an_operand_is_at_rest=(_NEXT, "            if any(new in i.inputs for i in made.inputs):\n"
                           f"                return new\n{_NEXT}"),
    swept=lambda graph, rules: dce(with_a_while(graph, rules)),
)  # fmt: skip


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


@alternative("u02.apply_rules")
def with_a_while(graph, rules):
    return graph.rebuild(lambda node, inputs: _settled(rules, node.with_inputs(inputs)))


def _settled(rules, made):
    times = 0
    while (new := _first(rules, made)) is not None:
        if times == 100:
            raise ValueError(f"no rest at {made.op}")
        made, times = new, times + 1
    return made


def _first(rules, node):
    made = (rule(node) for rule in rules)
    return next((new for new in made if new is not None and new.type == node.type), None)


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
