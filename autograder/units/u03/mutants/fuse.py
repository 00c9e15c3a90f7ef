"""Mutants and alternatives of unit 3: fusing, and what pays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, mutants
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion import groups
from course_lib.passes.fusion.should_fuse import should_fuse

# ── passes.fuse ──

fuse = slot("passes.fuse").reference
FITS = "fits(node, group)"
KERNELS = "return as_kernels(graph, group_of)"
OR_NOTHING = f"try:\n        {KERNELS}\n    except ValueError:\n        return graph"
PAYS = "heuristic.should_fuse(node, reader) for reader in readers"
if_it_holds = edited(fuse, "fuse(graph", "fuse(fits, graph")


def _computed_again(graph, of_users):
    """The graph in which what a group cannot give to others is computed once more for them: for
    what is returned, or for each of its users."""

    def copied(node):
        return node if node.op in ("input", "constant") else replace(node)

    if of_users:
        return graph.rebuild(lambda node, inputs: node.with_inputs(list(map(copied, inputs))))
    twins = {o: copied(o) for o in graph.outputs if graph.users()[o]}
    nodes = dict.fromkeys((*graph.nodes, *twins.values()))
    outputs = tuple(twins.get(o, o) for o in graph.outputs)
    return Graph(graph.name, graph.inputs, tuple(nodes), outputs)


mutants(
    "passes.fuse",
    a_single_user=("bool(readers)", "len(readers) == 1"),
    # Each user computes it by itself, in whatever group.
    the_first_user=lambda graph: fuse(_computed_again(graph, of_users=True)),
    # And what is returned, too.
    forgets_outputs=lambda graph: fuse(_computed_again(graph, of_users=False)),
    never_asks=(f" and all(({PAYS}))", ""),
    # Where no kernel can hold it, nothing is fused.
    whatever_fits=(f"{FITS} and ", "", KERNELS, OR_NOTHING),
    pairs_only=(FITS, f"len(group) < 2 and {FITS}"),
    at_most_two_users=("bool(readers)", "0 < len(readers) < 3"),
    at_most_four_users=("bool(readers)", "0 < len(readers) < 5"),
    # And where somebody in between is in another group, nothing is fused.
    the_first_and_the_last_user=(
        *("group for reader in readers", "group for reader in readers[::len(readers) - 1 or 1]"),
        *(KERNELS, OR_NOTHING),
    ),
    nothing=lambda graph: graph,
    # One user for all: it pays inside one of them.
    asks_about_the_first_user=(PAYS, f"{PAYS}[:1]"),
    # The kernel is named after what it writes, so that is the consumer.
    asks_about_the_last_of_the_group=(PAYS, "heuristic.should_fuse(node, m) for m in group[:1]"),
    # Nobody needs it, so nobody has to compute it.
    without_dead_code=lambda graph: fuse(dce(graph)),
    # kind_of says what a kernel can hold.
    any_size=partial(if_it_holds, lambda node, group: groups.kind_of([*group, node]) is not None),
)


# Numbers for groups instead of lists; any order in which users come first.
alternatives("passes.fuse", by_numbers=(
    "group_of[reader] is group", "id(group_of[reader]) == id(group)",
    "readers = users[node]", "readers = users[node][::-1]"))  # fmt: skip


@alternative("passes.fuse")
def with_sets_of_ids(graph):
    """Groups have numbers, users are a set, the heuristic is asked first."""
    users, number, members = graph.users(), {}, {}
    for node in graph.ops[::-1]:
        pays = bool(users[node]) and min(bool(should_fuse(node, user)) for user in users[node])
        known = {number[user] for user in users[node]}
        (joined,) = known if len(known) == 1 else (None,)
        returned = any(node is output for output in graph.outputs)
        if not pays or joined is None or returned or not groups.fits(node, tuple(members[joined])):
            joined = len(members)
            members[joined] = []
        number[node] = joined
        members[joined].append(node)
    return groups.as_kernels(graph, {node: members[k] for node, k in number.items()})


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
        if not groups.fits(node, group):
            continue
        if not all(map(lambda user: should_fuse(node, user), users[node])):
            continue
        group.append(node)
        group_of[node] = group
    return groups.as_kernels(graph, group_of)


# ── passes.should_fuse ──


def _same(producer, consumer):
    return producer.type.shape == consumer.type.shape


def _a_row(producer, consumer):
    return groups.per_row(producer.type.shape, consumer.type.shape)


def _reduces(consumer):
    return consumer.op.startswith("reduce")


def _moves(producer):
    return producer.op in groups.MOVES


def _times(producer, consumer):
    """Elements of the consumer for each of the producer's."""
    return consumer.type.numel / max(1, producer.type.numel)


mutants(
    "passes.should_fuse",
    always=lambda p, c: True,
    never=lambda p, c: False,
    # The stand-in: right, for three tenths of the points.
    only_the_same_shape=_same,
    whatever_is_smaller=lambda p, c: _times(p, c) >= 1,
    # Rows, reductions and equals; slices are copied.
    never_movement=lambda p, c: _same(p, c) or _reduces(c) or _a_row(p, c),
    only_reductions=lambda p, c: _reduces(c),
    a_number=_times,
    never_the_same_shape=lambda p, c: not _same(p, c),
    # Equals, movement and rows: right, for half of the points.
    no_reductions=lambda p, c: _same(p, c) or _moves(p) or _a_row(p, c),
)
alternatives(
    "passes.should_fuse",
    # Whatever the consumer reads at most once, and what is recomputed for nothing.
    nothing_larger=lambda p, c: _moves(p) or _times(p, c) <= 1 or _a_row(p, c),
    rows_and_equals=lambda p, c: np.any([_same(p, c), _reduces(c), _moves(p), _a_row(p, c)]),
)


@alternative("passes.should_fuse")
def by_weighing(producer, consumer):
    """Recomputes what is read at most four times."""
    if _moves(producer) or _a_row(producer, consumer):
        return True
    if _reduces(consumer):
        return not groups.finishes_contraction(producer)
    return _times(producer, consumer) <= 4


@alternative("passes.should_fuse")
def by_counting_uses(producer, consumer):
    """How often is an element of the producer computed, if the consumer computes what it reads?"""
    match consumer.op:
        case "expand":
            return _moves(producer)
        case "reduce_sum" | "reduce_max" | "reduce_min" | "reduce_prod":
            return _moves(producer) or not groups.finishes_contraction(producer)
    free = _moves(producer) or _a_row(producer, consumer)
    return np.any([_times(producer, consumer) <= 1, free])
