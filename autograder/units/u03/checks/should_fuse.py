"""Checks of unit 3 for the heuristic that the fusing pass calls: what it saves, what it repeats.

The programs are in lessons/u03/programs.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.check.answer import Answer
from autograder.check.framework import Crashed, Score, Wrong, background, checks
from autograder.units.u03.checks.results import wrong
from course_lib import exercises
from course_lib.ir.graph.build import exp, expand, neg, reduce_max, relu, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.registry import traffic
from course_lib.lower.executed import executed
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.infra.manager import PassError, run_passes
from lessons.u03.programs import PROGRAMS

STAND_IN, REFERENCE, BEST = 42_250_852, 33_573_476, 33_180_256  # bytes; tests/units/test_u03.py
OURS = dict(  # bytes that each program moves with our heuristic
    perceptron=2_667_584, residual=7_754_240, attention=1_835_008, masked=2_031_616,
    positions=1_443_844, gate=3_932_160, temperature=4_206_592, readers=6_815_776,
    projections=2_886_656,
)  # fmt: skip
MOST_WORK = 1.1
HEURISTIC = "passes.should_fuse"
WORK = "no program may execute more than 1.1 times the operations"
NOTHING = "moving more than that earns nothing"

background(HEURISTIC, "`fuse` calls this only where ... is computed several times.",
           because="what `fuse` promises, and what an answer costs; the score counts both"
           )  # fmt: skip
background(HEURISTIC, "33.2 MB is the best we know.", because="what is known")


@checks(HEURISTIC, spec="Should `producer` be computed inside the kernel of its user")
def should_fuse_answers_yes_or_no(should_fuse):
    """A bool for every pair for which `fuse` calls it."""
    asked = 0

    def answers(producer: Node, consumer: Node) -> bool:
        nonlocal asked
        answer = should_fuse(producer, consumer)
        asked += 1
        if not isinstance(answer, (bool, np.bool_)):
            program = f"producer {producer!r}, consumer {consumer!r}"
            problem = "The answer must be True or False."
            raise Wrong(problem, program=program, got=repr(answer)[:200])
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
    return f"{asked} questions, each answered with True or False"


@checks(HEURISTIC, spec=WORK)
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
            times = f"{after / before:.2f} times the {before:,} of the unfused program"
            raise wrong(f"The kernels of `{name}` execute {after:,} operations, {times}; at most "
                        f"{MOST_WORK} times are allowed. Some values are computed again and again.",
                        graph, fused, WORK)  # fmt: skip


@checks(HEURISTIC, spec=["the fewer bytes all programs together move", NOTHING])
def should_fuse_saves_traffic(should_fuse):
    """The fewer bytes the programs move together, the better."""
    moved = {name: bytes_moved(fused_by(should_fuse, graph)) for name, graph in PROGRAMS.items()}
    total = sum(moved.values())
    if total > STAND_IN:
        worst = max(moved, key=lambda name: moved[name] - bytes_moved(PROGRAMS[name]) / 2)
        raise wrong(f"Together the programs must move no more than {STAND_IN / 1e6:.1f} MB, which "
                    f"is what fusing equal shapes gives; they move {total / 1e6:.1f} MB. Much can "
                    f"be saved in `{worst}`.", PROGRAMS[worst],
                    fused_by(should_fuse, PROGRAMS[worst]), NOTHING)  # fmt: skip
    fraction = min(1.0, 0.3 + 0.7 * (STAND_IN - total) / (STAND_IN - REFERENCE))
    return Score(fraction, f"Yours: {total / 1e6:.2f} MB; {_KNOWN}. {_beside_ours(moved)}")


_KNOWN = (f"stand-in: {STAND_IN / 1e6:.2f}; ours: {REFERENCE / 1e6:.2f}; the best that we know: "
          f"{BEST / 1e6:.2f}")  # fmt: skip


def _beside_ours(moved: Mapping[str, int]) -> str:
    """Which programs move more than with our heuristic, the largest difference first."""
    more = sorted((OURS[name] - size, name) for name, size in moved.items() if size > OURS[name])
    rows = [f"{name} {moved[name] / 1e6:.2f}, ours {OURS[name] / 1e6:.2f}" for _, name in more]
    return f"More than ours: {'; '.join(rows)} (MB)" if rows else "No program moves more than ours"


def bytes_moved(graph: Graph) -> int:
    """What the kernels of a graph read and write. A reshape moves nothing."""
    return sum(traffic(node) for node in graph.ops if node.op != "reshape")


def fused_by(should_fuse: Any, graph: Graph) -> Graph:
    """The graph, fused as `should_fuse` says."""
    with _asking(lambda producer, consumer: True, should_fuse):
        if not any(node.op == "fused" for node in run_passes(_ONE_KERNEL, [fuse]).ops):
            raise Wrong(
                "This check fuses with your passes.fuse, and that fuses nothing yet, not even "
                "neg(relu(x)) with a heuristic that says yes. Answer passes.fuse first; it must "
                "call heuristic.should_fuse, as the notebook imports it."
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
    """`fuse` (the student's, if there is one beside `answer`) calls `heuristic`."""
    with exercises.using(Answer.of(answer).plugs):
        entry = exercises.slot(HEURISTIC)
        before, entry.run = entry.run, heuristic
        try:
            yield
        finally:
            entry.run = before


_ONE_KERNEL = trace(lambda x: neg(relu(x)), "f32[4]")
