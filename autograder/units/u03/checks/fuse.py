"""Checks of unit 3 for the fusing pass. Those of the heuristic that it asks: should_fuse.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong, beside, checks
from autograder.check.programs import deep, diamond
from autograder.check.properties import live_ops, same_meaning, valid_graph
from autograder.check.steps import with_steps
from autograder.units.u03.checks.fuse_cases import images, sharp
from autograder.units.u03.checks.kernels import WORDS, Asked, asked, grouped_as_said, named
from course_lib.ir.graph.build import (
    add,
    exp,
    neg,
    reduce_max,
    relu,
    sigmoid,
    trace,
)
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import const, inp
from course_lib.passes.fusion.groups import LARGEST, kind_of

# ── passes.fuse ──


@checks("passes.fuse", spec=[*WORDS, "in x * sigmoid(x), both users of x"])
def fuse_makes_few_kernels(fuse):
    """Chains, epilogues, values that are read twice or three times: one kernel each."""
    for before, wanted, problem, spec in _KERNELS:
        after = _fused(before, fuse(before), spec)
        if len(live_ops(after)) > wanted:
            raise Wrong(
                f"{problem} That must become {_kernels(wanted)}; here "
                f"{_are(len(live_ops(after)))}.",
                program=before,
                got=after,
                spec=spec,
            )
    return f"{len(_KERNELS)} programs with a known number of kernels"


@checks("passes.fuse", spec=[*WORDS, "it is not an output"])
def fuse_keeps_what_others_need(fuse):
    """Outputs, values with readers in two kernels, and ways through other kernels."""
    for before, wanted, problem, spec in _APART:
        after = _fused(before, fuse(before), spec)
        if len(live_ops(after)) < wanted:
            raise Wrong(
                f"{problem} At least {_kernels(wanted)} must be left; here "
                f"{_are(len(live_ops(after)))}.",
                program=before,
                got=after,
                spec=spec,
            )
    return f"{len(_APART)} programs that cannot be fewer kernels"


@checks("passes.fuse", spec=WORDS)
def fuse_groups_as_the_words_say(fuse):
    """Other types, empty tensors, rows, dead nodes, outputs twice, dear edges, models."""
    cases = sharp()
    for case in cases:
        grouped_as_said(case, _asking_this(fuse, case))
    return f"{len(cases)} programs, each operation in its group"


@checks("passes.fuse", given=asked(size=8), examples=40, spec=WORDS)
def fuse_puts_each_node_into_its_group(fuse, case):
    """A node joins the group of its users where all conditions hold, and nowhere else."""
    grouped_as_said(case, _asking_this(fuse, case))


def _asking_this(fuse: Any, case: Asked) -> Any:
    """The result on the program of this case, while `should_fuse` answers what the case says."""
    try:
        return beside(fuse, {"passes.should_fuse": case.pays})(case.graph)
    except Crashed as error:
        error.program = case.graph
        raise


@checks("passes.fuse", given=images(), examples=25, spec=WORDS)
def fuse_groups_convolutions(fuse, case):
    """The same with convolutions, biases, residuals and reductions over the image."""
    grouped_as_said(case, _asking_this(fuse, case))


@checks("passes.fuse", spec=["Put connected nodes into groups", *WORDS])
def fuse_looks_at_each_node_once(fuse):
    """180 operations with 2**60 paths."""
    few = with_steps(fuse, 400_000, "180 operations", "each shared node is walked once per path")
    case = Asked(named(diamond()), runs=False)
    grouped_as_said(case, _asking_this(few, case))
    return "a program with 2**60 paths"


@checks("passes.fuse", spec="`fits(node, group)`")
def fuse_takes_deep_programs(fuse):
    """2,000 operations in a row: kernels of at most `LARGEST` operations."""
    before = deep()
    try:
        after = valid_graph(fuse(before), before)
    except Crashed as error:
        error.program = "2,000 relu in a row"
        raise
    sizes = [len(n.attrs["body"].ops) if n.op == "fused" else 1 for n in after.ops]
    if max(sizes) > LARGEST or len(sizes) > 2000 / LARGEST + 1:
        raise Wrong(
            f"2,000 operations must become {2000 // LARGEST} kernels, because `fits` refuses a "
            f"group of more than {LARGEST}. Here are {len(sizes)}; the largest has {max(sizes)}.",
            program="2,000 relu in a row",
        )
    return "2,000 operations in a row"


def _fused(before: Graph, result: Any, spec: str) -> Graph:
    """A valid graph that means the same, in which every group is a kernel."""
    after = same_meaning(before, result, spec=spec)
    for node in after.ops:
        if node.op == "fused" and kind_of(node.attrs["body"].ops[::-1]) is None:
            raise Wrong(
                "Each group must fit into one kernel; no kernel can hold this one.",
                program=before,
                got=after,
                marked=(value_names(after)[node],),
                spec="one kernel can hold the group with it",
            )
    return after


def _kernels(count: int) -> str:
    return f"{count} kernel{'s' * (count != 1)}"


def _are(count: int) -> str:
    return f"{'are' if count != 1 else 'is'} {count}"


def _tables() -> tuple[list, list]:
    """Programs with at most, and with at least, so many kernels: (program, kernels, why, spec)."""
    f = "f32[4,4]"
    x, w, b = inp("x", f), inp("w", f), inp("b", "f32[4]")
    y = x @ w
    a = relu(x)
    v, m = inp("v", "f32[4]"), inp("m", "f32[1000,4]")
    everyone, outside = "*all* of them are in the same group", "it is not an output of the graph"
    few = [
        (trace(lambda x: neg(relu(exp(x))), f), 1, "Each operation has one reader.", everyone),
        (Graph.of([x, w, b], [relu(y + b)]), 1, "Bias and relu finish the product.", "pays"),
        (Graph.of([x, w], [relu(y * sigmoid(y))]), 1, "Both users of the product are in one group.",
         "in x * sigmoid(x), both users of x"),
        (trace(lambda x, y: (s := x + y) * s, f, f), 1, "One user reads it twice.", everyone),
        (trace(lambda x: (s := exp(x)) * relu(s) + neg(s), f), 1, "exp has three users, all in one "
         "group.", everyone),
        (Graph.of([x, w], [y, neg(relu(y))]), 2,
         "The product is returned, and the rest is a chain.", outside),
    ]  # fmt: skip
    apart = [
        (Graph.of([x], [a, exp(a)]), 2, "relu is returned, and it is read.", outside),
        (Graph.of([x, w], [exp(a), a @ w]), 2, "relu has readers in two kernels.", everyone),
        (Graph.of([x, w], [add(a, a @ w)]), 2, "relu cannot be in the kernel of add, which waits "
         "for the product.", everyone),
        (Graph.of([x, w], [(x @ w) @ w]), 2, "A kernel must hold one contraction at most.",
         "one kernel can hold the group with it"),
        (Graph.of([v, m], [exp(v) + m]), 2, "4 values of exp would be computed 1,000 times, and "
         "should_fuse has to say no to that.", "it pays for each of its users"),
        (trace(lambda x: reduce_max(x @ const(np.ones((4, 4), np.float32)), (0,)), f), 2,
         "No kernel can hold a product and a reduction that reads it.",
         "one kernel can hold the group with it"),
    ]  # fmt: skip
    return few, apart


_KERNELS, _APART = _tables()
