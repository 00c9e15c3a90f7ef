"""Answers to unit 3: plausible mistakes that every check must catch, other right ones that pass.

Here: the number, the program, the evidence. Folding and fusing have files of their own.
"""

from __future__ import annotations

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import exp, reduce_max, reduce_sum, relu, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp

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


@alternative("u03.saved")
def rounded():
    return 4.82


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
