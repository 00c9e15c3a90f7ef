"""Answers to unit 1 about the order of a program and the definitions in it."""

from __future__ import annotations

from collections import deque
from graphlib import TopologicalSorter

from autograder.check.framework import alternative, mutant

# ── ir.graph.topological_order ──


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


# ── ir.verify.misplaced ──


@mutant("ir.verify.misplaced")
def undefined_only(nodes):
    return next((k for k, n in enumerate(nodes) if any(i not in nodes for i in n.inputs)), None)


@mutant("ir.verify.misplaced")
def forgets_twice(nodes):
    seen = set()
    for place, node in enumerate(nodes):
        if not seen.issuperset(node.inputs):
            return place
        seen.add(node)
    return None


@mutant("ir.verify.misplaced")
def first_of_the_two(nodes):
    for place, node in enumerate(nodes):
        above = nodes[:place]
        if any(i not in above for i in node.inputs) or nodes.count(node) > 1:
            return place
    return None


@mutant("ir.verify.misplaced")
def by_what_they_compute(nodes):
    """Two nodes with one operation and the same operands are called one."""
    seen, keys = set(), set()
    for place, node in enumerate(nodes):
        key = (node.op, node.inputs, node.name)
        if not seen.issuperset(node.inputs) or key in keys:
            return place
        seen.add(node)
        keys.add(key)
    return None


@mutant("ir.verify.misplaced")
def the_operand(nodes):
    """Where the operand stands, not who reads it too early."""
    for place, node in enumerate(nodes):
        late = [i for i in node.inputs if i not in nodes[:place]]
        if late:
            return nodes.index(late[0]) if late[0] in nodes else place
        if node in nodes[:place]:
            return place
    return None


@mutant("ir.verify.misplaced")
def counts_from_one(nodes):
    place = by_slices(nodes)
    return None if place is None else place + 1


@alternative("ir.verify.misplaced")
def by_slices(nodes):
    position = {}
    for place, node in enumerate(nodes):
        if node in position or any(i not in position for i in node.inputs):
            return place
        position[node] = place
    return None
