"""From an ONNX model to a graph.

    %c = Conv(%x, %w, %b)        ==>   %0 = conv(%x, %w) : f32[1,64,112,112] loc("conv1")
    %y = Relu(%c)                      %1 = reshape(%b) {shape = [64, 1, 1]} ... loc("conv1")
                                       %c = add(%0, %1) : f32[1,64,112,112] loc("conv1")
                                       %y = relu(%c) : f32[1,64,112,112] loc("relu1")

Each node is translated by one rule of `table.py`. For an op without a rule we use its
definition if ONNX gives one (many ops are *functions*: programs of simpler ops). Initializers
become constants; shape arithmetic is computed on the way. Opsets 13 and newer; an op of an older
model is accepted if it has not changed since. Next: `table.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, inliner

from course_lib.frontend.onnx import table as onnx_ops
from course_lib.frontend.onnx.file import Model, declared_type, inputs_of, load_proto
from course_lib.frontend.onnx.rules import RULES, control
from course_lib.frontend.onnx.table import attributes, element_type
from course_lib.frontend.provenance import UnsupportedOps, stamp
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import Dim, Sym, TensorType, type_of

OLDEST_OPSET = 13
CONTROL = ("If", "Loop", "Scan")


def from_onnx(
    model: Model,
    example_inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    freeze: Mapping[str, Any] | None = None,
) -> Graph:
    """The graph of an ONNX model, given as a path, as bytes or as a ModelProto.

    example_inputs   arrays that fix symbolic sizes; without them such sizes stay symbols
    freeze           values for inputs that the model uses as shapes or axes; they become constants

    Raises `UnsupportedOps` with everything that is missing, and ValueError for a broken model.
    """
    proto, name = load_proto(model)
    proto = inliner.inline_local_functions(proto) if proto.functions else proto
    opsets = {o.domain or "ai.onnx": o.version for o in proto.opset_import}
    _refuse_unknown(proto, opsets, name)
    importer = _Importer(opsets, example_inputs, freeze or {})
    return verify(importer.graph(proto.graph))


# ── which ops have a rule ──


def _refuse_unknown(proto: onnx.ModelProto, opsets: Mapping[str, int], name: str) -> None:
    missing = list(_missing(proto.graph.node, opsets))
    if missing:
        raise UnsupportedOps(name, missing)


def _missing(nodes: Iterable[Any], opsets: Mapping[str, int]) -> Iterable[tuple[str, str]]:
    """(op, node) for each node that neither a rule nor a definition covers."""
    for index, node in enumerate(nodes):
        where = node.name or f"{node.op_type}#{index}"
        if not _is_standard(node):
            yield f"{node.domain}::{node.op_type}", where
        elif node.op_type in RULES or node.op_type in CONTROL:
            if _changed_since(node.op_type, opsets):
                version = opsets["ai.onnx"]
                yield f"{node.op_type} of opset {version} (convert to {OLDEST_OPSET})", where
        elif not _has_definition(node, opsets):
            yield node.op_type, where
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _missing(attribute.g.node, opsets)


def _is_standard(node: onnx.NodeProto) -> bool:
    return node.domain in ("", "ai.onnx")


def _schema(op_type: str, version: int) -> Any:
    try:
        return defs.get_schema(op_type, version, "")
    except defs.SchemaError:
        return None


def _changed_since(op_type: str, opsets: Mapping[str, int]) -> bool:
    """Is this op's meaning in an old opset another than in the oldest that we know?"""
    version = opsets.get("ai.onnx", OLDEST_OPSET)
    if version >= OLDEST_OPSET:
        return False
    old, new = _schema(op_type, version), _schema(op_type, OLDEST_OPSET)
    return old is None or new is None or old.since_version != new.since_version


def _has_definition(node: onnx.NodeProto, opsets: Mapping[str, int]) -> bool:
    schema = _schema(node.op_type, opsets.get("ai.onnx", OLDEST_OPSET))
    if schema is None or not (schema.has_function or schema.has_context_dependent_function):
        return False
    body = schema.function_body
    return not (schema.has_function and list(_missing(body.node, opsets)))


# ── the translation ──


class _Importer:
    """Walks a graph; `values` maps the names of ONNX values to our nodes."""

    def __init__(self, opsets: Mapping[str, int], examples: Any, freeze: Mapping[str, Any]) -> None:
        self.opsets, self.examples, self.freeze = opsets, examples, freeze
        self.values: dict[str, Any] = {"": None}
        self.written: set[str] = set()  # by the nodes of this graph, each name once
        self.inputs: list[Node] = []

    def graph(self, proto: onnx.GraphProto) -> Graph:
        for tensor in proto.initializer:
            self.values[tensor.name] = const(_array(tensor), name=tensor.name)
        if proto.sparse_initializer:
            raise ValueError("sparse initializers are not supported")
        for index, info in enumerate(inputs_of(proto)):
            if info.name in self.freeze:
                self.values[info.name] = const(np.asarray(self.freeze[info.name]), name=info.name)
            else:
                self.inputs.append(inp(info.name, self._input_type(info, index)))
                self.values[info.name] = self.inputs[-1]
        self.nodes(proto.node)
        outputs = [self._tensor(o.name) for o in proto.output]
        return Graph.of(self.inputs, outputs, re.sub(r"\W", "_", proto.name) or "main")

    def nodes(self, nodes: Iterable[onnx.NodeProto], origin: tuple[str, ...] = ()) -> None:
        for index, node in enumerate(nodes):
            where = origin or (node.name or f"{node.op_type}#{index}",)
            try:
                results = self._translate(node, where)
            except (ValueError, TypeError, IndexError) as error:
                if isinstance(error, (onnx_ops.NeedsConstant, UnsupportedOps, _Located)):
                    raise
                raise _Located(f"{node.op_type} (from {where[0]}): {error}") from error
            self.written.update(node.output)
            self.values.update(zip(node.output, results, strict=False))
            lost = [name for name in node.output[len(results) :] if name]
            for name in lost:
                self.values[name] = _Missing(node.op_type, name)

    def _translate(self, node: onnx.NodeProto, origin: tuple[str, ...]) -> Sequence[Any]:
        ghosts = [name for name in node.input if name not in self.values]
        if ghosts:
            raise ValueError(f"it reads {ghosts[0]!r}, which nothing before it defines")
        again = [name for name in node.output if name and name in self.written]
        if again:
            raise ValueError(f"it defines {again[0]!r}, which a node before it defines, too")
        schema = _schema(node.op_type, self.opsets.get("ai.onnx", OLDEST_OPSET))
        if schema is not None and len(node.input) > schema.max_input:
            raise ValueError(f"it has {len(node.input)} operands, at most {schema.max_input} "
                             "are allowed")  # fmt: skip
        inputs = [self.values[name] for name in node.input]
        for value in inputs:
            if isinstance(value, _Missing):
                raise ValueError(f"it reads {value.name!r}, an output of {value.op_type} that "
                                 "this compiler does not compute")  # fmt: skip
        if node.op_type in CONTROL:
            return control.translate(self, node, inputs, origin)
        if node.op_type not in RULES:
            return self._by_definition(node, inputs, origin)
        attrs = attributes(node)
        if onnx_ops.is_on_shapes(node.op_type, inputs):
            return [onnx_ops.on_shapes(node.op_type, inputs, attrs)]
        used = max((k + 1 for k, name in enumerate(node.output) if name), default=1)
        result = onnx_ops.call(
            RULES[node.op_type], inputs, attrs,
            opset=self.opsets.get("ai.onnx", OLDEST_OPSET), outputs=used,
        )  # fmt: skip
        if isinstance(result, np.ndarray):
            return [result]
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        operands = [x for x in inputs if isinstance(x, Node)]
        results = stamp(results, operands, origin, [_readable(name) for name in node.output])
        return [_Missing(node.op_type, name) if r is None else r
                for r, name in zip(results, node.output, strict=False)]  # fmt: skip

    def _by_definition(
        self, node: onnx.NodeProto, inputs: Sequence[Any], origin: tuple[str, ...]
    ) -> list[Any]:
        """An op that ONNX defines by simpler ops: import its body in a scope of its own."""
        body = definition(node, inputs, self.opsets)
        inner = _Importer({o.domain or "ai.onnx": o.version for o in body.opset_import}, None, {})
        missing = [(f"{op}, which {node.op_type} is made of", origin[0])
                   for op, _ in _missing(body.node, self.opsets)]  # fmt: skip
        if missing:
            raise UnsupportedOps("the model", missing)
        inner.values.update({name: None for name in body.input})
        inner.values.update(zip(body.input, inputs, strict=False))
        schema = _schema(node.op_type, self.opsets.get("ai.onnx", OLDEST_OPSET))
        defaults = {
            n: a.default_value for n, a in schema.attributes.items() if a.default_value.type
        }
        given = defaults | {a.name: a for a in node.attribute}
        inner.nodes([_with_attributes(n, given) for n in body.node], origin)
        return [inner.values.get(n, _Missing(node.op_type, n)) for n in body.output]

    def subgraph(self, proto: onnx.GraphProto, inputs: Sequence[Any], origin: tuple[str, ...]):
        """The results of a graph inside a node; it sees all values around it."""
        inner = _Importer(self.opsets, None, {})
        inner.values = dict(self.values)
        for tensor in proto.initializer:
            inner.values[tensor.name] = const(_array(tensor), name=tensor.name)
        inner.values.update({i.name: v for i, v in zip(proto.input, inputs, strict=True)})
        inner.nodes(proto.node, origin)
        return [inner.values[o.name] for o in proto.output]

    def _tensor(self, name: str) -> Node:
        value = self.values.get(name)
        if not isinstance(value, Node):
            raise ValueError(f"the output {name!r} is not a tensor that this compiler computes")
        return value

    def _input_type(self, info: onnx.ValueInfoProto, index: int) -> TensorType:
        """The declared type, with the example's numbers in place of symbols."""
        declared, example = declared_type(info), self._example(info.name, index)
        if example is None:
            if declared is None:
                raise ValueError(f"input {info.name!r} has no shape; give example inputs")
            return declared
        given = type_of(np.asarray(example))
        if declared is not None and not _fits(given.shape, declared.shape):
            raise ValueError(f"input {info.name!r} must be {declared}, got {given}")
        return TensorType(element_type(info.type.tensor_type.elem_type), given.shape)

    def _example(self, name: str, index: int) -> Any:
        if isinstance(self.examples, Mapping):
            return self.examples.get(name)
        return self.examples[index] if self.examples and index < len(self.examples) else None


def _fits(shape: Sequence[Dim], declared: Sequence[Dim]) -> bool:
    return len(shape) == len(declared) and all(
        isinstance(want, Sym) or have == want for have, want in zip(shape, declared, strict=True)
    )


class _Located(ValueError):
    """An error that already says which node it is about."""


class _Missing:
    """An output that no rule computes; an error only if somebody reads it."""

    def __init__(self, op_type: str, name: str) -> None:
        self.op_type, self.name = op_type, name


def definition(node: onnx.NodeProto, inputs: Sequence[Any], opsets: Mapping[str, int]) -> Any:
    """The function body that ONNX gives for an op; some bodies depend on the operands' types."""
    schema = _schema(node.op_type, opsets.get("ai.onnx", OLDEST_OPSET))
    if schema.has_function:
        return schema.function_body
    types = [
        b"" if x is None else
        helper.make_tensor_type_proto(onnx_ops.type_code(x.type.dtype), x.type.shape)
        .SerializeToString()
        for x in inputs
    ]  # fmt: skip
    body = onnx.FunctionProto()
    body.ParseFromString(schema.get_context_dependent_function(node.SerializeToString(), types))
    return body


def _with_attributes(node: onnx.NodeProto, given: Mapping[str, Any]) -> onnx.NodeProto:
    """A node of a function body with the caller's attributes in place of references to them."""
    if not any(a.ref_attr_name for a in node.attribute):
        return node
    new = onnx.NodeProto()
    new.CopyFrom(node)
    del new.attribute[:]
    for attribute in node.attribute:
        source = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if source is not None:
            copy = new.attribute.add()
            copy.CopyFrom(source)
            copy.name = attribute.name
    return new


def _array(tensor: onnx.TensorProto) -> np.ndarray:
    try:
        return onnx_ops.array(tensor)
    except ValueError as error:
        raise ValueError(f"the initializer {tensor.name!r}: {error}") from error


def _readable(name: str) -> str:
    """Exporters name values by whole paths; the origin says that better."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else ""
