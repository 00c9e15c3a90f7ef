"""Eight times the same exercise: attacks on it share a notebook without sharing an answer."""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph

NAMES = [*(f"u98.a{n}" for n in range(1, 8)), "u98.honest"]


def _leave_alone(step, graph: Graph) -> Graph:
    return graph


@exercise(NAMES[0], unit=98, points=1, baseline=_leave_alone)
def live(step, graph: Graph) -> Graph:
    """Remove every node that no output needs. Inputs stay. Calling `step` changes nothing."""
    return Graph.of(graph.inputs, graph.outputs, graph.name)


for name in NAMES[1:]:
    register = exercise(name, unit=98, points=1, baseline=_leave_alone)
    register(live.__wrapped__)
