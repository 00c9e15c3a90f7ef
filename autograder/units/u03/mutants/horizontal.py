"""Mutants and alternatives of unit 3: siblings that become one product."""

from __future__ import annotations

from functools import partial

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, mutants
from course_lib.exercises import slot
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.horizontal import Branch, branches

horizontal = slot("passes.horizontal").reference
FAMILIES = "f for f in families.values()"
ORIGIN = "origins(*(n for b in family for n in (b.matmul, b.end)))"
# Its operand, whichever of the family is met first, and in whatever order the family is.
MET = ("operand[first.matmul]", "next((operand[b.matmul] for b in family if b.matmul in operand))")
of_candidates = edited(horizontal, "horizontal(graph", "horizontal(branches, graph", *MET)


def _moved_somewhere(graph):
    """Products one of whose readers moves them."""
    users, moves = graph.users(), ("reshape", "transpose", "slice")
    known = {branch.end for branch in branches(graph)}
    some = []
    for node in graph.nodes:
        weight = node.inputs[1] if node.op == "matmul" and node not in known else None
        if weight is not None and weight.op == "constant" and weight.type.rank == 2:
            some += [Branch(node, None, node)] * any(user.op in moves for user in users[node])
    return some + branches(graph)


mutants(
    "passes.horizontal",
    # Or narrower: then its columns are those of another one.
    all_equally_wide=("(b.width for", "(min(b.width, family[0].width) for"),
    zeros_for_a_bias=(
        *("(branch.matmul.inputs[0], branch.bias is not None)", "branch.matmul.inputs[0]"),
        *("if family[0].bias is None", "if all((b.bias is None for b in family))"),
        "[b.bias.value.reshape(-1) for b in family if b.bias is not None]",
        "[np.zeros(b.width, 'f') if b.bias is None else b.bias.value.ravel() for b in family]",
    ),
    whatever_they_read=("(branch.matmul.inputs[0], ", "(branch.matmul.type.rank, ", *MET),
    only_pairs=(FAMILIES, "f for f in [f[:2] for f in families.values()]"),
    forgets_where_it_came_from=(ORIGIN, "()"),
    reads_the_old_operand=("operand[first.matmul]", "first.matmul.inputs[0]"),
    families_of_one=(" if len(f) > 1", ""),
    merges_nothing=lambda graph: graph,
    without_moving_the_slices=(
        "rewrite(graph.rebuild(visit), [slice_after_reshape])", "graph.rebuild(visit)"),
    one_reader_that_moves_is_enough=partial(of_candidates, _moved_somewhere),
    # Two operands that compute the same are the same operand.
    equal_operands_are_one=lambda graph: horizontal(cse(graph)),
    only_the_first_product_is_remembered=(ORIGIN, "origins(family[0].matmul, family[0].end)"),
    # Merges the products, and adds each bias behind its slice.
    a_bias_of_each=partial(
        of_candidates, lambda graph: [Branch(b.matmul, None, b.matmul) for b in branches(graph)]),
)  # fmt: skip

narrow = edited(
    *(horizontal, *MET),
    "apply('add', product, replace(const(bias), origin=origin), origin=origin)",
    "apply('add', const(bias[None]), product, origin=origin)",
    *(FAMILIES, "f for f in [sorted(f, key=lambda b: b.width) for f in families.values()]"),
)
largest = edited(horizontal, FAMILIES, "f for f in [max(families.values(), key=len, default=[])]")

alternatives(
    "passes.horizontal",
    # Another order of the columns.
    last_branch_first=(*MET, FAMILIES, "f for f in [f[::-1] for f in families.values()]"),
    # The columns in the order of their number; the bias on the left; dead nodes go at once.
    narrow_ones_first=lambda graph: dce(narrow(graph)),
)


@alternative("passes.horizontal")
def the_largest_family_first(graph):
    """One family at a time, until there is none."""
    after = dce(largest(graph))
    while len(branches(after)) < len(branches(graph)):
        graph, after = after, dce(largest(after))
    return after
