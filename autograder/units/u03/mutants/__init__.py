"""Answers to unit 3: plausible mistakes that every check must catch, other right ones that pass.

Here: the number, the program, the evidence. Folding and fusing have files of their own.
"""

from __future__ import annotations

import functools

import numpy as np

from autograder.check.framework import alternative, alternatives, mutants
from course_lib.exercises import slot
from course_lib.ir.graph.build import exp, reduce_sum, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.registry import traffic
from course_lib.passes.fusion.groups import as_kernels, kind_of
from lessons.u03.evidence import REASONS

# ── u03.saved ──

BETWEEN = "sum((n.type.nbytes for n in graph.ops if n not in graph.outputs))"
AFTER = "sum((value.type.nbytes for value in (*graph.inputs, *graph.outputs)))"

mutants(
    "u03.saved",
    # What one kernel writes, the next one reads.
    only_the_writes=("(before - after)", BETWEEN),
    in_mebibytes=("1000000.0", "2 ** 20"),
    with_the_result=("(*graph.inputs, *graph.outputs)", "graph.inputs"),
    numbers_not_bytes=("1000000.0", "4e6"),
    # As if each value had one reader, and operands that several kernels read were read once.
    a_read_and_a_write_for_each_value=("(before - after)", f"2 * {BETWEEN}"),
    # A kernel that uses an operand twice reads it once.
    a_read_for_each_use=("map(traffic, graph.ops)", "(v.type.nbytes for n in graph.ops for v in "
                         "(n, *n.inputs))"),
    # Everything that is read and written, not what is saved.
    all_that_the_kernels_move=(" - after", ""),
    # The residual block by heart.
    that_of_the_notebook=lambda graph: 6 * 64 * 56 * 56 * 4 / 1e6,
    # Asks the compiler, which has no kernel for every program.
    by_making_the_kernel=(
        AFTER, "sum(map(traffic, kernels.as_kernels(graph, dict.fromkeys(graph.ops, [])).ops))"),
)  # fmt: skip
MB = "(before - after) / 1000000.0"
alternatives("u03.saved", rounded=(MB, f"float(f'{{{MB}:.3g}}')"))


@alternative("u03.saved")
def by_values(graph):
    """Each value: a write if it is made here, and a read for each kernel but one, or for each."""
    users, saved = graph.users(), 0
    for value in graph.nodes:
        if value not in graph.outputs:
            saved += value.type.nbytes * (len(set(users[value])) + 1 - 2 * (value.op == "input"))
    return np.float64(saved / 1e6)


@alternative("u03.saved")
def by_the_library(graph):
    """What `as_kernels` makes of one group, where one kernel can hold it."""
    try:
        group: list = []
        (kernel,) = as_kernels(graph, dict.fromkeys(graph.ops, group)).ops
    except ValueError:
        return slot("u03.saved").reference(graph)
    return (sum(map(traffic, graph.ops)) - traffic(kernel)) / 1e6


# ── u03.cycle ──

B = "a / reduce_sum(a, (0,), keepdims=True)"

mutants(
    "u03.cycle",
    # a is read twice, but b needs nothing of the other reader.
    only_two_users=(B, "exp(a)", "[b]", "[b, reduce_sum(a, (0,))]"),
    all_of_it_is_one_kernel=(B, "a + exp(a)"),
    # One rowwise kernel.
    a_softmax_along_the_last_axis=("(0,)", "(1,)"),
    the_one_from_the_notebook=(B, "a + a @ x"),
    copies_of_the_nodes=(", a, b)", ", exp(x), b)"),
    just_the_graph=("(Graph.of([x], [b]), a, b)", "Graph.of([x], [b])"),
    # b is the reduction itself: the two wait, but no kernel could hold them anyway.
    the_two_are_no_kernel=(B, "reduce_sum(a * reduce_sum(a, (0,), keepdims=True), (0,))"),
)


@alternative("u03.cycle")
def through_a_transpose():
    x = inp("x", "f32[8,8]")
    a = exp(x)
    b = a * transpose(reduce_sum(a, (1,), keepdims=True), (1, 0))
    return [Graph.of([x], [b]), a, b]


alternatives(
    "u03.cycle",
    with_more_behind_it=("/ reduce_sum", "- reduce_sum", "[b]", "[exp(b), exp(a)]"),
    # Three axes, a product along the first, and another operation that reads the sums.
    through_a_matrix_of_sums=(
        *("f32[8,8]", "f64[4,3,2]", "a = exp(x)", "a = x * x"),
        *(B, "a - exp(reduce_sum(a, (0,), keepdims=False))"),
    ),
)


# ── u03.illegal ──

NO, OUT, WAITS, READ = REASONS
NO_KERNEL = "kernels.kind_of(members[::-1]) is None"

mutants(
    "u03.illegal",
    misses_the_cycle=("if outside & set(topological_order(members))", "if False"),
    # Several reasons hold for some groups; these are not the first ones.
    the_last_reason=(NO_KERNEL, "outside", repr(NO), repr(READ),
                     f"{READ!r} if outside", f"{NO!r} if {NO_KERNEL}"),
    # The last member may be an output.
    any_output_is_wrong=("outputs for member in early", "outputs for member in members"),
    # A group whose result is read elsewhere is legal.
    last_members_count=(
        "if outside else", "if {u for n in inside for u in users[n]} - inside else"),
    # Sees a way out and in again only if it has one operation outside.
    looks_one_step_far=(
        "set(topological_order(members))", "{i for m in members for i in m.inputs}"),
    # kind_of wants the users first.
    operands_first=("members[::-1]", "members"),
    only_the_letters=lambda graph, groups: list(slot("u03.illegal").reference(graph, groups)),
    the_seven_by_heart=lambda graph, groups: {"B": WAITS, "C": NO, "E": OUT, "F": READ, "G": NO},
)  # fmt: skip
alternatives("u03.illegal", in_any_order=("in reasons.items()", "in reversed(reasons.items())"))


@alternative("u03.illegal")
def by_a_table(graph, groups):
    """Four tests, each for each group."""
    users = graph.users()

    def readers(members):
        return {u for m in members[:-1] for u in users[m]} - set(members)

    tests = {
        NO: lambda members: kind_of(members[::-1]) is None,
        OUT: lambda members: any(m in graph.outputs for m in members[:-1]),
        WAITS: lambda members: bool(readers(members) & set(topological_order(members))),
        READ: readers,
    }
    hold = {k: [reason for reason in tests if tests[reason](groups[k])] for k in groups}
    return {letter: reasons[0] for letter, reasons in hold.items() if reasons}


@alternative("u03.illegal")
def by_walking_forward(graph, groups):
    """From each reader outside, along the users, to see whether the group is met again."""
    users = graph.users()

    @functools.cache
    def behind(node):
        return {node}.union(*map(behind, users[node]))

    reasons = {}
    for letter, members in groups.items():
        outside = [u for m in members[:-1] for u in users[m] if u not in members]
        if kind_of(members[::-1]) is None:
            reasons[letter] = NO
        elif set(members[:-1]) & set(graph.outputs):
            reasons[letter] = OUT
        elif outside:
            reasons[letter] = WAITS if any(behind(u) & set(members) for u in outside) else READ
    return reasons
