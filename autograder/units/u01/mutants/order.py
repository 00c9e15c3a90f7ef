"""Answers to unit 1 about the order of a program. Next room: defined.py."""

from __future__ import annotations

from collections import deque
from graphlib import TopologicalSorter

from autograder.check.framework import alternative, equivalent, mutant


@mutant("ir.graph.topological_order")
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


@mutant("ir.graph.topological_order")
def roots_first(roots, done=frozenset()):
    order, todo = [], list(roots)
    while todo:
        node = todo.pop()
        if node not in order and node not in done:
            order.append(node)
            todo.extend(node.inputs)
    return order


@mutant("ir.graph.topological_order")
def level_by_level_backwards(roots, done=frozenset()):
    """Breadth first, then turned around: right for trees and chains only."""
    order, todo = [], deque(roots)
    while todo:
        node = todo.popleft()
        if node not in order and node not in done:
            order.append(node)
            todo.extend(node.inputs)
    return order[::-1]


@mutant("ir.graph.topological_order")
def lists_shared_nodes_twice(roots, done=frozenset()):
    order, stack = [], [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node not in done:
            stack.append((node, True))
            stack.extend((i, False) for i in node.inputs)
    return order


@mutant("ir.graph.topological_order")
def forgets_done(roots, done=frozenset()):
    return kahn(roots)


@mutant("ir.graph.topological_order")
def forgets_what_only_done_needs(roots, done=frozenset()):
    return [node for node in kahn(roots) if node not in done]


@mutant("ir.graph.topological_order")
def the_first_root(roots, done=frozenset()):
    return kahn(list(roots)[:1], done)


@mutant("ir.graph.topological_order")
def changes_done(roots, done=frozenset()):
    order = kahn(roots, done)
    done.update(order)
    return order


@mutant("ir.graph.topological_order")
def adds_to_done(roots, done=frozenset()):
    """Takes `done |= ...` for a new set. It is one only if `done` is a frozenset."""
    order, stack = [], [(root, False) for root in roots]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            order.append(node)
            done |= {node}
        else:
            stack.append((node, True))
            stack.extend((i, False) for i in node.inputs)
    return order


@mutant("ir.graph.topological_order")
def seen_when_it_is_met(roots, done=frozenset()):
    """Marks a node when somebody reads it, not when it is placed: too early for a + relu(a)."""
    order, met, stack = [], set(done), []
    for root in roots:
        if root not in met:
            met.add(root)
            stack.append((root, False))
        while stack:
            node, ready = stack.pop()
            if ready:
                order.append(node)
                continue
            stack.append((node, True))
            for operand in node.inputs:
                if operand not in met:
                    met.add(operand)
                    stack.append((operand, False))
    return order


@mutant("ir.graph.topological_order")
def by_name(roots, done=frozenset()):
    """Two nodes may share a name; one of them is lost."""
    first = {}
    for node in kahn(roots, done):
        first.setdefault(node.name or node, node)
    return list(first.values())


@alternative("ir.graph.topological_order")
def by_graphlib(roots, done=frozenset()):
    needed, todo = {}, list(roots)
    while todo:
        node = todo.pop()
        if node not in needed and node not in done:
            needed[node] = [i for i in node.inputs if i not in done]
            todo.extend(needed[node])
    return list(TopologicalSorter(needed).static_order())


@alternative("ir.graph.topological_order")
def kahn(roots, done=frozenset()):
    """Forwards: a node is listed as soon as the last of its operands is."""
    needed, todo = set(), [r for r in roots if r not in done]
    while todo:
        node = todo.pop()
        if node not in needed:
            needed.add(node)
            todo.extend(i for i in node.inputs if i not in done)
    users = {node: [] for node in needed}
    waits = {}
    for node in needed:
        operands = {i for i in node.inputs if i in needed}
        waits[node] = len(operands)
        for operand in operands:
            users[operand].append(node)
    order = [node for node in needed if not waits[node]]
    for node in order:
        for user in users[node]:
            waits[user] -= 1
            if not waits[user]:
                order.append(user)
    return order


@alternative("ir.graph.topological_order")
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


@mutant("ir.graph.topological_order")
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


equivalent("ir.graph.topological_order", "for root in roots:", "in reversed(list(roots)):",
           because="any order is right")  # fmt: skip
equivalent("ir.graph.topological_order", "in reversed(node.inputs)", "in node.inputs",
           because="any order is right")  # fmt: skip
equivalent(
    "ir.graph.topological_order",
    "continue",
    "pass",
    because="the node is placed by then, so all that is pushed again is passed over",
)
equivalent(
    "ir.graph.topological_order",
    "order[node] = None",
    "order.setdefault(node, None)",
    because="a node that is there already is passed over above",
)
