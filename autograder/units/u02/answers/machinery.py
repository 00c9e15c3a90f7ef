"""Unit 2: the two machines that run passes and rules, as exercises.

The library's own are `passes/infra/manager.py` and `passes/infra/rewrite.py`. Next room:
programs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import Node
from course_lib.passes.infra.manager import Pass, run_passes


@exercise("u02.careful", unit=2, points=2, further=True)
def careful(graph: Graph, passes: Sequence[Pass], inputs: Sequence[Any]) -> tuple[Graph, int]:
    """Run `passes` in order, and stop before the first that changes what the program computes.

    Run each pass through `run_passes([one])`, which raises where a graph does not verify; let it.
    Then run the new program on `inputs` and compare it with the first program, `graph`: every
    output must have the same elements. NaN is the same as NaN here, and 0.0 the same as -0.0.

    Return the last graph whose outputs are right, and how many passes made it: if every pass is
    good, that is all of them. No pass runs after the first that is not.
    """
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        for got, before in zip(run(after, inputs), wanted, strict=True):
            if not np.array_equal(got, before, equal_nan=got.dtype.kind == "f"):
                return graph, count
        graph = after
    return graph, len(passes)


@exercise("u02.apply_rules", unit=2, points=2, further=True)
def apply_rules(graph: Graph, rules: Sequence[Callable[[Node], Node | None]]) -> Graph:
    """Apply rules in one walk from the inputs to the outputs: the heart of `rewrite`.

    A rule is a function: it takes a node and returns the node to put in its place, or None where it
    does not apply. Each node, with its new operands, is offered to the rules in their order, and
    the first that returns a node *of the same type* wins; a replacement of another type counts as
    None. The replacement is offered to all the rules again, until none applies. (Its operands are
    not: what is new below it is left as the rule made it.)

    Rules that undo each other never come to rest. If a node has been replaced 100 times and a rule
    still applies, raise ValueError. Nodes that nobody reads are left for `dce`: those that were
    dead before, and those that only a replaced node read.
    """

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = node.with_inputs(inputs)
        for _ in range(100):
            new = _first(rules, made)
            if new is None:
                return made
            made = new
        if _first(rules, made) is not None:
            raise ValueError(f"the rules still apply after 100 replacements of {node!r}")
        return made

    return graph.rebuild(visit)


def _first(rules: Sequence[Callable[[Node], Node | None]], node: Node) -> Node | None:
    for rule in rules:
        new = rule(node)
        if new is not None and new.type == node.type:
            return new
    return None
