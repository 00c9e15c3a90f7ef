"""Visible checks of the example unit."""

from autograder.check.framework import Score, Wrong, checks
from autograder.check.programs import graphs
from autograder.check.properties import a_number, at_most, number, same_meaning, valid_graph
from course_lib.ir.graph.build import neg, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.order import topological_order


@checks("u99.sweep", given=graphs(size=6), examples=40)
def keeps_the_meaning(sweep, graph):
    """The result computes what the program computes."""
    same_meaning(graph, sweep(graph))


@checks("u99.sweep", given=graphs(size=6), examples=40, spec="Remove every node")
def leaves_nothing_dead(sweep, graph):
    """No dead operation is left."""
    after = valid_graph(sweep(graph), graph)
    live = [n for n in topological_order(after.outputs) if n in after.ops]
    at_most(graph, after, len(live), "live operations")


@checks("u99.bytes")
def is_a_number(bytes_read):
    """One number, in bytes."""
    a_number(bytes_read(), unit="bytes")


@checks("u99.dead")
def has_a_dead_operation(dead):
    """Two operations or more, one of them dead."""
    graph = valid_graph(dead())
    live = set(topological_order(graph.outputs))
    if len(graph.ops) < 2 or live.issuperset(graph.ops):
        raise Wrong("Two operations or more, one of them dead.", program=graph)
    return f"{len(graph.ops)} operations"


@checks("u99.live", given=graphs(size=6), examples=20)
def counts_what_an_output_needs(live, graph):
    """The number of operations that an output needs."""
    needed = [n for n in topological_order(graph.outputs) if n in graph.ops]
    number(live(graph), len(needed), unit="operations", rtol=0)


@checks("u99.until")
def stops_early(until):
    """It stops when the graph no longer changes, after few calls."""
    calls = []

    def step(graph: Graph) -> Graph:
        calls.append(graph)
        return graph if len(graph.ops) < 2 else trace(lambda x: -x, "f32[2]")

    start = trace(lambda x: neg(neg(neg(x))), "f32[2]")
    until(step, start)
    return Score(2 / max(2, len(calls)), f"{len(calls)} calls, 2 are enough")
