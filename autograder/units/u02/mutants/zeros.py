"""Mutants and alternatives of unit 2: additions of zero. Next room: machinery.py."""

from __future__ import annotations

import numpy as np

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutants
from autograder.units.u02.exercises import PASSES_ON, drop_zeros

# ── u02.drop_zeros ──

_ADDS = "any((not _minus_zeros(c.value).any() for c in others))"
_IF_ADD = "if user.op == 'add' and"
_PASSES = "return user.op in PASSES_ON and user in hidden"

mutants(
    "u02.drop_zeros",
    # As onnxruntime does.
    drops_them_all=(" and node in hidden", ""),
    # As LLVM does, unless it knows where x comes from.
    leaves_them_all=lambda graph: graph,
    # Forgets that what is returned is seen.
    outputs_hide=("node not in outputs and ", ""),
    one_user_is_enough=("all((_hides", "any((_hides"),
    # A batch norm's factor stands between the addition and its shift.
    looks_at_users_alone=(_PASSES, "return False"),
    # Adding -0.0 hides nothing.
    any_constant_hides=(_ADDS, "others"),
    # Adding 0.0 hides as well as adding 1.0, and one 0.0 among the shifts does no harm.
    only_numbers_hide=(_ADDS, "any((c.value != 0).all() for c in others)"),
    # 1 / x shows the sign.
    every_operation_passes_on=("user.op in PASSES_ON and ", ""),
    # Forgets the ops that no small program has: an image's and a matrix's.
    small_programs_alone=("in PASSES_ON", "in PASSES_ON - {'conv', 'matmul', 'max_pool', 'mean',"
                          " 'pad', 'slice', 'expand'}"),
    # y - c as y + c: but y - 0.0 keeps the sign of y.
    differences_as_sums=(_IF_ADD, "if user.op in ('add', 'sub') and"),
    # y * 0.0 is 0.0, it thinks, for both zeros.
    products_as_sums=(_IF_ADD, "if user.op in ('add', 'mul') and"),
    # sqrt(-0.0) is -0.0.
    roots_hide=(_IF_ADD, f"if user.op in ('sqrt', 'exp'):\n        return True\n    {_IF_ADD}"),
    # x + 0.0 is never -0.0, so it hides the sign of what it is added to; until it goes itself.
    any_sum_is_no_minus_zero=(
        _PASSES, "sums = [i for i in user.inputs if i is not node and i.op == 'add']\n"
        "    if user.op == 'add' and any(_full_of_zeros(c) for i in sums for c in i.inputs):\n"
        f"        return True\n    {_PASSES}"),
    # A constant whose elements add up to 0 is not full of zeros.
    zero_in_sum=("return not node.value.any() and (not _minus_zeros(node.value).any())",
                 "return node.value.sum() == 0.0"),
    # A tensor full of zeros is a zero, too.
    numbers_alone=("return not node.value.any()",
                   "return node.value.size == 1 and not node.value.any()"),
    whatever_the_shape=("x.type == node.type and ", ""),
    zeros_on_the_right=("(inputs, inputs[::-1])", "(inputs,)"),
    # Asks each user anew for each path to it.
    down_every_path=(
        "_hides(user, node, hidden)", "_hides(user, node, (users, outputs))",
        "user in hidden", "user not in hidden[1]"
        " and all(_hides(u, user, hidden) for u in hidden[0][user])"),
)  # fmt: skip

alternatives(
    "u02.drop_zeros",
    # tanh, sqrt and sin keep the sign of a zero, and so pass it on.
    knows_that_a_tanh_passes_it_on=("in PASSES_ON", "in PASSES_ON | {'tanh', 'sqrt', 'sin'}"),
    # exp(0.0) is exp(-0.0), so exp hides a sign; and the rest is swept.
    knows_exp_as_well=(
        _IF_ADD, f"if user.op == 'exp':\n        return True\n    {_IF_ADD}",
        "graph.rebuild(visit)", "Graph.of(graph.inputs, graph.rebuild(visit).outputs, graph.name)"),
)  # fmt: skip


_without = edited(
    drop_zeros, "graph: Graph)", "graph, hidden)", "    hidden: set[Node] = set()\n", "",
    "node not in outputs and all((_hides(user, node, hidden) for user in users[node]))", "False",
)  # fmt: skip


def _no_minus_zero(node):
    return node.op == "constant" and not ((node.value == 0) & np.signbit(node.value)).any()


@alternative("u02.drop_zeros")
def with_a_dict_of_answers(graph):
    """Forwards in the list of users, by asking for each node once."""
    users, known = graph.users(), {}
    for node in graph.nodes[::-1]:
        shown = node in graph.outputs
        for user in users[node]:
            others = [i for i in user.inputs if i is not node]
            if user.op == "add" and any(map(_no_minus_zero, others)):
                continue
            shown = shown or user.op not in PASSES_ON or known[user]
        known[node] = shown
    return _without(graph, {n for n, shown in known.items() if not shown})


@alternative("u02.drop_zeros")
def from_what_is_seen(graph):
    """The other way round: from what shows a sign up to what it reads."""
    seen = set(graph.outputs)
    for node in reversed(graph.nodes):
        for operand in node.inputs:
            others = [i for i in node.inputs if i is not operand]
            if node.op == "add" and any(map(_no_minus_zero, others)):
                continue
            if node.op not in PASSES_ON or node in seen:
                seen.add(operand)
    return _without(graph, set(graph.nodes) - seen)


equivalent("u02.drop_zeros", "i is not node and i.op", "i.op",
           because="a constant whose users are asked for is no addition")  # fmt: skip
equivalent("u02.drop_zeros", "return True", "return user", because="what counts is its truth")
equivalent("u02.drop_zeros", "return True", "return node", because="what counts is its truth")
equivalent("u02.drop_zeros", "_minus_zeros(node.value).any()", "return not node.value.any()",
           because="more may go: adding -0.0 changes nothing at all")  # fmt: skip
equivalent("u02.drop_zeros", "set(graph.outputs)", "graph.outputs)",
           because="slower for many outputs, and the same")  # fmt: skip
equivalent("u02.drop_zeros", "reversed(graph.nodes)", "[:-1]",
           because="the first node is no addition, and is read by none that matters")  # fmt: skip
equivalent("u02.drop_zeros", "reversed(graph.nodes)", "reversed(graph.ops)",
           because="inputs and constants are no additions")  # fmt: skip
equivalent("u02.drop_zeros", "return node.with_inputs(inputs)", "pass",
           because="rebuild keeps the node with its new operands where it gets None")  # fmt: skip
equivalent("u02.drop_zeros", "in (inputs, inputs[::-1])", "(inputs",
           because="which operand is looked at first does not count")  # fmt: skip
