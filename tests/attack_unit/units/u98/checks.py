"""Checks of unit 98: the meaning, and no dead operation."""

from autograder.check.framework import checks
from autograder.check.properties import at_most, same_meaning, valid_graph
from autograder.units.u98.exercises import NAMES  # type: ignore[import-not-found]
from course_lib.ir.graph.build import neg, relu, trace
from course_lib.ir.graph.graph import Graph


def _example() -> Graph:
    graph = trace(lambda x: relu(-x) + 1.0, "f32[2,3]")
    return Graph(graph.name, graph.inputs, (*graph.nodes, neg(graph.inputs[0])), graph.outputs)


def removes_what_is_dead(live):
    """The result computes what the program computes, with nothing dead in it."""
    graph = _example()
    after = live(lambda x: x, graph)
    same_meaning(graph, after)
    at_most(graph, valid_graph(after, graph), 3, "operations")


for name in NAMES:
    checks(name)(removes_what_is_dead)
