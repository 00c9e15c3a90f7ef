"""Mutants and alternatives of unit 3: siblings that become one product."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.node import apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.horizontal import Branch, branches, slice_after_reshape
from course_lib.passes.infra.rewrite import rewrite


def _key(branch):
    return branch.matmul.inputs[0], branch.bias is None


def _horizontal(graph, *, candidates=branches, key=_key, most=None, widths=True, origin=origins,
                turn=1, fresh=True, least=2):  # fmt: skip
    families = {}
    for branch in candidates(graph):
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
            if any(b.bias is not None for b in family):
                parts = [
                    np.zeros(b.width, "f") if b.bias is None else b.bias.value.ravel()
                    for b in family
                ]
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


@alternative("passes.horizontal")
def narrow_ones_first(graph):
    """The columns in the order of their number; dead nodes go at once."""
    families = {}
    for branch in branches(graph):
        family = (id(branch.matmul.inputs[0]), branch.bias is None)
        families.setdefault(family, []).append(branch)
    place = {}
    for family in families.values():
        family.sort(key=lambda branch: branch.width)
        ends = np.cumsum([branch.width for branch in family])
        for branch, end in zip(family, ends, strict=True):
            place[branch.end] = family, int(end) - branch.width, int(end)
    operand, made = {}, {}

    def visit(node, inputs):
        operand[node] = inputs[0] if inputs else None
        family, start, stop = place.get(node, ((), 0, 0))
        if len(family) < 2:
            return node.with_inputs(inputs)
        key = family[0].end
        if key not in made:
            made[key] = _product_of(family, next(x for x in map(operand.get, [
                branch.matmul for branch in family]) if x is not None))  # fmt: skip
        axes = node.type.rank - 1
        starts, stops = (*[0] * axes, start), (*node.type.dims[:-1], stop)
        return apply("slice", made[key], starts=starts, stops=stops, origin=node.origin)

    return dce(rewrite(graph.rebuild(visit), [slice_after_reshape]))


def _product_of(family, x):
    parts = [node for branch in family for node in (branch.end, branch.matmul)]
    weights = np.hstack([branch.matmul.inputs[1].value for branch in family])
    y = apply("matmul", x, const(weights), origin=origins(*parts))
    if family[0].bias is None:
        return y
    bias = np.concatenate([branch.bias.value.ravel() for branch in family])
    return apply("add", const(bias[None]), y, origin=origins(*parts))


@alternative("passes.horizontal")
def the_largest_family_first(graph):
    """One family at a time, until there is none."""
    while True:
        families = {}
        for branch in branches(graph):
            families.setdefault(_key(branch), []).append(branch)
        family = max(families.values(), key=len, default=[])
        if len(family) < 2:
            return rewrite(graph, [slice_after_reshape])
        chosen = _key(family[0])
        graph = dce(_horizontal(graph, key=lambda b, k=chosen: _key(b) if _key(b) == k else b.end))


def _moved_somewhere(graph):
    """Products one of whose readers moves them."""
    users, moves = graph.users(), ("reshape", "transpose", "slice")
    found = []
    for node in graph.nodes:
        weight = node.inputs[1] if node.op == "matmul" else None
        known = weight is not None and weight.op == "constant" and weight.type.rank == 2
        if known and any(user.op in moves for user in users[node]):
            found.append(Branch(node, None, node))
    return [b for b in found if b.end not in {c.end for c in branches(graph)}] + branches(graph)


@mutant("passes.horizontal")
def one_reader_that_moves_is_enough(graph):
    return rewrite(_horizontal(graph, candidates=_moved_somewhere), [slice_after_reshape])


@mutant("passes.horizontal")
def equal_operands_are_one(graph):
    """Two operands that compute the same are the same operand."""
    return rewrite(_horizontal(cse(graph)), [slice_after_reshape])


@mutant("passes.horizontal")
def only_the_first_product_is_remembered(graph):
    def first(*nodes):
        return origins(*nodes[:2])

    return rewrite(_horizontal(graph, origin=first), [slice_after_reshape])


@mutant("passes.horizontal")
def a_bias_of_each(graph):
    """Merges the products, and adds each bias behind its slice."""
    bare = [Branch(b.matmul, None, b.matmul) for b in branches(graph)]
    merged = _horizontal(graph, candidates=lambda graph: bare)
    return rewrite(merged, [slice_after_reshape])
