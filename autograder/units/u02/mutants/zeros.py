"""Mutants and alternatives of unit 2: additions of zero. Next room: careful.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from autograder.units.u02.exercises import PASSES_ON
from course_lib.ir.graph.graph import Graph

# ── u02.drop_zeros ──


def _full(node, number=0.0):
    if node.op != "constant" or not node.value.size:
        return False
    return bool((node.value == number).all() and not np.signbit(node.value).any())


def _no_minus_zero(node):
    return node.op == "constant" and not ((node.value == 0) & np.signbit(node.value)).any()


def _without(graph, hidden, full=_full, shape=True):
    def visit(node, inputs):
        if node.op == "add" and node in hidden:
            for x, other in (inputs, inputs[::-1]):
                if full(other) and (x.type == node.type or not shape):
                    return x
        return node.with_inputs(inputs)

    return graph.rebuild(visit)


def _hidden(
    graph, adds=_no_minus_zero, passes=PASSES_ON, every=all, outputs=True, ops=("add",), hiding=()
):
    users, hidden = graph.users(), set()

    def hides(user, node):
        others = [i for i in user.inputs if i is not node]
        if user.op in hiding or (user.op in ops and any(adds(i) for i in others)):
            return True
        return user.op in passes and user in hidden

    for node in reversed(graph.nodes):
        if outputs and node in graph.outputs:
            continue
        if every(hides(user, node) for user in users[node]):
            hidden.add(node)
    return hidden


@mutant("u02.drop_zeros")
def drops_them_all(graph):
    """As onnxruntime does."""
    return _without(graph, set(graph.nodes))


@mutant("u02.drop_zeros")
def leaves_them_all(graph):
    """As LLVM does, unless it knows where x comes from."""
    return graph


@mutant("u02.drop_zeros")
def outputs_hide(graph):
    """Forgets that what is returned is seen."""
    return _without(graph, _hidden(graph, outputs=False))


@mutant("u02.drop_zeros")
def one_user_is_enough(graph):
    return _without(graph, _hidden(graph, every=any))


@mutant("u02.drop_zeros")
def looks_at_users_alone(graph):
    """A batch norm's factor stands between the addition and its shift."""
    return _without(graph, _hidden(graph, passes=()))


@mutant("u02.drop_zeros")
def any_constant_hides(graph):
    """Adding -0.0 hides nothing."""
    return _without(graph, _hidden(graph, adds=lambda c: c.op == "constant"))


@mutant("u02.drop_zeros")
def only_numbers_hide(graph):
    """Adding 0.0 hides as well as adding 1.0, and one 0.0 among the shifts does no harm."""
    return _without(
        graph, _hidden(graph, adds=lambda c: c.op == "constant" and bool((c.value != 0).all()))
    )


@mutant("u02.drop_zeros")
def every_operation_passes_on(graph):
    """1 / x shows the sign."""
    everything = {n.op for n in graph.nodes}
    return _without(graph, _hidden(graph, passes=everything))


@mutant("u02.drop_zeros")
def differences_as_sums(graph):
    """y - c as y + c: but y - 0.0 keeps the sign of y."""
    return _without(graph, _hidden(graph, ops=("add", "sub")))


@mutant("u02.drop_zeros")
def products_as_sums(graph):
    """y * 0.0 is 0.0, it thinks, for both zeros."""
    return _without(graph, _hidden(graph, ops=("add", "mul")))


@mutant("u02.drop_zeros")
def roots_hide(graph):
    """sqrt(-0.0) is -0.0."""
    return _without(graph, _hidden(graph, hiding=("sqrt", "exp")))


@mutant("u02.drop_zeros")
def small_programs_alone(graph):
    """Forgets the ops that no small program has: an image's and a matrix's."""
    few = PASSES_ON - {"conv", "matmul", "max_pool", "mean", "pad", "slice", "expand"}
    return _without(graph, _hidden(graph, passes=few))


@mutant("u02.drop_zeros")
def zero_in_sum(graph):
    """A constant whose elements add up to 0 is not full of zeros."""
    return _without(
        graph, _hidden(graph), full=lambda c: c.op == "constant" and c.value.sum() == 0.0
    )


@mutant("u02.drop_zeros")
def any_sum_is_no_minus_zero(graph):
    """x + 0.0 is never -0.0, so it hides the sign of what it is added to; until it goes itself."""

    def never(node):
        return _no_minus_zero(node) or (node.op == "add" and any(map(_full, node.inputs)))

    return _without(graph, _hidden(graph, adds=never))


@mutant("u02.drop_zeros")
def whatever_the_shape(graph):
    return _without(graph, _hidden(graph), shape=False)


@mutant("u02.drop_zeros")
def zeros_on_the_right(graph):
    def visit(node, inputs):
        if node.op == "add" and node in hidden and _full(inputs[1]) and inputs[0].type == node.type:
            return inputs[0]
        return node.with_inputs(inputs)

    hidden = _hidden(graph)
    return graph.rebuild(visit)


@mutant("u02.drop_zeros")
def down_every_path(graph):
    """Asks each user anew for each path to it."""
    users = graph.users()

    def hidden(node):
        if node in graph.outputs:
            return False
        for user in users[node]:
            adds = user.op == "add" and any(_no_minus_zero(i) for i in user.inputs if i is not node)
            if not adds and not (user.op in PASSES_ON and hidden(user)):
                return False
        return True

    sums = [n for n in graph.nodes if n.op == "add" and any(map(_full, n.inputs))]
    return _without(graph, {n for n in sums if hidden(n)})


@mutant("u02.drop_zeros")
def numbers_alone(graph):
    """A tensor full of zeros is a zero, too."""
    return _without(graph, _hidden(graph), full=lambda c: _full(c) and c.value.size == 1)


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


@alternative("u02.drop_zeros")
def knows_that_a_tanh_passes_it_on(graph):
    """tanh, sqrt and sin keep the sign of a zero, and so pass it on."""
    return _without(graph, _hidden(graph, passes=PASSES_ON | {"tanh", "sqrt", "sin"}))


@alternative("u02.drop_zeros")
def knows_exp_as_well(graph):
    """exp(0.0) is exp(-0.0), so exp hides a sign; and the rest is swept."""
    users, hidden = graph.users(), set()
    for node in reversed(graph.nodes):
        if node not in graph.outputs and all(
            u.op == "exp"
            or (u.op == "add" and any(_no_minus_zero(i) for i in u.inputs if i is not node))
            or (u.op in PASSES_ON and u in hidden)
            for u in users[node]
        ):
            hidden.add(node)
    after = _without(graph, hidden)
    return Graph.of(after.inputs, after.outputs, after.name)


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
