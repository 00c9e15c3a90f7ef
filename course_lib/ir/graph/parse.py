"""Reading the text form of level 1 (the grammar is what `graph.py` prints).

    graph     := "graph" "@" name "(" [%name ":" type ("," ...)*] ")" "->" "(" types ")"
                 "{" line* return "}"
    line      := %name "=" op "(" [%name ("," %name)*] ")" [attrs] ":" type [loc]
               | %name "=" "constant" "dense" "<" (number | list | 0xHEX) ">" ":" type [loc]
    attrs     := "{" name "=" value ("," ...)* "}"
    value     := number | string | bool | null | list | graph
    loc       := "loc" "(" string ("," string)* ")"     return := "return" %name ("," %name)*

Comments run from // to the end of the line. Errors name the line and what was expected. Next room:
`graph_interp.py`, what a graph means.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, checked, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.reader import Reader
from course_lib.ir.types import TensorType, flat, parse_dim, parse_type

_TOKEN = re.compile(
    r"""\s+|//[^\n]*
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<value>%[\w.$]+)
    |(?P<type>\w+\[[^\[\]"]*?\](?=\s*(?:[,)]|loc\b|\n|$|[%}]|return\b|//)))
    |(?P<hex>0x[0-9a-fA-F]*)
    |(?P<number>-?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)(?![\w*]))
    |(?P<word>[\w.$*]+)
    |(?P<mark>->|[@(){}\[\]<>,:=])""",
    re.VERBOSE,
)


@takes
def parse_graph(text: str) -> Graph:
    """Read one graph and verify it. Raises ValueError with the line number."""
    reader = _Reader(text)
    graph = reader.graph()
    reader.expect_end()
    return verify(graph)


class _Reader(Reader):
    """One method for each rule of the grammar."""

    tokens_of = _TOKEN

    def graph(self) -> Graph:
        self.take("graph")
        self.take("@")
        name = self.take("word", "number")
        values: dict[str, Node] = {}
        self.take("(")
        inputs = self.separated(lambda: self.parameter(values), ")")
        self.take("->")
        self.take("(")
        results = self.separated(self.type, ")")
        self.take("{")
        nodes = list(inputs)
        while not self.accept("return"):
            nodes.append(self.line(values))
        outputs: list[Node] = []
        returned = self.at
        while self.peek().startswith("%"):
            outputs.append(self.use(values))
            if not self.accept(","):
                break
        self.take("}")
        if [n.type for n in outputs] != results:
            self.at = returned
            raise self.error(
                f"@{name} declares results {results}, returns {[n.type for n in outputs]}"
            )
        return Graph(name, tuple(inputs), tuple(nodes), tuple(outputs))

    def parameter(self, values: dict[str, Node]) -> Node:
        name = self.new_name(values)
        self.take(":")
        values[name] = inp(name, self.type())
        return values[name]

    def new_name(self, values: dict[str, Node]) -> str:
        name = self.take("value")[1:]
        if name in values:
            self.at -= 1
            raise self.error(f"%{name} is defined twice")
        return name

    def use(self, values: dict[str, Node]) -> Node:
        name = self.take("value")[1:]
        if name not in values:
            self.at -= 1
            raise self.error(f"%{name} is used before it is defined")
        return values[name]

    def type(self) -> TensorType:
        text = self.take("type")
        try:
            return parse_type(text)
        except ValueError as error:
            self.at -= 1
            raise self.error(str(error)) from None

    def line(self, values: dict[str, Node]) -> Node:
        start = self.at
        name = self.new_name(values)
        self.take("=")
        op = self.take("word")
        inputs: list[Node] = []
        attrs: dict[str, Any] = {}
        payload = self.dense() if op == "constant" else None
        if op != "constant":
            self.take("(")
            inputs = self.separated(lambda: self.use(values), ")")
            attrs = self.attrs()
        self.take(":")
        type = self.type()
        origin = self.loc()
        try:
            if op == "constant":
                attrs = {"value": _array(payload, type)}
            hint = "" if name.isdigit() else name
            values[name] = checked(op, inputs, attrs, type, hint, origin)
        except ValueError as error:
            self.at = start
            raise self.error(str(error)) from None
        return values[name]

    def dense(self) -> Any:
        self.take("dense")
        self.take("<")
        if self.tokens[self.at][0] == "hex":
            payload = self.take("hex")
        elif self.peek() == "...":
            raise self.error('this constant was printed as a summary; print with constants="exact"')
        else:
            payload = self.value()
        self.take(">")
        return payload

    def attrs(self) -> dict[str, Any]:
        if not self.accept("{"):
            return {}
        return dict(self.separated(self.attr, "}"))

    def attr(self) -> tuple[str, Any]:
        name = self.take("word")
        self.take("=")
        return name, self.value()

    def value(self) -> Any:
        kind, text, _ = self.tokens[self.at]
        if text == "graph":
            return self.graph()
        self.at += 1
        if text == "[":
            return tuple(self.separated(self.value, "]"))
        if kind == "string":
            return json.loads(text)
        if kind == "number":
            return self.number(text)
        if text in ("true", "false", "null"):
            return json.loads(text)
        if kind == "word":
            return parse_dim(text)
        self.at -= 1
        raise self.error(f"expected a value, found {text!r}")

    def loc(self) -> tuple[str, ...]:
        if not self.accept("loc"):
            return ()
        self.take("(")
        return tuple(self.separated(lambda: json.loads(self.take("string")), ")"))


def _array(payload: Any, type: TensorType) -> np.ndarray:
    numpy = type.dtype.numpy
    if isinstance(payload, str):
        raw = bytes.fromhex(payload[2:])
        if len(raw) != type.nbytes:
            raise ValueError(f"{type} needs {type.nbytes} bytes, the constant has {len(raw)}")
        array = np.frombuffer(raw, numpy.newbyteorder("<")).astype(numpy).reshape(type.dims)
    else:
        for number in flat(payload):
            if not isinstance(number, (bool, int, float)):
                raise ValueError(f"{type} needs numbers, got {number}")
            if numpy.kind in "iu" and isinstance(number, float):
                raise ValueError(f"{type} needs whole numbers, got {number}")
        array = type.dtype.array(payload)
        if math.prod(array.shape) == 0 and type.numel == 0:
            array = array.reshape(type.dims)
        if array.shape != type.shape:
            raise ValueError(f"declared {type}, but the numbers have shape {array.shape}")
    array.setflags(write=False)
    return array
