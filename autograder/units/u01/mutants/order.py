"""Answers to unit 1 about the order of a program. Next room: defined.py."""

from __future__ import annotations

from graphlib import TopologicalSorter

from autograder.check.framework import alternative, equivalent, mutant, mutants

NAME = "ir.graph.topological_order"
ORDER, PLACES, PUSHES = (
    "order: dict[Node, None] = {}",
    "order[node] = None",
    "stack.append((node, True))",
)
DONE, ROOTS, RETURNED = " or node in done", "for root in roots", "return list(order)"

mutants(
    NAME,
    roots_first=(PUSHES, PLACES),
    # breadth first, then turned around: right for trees and chains only
    level_by_level_backwards=(
        ROOTS, "for _ in [0]", "[(root, False)]", "[(root, False) for root in roots]",
        "stack.pop()", "stack.pop(0)", PUSHES, PLACES, RETURNED, "return list(order)[::-1]"),
    lists_shared_nodes_twice=(ORDER, "order = []", f"node in order{DONE}", "node in done",
                              PLACES, "order.append(node)"),
    forgets_done=(DONE, ""),
    forgets_what_only_done_needs=(DONE, "", RETURNED, "return [n for n in order if n not in done]"),
    the_first_root=(ROOTS, "for root in list(roots)[:1]"),
    changes_done=(RETURNED, f"done.update(order); {RETURNED}"),
    # takes `done |= ...` for a new set; it is one only if `done` is a frozenset
    adds_to_done=(f"node in order{DONE}", "node in done", PLACES, f"{PLACES}; done |= {{node}}"),
    # marks a node when somebody reads it, not when it is placed: too early for a + relu(a)
    seen_when_it_is_met=(ORDER, "order, met = ({}, set(done))", "in reversed(node.inputs)",
                         "in reversed(node.inputs) if not (i in met or met.add(i))"),
    # two nodes may share a name; one of them is lost
    by_name=(RETURNED, "first = {}; [first.setdefault(n.name or n, n) for n in order]; "
             "return list(first.values())"),
)  # fmt: skip


@mutant(NAME)
def by_recursion(roots, done=frozenset()):
    order = []

    def visit(node):
        if node in done or node in order:
            return
        for operand in node.inputs:
            visit(operand)
        order.append(node)

    for root in roots:
        visit(root)
    return order


@mutant(NAME)
def again_from_the_top(roots, done=frozenset()):
    """Walks down to a node whose operands are placed, then starts again: the stand-in."""
    order = {}
    for root in roots:
        while root not in order and root not in done:
            node = root
            while waits := [i for i in node.inputs if i not in order and i not in done]:
                node = waits[0]
            order[node] = None
    return list(order)


@alternative(NAME)
def by_graphlib(roots, done=frozenset()):
    needed, todo = {}, list(roots)
    while todo:
        node = todo.pop()
        if node not in needed and node not in done:
            needed[node] = [i for i in node.inputs if i not in done]
            todo.extend(needed[node])
    return list(TopologicalSorter(needed).static_order())


@alternative(NAME)
def kahn(roots, done=frozenset()):
    """Forwards: a node is listed as soon as the last of its operands is."""
    needed, todo = set(), [r for r in roots if r not in done]
    while todo:
        node = todo.pop()
        if node not in needed:
            needed.add(node)
            todo.extend(i for i in node.inputs if i not in done)
    waits, users = {}, {node: [] for node in needed}
    for node in needed:
        waits[node] = len(needed & set(node.inputs))
        for operand in needed & set(node.inputs):
            users[operand].append(node)
    order = [node for node in needed if not waits[node]]
    for node in order:
        for user in users[node]:
            waits[user] -= 1
            if not waits[user]:
                order.append(user)
    return order


@alternative(NAME)
def right_to_left(roots, done=frozenset()):
    order, placed = [], set(done)
    stack = list(roots)
    while stack:
        node = stack[-1]
        waits = [i for i in node.inputs if i not in placed]
        if node in placed or not waits:
            stack.pop()
            if node not in placed:
                placed.add(node)
                order.append(node)
        else:
            stack.extend(waits)
    return tuple(order)


for _old, _new, _why in [
    ("for root in roots:", "in reversed(list(roots)):", "any order is right"),
    ("in reversed(node.inputs)", "in node.inputs", "any order is right"),
    ("continue", "pass", "the node is placed by then, so what is pushed again is passed over"),
    (PLACES, "order.setdefault(node, None)", "a node that is there already is passed over above"),
]:
    equivalent(NAME, _old, _new, because=_why)
