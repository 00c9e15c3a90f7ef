"""A unit of its own for the tests of the machinery: one exercise of each kind."""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.order import topological_order


def _leave_alone(graph: Graph) -> Graph:
    return graph


@exercise("u99.sweep", unit=99, points=3, baseline=_leave_alone)
def sweep(graph: Graph) -> Graph:
    """Remove every node that no output needs.

    Inputs stay.

        %0 = neg(%a); %1 = relu(%a); return %1   ->   %1 = relu(%a); return %1
    """
    # The inputs are part of the signature.
    kept = _needed(graph)
    nodes = tuple(n for n in graph.nodes if n in kept or n in graph.inputs)
    return Graph(graph.name, graph.inputs, nodes, graph.outputs)


@exercise("u99.bytes", unit=99, points=1, kind="number")
def bytes_read() -> float:
    """How many bytes does `relu` read from an f32[2,3]? Right within 2 %."""
    return 2 * 3 * 4


@exercise("u99.dead", unit=99, points=2, kind="inverse")
def dead() -> Graph:
    """A program of at least two operations of which one is dead."""
    graph = trace(lambda x: -x, "f32[2]")
    (x,) = graph.inputs
    return Graph("dead", (x,), (*graph.nodes, -x), graph.outputs)


@exercise("u99.until", unit=99, points=2, kind="budget")
def until(step, graph: Graph) -> Graph:
    """Apply `step` until nothing changes. The fewer calls of `step`, the more points."""
    while (after := step(graph)) is not graph:
        graph = after
    return graph


@exercise("u99.live", unit=99, points=2, kind="number", further=True)
def live(graph: Graph) -> int:
    """How many operations of the graph does an output need? Exactly."""
    return len([node for node in graph.ops if node in _needed(graph)])


@exercise("u99.why", unit=99, points=2, kind="explain")
def why() -> Rubric:
    """Why is removing dead nodes always safe here? Two sentences."""
    return Rubric(
        criteria="1 point: no side effects. 1 point: no output reads them.",
        samples=(
            Sample(2, "Nodes have no side effects, and nothing that is returned reads them."),
            Sample(1, "Nobody reads them."),
            Sample(0, "Because dead code is slow."),
        ),
    )


def _needed(graph: Graph) -> set:
    """What the outputs reach."""
    return set(topological_order(graph.outputs))
