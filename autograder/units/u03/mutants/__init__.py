"""Answers to unit 3: plausible mistakes that every check must catch, other right ones that pass.

Here: the number, the program, the evidence. Folding and fusing have files of their own.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from autograder.units.u03.answers.evidence import EVIDENCE, GROUPS, REASONS
from course_lib.ir.graph.build import exp, reduce_max, reduce_sum, relu, sub, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.fusion.groups import kind_of

# ── u03.saved ──


@mutant("u03.saved")
def only_the_writes():
    return 3 * 64 * 56 * 56 * 4 / 1e6


@mutant("u03.saved")
def in_mebibytes():
    return 6 * 64 * 56 * 56 * 4 / 2**20


@mutant("u03.saved")
def with_the_result():
    return 8 * 64 * 56 * 56 * 4 / 1e6


@mutant("u03.saved")
def numbers_not_bytes():
    return 6 * 64 * 56 * 56 / 1e6


@mutant("u03.saved")
def between_without_the_residual():
    """c and d only: e is read by the last kernel, and so it counts as an input."""
    return 4 * 64 * 56 * 56 * 4 / 1e6


@mutant("u03.saved")
def all_that_four_kernels_move():
    """Everything that is read and written, not what is saved."""
    return 9 * 64 * 56 * 56 * 4 / 1e6


@alternative("u03.saved")
def rounded():
    return 4.82


@alternative("u03.saved")
def by_tensors():
    """Bytes of each tensor, as often as it crosses; four kernels minus one."""
    image = np.zeros((1, 64, 56, 56), np.float32).nbytes
    four = sum([image, image + image, 3 * image, 2 * image])
    one = sum([0, image, image])
    return np.float64(four - one) / 1e6


@alternative("u03.saved")
def by_the_library():
    """What the kernels of the graph move, before and after."""
    kind = "f32[1,64,56,56]"

    def moved(ops):
        return sum(sum(i.type.nbytes for i in n.inputs) + n.type.nbytes for n in ops)

    c, y, b = inp("c", kind), inp("y", kind), inp("b", "f32[1,64,1,1]")
    d = c + b
    z = relu(d + y)
    kernels = Graph.of([c, y, b], [z]).ops
    return (moved(kernels) + c.type.nbytes - (b.type.nbytes + y.type.nbytes + z.type.nbytes)) / 1e6


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

_RIGHT = {
    "B": "waits for itself",
    "C": "no such kernel",
    "E": "is an output",
    "F": "is read outside",
    "G": "no such kernel",
}


@mutant("u03.illegal")
def misses_the_cycle():
    return {**_RIGHT, "B": "is read outside"}


@mutant("u03.illegal")
def no_rows():
    """Takes the softmax for illegal as well."""
    return {**_RIGHT, "D": "no such kernel"}


@mutant("u03.illegal")
def two_reductions_are_always_rows():
    return {k: v for k, v in _RIGHT.items() if k != "G"}


@mutant("u03.illegal")
def only_the_letters():
    return ["B", "C", "E", "F", "G"]


@mutant("u03.illegal")
def last_members_count():
    """A group whose result is read elsewhere is legal."""
    return {**_RIGHT, "A": "is read outside"}


@alternative("u03.illegal")
def in_small_letters():
    return {group.lower(): f" {reason}" for group, reason in reversed(_RIGHT.items())}


@mutant("u03.illegal")
def the_last_reason():
    """Several reasons hold for some groups; these are not the first ones."""
    return {**_RIGHT, "C": "is read outside"}


@alternative("u03.illegal")
def made_of_pairs():
    """Sorted by reason."""
    by_reason = {
        "no such kernel": "CG",
        "is an output": "E",
        "waits for itself": "B",
        "is read outside": "F",
    }
    return {group: reason for reason, groups in by_reason.items() for group in groups}


@alternative("u03.illegal")
def by_asking_the_library():
    """Reads the evidence, and asks kind_of and check_group about each group."""
    graph = parse_graph(EVIDENCE)
    named, users = {node.name: node for node in graph.nodes}, graph.users()
    found = {}
    for letter, names in GROUPS.items():
        members = [named[name] for name in names]
        outside = {user for m in members[:-1] for user in users[m]} - set(members)
        needed = set(topological_order([i for m in members for i in m.inputs])) - set(members)
        if kind_of(members[::-1]) is None:
            found[letter] = REASONS[0]
        elif set(members[:-1]) & set(graph.outputs):
            found[letter] = REASONS[1]
        elif outside & needed:
            found[letter] = REASONS[2]
        elif outside:
            found[letter] = REASONS[3]
    return found
