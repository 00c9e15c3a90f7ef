"""ONNX models on the wire: the bytes of the file format, with all weights inside.

    onnx_bytes(model)  ->  b"..."  ->  read_onnx_model(...)

A model is parsed by protobuf and never run here. It may not point at files: those would be files of
the end that reads it. Nor may it bring functions or operators of its own (those of `FOREIGN`
apart), or weights that are not as large as they say. Next room: records.py.
"""

from __future__ import annotations

import math
import sys
from typing import Any

DOMAINS = ("", "ai.onnx")
FOREIGN = {
    ("com.microsoft", "FusedConv"),  # what unit 3 makes; of onnxruntime's own, nothing else
    ("nobody", "Conv"),  # and what it has to leave alone; no runtime has these
    ("nobody", "Relu"),
    ("nobody", "BatchNormalization"),
}
MAX_NODES = 20_000  # in all graphs together
MAX_GRAPHS = 8  # inside each other
MAX_PARTS = 500_000  # messages of any kind in a model
MAX_ELEMENTS = 1 << 25  # of all weights together
DATA = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}


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
    """The model; Unsendable if it holds anything but nodes of ONNX and weights."""
    import onnx

    model = onnx.load_from_string(data)
    if len(model.functions) or len(model.training_info):
        raise Unsendable("a model with functions of its own")
    for entry in model.opset_import:
        if entry.domain not in {domain for domain, _ in FOREIGN}:
            _known(entry.domain)
    _Inspection().look(model)
    return model


class _Inspection:
    """Walks over every message in a model, and counts."""

    def __init__(self) -> None:
        self.nodes = self.parts = self.elements = 0

    def look(self, model: Any) -> None:
        stack = [(model, 0)]
        while stack:
            message, depth = stack.pop()
            self.parts += 1
            if self.parts > MAX_PARTS:
                raise Unsendable(f"a model of more than {MAX_PARTS:,} parts")
            depth = self._depth(message, depth)
            for field, content in message.ListFields():
                if field.message_type is None:
                    continue
                if hasattr(content, "DESCRIPTOR"):
                    stack.append((content, depth))
                else:
                    values = content.values() if hasattr(content, "values") else content
                    stack += [(part, depth) for part in values if hasattr(part, "ListFields")]

    def _depth(self, message: Any, depth: int) -> int:
        """Refuse one message, or say how deep the ones in it are."""
        kind = message.DESCRIPTOR.name
        if kind == "TensorProto":
            self._tensor(message)
        elif kind == "NodeProto":
            if (message.domain, message.op_type) not in FOREIGN:
                _known(message.domain)
            self.nodes += 1
            if self.nodes > MAX_NODES:
                raise Unsendable(f"a model of more than {MAX_NODES:,} nodes")
        elif kind == "GraphProto":
            if depth >= MAX_GRAPHS:
                raise Unsendable(f"graphs nested more than {MAX_GRAPHS} deep")
            return depth + 1
        return depth

    def _tensor(self, tensor: Any) -> None:
        if tensor.data_location or tensor.external_data:
            raise Unsendable(f"the weight {tensor.name!r:.100} lies in another file")
        if any(size < 0 for size in tensor.dims):
            raise Unsendable(f"the weight {tensor.name!r:.100} has a negative size")
        elements = math.prod(tensor.dims)
        self.elements += elements
        if self.elements > MAX_ELEMENTS:
            raise Unsendable(f"weights of more than {MAX_ELEMENTS:,} elements together")
        size = BYTES.get(tensor.data_type)
        if size is None:
            return  # text, complex numbers, less than a byte: as many elements as is said above
        if tensor.raw_data:
            fits = len(tensor.raw_data) == elements * size
        else:
            fits = sum(len(getattr(tensor, name)) for name in DATA) == elements
        if not fits:
            raise Unsendable(f"the data of the weight {tensor.name!r:.100} do not fill its shape")


def _known(domain: str) -> None:
    if domain not in DOMAINS:
        raise Unsendable(f"operators of the domain {domain!r:.100}, which is not ONNX's own")
