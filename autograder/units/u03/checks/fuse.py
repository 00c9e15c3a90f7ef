"""Checks of unit 3 for the fusing pass and for the heuristic that it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Score, Wrong, background, beside, checks
from autograder.check.programs import deep, diamond
from autograder.check.properties import live_ops, same_meaning, valid_graph
from autograder.check.steps import with_steps
from autograder.units.u03.answers.programs import PROGRAMS
from autograder.units.u03.checks.fuse_cases import images, sharp
from autograder.units.u03.checks.kernels import WORDS, Asked, asked, grouped_as_said, named
from course_lib import exercises
from course_lib.ir.graph.build import (
    add,
    exp,
    expand,
    neg,
    reduce_max,
    relu,
    sigmoid,
    trace,
    transpose,
)
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.registry import traffic
from course_lib.lower.executed import executed
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.groups import LARGEST, kind_of
from course_lib.passes.infra.manager import PassError, run_passes

# ── passes.fuse ──


@checks("passes.fuse", spec=[*WORDS, "in x * sigmoid(x), both users of x"])
def fuse_makes_few_kernels(fuse):
    """Chains, epilogues, values that are read twice or three times: one kernel each."""
    for before, wanted, problem, spec in _KERNELS:
        after = _fused(before, fuse(before), spec)
        if len(live_ops(after)) > wanted:
            raise Wrong(
                f"{problem} That makes {_kernels(wanted)}; here {_are(len(live_ops(after)))}.",
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
                f"{problem} That takes {_kernels(wanted)}; here {_are(len(live_ops(after)))}.",
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
    return "2**60 paths"


@checks("passes.fuse", spec="`groups.fits(node, group)`")
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
            f"fits says no to a group of more than {LARGEST}; so 2,000 operations are "
            f"{2000 // LARGEST} kernels. Here are {len(sizes)}, the largest of {max(sizes)}.",
            program="2,000 relu in a row",
        )
    return "2,000 operations in a row"


def _fused(before: Graph, result: Any, spec: str) -> Graph:
    """A valid graph that means the same, in which every group is a kernel."""
    after = same_meaning(before, result, spec=spec)
    for node in after.ops:
        if node.op == "fused" and kind_of(node.attrs["body"].ops[::-1]) is None:
            raise Wrong(
                "No kernel can hold this group together.",
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
        (trace(lambda x: neg(relu(exp(x))), f), 1, "Each has one reader.", everyone),
        (Graph.of([x, w, b], [relu(y + b)]), 1, "Bias and relu finish the product.", "pays"),
        (Graph.of([x, w], [relu(y * sigmoid(y))]), 1, "Both users of the product are in one group.",
         "in x * sigmoid(x), both users of x"),
        (trace(lambda x, y: (s := x + y) * s, f, f), 1, "One user reads it twice.", everyone),
        (trace(lambda x: (s := exp(x)) * relu(s) + neg(s), f), 1, "exp has three users, all in one "
         "group.", everyone),
        (Graph.of([x, w], [y, neg(relu(y))]), 2, "The product is returned, the rest is a chain.",
         outside),
    ]  # fmt: skip
    apart = [
        (Graph.of([x], [a, exp(a)]), 2, "relu is returned, and read.", outside),
        (Graph.of([x, w], [exp(a), a @ w]), 2, "relu has readers in two kernels.", everyone),
        (Graph.of([x, w], [add(a, a @ w)]), 2, "relu cannot be in the kernel of add, which waits "
         "for the product.", everyone),
        (Graph.of([x, w], [(x @ w) @ w]), 2, "A kernel holds one contraction.",
         "one kernel can hold the group with it"),
        (Graph.of([v, m], [exp(v) + m]), 2, "4 values of exp would be computed 1,000 times, and "
         "should_fuse has to say no to that.", "it pays for each of its users"),
        (trace(lambda x: reduce_max(x @ const(np.ones((4, 4), np.float32)), (0,)), f), 2,
         "A reduction along another axis than the last is a kernel of its own.",
         "one kernel can hold the group with it"),
    ]  # fmt: skip
    return few, apart


_KERNELS, _APART = _tables()

# ── passes.should_fuse ──

STAND_IN, REFERENCE, BEST = 42_250_852, 33_573_476, 33_180_256  # bytes; tests/units/test_u03.py
MOST_WORK = 1.1


background(
    "passes.should_fuse",
    "`fuse` asks only where ... is computed several times.",
    because="what `fuse` promises, and what an answer costs; the score counts both",
)
background(
    "passes.should_fuse",
    "33.2 MB is the best we know.",
    because="what is known",
)


@checks("passes.should_fuse", spec="Should `producer` be computed inside the kernel of its user")
def should_fuse_answers_yes_or_no(should_fuse):
    """A bool for every pair that `fuse` asks about."""
    asked = 0

    def answers(producer: Node, consumer: Node) -> bool:
        nonlocal asked
        answer = should_fuse(producer, consumer)
        asked += 1
        if not isinstance(answer, (bool, np.bool_)):
            program = f"producer {producer!r}, consumer {consumer!r}"
            raise Wrong("The answer is True or False.", program=program, got=repr(answer)[:200])
        return bool(answer)

    x, w, table = inp("x", "f32[8,4]"), inp("w", "f32[4,2]"), inp("table", "f32[4]")
    rows = reduce_max(relu(x), (1,), keepdims=True)
    readers = [neg(relu(x)), relu(x @ w), rows, exp(table) + x, expand(rows, (8, 4))]
    readers += [transpose(relu(x), (1, 0)), relu(transpose(x, (1, 0)))]
    for reader in readers:
        answers(reader.inputs[0], reader)
    for graph in PROGRAMS.values():
        with _asking(answers, should_fuse):
            fuse(graph)
    return f"yes or no, {asked} times"


@checks("passes.should_fuse", spec="no program may execute more than 1.1 times the operations")
def should_fuse_repeats_little_work(should_fuse):
    """No program executes more than 1.1 times the operations that it needs."""
    repeats_little_work(should_fuse, PROGRAMS)
    return f"at most {MOST_WORK} times the work on {len(PROGRAMS)} programs"


def repeats_little_work(should_fuse: Any, programs: Mapping[str, Graph]) -> None:
    """With this heuristic, no program executes more than `MOST_WORK` times what it has to."""
    for name, graph in programs.items():
        fused = fused_by(should_fuse, graph)
        before, after = executed(graph), executed(fused)
        if after > MOST_WORK * before:
            raise Wrong(
                f"The kernels of `{name}` execute {after:,} operations, {after / before:.2f} "
                f"times the {before:,} of the unfused program: some values are computed again and "
                "again.",
                program=graph,
                got=fused,
                spec="no program may execute more than 1.1 times the operations",
            )


@checks(
    "passes.should_fuse",
    spec=["the fewer bytes all programs together move", "moving more than that earns nothing"],
)
def should_fuse_saves_traffic(should_fuse):
    """The fewer bytes the programs move together, the better."""
    moved = {name: bytes_moved(fused_by(should_fuse, graph)) for name, graph in PROGRAMS.items()}
    total = sum(moved.values())
    if total > STAND_IN:
        worst = max(moved, key=lambda name: moved[name] - bytes_moved(PROGRAMS[name]) / 2)
        raise Wrong(
            f"Together the programs move {total / 1e6:.1f} MB. Fusing only what has the same shape "
            f"gives {STAND_IN / 1e6:.1f} MB. Much could be saved in `{worst}`.",
            program=PROGRAMS[worst],
            got=fused_by(should_fuse, PROGRAMS[worst]),
            spec="moving more than that earns nothing",
        )
    fraction = 0.3 + 0.7 * (STAND_IN - total) / (STAND_IN - REFERENCE)
    return Score(
        min(1.0, fraction),
        f"{total / 1e6:.2f} MB; {STAND_IN / 1e6:.1f} the stand-in's, {REFERENCE / 1e6:.2f} ours, "
        f"{BEST / 1e6:.2f} the best we know (in MB: "
        f"{', '.join(f'{name} {size / 1e6:.2f}' for name, size in moved.items())})",
    )


def bytes_moved(graph: Graph) -> int:
    """What the kernels of a graph read and write. A reshape moves nothing."""
    return sum(traffic(node) for node in graph.ops if node.op != "reshape")


def fused_by(should_fuse: Any, graph: Graph) -> Graph:
    """The graph, fused as `should_fuse` says."""
    with _asking(lambda producer, consumer: True, should_fuse):
        if not any(node.op == "fused" for node in run_passes(_ONE_KERNEL, [fuse]).ops):
            raise Wrong(
                "This check fuses with your passes.fuse, and that fuses nothing yet, not even "
                "neg(relu(x)) with a heuristic that says yes. Answer passes.fuse first; it asks "
                "heuristic.should_fuse, as the notebook imports it."
            )
    with _asking(should_fuse, should_fuse):
        try:
            return run_passes(graph, [fuse])
        except PassError as error:
            if isinstance(error.__cause__, Crashed):  # should_fuse itself
                raise error.__cause__ from None
            raise Wrong(f"passes.fuse failed with this heuristic. {error}", program=graph) from None


@contextmanager
def _asking(heuristic: Any, answer: Any) -> Iterator[None]:
    """`fuse` (the student's, if there is one beside `answer`) asks `heuristic`."""
    with exercises.using(getattr(answer, "plugs", {})):
        entry = exercises.slot("passes.should_fuse")
        before, entry.run = entry.run, heuristic
        try:
            yield
        finally:
            entry.run = before


_ONE_KERNEL = trace(lambda x: neg(relu(x)), "f32[4]")
