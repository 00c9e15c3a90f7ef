"""Mutants and alternatives of unit 3: fusing, and what pays."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.groups import (
    MOVES,
    as_kernels,
    finishes_contraction,
    fits,
    kind_of,
    per_row,
)
from course_lib.passes.fusion.should_fuse import should_fuse

# ── passes.fuse ──


def _fuse(graph, *, all_users=True, single=False, outputs=True, asks=True, holds=fits):
    users, returned = graph.users(), set(graph.outputs)
    group_of = {}
    for node in graph.nodes[::-1]:
        readers = users[node]
        group = group_of[readers[0]] if readers else []
        joins = bool(readers) and holds(node, group)
        if all_users:
            joins = joins and all(group_of[r] is group for r in readers)
        if single:
            joins = joins and len(readers) == 1
        if outputs:
            joins = joins and node not in returned
        if asks:
            joins = joins and all(should_fuse(node, r) for r in readers)
        group_of[node] = group if joins else []
        group_of[node].append(node)
    return as_kernels(graph, group_of)


@mutant("passes.fuse")
def a_single_user(graph):
    return _fuse(graph, single=True)


@mutant("passes.fuse")
def the_first_user(graph):
    return _fuse(graph, all_users=False)


@mutant("passes.fuse")
def forgets_outputs(graph):
    return _fuse(graph, outputs=False)


@mutant("passes.fuse")
def never_asks(graph):
    return _fuse(graph, asks=False)


@mutant("passes.fuse")
def whatever_fits(graph):
    return _fuse(graph, holds=lambda node, group: True)


@mutant("passes.fuse")
def pairs_only(graph):
    return _fuse(graph, holds=lambda node, group: len(group) < 2 and fits(node, group))


@mutant("passes.fuse")
def at_most_two_users(graph):
    few = {node for node, users in graph.users().items() if len(users) < 3}
    return _fuse(graph, holds=lambda node, group: node in few and fits(node, group))


@mutant("passes.fuse")
def nothing(graph):
    return graph


@alternative("passes.fuse")
def by_numbers(graph):
    """Numbers for groups instead of lists; any order in which users come first."""
    users, number, members = graph.users(), {}, {}
    for node in reversed(graph.nodes):
        of_users = {number[user] for user in users[node]}
        group = of_users.pop() if len(of_users) == 1 else None
        joins = group is not None and node not in graph.outputs and fits(node, members[group])
        if not joins or not all(should_fuse(node, user) for user in users[node]):
            group = None
        number[node] = len(members) if group is None else group
        members.setdefault(number[node], []).append(node)
    return as_kernels(graph, {node: members[k] for node, k in number.items()})


@alternative("passes.fuse")
def with_sets_of_ids(graph):
    """Groups have numbers, users are a set, the heuristic is asked first."""
    users, number, members = graph.users(), {}, {}
    for node in graph.ops[::-1]:
        pays = bool(users[node]) and min(bool(should_fuse(node, user)) for user in users[node])
        known = {number[user] for user in users[node]}
        (joined,) = known if len(known) == 1 else (None,)
        returned = any(node is output for output in graph.outputs)
        if not pays or joined is None or returned or not fits(node, tuple(members[joined])):
            joined = len(members)
            members[joined] = []
        number[node] = joined
        members[joined].append(node)
    return as_kernels(graph, {node: members[k] for node, k in number.items()})


@alternative("passes.fuse")
def with_early_ends(graph):
    """One condition after the other, in a while loop."""
    users, group_of, left = graph.users(), {}, list(graph.nodes)
    while left:
        node = left.pop()
        group_of[node] = [node]
        if not users[node] or node in graph.outputs:
            continue
        first, *rest = users[node]
        group = group_of[first]
        if any(group_of[user] is not group for user in rest):
            continue
        if not fits(node, group) or not all(map(lambda user: should_fuse(node, user), users[node])):
            continue
        group.append(node)
        group_of[node] = group
    return as_kernels(graph, group_of)


@mutant("passes.fuse")
def asks_about_the_first_user(graph):
    """One user for all: it pays inside one of them."""
    return _fuse(graph, asks=False, holds=lambda node, group: fits(node, group) and should_fuse(
        node, next(m for m in reversed(group) if node in m.inputs)))  # fmt: skip


@mutant("passes.fuse")
def asks_about_the_last_of_the_group(graph):
    """The kernel is named after what it writes, so that is the consumer."""

    def holds(node, group):
        return fits(node, group) and should_fuse(node, group[0])

    return _fuse(graph, asks=False, holds=holds)


@mutant("passes.fuse")
def without_dead_code(graph):
    """Nobody needs it, so nobody has to compute it."""
    return _fuse(dce(graph))


@mutant("passes.fuse")
def any_size(graph):
    """kind_of says what a kernel can hold."""
    return _fuse(graph, holds=lambda node, group: kind_of([*group, node]) is not None)


# ── passes.should_fuse ──


def _elements(node):
    return node.type.numel


@mutant("passes.should_fuse")
def always(producer, consumer):
    return True


@mutant("passes.should_fuse")
def never(producer, consumer):
    return False


@mutant("passes.should_fuse")
def only_the_same_shape(producer, consumer):
    """The stand-in: right, for three tenths of the points."""
    return producer.type.shape == consumer.type.shape


@mutant("passes.should_fuse")
def whatever_is_smaller(producer, consumer):
    return _elements(producer) <= _elements(consumer)


@mutant("passes.should_fuse")
def never_movement(producer, consumer):
    """Rows, reductions and equals; slices are copied."""
    a, b = producer.type.shape, consumer.type.shape
    return a == b or consumer.op.startswith("reduce") or per_row(a, b)


@mutant("passes.should_fuse")
def only_reductions(producer, consumer):
    return consumer.op.startswith("reduce")


@mutant("passes.should_fuse")
def a_number(producer, consumer):
    return _elements(consumer) / _elements(producer)


@mutant("passes.should_fuse")
def never_the_same_shape(producer, consumer):
    return producer.type.shape != consumer.type.shape


@alternative("passes.should_fuse")
def by_weighing(producer, consumer):
    """Recomputes what is read at most four times."""
    if producer.op in MOVES or per_row(producer.type.shape, consumer.type.shape):
        return True
    if consumer.op.startswith("reduce"):
        return not finishes_contraction(producer)
    return _elements(consumer) <= 4 * _elements(producer)


@alternative("passes.should_fuse")
def nothing_larger(producer, consumer):
    """Whatever the consumer reads at most once, and what is recomputed for nothing."""
    smaller = _elements(producer) >= _elements(consumer)
    return producer.op in MOVES or smaller or per_row(producer.type.shape, consumer.type.shape)


@mutant("passes.should_fuse")
def no_reductions(producer, consumer):
    """Equals, movement and rows: right, for half of the points."""
    a, b = producer.type.shape, consumer.type.shape
    return a == b or producer.op in MOVES or per_row(a, b)


@alternative("passes.should_fuse")
def rows_and_equals(producer, consumer):
    a, b = producer.type.shape, consumer.type.shape
    if a == b or consumer.op.startswith("reduce") or producer.op in MOVES:
        return np.bool_(True)
    return len(a) == len(b) and a[-1] == 1 and a[:-1] == b[:-1]


@alternative("passes.should_fuse")
def by_counting_uses(producer, consumer):
    """How often is an element of the producer computed, if the consumer computes what it reads?"""
    match consumer.op:
        case "expand":
            return producer.op in MOVES
        case "reduce_sum" | "reduce_max" | "reduce_min" | "reduce_prod":
            return producer.op in MOVES or not finishes_contraction(producer)
    times = consumer.type.numel / max(1, producer.type.numel)
    free = producer.op in MOVES or per_row(producer.type.shape, consumer.type.shape)
    return np.any([times <= 1, free])
