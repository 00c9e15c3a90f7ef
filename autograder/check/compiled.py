"""An answer at its place in the compiler: is the compiled program still right?

    works_in_the_compiler("passes.fuse", fuse, graph)

Next room: programs.py, the random graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograder.check.answer import Answer
from autograder.check.framework import Crashed, Stop, Wrong
from autograder.check.properties import close, random_inputs
from course_lib.exercises import plugged, slot
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.loops.program import Program, run_program
from course_lib.lower.lower import lower
from course_lib.memory.plan import plan
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT


def works_in_the_compiler(
    name: str, answer: Any, graph: Graph, *, rtol: float = 1e-4, spec: str = ""
) -> Program:
    """Compile a small program with `answer` in slot `name`, run its loops, compare with numpy.

    LLVM is left out: what comes after the loops sees nothing of an answer. Returns the program.
    """
    inputs = random_inputs(graph)
    try:
        with _in_its_slot(name, answer):
            program, _ = plan(lower(run_passes(graph, DEFAULT)))
            results = run_program(program, inputs)
    except (Wrong, Crashed, Stop):
        raise
    except Exception as error:  # whatever the compiler says to what the answer made
        if isinstance(error.__cause__, (Wrong, Crashed)):
            raise error.__cause__ from None
        words = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        problem = f"The compiler cannot go on with what came back: {words}"
        raise Wrong(problem, program=graph, spec=spec) from None
    for node, mine, ours in zip(graph.outputs, results, run(graph, inputs), strict=True):
        if not close(mine, ours, rtol):
            raise Wrong(
                f"Compiled with your {name}, the program computes something else: "
                f"%{value_names(graph)[node]} differs.",
                program=graph,
                spec=spec,
            )
    return program


@contextmanager
def _in_its_slot(name: str, answer: Any) -> Iterator[None]:
    """The compiler calls `answer`, which in a notebook plugs the same function in for itself."""
    entry = slot(name)
    with plugged(name, Answer.of(answer).plugs.get(name, answer)):
        before, entry.run = entry.run, answer
        try:
            yield
        finally:
            entry.run = before
