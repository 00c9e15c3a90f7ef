"""Mutants and alternatives of unit 4 for layouts: sink_relayouts."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.build import relayout, reshape
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply
from course_lib.ir.registry import op as op_row
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.layout.sink_relayouts import (
    in_layout,
    is_relayout_to_nchw,
    joined,
    operand_in,
    past_other,
)

KEPT = ("name", "origin")


def _elementwise(node, src, operand=operand_in):
    if op_row(node.op).kind != "elementwise":
        return None
    operands = [operand(i, src, node) for i in node.inputs]
    if any(i is None for i in operands):
        return None
    return apply(node.op, *operands, **node.attrs)


def _sink(
    graph,
    *,
    join=joined,
    moved=_elementwise,
    other=in_layout,
    one_pixel=lambda x, shape: shape[2:] == (1, 1),
    which=lambda layouts: layouts[0],
    dropped=True,
    kept=KEPT,
):
    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "relayout":
            return join(made)
        above = [i.attrs["src"] for i in inputs if is_relayout_to_nchw(i)]
        src = which(above) if above else None
        if src is None:
            return made
        own = {key: getattr(node, key) for key in kept}
        if node.op == "reshape":
            x = inputs[0].inputs[0]
            flat = one_pixel(x, node.inputs[0].type.shape)
            return replace(reshape(x, node.type.shape), **own) if flat else made
        below = moved(made, src) or other(made, src)
        if below is None:
            return made
        if node.type.rank != 4 and dropped:  # a reduction that drops h and w
            return replace(reshape(below, node.type.shape), **own)
        return replace(relayout(replace(below, **own), src, "nchw"), **own)

    return graph.rebuild(visit)


@mutant("passes.sink_relayouts")
def only_neighbours(graph):
    """Joins what already meets, and moves nothing."""
    return _sink(graph, moved=lambda node, src: None, other=lambda node, src: None)


@mutant("passes.sink_relayouts")
def only_one_operand(graph):
    """Unary operations only: a residual connection stops everything."""

    def unary(node, src):
        return _elementwise(node, src) if len(node.inputs) == 1 else None

    return _sink(graph, moved=unary)


@mutant("passes.sink_relayouts")
def never_joins(graph):
    return _sink(graph, join=lambda node: node)


@mutant("passes.sink_relayouts")
def joins_only_what_cancels(graph):
    def join(node):
        (x,) = node.inputs
        back = x.op == "relayout" and x.attrs["src"] == node.attrs["dst"]
        return x.inputs[0] if back else node

    return _sink(graph, join=join)


@mutant("passes.sink_relayouts")
def relays_every_operand(graph):
    """Also a whole image: one relayout goes down, another one comes in."""

    def operand(i, src, result):
        found = operand_in(i, src, result)
        return relayout(i, "nchw", src) if found is None else found

    return _sink(graph, moved=lambda node, src: _elementwise(node, src, operand))


@mutant("passes.sink_relayouts")
def forgets_where_layers_came_from(graph):
    return _sink(graph, kept=())


@mutant("passes.sink_relayouts")
def nothing_but_elementwise(graph):
    return _sink(graph, other=lambda node, src: None)


@mutant("passes.sink_relayouts")
def past_every_reshape(graph):
    return _sink(graph, one_pixel=lambda x, shape: True)


@mutant("passes.sink_relayouts")
def past_a_reshape_of_one_row(graph):
    return _sink(graph, one_pixel=lambda x, shape: shape[2] == 1)


@mutant("passes.sink_relayouts")
def past_a_reshape_of_one_column(graph):
    return _sink(graph, one_pixel=lambda x, shape: shape[3] == 1)


@mutant("passes.sink_relayouts")
def a_relayout_behind_what_has_no_pixels(graph):
    return _sink(graph, dropped=False)


@mutant("passes.sink_relayouts")
def constants_stay_as_they_are(graph):
    """The bias is added along the wrong axis, or does not fit."""

    def operand(i, src, result):
        return i if i.op == "constant" else operand_in(i, src, result)

    return _sink(graph, moved=lambda node, src: _elementwise(node, src, operand))


@alternative("passes.sink_relayouts")
def one_relayout_at_a_time(graph):
    """Sink past one operation, start again, until nothing changes."""
    for _ in range(50):
        before, graph = graph, _sink(graph)
        if same_program(before, graph):
            break
    return graph


@alternative("passes.sink_relayouts")
def swept_clean(graph):
    """With what nobody uses any more taken out."""
    after = _sink(graph)
    return Graph.of(after.inputs, after.outputs, after.name)


@alternative("passes.sink_relayouts")
def into_the_layout_of_most_operands(graph):
    """Where operands come from two layouts, the text leaves open which of them it is."""
    return _sink(graph, which=lambda layouts: max(sorted(set(layouts)), key=layouts.count))


@alternative("passes.sink_relayouts")
def named_where_it_is_mine(graph):
    """What `past_other` makes is taken as it is; of the rest, only the operation gets its name."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "relayout":
            return joined(made)
        above = [i.attrs["src"] for i in inputs if is_relayout_to_nchw(i)]
        if not above:
            return made
        if op_row(node.op).kind != "elementwise":
            moved = past_other(made, above[0])
            return made if moved is None else moved
        moved = _elementwise(made, above[0])
        if moved is None:
            return made
        return relayout(replace(moved, name=node.name, origin=node.origin), above[0], "nchw")

    return graph.rebuild(visit)


@mutant("passes.sink_relayouts")
def only_where_all_come_from_one_layout(graph):
    return _sink(graph, which=lambda layouts: layouts[0] if len(set(layouts)) == 1 else None)


@mutant("passes.sink_relayouts")
def only_constants_are_rearranged(graph):
    """A bias that is an input stops everything."""

    def operand(i, src, result):
        known = i.op == "constant" or is_relayout_to_nchw(i)
        return operand_in(i, src, result) if known else None

    return _sink(graph, moved=lambda node, src: _elementwise(node, src, operand))


@mutant("passes.sink_relayouts")
def one_pixel_of_one_image(graph):
    return _sink(graph, one_pixel=lambda x, shape: x.type.numel == max(x.type.dims))


@mutant("passes.sink_relayouts")
def joins_whatever_follows(graph):
    """Does not look whether what one of them writes is what the other one reads."""

    def join(node):
        (x,) = node.inputs
        return (
            relayout(x.inputs[0], x.attrs["src"], node.attrs["dst"]) if x.op == "relayout" else node
        )

    return _sink(graph, join=join)


@mutant("passes.sink_relayouts")
def past_a_softmax_too(graph):
    """The channels are the last axis of nhwc: the numbers are right, and the text says no."""

    def other(node, src):
        if node.op == "softmax" and node.attrs["axis"] == 1 and src == "nhwc":
            return apply("softmax", node.inputs[0].inputs[0], axis=3)
        return in_layout(node, src)

    return _sink(graph, other=other)


for _old, _new, _why in [
    ("return None", "return node", "the node itself, with its own name, is what stays"),
    ("for i in inputs if", "reversed(list(inputs))", "which of two layouts it is, is left open"),
    ("past_other)(made, above[0])", "above[-1]", "which of two layouts it is, is left open"),
]:
    equivalent("passes.sink_relayouts", _old, _new, because=_why)
