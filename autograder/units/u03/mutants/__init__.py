"""Answers to unit 3: plausible mistakes that every check must catch, other right ones that pass.

Here: the number, the program, the evidence. Folding and fusing have files of their own.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import exp, reduce_max, reduce_sum, relu, sub, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.registry import traffic
from course_lib.passes.fusion.groups import as_kernels, kind_of
from lessons.u03.evidence import REASONS

# ── u03.saved ──


def _apart(graph):
    return sum(traffic(node) for node in graph.ops)


def _one(graph):
    return sum(value.type.nbytes for value in (*graph.inputs, *graph.outputs))


@mutant("u03.saved")
def only_the_writes(graph):
    """What one kernel writes, the next one reads."""
    return sum(n.type.nbytes for n in graph.ops if n not in graph.outputs) / 1e6


@mutant("u03.saved")
def in_mebibytes(graph):
    return (_apart(graph) - _one(graph)) / 2**20


@mutant("u03.saved")
def with_the_result(graph):
    return (_apart(graph) - sum(value.type.nbytes for value in graph.inputs)) / 1e6


@mutant("u03.saved")
def numbers_not_bytes(graph):
    return (_apart(graph) - _one(graph)) / 4e6


@mutant("u03.saved")
def a_read_and_a_write_for_each_value(graph):
    """As if each value had one reader, and operands that several kernels read were read once."""
    return 2 * sum(n.type.nbytes for n in graph.ops if n not in graph.outputs) / 1e6


@mutant("u03.saved")
def a_read_for_each_use(graph):
    """A kernel that uses an operand twice reads it once."""
    moved = sum(n.type.nbytes + sum(i.type.nbytes for i in n.inputs) for n in graph.ops)
    return (moved - _one(graph)) / 1e6


@mutant("u03.saved")
def all_that_the_kernels_move(graph):
    """Everything that is read and written, not what is saved."""
    return _apart(graph) / 1e6


@mutant("u03.saved")
def that_of_the_notebook(graph):
    """The residual block by heart."""
    return 6 * 64 * 56 * 56 * 4 / 1e6


@mutant("u03.saved")
def by_making_the_kernel(graph):
    """Asks the compiler, which has no kernel for every program."""
    group: list = []
    one = as_kernels(graph, dict.fromkeys(graph.ops, group))
    return (_apart(graph) - _apart(one)) / 1e6


@alternative("u03.saved")
def rounded(graph):
    return float(f"{(_apart(graph) - _one(graph)) / 1e6:.3g}")


@alternative("u03.saved")
def by_values(graph):
    """Each value: a write if it is made here, and a read for each kernel but one, or for each."""
    users, saved = graph.users(), 0
    for value in graph.nodes:
        if value not in graph.outputs:
            made = value.op != "input"
            saved += value.type.nbytes * (len(set(users[value])) + (1 if made else -1))
    return np.float64(saved / 1e6)


@alternative("u03.saved")
def by_the_library(graph):
    """What `as_kernels` makes of one group, where one kernel can hold it."""
    group = []
    try:
        (kernel,) = as_kernels(graph, dict.fromkeys(graph.ops, group)).ops
    except ValueError:
        return (_apart(graph) - _one(graph)) / 1e6
    return (_apart(graph) - traffic(kernel)) / 1e6


# ── u03.cycle ──


@mutant("u03.cycle")
def only_two_users():
    """a is read twice, but b needs nothing of the other reader."""
    x = inp("x", "f32[8,8]")
    a = relu(x)
    b = exp(a)
    return Graph.of([x], [b, reduce_sum(a, (0,))]), a, b


@mutant("u03.cycle")
def all_of_it_is_one_kernel():
    x = inp("x", "f32[8,8]")
    a = relu(x)
    b = a + exp(a)
    return Graph.of([x], [b]), a, b


@mutant("u03.cycle")
def a_softmax_along_the_last_axis():
    """One rowwise kernel."""
    x = inp("x", "f32[8,8]")
    a = exp(x)
    b = a / reduce_sum(a, (1,), keepdims=True)
    return Graph.of([x], [b]), a, b


@mutant("u03.cycle")
def the_one_from_the_notebook():
    x, w = inp("x", "f32[8,8]"), inp("w", "f32[8,8]")
    a = relu(x)
    b = a + a @ w
    return Graph.of([x, w], [b]), a, b


@mutant("u03.cycle")
def copies_of_the_nodes():
    x = inp("x", "f32[8,8]")
    a = exp(x)
    b = a / reduce_sum(a, (0,), keepdims=True)
    return Graph.of([x], [b]), exp(x), b


@mutant("u03.cycle")
def just_the_graph():
    x = inp("x", "f32[8,8]")
    a = exp(x)
    return Graph.of([x], [a / reduce_sum(a, (0,), keepdims=True)])


@alternative("u03.cycle")
def through_a_transpose():
    x = inp("x", "f32[8,8]")
    a = exp(x)
    total = reduce_sum(a, (1,), keepdims=True)
    b = a * transpose(total, (1, 0))
    return [Graph.of([x], [b]), a, b]


@alternative("u03.cycle")
def with_more_behind_it():
    x = inp("x", "f32[8,8]")
    a = relu(x)
    b = a - reduce_max(a, (0,), keepdims=True)
    return Graph.of([x], [exp(b), exp(a)]), a, b


@alternative("u03.cycle")
def through_a_matrix_of_sums():
    """Three axes, a product along the first, and another operation that reads a as well."""
    x = inp("x", "f64[4,3,2]")
    a = x * x
    total = reduce_sum(a, (0,), keepdims=False)
    b = sub(a, relu(total))
    return (Graph.of([x], [b], "three"), a, b)


@mutant("u03.cycle")
def the_two_are_no_kernel():
    """b is the reduction itself: the two wait, but no kernel could hold them anyway."""
    x = inp("x", "f32[8,8]")
    a = exp(x)
    b = reduce_sum(a * reduce_sum(a, (0,), keepdims=True), (0,))
    return Graph.of([x], [b]), a, b


# ── u03.illegal ──


def _judge(reasons):
    """An answer that goes through these tests, each (reason, test), for each group."""

    def illegal(graph, groups):
        found = {}
        for letter, members in groups.items():
            for reason, test in reasons:
                if test(graph, members):
                    found[letter] = reason
                    break
        return found

    return illegal


def _no_kernel(graph, members):
    return kind_of(members[::-1]) is None


def _returned(graph, members):
    return any(m in graph.outputs for m in members[:-1])


def _readers(graph, members):
    users = graph.users()
    return {u for m in members[:-1] for u in users[m]} - set(members)


def _waits(graph, members):
    return bool(_readers(graph, members) & set(topological_order(members)))


NO, OUT, WAITS, READ = REASONS
_RIGHT = [(NO, _no_kernel), (OUT, _returned), (WAITS, _waits), (READ, _readers)]


@mutant("u03.illegal")
def misses_the_cycle(graph, groups):
    return _judge([r for r in _RIGHT if r[0] != WAITS])(graph, groups)


@mutant("u03.illegal")
def the_last_reason(graph, groups):
    """Several reasons hold for some groups; these are not the first ones."""
    return _judge(_RIGHT[::-1])(graph, groups)


@mutant("u03.illegal")
def any_output_is_wrong(graph, groups):
    """The last member may be an output."""
    returned = (OUT, lambda g, members: any(m in g.outputs for m in members))
    return _judge([_RIGHT[0], returned, *_RIGHT[2:]])(graph, groups)


@mutant("u03.illegal")
def last_members_count(graph, groups):
    """A group whose result is read elsewhere is legal."""
    users = graph.users()
    read = (READ, lambda g, members: {u for m in members for u in users[m]} - set(members))
    return _judge([*_RIGHT[:3], read])(graph, groups)


@mutant("u03.illegal")
def looks_one_step_far(graph, groups):
    """Sees a way out and in again only if it has one operation outside."""
    near = (WAITS, lambda g, members: any(i in _readers(g, members) for m in members
                                          for i in m.inputs))  # fmt: skip
    return _judge([*_RIGHT[:2], near, _RIGHT[3]])(graph, groups)


@mutant("u03.illegal")
def operands_first(graph, groups):
    """kind_of wants the users first."""
    turned = (NO, lambda g, members: kind_of(members) is None)
    return _judge([turned, *_RIGHT[1:]])(graph, groups)


@mutant("u03.illegal")
def only_the_letters(graph, groups):
    return list(_judge(_RIGHT)(graph, groups))


@mutant("u03.illegal")
def the_seven_by_heart(graph, groups):
    return {"B": WAITS, "C": NO, "E": OUT, "F": READ, "G": NO}


@alternative("u03.illegal")
def by_a_table(graph, groups):
    return _judge(_RIGHT)(graph, groups)


@alternative("u03.illegal")
def in_any_order(graph, groups):
    return dict(reversed(_judge(_RIGHT)(graph, groups).items()))


@alternative("u03.illegal")
def by_walking_forward(graph, groups):
    """From each reader outside, along the users, to see whether the group is met again."""
    users = graph.users()

    def reaches(node, members):
        seen, queue = set(), [node]
        while queue:
            for user in users[queue.pop()]:
                if user in members:
                    return True
                if user not in seen:
                    seen.add(user)
                    queue.append(user)
        return False

    found = {}
    for letter, members in groups.items():
        outside = [u for m in members[:-1] for u in users[m] if u not in members]
        if kind_of(members[::-1]) is None:
            found[letter] = NO
        elif set(members[:-1]) & set(graph.outputs):
            found[letter] = OUT
        elif outside:
            found[letter] = WAITS if any(reaches(u, members) for u in outside) else READ
    return found
