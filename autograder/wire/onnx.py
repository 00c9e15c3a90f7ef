"""ONNX models on the wire: the bytes of the file format, with all weights inside.

    onnx_bytes(model)  ->  b"..."  ->  read_onnx_model(...)

A model is parsed by protobuf and never run here. It may not point at files: those would be files of
the end that reads it. Next room: autograder/grading/worker.py, the student's end of the pipe.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


class Unsendable(ValueError):
    """The value is not plain data, or not what it says it is."""


def is_onnx_model(value: Any) -> bool:
    """Without importing onnx: whoever has such a value has imported it."""
    onnx = sys.modules.get("onnx")
    return onnx is not None and isinstance(value, onnx.ModelProto)


def onnx_bytes(model: Any) -> bytes:
    """The same bytes for the same model."""
    return model.SerializeToString(deterministic=True)


def read_onnx_model(data: bytes) -> Any:
    """The model; Unsendable if one of its weights lies in another file."""
    import onnx

    model = onnx.load_from_string(data)
    for tensor in _tensors(model.graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise Unsendable(f"the weight {tensor.name!r} lies in another file")
    return model


def _tensors(message: Any) -> Iterator[Any]:
    """Every tensor anywhere in a protobuf message."""
    stack = [message]
    while stack:
        found = stack.pop()
        if found.DESCRIPTOR.name == "TensorProto":
            yield found
            continue
        for field, content in found.ListFields():
            if field.message_type is not None:
                stack += [content] if hasattr(content, "DESCRIPTOR") else content
