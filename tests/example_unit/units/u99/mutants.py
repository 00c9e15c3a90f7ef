"""Wrong and right answers of the example unit."""

from autograder.check.framework import alternative, mutant, mutants
from course_lib.ir.graph.build import neg, trace
from course_lib.ir.graph.graph import Graph

mutants(
    "u99.sweep",
    does_nothing=lambda graph: graph,
    keeps_one_output=lambda graph: Graph.of(graph.inputs, graph.outputs[:1]),
    sweeps_inputs_too=(" or n in graph.inputs", ""),
)


@mutant("u99.sweep")
def drops_inputs(graph):
    return Graph.of([], graph.outputs)


@alternative("u99.sweep")
def by_rebuilding(graph):
    print("an answer may print")
    return Graph.of(graph.inputs, graph.outputs, graph.name)


mutants("u99.bytes", in_elements=lambda: 6)


@alternative("u99.bytes")
def as_text_number():
    import numpy as np

    return np.float32(24.2)


mutants(
    "u99.dead",
    nothing_dead=lambda: trace(lambda x: neg(neg(x)), "f32[2]"),
    not_a_graph=lambda: "graph",
)
mutants("u99.live", counts_the_dead=lambda graph: len(graph.ops))


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


mutants("u99.until", never_calls=lambda step, graph: None.nodes)
