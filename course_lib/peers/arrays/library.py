"""An array library, and how a graph becomes calls of it.

    jnp.maximum(jnp.matmul(x, w), 0)       <==      relu(matmul(%x, %w))

A rule writes one op: it gets the library under numpy's names, the node, and the operands in the
library's own arrays. An op that the library has whole is one call (softmax, a convolution); one
that it lacks is spelled out first, by the op's own definition. Next room: `shared.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.passes.clean.dce import dce
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.prepare.decompose import definition


def always(node: Node) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """How an op is written with a library, and for which nodes."""

    write: Callable[..., Any]  # (library, node, *operands)
    fits: Callable[[Node], bool] = always


Rules = dict[str, Rule]


def writes(rules: Rules, *names: str, fits: Callable[[Node], bool] = always) -> Callable[..., Any]:
    """Register a function as the rule for these ops of ours."""

    def register(write: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in rules, f"{name} has two rules"
            rules[name] = Rule(write, fits)
        return write

    return register


@dataclass(frozen=True)
class Library:
    """A library under numpy's names: `library.exp` is `module.exp` unless `names` says otherwise.

    rules    ours first, then what both libraries share
    kinds    the element types that it computes with
    scope    (node): where its calls are made, so that they carry the node's origin
    """

    module: ModuleType
    names: Mapping[str, Any]
    rules: Mapping[str, Rule]
    kinds: frozenset[str]
    scope: Callable[[Node], AbstractContextManager[Any]]

    def __getattr__(self, name: str) -> Any:
        return self.names[name] if name in self.names else getattr(self.module, name)

    def has(self, node: Node) -> bool:
        """Is there a rule for this node?"""
        types = {t.dtype.name for t in (node.type, *(i.type for i in node.inputs))}
        if node.op in ("input", "constant"):
            return types <= self.kinds
        rule = self.rules.get(node.op)
        return rule is not None and types <= self.kinds and rule.fits(node)

    def spelled(self, graph: Graph) -> Graph:
        """The graph in ops that the library has. ValueError that names all that it has not."""

        def spell(node: Node) -> Node | None:
            return None if self.has(node) else definition(node)

        plain = everywhere(graph, lambda one: dce(rewrite(one, [spell])))
        lacking = [node for node in nodes_of(plain) if not self.has(node)]
        if lacking:
            what = "; ".join(dict.fromkeys(map(repr, lacking)))
            raise ValueError(f"{self.module.__name__} has no counterpart of {what}")
        return plain

    def results(self, graph: Graph, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a graph that is spelled out, in the library's arrays."""
        values: dict[Node, Any] = dict(zip(graph.inputs, inputs, strict=True))
        for node in graph.nodes:
            if node not in values:
                with self.scope(node):
                    values[node] = self.value(node, [values[i] for i in node.inputs])
        return [values[node] for node in graph.outputs]

    def value(self, node: Node, operands: Sequence[Any]) -> Any:
        if node.op == "constant":
            return self.asarray(node.value)
        return self.rules[node.op].write(self, node, *operands)


def nodes_of(graph: Graph) -> Iterator[Node]:
    """The nodes, and those of the bodies of loops."""
    for node in graph.nodes:
        yield node
        if node.op == "scan":
            yield from nodes_of(node.attrs["body"])
