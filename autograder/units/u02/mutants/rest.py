"""Mutants and alternatives of unit 2: the fixpoint. Next room: evidence.py."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph import Graph
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.infra.manager import run_passes

# ── passes.fixpoint ──


@mutant("passes.fixpoint")
def by_counting_nodes(graph, passes, limit=20):
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if len(before.nodes) == len(graph.nodes):
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def by_identity(graph, passes, limit=20):
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if before.nodes == graph.nodes:
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def after_the_last_pass(graph, passes, limit=20):
    for _ in range(limit):
        for one in passes:
            before, graph = graph, run_passes(graph, [one])
        if same_program(before, graph):
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def gives_up_in_silence(graph, passes, limit=20):
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if same_program(before, graph):
            break
    return graph


@mutant("passes.fixpoint")
def unverified(graph, passes, limit=20):
    for _ in range(limit):
        before = graph
        for one in passes:
            graph = one(graph)
        if graph is None or same_program(before, graph):
            return graph or before
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def by_the_text(graph, passes, limit=20):
    """Two programs are the same if they print the same: names count, large constants do not."""
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if repr(before) == repr(graph):
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def one_pass_after_the_other(graph, passes, limit=20):
    """Brings each pass to rest before the next one begins."""
    for one in passes:
        for _ in range(limit):
            before, graph = graph, run_passes(graph, [one])
            if same_program(before, graph):
                break
        else:
            raise ValueError("no rest")
    return graph


@mutant("passes.fixpoint")
def one_round_too_many(graph, passes, limit=20):
    """Allows limit + 1 rounds."""
    for _ in range(limit + 1):
        before, graph = graph, run_passes(graph, passes)
        if same_program(before, graph):
            return graph
    raise ValueError("no rest")


@alternative("passes.fixpoint")
def with_a_list_of_states(graph, passes, limit=20):
    states = [graph]
    while len(states) <= limit:
        states.append(run_passes(states[-1], passes))
        if same_program(*states[-2:]):
            return states[-1]
    raise ValueError(f"{limit} rounds were not enough")


@alternative("passes.fixpoint")
def each_pass_by_itself(graph, passes, limit=20):
    """Runs and verifies one pass at a time, and compares after the last."""
    for _ in range(limit):
        before = graph
        for one in passes:
            graph = run_passes(graph, [one])
        if same_program(before, graph):
            return graph
    raise ValueError("no rest")


@alternative("passes.fixpoint")
def by_recursion(graph, passes, limit=20):
    if limit == 0:
        raise ValueError("the passes do not come to rest")
    after = run_passes(graph, passes)
    return after if same_program(graph, after) else by_recursion(after, passes, limit - 1)


@mutant("passes.fixpoint")
def what_outputs_need(graph, passes, limit=20):
    """Dead code is no part of the program, it thinks: then dce never changes anything."""
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if same_program(*(Graph.of(g.inputs, g.outputs) for g in (before, graph))):
            return graph
    raise ValueError("no rest")


@mutant("passes.fixpoint")
def by_the_first_output(graph, passes, limit=20):
    """A network has one output."""
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if same_program(*(replace(g, outputs=g.outputs[:1]) for g in (before, graph))):
            return graph
    raise ValueError("no rest")


equivalent("passes.fixpoint", "same_program(before, graph)", "same_program(graph, before)",
           because="a program is the same as another if that is the same as it")  # fmt: skip
for part in ("[1:]", "[:-1]"):
    equivalent("passes.fixpoint", "pass_name(one) for one in passes", part,
               because="the words of the error are free")  # fmt: skip
