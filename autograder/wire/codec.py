"""Plain data as bytes, and back: all that crosses between the student's process and the grader's.

    encode({"x": np.float32([1, 2]), "graph": g})  ->  b"..."  ->  decode(...)

| value                                   | on the wire                                         |
|-----------------------------------------|-----------------------------------------------------|
| None, bool, int, float, str             | JSON (nan and inf by name)                          |
| list, tuple, set, dict                  | JSON, tagged; range, deque, d.values() as lists     |
| numpy array, numpy scalar               | bytes, with dtype and shape; of text: as lists      |
| Node, Graph                             | one row per node; what the other end has, by number |
| TensorType, DType, Sym                  | their text                                          |
| a record: a dataclass of `RECORDS`      | the name of its class, and its fields               |
| an onnx.ModelProto                      | its own bytes, with all weights inside; by number   |
| a function (grader to student only)     | a number; calling it there calls it here            |

Never pickle. What comes from a student's process is hostile: decoding makes values of these types
and nothing else, nodes by the op table; graphs are verified, sizes checked before any allocation.

Both ends number the nodes, graphs and models of a call in the order in which they cross. So a node
that comes back is the very node that went out, and `is` means what it means inside one process.

Next room: onnx.py, then grading/worker.py and grading/sandbox.py, the two ends of the pipe.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import struct
from collections import deque
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from types import MappingProxyType
from typing import Any

import numpy as np

from autograder.wire.onnx import Unsendable, is_onnx_model, onnx_bytes, read_onnx_model
from autograder.wire.records import RECORDS, made
from course_lib.ir import types
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, checked, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import flops

MAX_TEXT = 1 << 24  # bytes of JSON in a message: Python needs thirty times as much
MAX_ELEMENTS = 1 << 27  # of all new tensors and arrays of a message together
MAX_FLOPS = 10**11  # of all new nodes of a message: five times the largest model of the course
MAX_ROWS = 50_000  # new nodes and graphs of a message
MAX_DEPTH = 60
MAX_PARTS = 400_000  # values in a message, each one counted as often as it is written
MAX_KEYS = 50_000  # of all sets and dicts of a message: keys can be made to collide
MAX_NAME = 2000  # characters of a name in a graph
MAX_SHOWN = 500  # characters of what is said about a refused message
DTYPES = {np.dtype(d).str for d in (*"?bBhHiIqQ", "f2", "f4", "f8", "c8", "c16")}
LISTS = (list, range, deque, KeysView, ValuesView, ItemsView)  # each arrives as a list
SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")  # half a character, in JSON


class Codec:
    """One end of a conversation. `call(number, args, kwargs)` runs a function of the other end."""

    def __init__(self, call: Callable[[int, tuple, dict], Any] | None = None):
        self.call = call
        self.reset()

    def reset(self) -> None:
        """Forget what crossed: the next call begins."""
        self.functions: list[Callable[..., Any]] = []
        self._seen: list[Any] = []
        self._number: dict[int, int] = {}
        self.weights: dict[int, int] = {}  # of graphs: their nodes, and those of graphs inside

    def encode(self, value: Any) -> bytes:
        mark = len(self._seen)
        try:
            return _Writer(self).message(value)
        except Exception as error:  # a student can put anything anywhere
            self._forget(mark)
            text = str(error) if isinstance(error, Unsendable) else f"It is not plain data: {error}"
            raise Unsendable(text[:MAX_SHOWN]) from None

    def decode(self, data: bytes) -> Any:
        mark = len(self._seen)
        try:
            return _Reader(self, memoryview(data)).message()
        except Unsendable:
            self._forget(mark)
            raise
        except Exception as error:  # hostile bytes can fail anywhere
            self._forget(mark)
            raise Unsendable(f"{error!s:.{MAX_SHOWN}}") from None

    def adopt(self, other: Codec) -> None:
        """Go on where another end stands that has written the same."""
        self._seen, self._number = list(other._seen), dict(other._number)

    def remember(self, value: Any) -> int:
        self._number[id(value)] = len(self._seen)
        self._seen.append(value)
        return len(self._seen) - 1

    def number_of(self, value: Any) -> int | None:
        return self._number.get(id(value))

    def known(self, number: int) -> Any:
        if type(number) is not int or not 0 <= number < len(self._seen):
            raise Unsendable(f"nothing has the number {number!r:.50}")
        return self._seen[number]

    def _forget(self, mark: int) -> None:
        for value in self._seen[mark:]:
            del self._number[id(value)]
        del self._seen[mark:]


class _Writer:
    def __init__(self, codec: Codec):
        self.codec = codec
        self.blobs: list[bytes] = []
        self.rows: list[Any] = []
        self.parts = 0

    def message(self, value: Any) -> bytes:
        body = self.pack(value, 0)
        content = {"rows": self.rows, "body": body}
        text = json.dumps(content, allow_nan=False, ensure_ascii=False).encode()
        sizes = struct.pack(f"<{len(self.blobs)}Q", *map(len, self.blobs))
        head = struct.pack("<QI", len(text), len(self.blobs))
        return head + sizes + text + b"".join(self.blobs)

    def pack(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unsendable(f"It is nested more than {MAX_DEPTH} deep.")
        self.parts += 1
        if self.parts > MAX_PARTS:
            raise Unsendable(f"It has more than {MAX_PARTS:,} parts.")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, np.generic):
            return {"scalar": self.array(np.asarray(value))}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
            return self.pack(value.tolist(), depth + 1)
        if isinstance(value, np.ndarray):
            return {"array": self.array(value)}
        if isinstance(value, Mapping):
            items = value.items()
            return {"dict": [[self.pack(k, depth + 1), self.pack(v, depth + 1)] for k, v in items]}
        for kind, name in ((LISTS, "list"), (tuple, "tuple"), ((set, frozenset), "set")):
            if isinstance(value, kind):
                return {name: [self.pack(v, depth + 1) for v in value]}
        return self.pack_ir(value, depth)

    def pack_ir(self, value: Any, depth: int) -> Any:
        if isinstance(value, Node):
            if self.codec.number_of(value) is None:
                for node in topological_order([value]):
                    self.row(node, depth)
            return {"known": self.codec.number_of(value)}
        if isinstance(value, Graph):
            return {"known": self.graph(value, depth)}
        if is_onnx_model(value):
            if self.codec.number_of(value) is None:
                self.blobs.append(onnx_bytes(value))
                self.rows.append({"onnx": len(self.blobs) - 1})
                self.codec.remember(value)
            return {"known": self.codec.number_of(value)}
        if isinstance(value, types.TensorType):
            return {"type": str(value)}
        if isinstance(value, types.DType):
            return {"dtype": value.name}
        if isinstance(value, types.Sym):
            return {"sym": [list(value.factors), value.scale]}
        kind = type(value)
        if RECORDS.get(kind.__name__) is kind:
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return {"record": [kind.__name__, self.pack(fields, depth + 1)]}
        if callable(value) and self.codec.call is None:
            self.codec.functions.append(value)
            return {"function": len(self.codec.functions) - 1}
        raise Unsendable(f"A {type(value).__name__} is not plain data.")

    def row(self, node: Node, depth: int) -> None:
        """A row for a node whose inputs have rows already."""
        if self.codec.number_of(node) is not None:
            return
        attrs = {} if node.op == "constant" else dict(node.attrs)
        row: dict[str, Any] = {
            "op": node.op,
            "inputs": [self.codec.number_of(i) for i in node.inputs],
            "attrs": self.pack(attrs, depth + 1),
            "type": str(node.type),
            "name": node.name,
            "origin": list(node.origin),
        }
        if node.op == "constant":
            row["value"] = self.array(node.value)
        self.rows.append(row)
        self.codec.remember(node)

    def graph(self, graph: Graph, depth: int) -> int:
        number = self.codec.number_of(graph)
        if number is not None:
            return number
        for node in topological_order([*graph.inputs, *graph.nodes, *graph.outputs]):
            self.row(node, depth)
        parts = (graph.inputs, graph.nodes, graph.outputs)
        numbers = [[self.codec.number_of(n) for n in part] for part in parts]
        self.rows.append({"graph": graph.name, "parts": numbers})
        return self.codec.remember(graph)

    def array(self, array: np.ndarray) -> dict[str, Any]:
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in DTYPES:
            raise Unsendable(f"An array of dtype {array.dtype} is not plain data.")
        self.blobs.append(array.astype(dtype, copy=False).tobytes())
        return {"dtype": dtype, "shape": list(array.shape), "blob": len(self.blobs) - 1}


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME:
        raise Unsendable(f"a name in a graph is a text of at most {MAX_NAME:,} characters")
    return value


class _Reader:
    def __init__(self, codec: Codec, data: memoryview):
        self.codec = codec
        length, count = struct.unpack_from("<QI", data)
        sizes = struct.unpack_from(f"<{count}Q", data, 12)
        start = 12 + 8 * count
        if length > MAX_TEXT:
            raise Unsendable(f"more than {MAX_TEXT >> 20} MB of lists, text and numbers")
        text = bytes(data[start : start + length])
        if b"\\u" in text and SURROGATE.search(text):
            raise Unsendable("a text holds half a character")
        self.content = json.loads(text)
        start += length
        if start + sum(sizes) != len(data):
            raise Unsendable("the message is cut short")
        self.blobs = []
        for size in sizes:
            self.blobs.append(data[start : start + size])
            start += size
        self.elements = self.flops = self.keys = 0

    def message(self) -> Any:
        rows = self.content["rows"]
        if len(rows) > MAX_ROWS:
            raise Unsendable(f"a graph of more than {MAX_ROWS:,} nodes")
        for row in rows:
            self.codec.remember(self.made(row))
        return self.unpack(self.content["body"])

    def made(self, row: dict[str, Any]) -> Any:
        if "onnx" in row:
            return self.onnx_model(int(row["onnx"]))
        return self.graph(row) if "graph" in row else self.node(row)

    def unpack(self, packed: Any) -> Any:
        if not isinstance(packed, dict):
            if isinstance(packed, list):
                raise Unsendable("an untagged list")
            return packed
        ((kind, body),) = packed.items()
        if kind in ("list", "tuple"):
            parts = [self.unpack(part) for part in body]
            return parts if kind == "list" else tuple(parts)
        if kind in ("set", "dict"):
            self.keys += len(body)
            if self.keys > MAX_KEYS:
                raise Unsendable(f"sets and dicts of more than {MAX_KEYS:,} keys together")
            if kind == "dict":
                return {self.unpack(k): self.unpack(v) for k, v in body}
            return {self.unpack(part) for part in body}
        if kind == "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body]
        if kind == "array":
            return self.array(body)
        if kind == "scalar":
            return self.array(body)[()]
        if kind == "known":
            return self.codec.known(body)
        if kind == "type":
            return types.parse_type(str(body))
        if kind == "dtype":
            return types.dtype(str(body))
        if kind == "sym":
            size = types.parse_dim("*".join([str(int(body[1])), *map(str, body[0])]))
            return size if isinstance(size, types.Sym) else types.Sym((), size)
        if kind == "record":
            name, fields = body
            return made(name, self.unpack(fields))
        if kind == "function" and self.codec.call is not None:
            return self.proxy(int(body))
        raise Unsendable(f"unknown tag {kind!r:.50}")

    def node(self, row: dict[str, Any]) -> Node:
        """Built by the op table, so that its type is what its operands give."""
        op, name, declared = str(row["op"]), _name(row["name"]), types.parse_type(str(row["type"]))
        origin = tuple(map(_name, row["origin"]))
        inputs = [self.codec.known(number) for number in row["inputs"]]
        if not all(isinstance(i, Node) for i in inputs):
            raise Unsendable(f"{op}: an operand is not a node")
        if self.codec.call is not None:  # from the grader, who has looked at it
            return self.known_node(op, row, inputs, declared, name, origin)
        if op == "input":
            made = dataclasses.replace(inp(name, declared), origin=origin)
        elif op == "constant":
            value = const(self.array(row["value"])).value
            made = checked(op, inputs, {"value": value}, declared, name, origin)
        else:
            attrs = self.unpack(row["attrs"])
            for value in attrs.values():
                self.weigh(value)
            made = checked(op, inputs, attrs, declared, name, origin)
        if made.type.is_static and op != "constant":  # a constant's array is counted already
            self.count(made.type.numel)
            self.flops += flops(made)
            if self.flops > MAX_FLOPS:
                raise Unsendable(f"a graph of more than {MAX_FLOPS:,} floating-point operations")
        return made

    def known_node(self, op: str, row: dict[str, Any], *rest: Any) -> Node:
        """The student's end believes the grader's: it builds the node as it is described."""
        inputs, *described = rest
        if op == "constant":
            value = self.array(row["value"])
            value.setflags(write=False)
            attrs = {"value": value}
        else:
            attrs = self.unpack(row["attrs"])
        return Node(op, tuple(inputs), MappingProxyType(attrs), *described)

    def graph(self, row: dict[str, Any]) -> Graph:
        parts = [tuple(self.codec.known(n) for n in part) for part in row["parts"]]
        inputs, nodes, outputs = parts
        if not all(isinstance(n, Node) for part in parts for n in part):
            raise Unsendable("a graph is made of nodes")
        graph = Graph(_name(row["graph"]), inputs, nodes, outputs)
        if self.codec.call is not None:  # from the grader, who has looked at it
            return graph
        verify(graph)
        inner = [v for n in graph.nodes for v in n.attrs.values() if isinstance(v, Graph)]
        weight = len(nodes) + sum(self.codec.weights.get(id(g), len(g.nodes)) for g in inner)
        self.codec.weights[id(graph)] = weight
        return graph

    def weigh(self, value: Any) -> None:
        """Graphs inside graphs: to look at the outermost is to look at all of them, each time."""
        if isinstance(value, Graph) and self.codec.weights.get(id(value), 0) > MAX_ROWS:
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
        self.count(math.prod(shape))
        return np.frombuffer(blob, dtype).reshape(shape).copy()

    def count(self, elements: int) -> None:
        self.elements += elements
        if self.elements > MAX_ELEMENTS:
            raise Unsendable(f"tensors of more than {MAX_ELEMENTS:,} elements together")

    def onnx_model(self, number: int) -> Any:
        self.count(len(self.blobs[number]) // 4)
        return read_onnx_model(bytes(self.blobs[number]))

    def proxy(self, number: int) -> Callable[..., Any]:
        call = self.codec.call
        assert call is not None

        def function(*args: Any, **kwargs: Any) -> Any:
            return call(number, args, kwargs)

        return function
