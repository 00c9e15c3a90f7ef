"""Mutants and alternatives of unit 3: fusing, what pays, and siblings."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.node import apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.fusion.groups import MOVES, as_kernels, finishes_contraction, fits, per_row
from course_lib.passes.fusion.horizontal import branches, slice_after_reshape
from course_lib.passes.fusion.should_fuse import should_fuse
from course_lib.passes.infra.rewrite import rewrite

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
def rows_and_equals(producer, consumer):
    a, b = producer.type.shape, consumer.type.shape
    if a == b or consumer.op.startswith("reduce") or producer.op in MOVES:
        return np.bool_(True)
    return len(a) == len(b) and a[-1] == 1 and a[:-1] == b[:-1]


# ── passes.horizontal ──


def _key(branch):
    return branch.matmul.inputs[0], branch.bias is None


def _horizontal(graph, *, key=_key, most=None, widths=True, origin=origins, turn=1,
                fresh=True, least=2):  # fmt: skip
    families = {}
    for branch in branches(graph):
        families.setdefault(key(branch), []).append(branch)
    merging = [f[:most][::turn] for f in families.values() if len(f) >= least]
    family_of = {b.end: f for f in merging for b in f}
    operand, merged = {}, {}

    def visit(node, inputs):
        if node.op == "matmul":
            operand[node] = inputs[0]
        family = family_of.get(node)
        if family is None:
            return node.with_inputs(inputs)
        first = family[0]
        if first.end not in merged:
            come = origin(*(n for b in family for n in (b.matmul, b.end)))
            weights = np.concatenate([b.matmul.inputs[1].value for b in family], axis=1)
            x = next(operand[b.matmul] for b in family if b.matmul in operand)
            x = x if fresh else first.matmul.inputs[0]
            y = apply("matmul", x, const(weights), origin=come)
            if any(b.bias for b in family):
                parts = [b.bias.value.ravel() if b.bias else np.zeros(b.width, "f") for b in family]
                y = apply("add", y, const(np.concatenate(parts)), origin=come)
            merged[first.end] = y
        y, index = merged[first.end], [b.end for b in family].index(node)
        widths_before = [b.width if widths else family[0].width for b in family[:index]]
        start, rank = sum(widths_before), node.type.rank
        starts, stops = (
            (0,) * (rank - 1) + (start,),
            (*node.type.dims[:-1], start + node.type.dims[-1]),
        )
        return apply("slice", y, starts=starts, stops=stops, origin=node.origin)

    return graph.rebuild(visit)


@mutant("passes.horizontal")
def all_equally_wide(graph):
    return _horizontal(graph, widths=False)


@mutant("passes.horizontal")
def zeros_for_a_bias(graph):
    return _horizontal(graph, key=lambda b: b.matmul.inputs[0])


@mutant("passes.horizontal")
def whatever_they_read(graph):
    return _horizontal(graph, key=lambda b: (b.matmul.type.rank, b.bias is None))


@mutant("passes.horizontal")
def only_pairs(graph):
    return _horizontal(graph, most=2)


@mutant("passes.horizontal")
def forgets_where_it_came_from(graph):
    return _horizontal(graph, origin=lambda *nodes: ())


@mutant("passes.horizontal")
def reads_the_old_operand(graph):
    return rewrite(_horizontal(graph, fresh=False), [slice_after_reshape])


@mutant("passes.horizontal")
def families_of_one(graph):
    return rewrite(_horizontal(graph, least=1), [slice_after_reshape])


@mutant("passes.horizontal")
def merges_nothing(graph):
    return graph


@mutant("passes.horizontal")
def without_moving_the_slices(graph):
    return _horizontal(graph)


@alternative("passes.horizontal")
def last_branch_first(graph):
    """Another order of the columns."""
    mirrored = _horizontal(graph, turn=-1)
    return rewrite(mirrored, [slice_after_reshape])
