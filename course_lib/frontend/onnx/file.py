"""The ONNX file itself: read it, and say what it takes, before anything is translated.

    signature("model.onnx")   ->   {"x": f32[batch,3,224,224]}

A file may be damaged, keep its weights in another file, or list them among its inputs; all of this
is settled here. Next: `read.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx.external_data_helper import load_external_data_for_model

from course_lib.files import readable
from course_lib.frontend.onnx.table import element_type
from course_lib.ir.types import Dim, Sym, TensorType

Model = str | Path | bytes | onnx.ModelProto


def signature(model: Model) -> dict[str, TensorType | None]:
    """The declared type of each input; None where the model does not declare its shape."""
    proto, _ = read_proto(model)
    return {info.name: declared_type(info) for info in inputs_of(proto.graph)}


def inputs_of(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """The inputs that a caller gives. (Old models list their weights as inputs too.)"""
    weights = {tensor.name for tensor in graph.initializer}
    return [info for info in graph.input if info.name not in weights]


def load_proto(model: Model) -> tuple[onnx.ModelProto, str]:
    """The model with its external data, and a name for messages."""
    proto, name = read_proto(model)
    if isinstance(model, (str, Path)):
        _load_external_data(proto, Path(model))
    return proto, name


def read_proto(model: Model) -> tuple[onnx.ModelProto, str]:
    """The model without its external data, and a name for messages."""
    if isinstance(model, onnx.ModelProto):
        return model, f"the model {model.graph.name!r}"
    name = "these bytes" if isinstance(model, bytes) else str(model)
    try:
        if isinstance(model, bytes):
            proto = onnx.load_from_string(model)
        else:
            proto = onnx.load(str(readable(model)), load_external_data=False)
    except DecodeError as error:
        raise ValueError(f"{name} is not an ONNX model, or is damaged: {error}") from error
    if not proto.opset_import or not proto.graph.output:
        raise ValueError(f"{name} is not an ONNX model: it has no graph and no opset")
    if any(isinstance(text, bytes) for text in _names(proto.graph)):
        raise ValueError(f"{name} is damaged: a name in it is not text")
    return proto, name


def _names(graph: onnx.GraphProto) -> Iterable[str]:
    """Names that we compute with. (Protobuf hands out bytes where they are not valid text.)"""
    yield graph.name
    for info in graph.input:
        yield info.name
        yield from (d.dim_param for d in info.type.tensor_type.shape.dim)
    for node in graph.node:
        yield from (node.op_type, node.domain, node.name, *node.input, *node.output)


def _load_external_data(proto: onnx.ModelProto, path: Path) -> None:
    try:
        load_external_data_for_model(proto, str(path.parent))
    except Exception as error:
        raise ValueError(
            f"{path}: the weights that it keeps in another file cannot be read: {error}"
        ) from error


def declared_type(info: onnx.ValueInfoProto, what: str = "input") -> TensorType | None:
    """The type of an input or output, with symbols for open sizes; None if it has no shape."""
    if not info.type.HasField("tensor_type"):
        kind = info.type.WhichOneof("value") or "value without a type"
        raise ValueError(f"{what} {info.name!r} is a {kind}; this compiler works on tensors")
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    dims = tuple(_dim(d, f"{info.name}_{axis}") for axis, d in enumerate(tensor.shape.dim))
    try:
        return TensorType(element_type(tensor.elem_type), dims)
    except ValueError as error:
        raise ValueError(f"{what} {info.name!r}: {error}") from None


def _dim(dim: Any, fallback: str) -> Dim:
    if dim.HasField("dim_value"):
        return dim.dim_value
    return Sym.named(re.sub(r"\W|^(?=\d)", "_", dim.dim_param or fallback))
