"""From an ONNX model to a graph.

    %c = Conv(%x, %w, %b)        ==>   %0 = conv(%x, %w) : f32[1,64,112,112] loc("conv1")
    %y = Relu(%c)                      %1 = reshape(%b) {shape = [64, 1, 1]} ... loc("conv1")
                                       %c = add(%0, %1) : f32[1,64,112,112] loc("conv1")
                                       %y = relu(%c) : f32[1,64,112,112] loc("relu1")

Each node is translated by one rule of `table.py`. For an op without a rule we use its
definition if ONNX gives one (many ops are *functions*: programs of simpler ops). Initializers
become constants; shape arithmetic is computed on the way. Next: `functions.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import onnx
from onnx import defs

from course_lib.frontend.onnx.file import Model, declared_type, inputs_of, load_proto
from course_lib.frontend.onnx.functions import Growth, without_functions
from course_lib.frontend.onnx.opset import (
    CONTROL,
    NEWEST_OPSET,
    definition,
    missing,
    schema,
    version,
)
from course_lib.frontend.onnx.rules import RULES, control
from course_lib.frontend.onnx.table import array, attributes, call, element_type, rule_name
from course_lib.frontend.onnx.upgrade import upgrade
from course_lib.frontend.onnx.values import (
    Missing,
    NeedsConstant,
    SymbolicShape,
    Value,
    is_shape_arithmetic,
    shape_arithmetic,
)
from course_lib.frontend.provenance import UnsupportedOps, stamp
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import Dim, Sym, TensorType, type_of


def from_onnx(
    model: Model,
    example_inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    freeze: Mapping[str, Any] | None = None,
) -> Graph:
    """The graph of an ONNX model, given as a path, as bytes or as a ModelProto.

    example_inputs   arrays that fix symbolic sizes; without them such sizes stay symbols
    freeze           values for inputs that the model uses as shapes or axes; they become constants

    Raises `UnsupportedOps` with everything that is missing, and ValueError for a broken model: also
    for one whose outputs have other types than it declares.
    """
    proto, name = load_proto(model)
    proto = upgrade(without_functions(proto, name), name)
    opset = version(proto.opset_import)
    if opset > NEWEST_OPSET:
        raise ValueError(f"{name} is written in opset {opset}, which is newer than {NEWEST_OPSET}, "
                         f"the newest of onnx {onnx.__version__} here: export it with that opset "
                         "or an older one, or install a newer onnx")  # fmt: skip
    unknown = list(missing(proto.graph.node, opset))
    if unknown:
        raise UnsupportedOps(name, unknown)
    return verify(_Importer(opset).graph(proto.graph, example_inputs, freeze or {}))


class _Importer:
    """Walks a graph; `values` maps the names of ONNX values to what stands for them.

    outer   of the graph inside a node: the importer of what is around it
    """

    def __init__(
        self,
        opset: int,
        values: Mapping[str, Value] | None = None,
        outer: _Importer | None = None,
    ) -> None:
        self.opset = opset
        self.values: dict[str, Value] = {"": None, **(values or {})}
        self.inside = outer is not None
        self.growth: Growth = outer.growth if outer else Growth()
        self.written: set[str] = set()  # by the nodes of this graph, each name once

    def graph(self, proto: onnx.GraphProto, examples: Any, freeze: Mapping[str, Any]) -> Graph:
        if proto.sparse_initializer:
            raise ValueError("sparse initializers are not supported")
        self.constants(proto)
        inputs: list[Node] = []
        known = [info.name for info in inputs_of(proto)]
        unknown = [name for name in freeze if name not in known]
        if unknown:
            raise ValueError(f"freeze: the model has no input {unknown[0]!r}; it has {known}")
        for index, info in enumerate(inputs_of(proto)):
            if info.name in freeze:
                self.values[info.name] = _frozen(info, np.asarray(freeze[info.name]))
            else:
                type = _input_type(info, _example(examples, info.name, index))
                inputs.append(inp(info.name, type))
                self.values[info.name] = inputs[-1]
        self.nodes(proto.node)
        outputs = [_output(info, self.values.get(info.name)) for info in proto.output]
        return Graph.of(inputs, outputs, re.sub(r"\W", "_", proto.name) or "main")

    def constants(self, proto: onnx.GraphProto) -> None:
        for tensor in proto.initializer:
            try:
                self.values[tensor.name] = const(array(tensor), name=tensor.name, given=True)
            except ValueError as error:
                raise ValueError(f"the initializer {tensor.name!r}: {error}") from error

    def nodes(self, nodes: Iterable[onnx.NodeProto], origin: tuple[str, ...] = ()) -> None:
        """Translate nodes in order; `origin` names them all, else each is named by itself."""
        for index, node in enumerate(nodes):
            where = origin or (node.name or f"{node.op_type}#{index}",)
            if self.inside:
                self.growth.node()
            try:
                results = self._translate(node, where)
            except (NeedsConstant, UnsupportedOps, _Located):
                raise
            except (ValueError, TypeError, IndexError, ArithmeticError) as error:
                raise _Located(f"{node.op_type} (from {where[0]}): {error}") from error
            except (AttributeError, KeyError) as error:  # of a rule that met something unforeseen
                reason = f"its operands or attributes are not what ONNX prescribes ({error})"
                raise _Located(f"{node.op_type} (from {where[0]}): {reason}") from error
            self.written.update(node.output)
            for name, result in zip_longest(node.output, results[: len(node.output)]):
                if name:  # an output without a name is one that nothing reads
                    self.values[name] = Missing(node.op_type, name) if result is None else result

    def _translate(self, node: onnx.NodeProto, origin: tuple[str, ...]) -> Sequence[Value]:
        inputs = self._operands(node)
        name = rule_name(node.op_type, node.domain)
        if name in CONTROL:
            return control.translate(self, node, inputs, origin)
        if name not in RULES:
            return self._by_definition(node, inputs, origin)
        attrs = attributes(node)
        if is_shape_arithmetic(node.op_type, inputs):
            return [shape_arithmetic(node.op_type, inputs, attrs)]
        used = max((k + 1 for k, name in enumerate(node.output) if name), default=1)
        result = call(RULES[name], inputs, attrs, opset=self.opset, outputs=used)
        if isinstance(result, SymbolicShape):
            return [result]
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        operands = [x for x in inputs if isinstance(x, Node)]
        return stamp(results, operands, origin, [_readable(name) for name in node.output])

    def _operands(self, node: onnx.NodeProto) -> list[Any]:
        """What the node reads. ValueError for what a broken model would read or write."""
        ghosts = [name for name in node.input if name not in self.values]
        if ghosts:
            raise ValueError(f"it reads {ghosts[0]!r}, which nothing before it defines")
        again = [name for name in node.output if name and name in self.written]
        if again:
            raise ValueError(f"it defines {again[0]!r}, which a node before it defines, too")
        known = schema(rule_name(node.op_type, node.domain), self.opset)
        if known is not None:
            _check_form(node, known)
        inputs = [self.values[name] for name in node.input]
        for value in inputs:
            if isinstance(value, Missing):
                lost = f"{value.name!r}, an output of {value.op_type}"
                raise ValueError(f"it reads {lost} that this compiler does not compute")
        return inputs

    def _by_definition(
        self, node: onnx.NodeProto, inputs: Sequence[Any], origin: tuple[str, ...]
    ) -> list[Value]:
        """An op that ONNX defines by simpler ops: import its body in a scope of its own."""
        body = definition(node, inputs, self.opset)
        unknown = [(f"{op}, which {node.op_type} is made of", origin[0])
                   for op, _ in missing(body.node, self.opset)]  # fmt: skip
        if unknown:
            raise UnsupportedOps("the model", unknown)
        given = dict.fromkeys(body.input) | dict(zip(body.input, inputs, strict=False))
        inner = _Importer(version(body.opset_import), given, self)
        inner.nodes(body.node, origin)
        return [inner.values.get(name) for name in body.output]

    def subgraph(
        self, proto: onnx.GraphProto, inputs: Sequence[Any], origin: tuple[str, ...]
    ) -> list[Value]:
        """The results of a graph inside a node; it sees all values around it."""
        inner = _Importer(self.opset, self.values, self)
        inner.constants(proto)
        inner.values.update({i.name: v for i, v in zip(proto.input, inputs, strict=True)})
        inner.nodes(proto.node, origin)
        return [inner.values[o.name] for o in proto.output]


def _check_form(node: onnx.NodeProto, known: Any) -> None:
    """ValueError if operands or attributes that ONNX asks for are not there, or too many are."""
    given, least, most = len(node.input), known.min_input, known.max_input
    if given > most:
        raise ValueError(f"it has {given} operands, at most {most} are allowed")
    if given < least:
        raise ValueError(f"it has {given} operands, at least {least} are needed")
    single = defs.OpSchema.FormalParameterOption.Single
    for name, asked in zip(node.input, known.inputs, strict=False):
        if not name and asked.option == single:
            raise ValueError(f"its operand {asked.name!r} is left out, but required")
    there = {attribute.name for attribute in node.attribute}
    for name, asked in known.attributes.items():
        if asked.required and name not in there:
            raise ValueError(f"it needs the attribute {name!r}")


class _Located(ValueError):
    """An error that already says which node it is about."""


# ── inputs and outputs of the model ──


def _example(examples: Any, name: str, index: int) -> Any:
    if isinstance(examples, Mapping):
        return examples.get(name)
    return examples[index] if examples and index < len(examples) else None


def _input_type(info: onnx.ValueInfoProto, example: Any) -> TensorType:
    """The declared type, with the example's numbers in place of symbols."""
    declared = declared_type(info, "input")
    if example is None:
        if declared is None:
            raise ValueError(f"input {info.name!r} has no shape; give example inputs")
        return declared
    given = type_of(np.asarray(example))
    if declared is not None and not _agree(given.shape, declared.shape):
        raise ValueError(f"input {info.name!r} must be {declared}, got {given}")
    return TensorType(element_type(info.type.tensor_type.elem_type), given.shape)


def _frozen(info: onnx.ValueInfoProto, value: np.ndarray) -> Node:
    """An input as a constant. ValueError if the value is not of its type."""
    wanted = _input_type(info, value)
    if wanted != type_of(value):
        raise ValueError(f"freeze: input {info.name!r} must be {wanted}, got {type_of(value)}")
    return const(value, name=info.name)


def _output(info: onnx.ValueInfoProto, value: Value) -> Node:
    """The node of an output, if it has the declared type, or can have: sizes may be open."""
    if not isinstance(value, Node):
        raise ValueError(f"the output {info.name!r} is not a tensor that this compiler computes")
    declared_kind = info.type.WhichOneof("value")
    if declared_kind is None or (
        declared_kind == "tensor_type" and not info.type.tensor_type.elem_type
    ):
        return value
    declared, computed = declared_type(info, "output"), value.type
    kind = element_type(info.type.tensor_type.elem_type)
    if kind != computed.dtype or (declared and not _agree(computed.shape, declared.shape)):
        raise ValueError(
            f"the output {info.name!r} is declared as {declared or kind}, "
            f"but the model computes {computed}"
        )
    return value


def _agree(shape: Sequence[Dim], declared: Sequence[Dim]) -> bool:
    """Can these be the same shape, whatever numbers the symbols stand for?"""
    return len(shape) == len(declared) and all(
        isinstance(have, Sym) or isinstance(want, Sym) or have == want
        for have, want in zip(shape, declared, strict=True)
    )


def _readable(name: str) -> str:
    """Exporters name values by whole paths; the origin says that better."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else ""
