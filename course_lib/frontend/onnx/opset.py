"""What ONNX says about its own ops: which ones an opset has, and how it defines some by others.

    missing(nodes, 17)                  ->  ("NonMaxSuppression", "nms"), ...   nothing known
    definition(Softsign(%x), [x], 20)   ->  Abs, Add, Div                       simpler ops

The rules translate opset 13 and newer; `upgrade.py` brings older models there. Next: `values.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import onnx
from onnx import defs, helper

from course_lib.frontend.onnx.rules import RULES
from course_lib.frontend.onnx.table import rule_name, type_code
from course_lib.frontend.onnx.values import SymbolicShape
from course_lib.ir.graph.node import Node

OLDEST_OPSET = 13
NEWEST_OPSET = defs.onnx_opset_version()
CONTROL = ("If", "Loop", "Scan")
NCHWC = "com.microsoft.nchwc"  # onnxruntime's ops on blocks of channels


def version(imports: Iterable[Any]) -> int:
    """The opset of ONNX's own ops, of those that a model or a function imports."""
    return {o.domain or "ai.onnx": o.version for o in imports}.get("ai.onnx", OLDEST_OPSET)


def missing(nodes: Iterable[Any], opset: int) -> Iterable[tuple[str, str]]:
    """(op, node) for each node that neither a rule nor a definition covers."""
    for index, node in enumerate(nodes):
        where = node.name or f"{node.op_type}#{index}"
        name = rule_name(node.op_type, node.domain)
        if node.domain == NCHWC:
            yield f"{name} (saved for one processor: save it with ORT_ENABLE_EXTENDED)", where
        elif name not in (*RULES, *CONTROL) and not _has_definition(name, node, opset):
            yield name, where
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from missing(attribute.g.node, opset)


@cache
def schema(op_type: str, opset: int) -> Any:
    """ONNX's description of an op, as of this opset; None if it has no such op."""
    try:
        return defs.get_schema(op_type, opset, "")
    except defs.SchemaError:
        return None


def _has_definition(name: str, node: onnx.NodeProto, opset: int) -> bool:
    schema_of = schema(name, opset)
    if schema_of is None or not (
        schema_of.has_function or schema_of.has_context_dependent_function
    ):
        return False
    return not (schema_of.has_function and list(missing(schema_of.function_body.node, opset)))


def definition(node: onnx.NodeProto, inputs: Sequence[Any], opset: int) -> onnx.FunctionProto:
    """The body that ONNX gives for an op, with the node's attributes written into it.

    Some bodies depend on the types of the operands; an operand that is left out is None.
    """
    entry = schema(node.op_type, opset)
    body = onnx.FunctionProto()
    if entry.has_function:
        body.CopyFrom(entry.function_body)
    else:
        types = [b"" if x is None else _type_proto(x).SerializeToString() for x in inputs]
        text = entry.get_context_dependent_function(node.SerializeToString(), types)
        body.ParseFromString(text)
    given = {n: a.default_value for n, a in entry.attributes.items() if a.default_value.type}
    given |= {a.name: a for a in node.attribute}
    nodes = [_with_attributes(n, given) for n in body.node]
    del body.node[:]
    body.node.extend(nodes)
    return body


def _type_proto(x: Node | SymbolicShape) -> onnx.TypeProto:
    if isinstance(x, SymbolicShape):
        return helper.make_tensor_type_proto(onnx.TensorProto.INT64, x.sizes.shape)
    shape = [d if isinstance(d, int) else str(d) for d in x.type.shape]
    return helper.make_tensor_type_proto(type_code(x.type.dtype), shape)


def _with_attributes(node: onnx.NodeProto, given: Mapping[str, Any]) -> onnx.NodeProto:
    """A node of a function body with the caller's attributes in place of references to them."""
    new = onnx.NodeProto()
    new.CopyFrom(node)
    del new.attribute[:]
    for attribute in node.attribute:
        source = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if source is not None:
            new.attribute.append(source)
            new.attribute[-1].name = attribute.name
    return new
