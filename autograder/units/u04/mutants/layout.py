"""Answers to unit 4 for layouts: sink_relayouts."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.exercises import slot
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program

SLOT = "passes.sink_relayouts"
_JOIN = "return joined(rebuilt)"
_MEETS = "inputs[0].op == 'relayout'"
_OPERAND = "operand_in(i, layout, node)"
_OTHER = "(_past_elementwise if elementwise else past_other)"
_EACH = "elementwise = "


def _first(condition, result):
    """An edit: below a relayout, what a node of this kind becomes."""
    return _EACH, f"if {condition}:\n            return {result}\n        {_EACH}"


def _past_a_reshape(condition):
    """An edit: a reshape takes the place of the relayout `r` under another condition."""
    flat = f"_called(reshape(r.inputs[0], node.type.shape), node) if {condition} else rebuilt"
    return _first("node.op == 'reshape'", f"next(({flat} for r in inputs))")


mutants(
    SLOT,
    # A list of operations instead of the kind that the table of operations knows.
    only_the_common_elementwise=(
        "if not above", "if not above or node.op in ('div', 'pow', 'sigmoid', 'erf', 'floor')"),
    not_every_reduction=("if not above", "if not above or node.op == 'reduce_min'"),
    only_two_are_concatenated=(
        "if not above", "if not above or (node.op == 'concat' and len(inputs) > 2)"),
    only_two_images=("if not above", "if not above or node.type.shape[0] > 2"),
    blocks_of_4_and_16=("if not above", "if not above or above[0] == 'nchw8c'"),
    # Joins what already meets, and moves nothing.
    only_neighbours=("if not above", "if True"),
    # Unary operations only: a residual connection stops everything.
    only_one_operand=("if len(known) < len(operands)", "if len(operands) > 1"),
    only_where_all_come_from_one_layout=("if not above", "if len(set(above)) != 1"),
    nothing_but_elementwise=(_OTHER, "(_past_elementwise if elementwise else lambda n, to: n)"),
    forgets_where_layers_came_from=("replace(value, name=node.name, origin=node.origin)", "value"),
    never_joins=(_JOIN, "return rebuilt"),
    joins_only_what_cancels=(
        _JOIN, f"back = {_MEETS} and inputs[0].attrs['src'] == node.attrs['dst']\n"
        "            return inputs[0].inputs[0] if back else rebuilt"),
    # Does not look whether what one of them writes is what the other one reads.
    joins_whatever_follows=(
        _JOIN, "src, dst = (inputs[0].attrs.get('src'), node.attrs['dst'])\n"
        f"            return relayout(inputs[0].inputs[0], src, dst) if {_MEETS} else rebuilt"),
    # Also a whole image: one relayout goes down, another one comes in.
    relays_every_operand=(_OPERAND, f"{_OPERAND} or relayout(i, IMAGE, layout)"),
    # The bias is added along the wrong axis, or does not fit.
    constants_stay_as_they_are=(_OPERAND, f"i if i.op == 'constant' else {_OPERAND}"),
    # A bias that is an input stops everything.
    only_constants_are_rearranged=(
        _OPERAND, f"{_OPERAND} if i.op == 'constant' or is_relayout_to_nchw(i) else None"),
    past_every_reshape=_past_a_reshape("True"),
    past_a_reshape_of_one_row=_past_a_reshape("r.type.shape[2] == 1"),
    past_a_reshape_of_one_column=_past_a_reshape("r.type.shape[3] == 1"),
    one_pixel_of_one_image=_past_a_reshape("r.type.numel == max(r.type.dims)"),
    # Where a reduction drops h and w.
    a_relayout_behind_what_has_no_pixels=_first(
        "node.type.rank == 2 and (below := in_layout(rebuilt, above[0]))",
        "relayout(below, above[0], IMAGE)"),
    # The channels are the last axis of nhwc: the numbers are right, and the text says no.
    past_a_softmax_too=_first(
        "node.op == 'softmax' and node.attrs['axis'] == 1 and above[0] == 'nhwc'",
        "relayout(_called(apply('softmax', inputs[0].inputs[0], axis=3), node), 'nhwc', IMAGE)"),
)  # fmt: skip


alternatives(
    SLOT,
    # With what nobody uses any more taken out.
    swept_clean=lambda graph: dce(slot(SLOT).reference(graph)),
    # Where operands come from two layouts, the text leaves open which of them it is.
    into_the_layout_of_most_operands=("above[0]", "max(sorted(set(above)), key=above.count)"),
    # Of what an elementwise operation becomes, only the operation itself gets the name.
    named_where_it_is_mine=("_called(relayout(moved, layout, IMAGE), node)",
                            "relayout(moved, layout, IMAGE)"),
)  # fmt: skip


@alternative(SLOT)
def one_relayout_at_a_time(graph):
    """Sink past one operation, start again, until nothing changes."""
    for _ in range(50):
        before, graph = graph, slot(SLOT).reference(graph)
        if same_program(before, graph):
            break
    return graph


equivalent(SLOT, "return None", "return node", because="the node itself, with its own name, stays")
equivalent(SLOT, "for i in inputs if", "reversed(list(inputs))", "past_other)(rebuilt, above[0])",
           "above[-1]", because="which of two layouts it is, is left open")  # fmt: skip
