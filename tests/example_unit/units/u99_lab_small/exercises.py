"""A lab of its own for the tests of the machinery: two milestones and a question in words."""

from __future__ import annotations

from collections import Counter

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph


@exercise("u99_lab_small.counts", unit=99, lab="small", points=4)
def counts(graph: Graph) -> dict:
    """How often each operation stands in the graph, by its name. Inputs and constants are none."""
    return dict(Counter(node.op for node in graph.ops))


@exercise("u99_lab_small.twice", unit=99, lab="small", points=2, kind="number")
def twice() -> int:
    """How many operations has `neg(neg(x))`? Exactly."""
    return 2


@exercise("u99_lab_small.why", unit=99, lab="small", points=2, kind="explain")
def why() -> Rubric:
    """What does a table of operations not tell you about the time that a program takes?"""
    return Rubric(
        criteria="1 point: sizes are missing. 1 point: so is the traffic.",
        samples=(
            Sample(2, "It knows no sizes, so neither how much is computed nor how much is moved."),
            Sample(1, "It knows no sizes."),
            Sample(0, "Nothing."),
        ),
    )
