"""Mutants and alternatives of unit 2: the fixpoint. Next room: evidence.py."""

from __future__ import annotations

from functools import reduce

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.passes.clean.fixpoint import fixpoint, same_program
from course_lib.passes.infra.manager import run_passes

# ── passes.fixpoint ──

_ROUND = "before, graph = (graph, run_passes(graph, passes))"
_SAME = "same_program(before, graph)"

mutants(
    "passes.fixpoint",
    by_counting_nodes=(_SAME, "len(before.nodes) == len(graph.nodes)"),
    by_identity=(_SAME, "before.nodes == graph.nodes"),
    # Two programs are the same if they print the same: names count, large constants do not.
    by_the_text=(_SAME, "repr(before) == repr(graph)"),
    # Dead code is no part of the program, it thinks: then dce never changes anything.
    what_outputs_need=(
        _SAME, "same_program(*(Graph.of(g.inputs, g.outputs) for g in (before, graph)))"),
    # A network has one output.
    by_the_first_output=(
        _SAME, "same_program(*(Graph(g.name, g.inputs, g.nodes, g.outputs[:1])"
        " for g in (before, graph)))"),
    after_the_last_pass=(_ROUND, "for one in passes:\n"
                         "            before, graph = (graph, run_passes(graph, [one]))"),
    unverified=(_ROUND, "before = graph\n        for one in passes:\n"
                "            graph = one(graph)\n        if graph is None:\n"
                "            return before"),
    gives_up_in_silence=("    names = ", "    return graph\n    names = "),
    # Allows limit + 1 rounds.
    one_round_too_many=("range(limit)", "range(limit + 1)"),
    # Brings each pass to rest before the next one begins.
    one_pass_after_the_other=lambda graph, passes, limit=20: reduce(
        lambda before, one: fixpoint(before, [one], limit), passes, graph),
)  # fmt: skip


# Runs and verifies one pass at a time, and compares after the last.
alternatives(
    "passes.fixpoint",
    each_pass_by_itself=(_ROUND, "before = graph\n        for one in passes:\n"
                         "            graph = run_passes(graph, [one])"),
)  # fmt: skip


@alternative("passes.fixpoint")
def with_a_list_of_states(graph, passes, limit=20):
    states = [graph]
    while len(states) <= limit:
        states.append(run_passes(states[-1], passes))
        if same_program(*states[-2:]):
            return states[-1]
    raise ValueError(f"{limit} rounds were not enough")


@alternative("passes.fixpoint")
def by_recursion(graph, passes, limit=20):
    if limit == 0:
        raise ValueError("the passes do not come to rest")
    after = run_passes(graph, passes)
    return after if same_program(graph, after) else by_recursion(after, passes, limit - 1)


equivalent("passes.fixpoint", "same_program(before, graph)", "same_program(graph, before)",
           because="a program is the same as another if that is the same as it")  # fmt: skip
for part in ("[1:]", "[:-1]"):
    equivalent("passes.fixpoint", "pass_name(one) for one in passes", part,
               because="the words of the error are free")  # fmt: skip
