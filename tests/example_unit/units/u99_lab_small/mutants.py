"""Wrong and right answers of the example lab."""

from autograder.check.framework import alternative, mutants

mutants(
    "u99_lab_small.counts",
    nothing=lambda graph: {},
    counts_inputs=("graph.ops", "graph.nodes"),
)
mutants("u99_lab_small.twice", one=lambda: 1)


@alternative("u99_lab_small.counts")
def by_hand(graph):
    table = {}
    for node in graph.ops:
        table[node.op] = table.get(node.op, 0) + 1
    return table


@alternative("u99_lab_small.twice")
def added():
    return 1 + 1
