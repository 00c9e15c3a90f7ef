"""Visible checks of the example lab."""

from autograder.check.framework import Wrong, checks
from autograder.check.programs import graphs
from autograder.check.properties import a_number


@checks("u99_lab_small.counts", given=graphs(size=6), examples=20,
        spec=["How often each operation stands", "Inputs and constants are none"])  # fmt: skip
def counts_each_operation(counts, graph):
    """Every operation is counted under its name."""
    found = counts(graph)
    expected = {op: sum(node.op == op for node in graph.ops) for op in (n.op for n in graph.ops)}
    if found != expected:
        raise Wrong("The table must count them.", program=graph, got=found, expected=expected)


@checks("u99_lab_small.twice", spec="How many operations")
def is_a_number(twice):
    """One number of operations."""
    a_number(twice(), unit="operations")
