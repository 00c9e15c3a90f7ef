"""Linalg on tensors, as torch-mlir, upstream and `out/to_mlir.py` print it, as a graph of ours.

    func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {        graph @main(%arg0: f32[4]) {
      %1 = linalg.generic {...} ins(%arg0 : ...) ... {         ==>    %0 = relu(%arg0) : f32[4]
      return %1 : tensor<4xf32>                                       return %0
    }                                                               }

It is read as plain text, by nobody's package. What cannot be read is listed all at once, each with
its line. Next room: `course_lib/commands/infra/mlir.py`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import pairwise

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, const, inp
from course_lib.mlir.into.cursor import Cursor, Unreadable, array, number, tensor_type
from course_lib.mlir.into.generic import block, generic
from course_lib.mlir.into.lexer import Token, tokens, without_resources
from course_lib.mlir.into.scalars import scalar
from course_lib.mlir.into.scope import Lost, Scope
from course_lib.mlir.into.statements import Statement, statements
from course_lib.mlir.into.structured import OPS


@takes
def from_mlir(text: str, function: str = "main") -> Graph:
    """The graph that a function of a module computes.

    function   which one, without the sign; if there is only one, its name does not matter

    ValueError that lists everything that cannot be read, with its line.
    """
    try:
        return _read(text, function)
    except RecursionError:
        raise ValueError("this MLIR cannot be read: it is nested too deeply") from None


def _read(text: str, function: str) -> Graph:
    text, blobs = without_resources(text)
    reader = _Reader(blobs)
    functions = {}
    for statement in reader.top(list(statements(tokens(text)))):
        c = Cursor(statement.tokens)
        name = next((t.text for t in c.tokens if t.text.startswith("@")), "@")
        functions[name[1:]] = statement
    if not functions:
        raise ValueError("there is no func.func in this text")
    if function not in functions and len(functions) > 1:
        raise ValueError(f"there is no @{function}, but {', '.join('@' + n for n in functions)}")
    name = function if function in functions else next(iter(functions))
    graph = reader.function(functions[name], name)
    if reader.troubles:
        raise ValueError("this MLIR cannot be read:\n  " + "\n  ".join(reader.troubles))
    assert graph is not None
    return graph


class _Reader:
    def __init__(self, blobs: dict[str, str]) -> None:
        self.blobs = blobs
        self.troubles: list[str] = []
        self.aliases: dict[str, str] = {}
        self.asserted: list[tuple[Statement, Node]] = []
        self.older: set[Node] = set()  # values of earlier statements

    def top(self, every: Sequence[Statement]) -> list[Statement]:
        """The functions of a module; aliases are kept."""
        functions: list[Statement] = []
        for statement in every:
            if statement.results[:1] and statement.results[0].startswith("#"):
                self.aliases[statement.results[0]] = statement.op
            elif statement.op == "module":
                functions += self.top(list(statements(_inside(statement))))
            elif statement.op == "func.func":
                functions.append(statement)
            else:
                self.troubles.append(f"line {statement.line}: {statement.op} outside of functions")
        return functions

    def map(self, text: str) -> str:
        """What an alias such as #map1 stands for."""
        return self.aliases.get(text, text)

    def function(self, statement: Statement, name: str) -> Graph | None:
        """The graph of a function; None if something could not be read."""
        c, scope = Cursor(statement.tokens), Scope()
        inputs: list[Node] = []
        outputs: list[Node] = []
        try:
            while not c.take().startswith("@"):
                pass
            inputs = [inp(n[1:], tensor_type(t)) for n, t in _arguments(c.group()[1:-1])]
            for node in inputs:
                scope["%" + node.name] = node
            while c.peek() != "{":
                c.take()
                if c.skip("attributes"):
                    c.attributes()
            for inner in block(c)[1]:
                if inner.op in ("return", "func.return"):
                    values = Cursor(inner.tokens).values() if inner.tokens else []
                    outputs = [scope.node(value) for value in values]
                else:
                    self.compute(inner, scope)
            self._check_asserted()
        except Lost:
            return None
        except (Unreadable, ValueError) as error:
            self.troubles.append(f"line {statement.line}: func.func: {error}")
            return None
        return Graph.of(inputs, outputs, name)

    def compute(self, statement: Statement, scope: Scope) -> None:
        """Sets the results of a statement; a trouble is written down."""
        try:
            values = self._values(statement, scope)
        except Lost:
            values = [None] * len(statement.results)
        except (Unreadable, ValueError) as error:
            where = f" ({', '.join(statement.origin)})" if statement.origin else ""
            self.troubles.append(f"line {statement.line}{where}: {statement.op}: {error}")
            values = [None] * len(statement.results)
        if statement.origin:
            values = [stamped(v, statement.origin, self.older) if isinstance(v, Node) else v
                      for v in values]  # fmt: skip
        if scope.above is None:
            self.older |= {v for v in values if isinstance(v, Node)}
        for name, value in zip(statement.results, values, strict=True):
            scope[name] = value

    def _values(self, statement: Statement, scope: Scope) -> list:
        op, c = statement.op, Cursor(statement.tokens)
        if op == "linalg.generic":
            return generic(self, c, scope)
        if op == "arith.constant":
            return [self._constant(c)]
        if op == "cf.assert":
            self.asserted.append((statement, scope.node(c.value())))
            return []
        if op in OPS:
            return [OPS[op](c, scope)]
        value = scalar(op, c, scope.node)
        if value is None:
            raise Unreadable("no op of ours says this")
        return [value]

    def _constant(self, c: Cursor) -> Node:
        c.attributes()
        literal = c.take()
        type = tensor_type(c.take() if c.skip(":") else "i1")
        if literal.startswith("dense"):
            return const(array(literal, type, self.blobs))
        return const(number(literal, type.dtype))

    def _check_asserted(self) -> None:
        """What a program asserts must hold for all inputs, so it may know none of them."""
        for statement, node in self.asserted:
            graph = Graph.of([], [node])
            inputs = any(n.op == "input" for n in graph.nodes)
            if inputs or not run(graph, [])[0].all():
                fault = "depends on the inputs" if inputs else "does not hold"
                self.troubles.append(f"line {statement.line}: cf.assert: what it asserts {fault}")


def stamped(node: Node, origin: tuple[str, ...], older: Container[Node]) -> Node:
    """The node, and all that it needs and was made with it, as coming from there."""
    if node in older or not node.inputs or node.origin:
        return node
    inputs = tuple(stamped(i, origin, older) for i in node.inputs)
    return replace(node, inputs=inputs, origin=origin)


def _inside(module: Statement) -> Sequence[Token]:
    """What is inside the first bracket that a line ends with."""
    tokens = module.tokens
    for k, (token, after) in enumerate(pairwise(tokens)):
        if token.text == "{" and after.first:
            return tokens[k + 1 : -1]
    return ()


def _arguments(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """%a: tensor<4xf32> {...}, %b: f32 loc(...)   ->   names and types"""
    arguments = []
    for k, token in enumerate(tokens):
        if token.text.startswith("%"):
            c = Cursor(tokens[k + 1 :])
            c.take(":")
            arguments.append((token.text, c.take()))
    return arguments
