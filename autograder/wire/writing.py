"""A value as the bytes of a message; codec.py says how each kind of value is written.

    Writer(crossed).message({"x": 1})  ->  b"..."

A message is its length in JSON, the lengths of the blobs, the JSON, the blobs.
Next room: reading.py.
"""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from collections import deque
from collections.abc import ItemsView, KeysView, Mapping, Sequence, ValuesView
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.wire.crossed import DTYPES, Crossed
from autograder.wire.named import name_of
from autograder.wire.onnx import Unsendable, is_onnx_model, onnx_bytes
from autograder.wire.records import RECORDS
from course_lib.exercises import slot
from course_lib.ir import types
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node

MAX_DEPTH = 60
JSON = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, check_circular=False, separators=(",", ":")
)
MAX_PARTS = 400_000  # values in a message, each one counted as often as it is written
LISTS = (list, range, deque, KeysView, ValuesView, ItemsView)  # each arrives as a list
ORDER = slot("ir.graph.topological_order")  # ours: what is plugged in may be wrong
USUAL = {kind: kind.__name__ for kind in (list, tuple, set, frozenset)}
COLLECTIONS = {LISTS: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}


class Writer:
    """Writes one message."""

    def __init__(self, crossed: Crossed):
        self.crossed = crossed
        self.blobs: list[bytes] = []
        self.rows: list[Any] = []
        self.parts = 0

    def message(self, value: Any) -> bytes:
        body = self.pack(value, 0)
        content = {"rows": self.rows, "body": body}
        text = JSON.encode(content).encode()
        sizes = struct.pack(f"<{len(self.blobs)}Q", *map(len, self.blobs))
        head = struct.pack("<QI", len(text), len(self.blobs))
        return head + sizes + text + b"".join(self.blobs)

    def pack(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unsendable(f"It is nested more than {MAX_DEPTH} deep.")
        self.parts += 1
        if self.parts > MAX_PARTS:
            raise Unsendable(f"It has more than {MAX_PARTS:,} parts.")
        kind = type(value)
        if value is None or kind is bool or kind is int:
            return value
        if kind is Node or kind is Graph:
            return self.pack_ir(value, depth)
        if kind in USUAL:
            return {USUAL[kind]: [self.pack(v, depth + 1) for v in value]}
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, np.generic):
            return {"scalar": self.array(np.asarray(value))}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if kind is Fraction:
            return {"fraction": [value.numerator, value.denominator]}
        if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
            return self.pack(value.tolist(), depth + 1)
        if isinstance(value, np.ndarray):
            return {"array": self.array(value)}
        if isinstance(value, Mapping):
            items = value.items()
            return {"dict": [[self.pack(k, depth + 1), self.pack(v, depth + 1)] for k, v in items]}
        for kinds, name in COLLECTIONS.items():
            if isinstance(value, kinds):
                return {name: [self.pack(v, depth + 1) for v in value]}
        return self.pack_ir(value, depth)

    def pack_ir(self, value: Any, depth: int) -> Any:
        if isinstance(value, Node):
            if self.crossed.number_of(value) is None:
                self.all_rows([value], depth)
            return {"known": self.crossed.number_of(value)}
        if isinstance(value, Graph):
            return {"known": self.graph(value, depth)}
        if is_onnx_model(value):
            if self.crossed.number_of(value) is None:
                self.blobs.append(onnx_bytes(value))
                self.rows.append({"onnx": len(self.blobs) - 1})
                self.crossed.remember(value)
            return {"known": self.crossed.number_of(value)}
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
        if callable(value) and self.crossed.call is None:
            if name := name_of(value):
                return {"named": name}
            self.crossed.functions.append(value)
            return {"function": len(self.crossed.functions) - 1}
        called = " Was it meant to be called?" if callable(value) else ""
        raise Unsendable(f"A {type(value).__name__} is not plain data.{called}")

    def all_rows(self, nodes: Sequence[Node], depth: int) -> None:
        """A row for each of these nodes and of those that they need, if it has none yet."""
        numbers = self.crossed.numbers
        for node in nodes:
            if id(node) in numbers:
                continue
            inputs = [numbers.get(id(i)) for i in node.inputs]
            if None in inputs:  # not in an order in which they can be computed
                return self.all_rows(ORDER.reference(nodes), depth)
            self.row(node, inputs, depth)

    def row(self, node: Node, inputs: list[int | None], depth: int) -> None:
        """[op, its inputs, attributes, type, name, origin, ...]; a constant has its array."""
        if node.op == "constant":
            attrs: Any = self.array(node.value)
        else:
            attrs = [[name, self.pack(v, depth + 2)] for name, v in node.attrs.items()]
        self.rows.append([node.op, inputs, attrs, str(node.type), node.name, *node.origin])
        self.crossed.remember(node)

    def graph(self, graph: Graph, depth: int) -> int:
        number = self.crossed.number_of(graph)
        if number is not None:
            return number
        parts = (graph.inputs, graph.nodes, graph.outputs)
        self.all_rows([*graph.inputs, *graph.nodes, *graph.outputs], depth)
        numbers = self.crossed.numbers
        listed = [[numbers[id(n)] for n in part] for part in parts]
        self.rows.append({"graph": graph.name, "parts": listed})
        return self.crossed.remember(graph)

    def array(self, array: np.ndarray) -> dict[str, Any]:
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in DTYPES:
            raise Unsendable(f"An array of dtype {array.dtype} is not plain data.")
        self.blobs.append(array.astype(dtype, copy=False).tobytes())
        return {"dtype": dtype, "shape": list(array.shape), "blob": len(self.blobs) - 1}
