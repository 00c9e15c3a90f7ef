"""The bytes of a message as a value again; the bytes may come from a hostile process.

    Reader(crossed, data).message()  ->  {"x": 1}

Sizes are checked before anything is made, nodes are built by the op table, graphs are verified.
Next room: arguments.py, what an answer did to what it was given.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from autograder.wire.crossed import DTYPES, Crossed
from autograder.wire.named import function_named
from autograder.wire.onnx import Unsendable, read_onnx_model
from autograder.wire.records import record_of
from course_lib.ir import types
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, checked, const, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import flops

MAX_TEXT = 1 << 24  # bytes of JSON in a message: Python needs thirty times as much
# Of all new tensors and arrays of a message together: to compute a node takes up to twelve times
# its own bytes (erf), and a seat of the grader has two gigabytes (grading/pool.py).
MAX_BYTES = 1 << 27
MAX_FLOPS = 10**11  # of all new nodes of a message: five times the largest model of the course
EVALUATION = 20_000  # operations that take as long as numpy takes to look at a node of a loop
MAX_ROWS = 50_000  # new nodes and graphs of a message
MAX_KEYS = 50_000  # of all sets and dicts of a message: keys can be made to collide
MAX_NAME = 2000  # characters of a name in a graph
NOTHING: MappingProxyType[str, Any] = MappingProxyType({})  # no attributes
SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")  # half a character, in JSON


def evaluations(node: Node) -> int:
    """How many nodes the loop in a node runs, one after another; 0 for a node without one."""
    if node.op != "scan":
        return 0
    return node.type.dims[0] * sum(1 + evaluations(n) for n in node.attrs["body"].ops)


class Reader:
    """Reads one message."""

    def __init__(self, crossed: Crossed, data: memoryview):
        self.crossed = crossed
        length, count = struct.unpack_from("<QI", data)
        sizes = struct.unpack_from(f"<{count}Q", data, 12)
        start = 12 + 8 * count
        if length > MAX_TEXT:
            raise Unsendable(f"more than {MAX_TEXT >> 20} MB of lists, text and numbers")
        text = str(data[start : start + length], "utf-8")
        if "\\u" in text and SURROGATE.search(text):
            raise Unsendable("a text holds half a character")
        self.content = json.loads(text)
        start += length
        if start + sum(sizes) != len(data):
            raise Unsendable("the message is cut short")
        self.blobs = []
        for size in sizes:
            self.blobs.append(data[start : start + size])
            start += size
        self.bytes = self.flops = self.keys = 0

    def message(self) -> Any:
        rows = self.content["rows"]
        if len(rows) > MAX_ROWS:
            raise Unsendable(f"a graph of more than {MAX_ROWS:,} nodes")
        node, graph = self.checked_node, self.checked_graph
        if self.crossed.call is not None:  # a student's end believes the grader's
            node, graph = self.node, self.graph
        for row in rows:
            if isinstance(row, list):
                value: Any = node(row)
            else:
                value = self.onnx_model(int(row["onnx"])) if "onnx" in row else graph(row)
            self.crossed.remember(value)
        return self.unpack(self.content["body"])

    def unpack(self, packed: Any) -> Any:
        if not isinstance(packed, dict):
            if isinstance(packed, list):
                raise Unsendable("an untagged list")
            return packed
        ((kind, body),) = packed.items()
        if kind in ("list", "tuple"):
            parts = [self.unpack(part) for part in body]
            return parts if kind == "list" else tuple(parts)
        if kind in ("set", "frozenset", "dict"):
            self.count_keys(len(body))
            if kind == "dict":
                return {self.unpack(k): self.unpack(v) for k, v in body}
            parts = (self.unpack(part) for part in body)
            return set(parts) if kind == "set" else frozenset(parts)
        if kind == "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body]
        if kind == "fraction":
            return Fraction(*map(int, body))
        if kind == "array":
            return self.array(body)
        if kind == "scalar":
            return self.array(body)[()]
        if kind == "known":
            return self.crossed.known(body)
        if kind == "type":
            return types.parse_type(str(body))
        if kind == "dtype":
            return types.dtype(str(body))
        if kind == "sym":
            size = types.parse_dim("*".join([str(int(body[1])), *map(str, body[0])]))
            return size if isinstance(size, types.Sym) else types.Sym((), size)
        if kind == "record":
            name, fields = body
            return record_of(name, self.unpack(fields))
        if kind == "function" and self.crossed.call is not None:
            return self.proxy(int(body))
        if kind == "named" and self.crossed.call is not None:
            return function_named(body)
        raise Unsendable(f"unknown tag {kind!r:.50}")

    def count_keys(self, more: int) -> None:
        self.keys += more
        if self.keys > MAX_KEYS:
            raise Unsendable(f"sets and dicts of more than {MAX_KEYS:,} keys together")

    def checked_node(self, row: list[Any]) -> Node:
        """Built by the op table, so that its type is what its operands give."""
        op, numbers, given, declared, name, *origin = row
        op, name, declared = str(op), _name(name), types.parse_type(str(declared))
        origin = tuple(map(_name, origin))
        inputs = [self.crossed.known(number) for number in numbers]
        if not all(isinstance(i, Node) for i in inputs):
            raise Unsendable(f"{op}: an operand is not a node")
        if op == "input":
            node = dataclasses.replace(inp(name, declared), origin=origin)
        elif op == "constant":
            value = const(self.array(given)).value
            node = checked(op, inputs, {"value": value}, declared, name, origin)
        else:
            self.count_keys(len(given))
            attrs = {_name(key): self.unpack(value) for key, value in given}
            for value in attrs.values():
                self.weigh(value)
            node = checked(op, inputs, attrs, declared, name, origin)
        if node.type.is_static and op != "constant":  # a constant's array is counted already
            self.count(node.type.nbytes)
            self.flops += flops(node) + EVALUATION * evaluations(node)
            if self.flops > MAX_FLOPS:
                raise Unsendable(f"a graph of more than {MAX_FLOPS:,} floating-point operations")
        return node

    def node(self, row: list[Any]) -> Node:
        """Built as it is described."""
        op, numbers, given, described, name, *origin = row
        attrs = NOTHING
        if op == "constant":
            value = self.array(given)
            value.setflags(write=False)
            attrs = MappingProxyType({"value": value})
        elif given:
            attrs = MappingProxyType({key: self.unpack(value) for key, value in given})
        inputs = tuple([self.crossed.seen[number] for number in numbers])
        return Node(op, inputs, attrs, types.parse_type(described), name, tuple(origin))

    def graph(self, row: dict[str, Any]) -> Graph:
        """Of the nodes as they are described: who wrote it has looked at it."""
        seen = self.crossed.seen
        inputs, nodes, outputs = [tuple([seen[n] for n in part]) for part in row["parts"]]
        return Graph(row["graph"], inputs, nodes, outputs)

    def checked_graph(self, row: dict[str, Any]) -> Graph:
        parts = [tuple(self.crossed.known(n) for n in part) for part in row["parts"]]
        inputs, nodes, outputs = parts
        if not all(isinstance(n, Node) for part in parts for n in part):
            raise Unsendable("a graph is made of nodes")
        graph = Graph(_name(row["graph"]), inputs, nodes, outputs)
        in_order(nodes)
        verify(graph)
        inner = [v for n in graph.nodes for v in n.attrs.values() if isinstance(v, Graph)]
        weight = len(nodes) + sum(self.crossed.weights.get(id(g), len(g.nodes)) for g in inner)
        self.crossed.weights[id(graph)] = weight
        return graph

    def weigh(self, value: Any) -> None:
        """Graphs inside graphs: to look at the outermost is to look at all of them, each time."""
        if isinstance(value, Graph) and self.crossed.weights.get(id(value), 0) > MAX_ROWS:
            raise Unsendable(f"a graph of more than {MAX_ROWS:,} nodes")

    def array(self, body: dict[str, Any]) -> np.ndarray:
        dtype, shape = body["dtype"], tuple(body["shape"])
        if dtype not in DTYPES:
            raise Unsendable(f"dtype {dtype!r:.50}")
        if not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 32:
            raise Unsendable(f"shape {shape!r:.100}")
        blob = self.blobs[body["blob"]]
        if math.prod(shape) * np.dtype(dtype).itemsize != len(blob):
            raise Unsendable("an array's bytes do not fill its shape")
        self.count(len(blob))
        return np.frombuffer(blob, dtype).reshape(shape).copy()

    def count(self, size: int) -> None:
        self.bytes += size
        if self.bytes > MAX_BYTES:
            raise Unsendable(f"tensors of more than {MAX_BYTES >> 20} MB together")

    def onnx_model(self, number: int) -> Any:
        self.count(len(self.blobs[number]))
        return read_onnx_model(bytes(self.blobs[number]))

    def proxy(self, number: int) -> Callable[..., Any]:
        call = self.crossed.call
        assert call is not None

        def function(*args: Any, **kwargs: Any) -> Any:
            return call(number, args, kwargs)

        return function


def in_order(nodes: tuple[Node, ...]) -> None:
    """Each node once, after its operands. `verify` asks `misplaced`, which is an exercise, and the
    stand-in for it does not look at the order."""
    place = {node: k for k, node in enumerate(nodes)}
    for k, node in enumerate(nodes):
        if place[node] != k:
            raise Unsendable(f"{_shown(node)} stands in the graph twice")
        late = next((i for i in node.inputs if place.get(i, 0) > k), None)
        if late is not None:
            raise Unsendable(
                f"{_shown(node)} stands in the graph before its operand {_shown(late)}"
            )


def _shown(node: Node) -> str:
    return f"%{node.name} = {node.op}" if node.name else node.op


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME:
        raise Unsendable(f"a name in a graph is a text of at most {MAX_NAME:,} characters")
    return value
