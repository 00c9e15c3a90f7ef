"""Wrong and right answers of the example unit."""

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import neg, trace
from course_lib.ir.graph.graph import Graph


@mutant("u99.sweep")
def does_nothing(graph):
    return graph


@mutant("u99.sweep")
def drops_inputs(graph):
    return Graph.of([], graph.outputs)


@mutant("u99.sweep")
def keeps_one_output(graph):
    return Graph.of(graph.inputs, graph.outputs[:1])


@alternative("u99.sweep")
def by_rebuilding(graph):
    print("an answer may print")
    return Graph.of(graph.inputs, graph.outputs, graph.name)


@mutant("u99.bytes")
def in_elements():
    return 6


@alternative("u99.bytes")
def as_text_number():
    import numpy as np

    return np.float32(24.2)


@mutant("u99.dead")
def nothing_dead():
    return trace(lambda x: neg(neg(x)), "f32[2]")


@mutant("u99.dead")
def not_a_graph():
    return "graph"


@mutant("u99.live")
def counts_the_dead(graph):
    return len(graph.ops)


@alternative("u99.live")
def by_walking_back(graph):
    seen = set()
    todo = list(graph.outputs)
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += node.inputs
    return len(seen.intersection(graph.ops))


@alternative("u99.until")
def by_recursion(step, graph):
    after = step(graph)
    return graph if after is graph else by_recursion(step, after)


@mutant("u99.until")
def never_calls(step, graph):
    return None.nodes
