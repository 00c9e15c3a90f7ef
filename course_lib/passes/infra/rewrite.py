"""Applying rules: rewrite a graph until none of them matches any more.

    rules  neg(neg(%x)) -> %x
    %0 = neg(%x) : f32[4]
    %1 = neg(%0) : f32[4]       ==>     %0 = relu(%x) : f32[4]      // and dead code, for dce
    %2 = relu(%1) : f32[4]

Next room: `passes/clean/simplify.py`, the first pass that is a list of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node

LIMIT = 100  # rewrites that one node of the graph may cause before we call it a loop

Rewriter = Callable[[Node], Node | None]


def rewrite(graph: Graph, rules: Sequence[Rewriter]) -> Graph:
    """The graph after every rule has been applied wherever it matches.

    A rule is a function from a node to its replacement, or to None where it does not apply: what
    `rule(before, after)` makes, or an ordinary function. It may look at the node and at what that
    is computed from. Rules are tried in the order given, the first that applies wins.

    The walk goes from the inputs to the outputs, so that a rule only ever sees operands to which no
    rule applies any more; what a rule makes is rewritten in turn before the walk goes on. One walk
    is therefore enough, and if no rule undoes another, it is linear.

    - A replacement has the element type of what it replaces (else ValueError: the rule is wrong)
      and its shape: where the shape would change, the rule does not apply. `x * 1 -> x` leaves
      `mul(f32[4], ones[8,4])` alone, for that `mul` also broadcasts.
    - New nodes take the name of what they replace, and its origins unless the rule gave them some.
    - What only replaced nodes read stays behind, dead, until `dce`.
    - Rules that feed each other forever raise ValueError with the names of the last ones.
    """
    walk = _Walk(graph, rules)
    return graph.rebuild(lambda node, inputs: walk.settled(node, (), []))


class _Walk:
    """One walk over a graph: what each node has become so far."""

    def __init__(self, graph: Graph, rules: Sequence[Rewriter]):
        self.rules = rules
        self.done: dict[Node, Node] = {node: node for node in graph.inputs}
        self.by_op: dict[str, list[Rewriter]] = {}

    def rules_for(self, op: str) -> list[Rewriter]:
        """What `rule` made says at which op it begins; an ordinary function is always asked."""
        if op not in self.by_op:
            self.by_op[op] = [rule for rule in self.rules if getattr(rule, "op", op) == op]
        return self.by_op[op]

    def settled(self, node: Node, origin: tuple[str, ...], log: list[Rewriter]) -> Node:
        """What `node` becomes when no rule applies to it, nor to what it reads, any more."""
        done = self.done
        if node not in done:
            rebuilt = node.with_inputs(
                [done[i] if i in done else self.settled(i, origin, log) for i in node.inputs]
            )
            if origin and not rebuilt.origin:
                rebuilt = replace(rebuilt, origin=origin)
            better = _first(self.rules_for(rebuilt.op), rebuilt, log)
            if better is None:
                done[rebuilt] = done[node] = rebuilt
            elif better in done:
                done[node] = done[better]
            else:
                better = replace(better, name=better.name or rebuilt.name)
                done[node] = self.settled(better, better.origin or rebuilt.origin, log)
        return done[node]


def _first(rules: Sequence[Rewriter], node: Node, log: list[Rewriter]) -> Node | None:
    """What the first rule that applies makes of `node`. `log` gets the rule."""
    for rule in rules:
        new = rule(node)
        if new is None or new is node:
            continue
        if new.type.dtype != node.type.dtype:
            raise ValueError(
                f"the rule {_name(rule)} replaces {node!r} by {new!r}: another element type. "
                "A rule keeps the type of what it replaces."
            )
        if new.type != node.type:
            continue
        log.append(rule)
        if len(log) > LIMIT:
            last = "; ".join(dict.fromkeys(map(_name, log[-8:])))
            raise ValueError(
                f"after {LIMIT} rewrites of one node the rules still find work at {node!r}. "
                f"The last ones were: {last}. Does one of them undo another?"
            )
        return new
    return None


def _name(rule: Rewriter) -> str:
    return getattr(rule, "__name__", None) or str(rule)
