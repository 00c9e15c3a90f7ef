"""Plain data as bytes, and back: all that crosses between the student's process and the grader's.

    encode({"x": np.float32([1, 2]), "graph": g})  ->  b"..."  ->  decode(...)

| value                                   | on the wire                                        |
|-----------------------------------------|----------------------------------------------------|
| None, bool, int, float, str             | JSON (nan and inf by name)                         |
| list, tuple, set, dict                  | JSON, tagged                                       |
| numpy array, numpy scalar               | bytes, with dtype and shape                        |
| Graph                                   | its exact text                                     |
| TensorType, DType                       | their text                                         |
| a function (grader to student only)     | a number; calling it there calls it here           |

Never pickle: decoding makes values of these types and nothing else, and it checks sizes before it
allocates. Everything that comes from a student's process is treated as hostile.

One end of the pipe has one object for one graph text, sent or received, so that `is` means what it
means inside one process.

Next room: worker.py, the student's end of the pipe; sandbox.py, ours.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_BYTES = 256 << 20  # of one message
MAX_ELEMENTS = 1 << 27  # of all tensors of a graph together
MAX_LINES = 50_000  # of a graph's text
MAX_DEPTH = 60
DTYPES = {np.dtype(d).str for d in (*"?bBhHiIqQ", "f2", "f4", "f8", "c8", "c16")}


class Unsendable(ValueError):
    """The value is not plain data, or not what it says it is."""


class Codec:
    """One end of a conversation. `call(number, args, kwargs)` runs a function of the other end."""

    def __init__(self, call: Callable[[int, tuple, dict], Any] | None = None):
        self.call = call
        self.functions: list[Callable[..., Any]] = []
        self._graphs: dict[bytes, Any] = {}

    def encode(self, value: Any) -> bytes:
        blobs: list[bytes] = []
        body = json.dumps(self._pack(value, blobs, 0), allow_nan=False).encode()
        sizes = struct.pack(f"<{len(blobs)}Q", *map(len, blobs))
        return struct.pack("<QI", len(body), len(blobs)) + sizes + body + b"".join(blobs)

    def decode(self, data: bytes) -> Any:
        try:
            return self._decode(memoryview(data))
        except Unsendable:
            raise
        except (
            ValueError,
            KeyError,
            TypeError,
            IndexError,
            AttributeError,
            OverflowError,
            AssertionError,
            RecursionError,
            struct.error,
        ) as error:
            raise Unsendable(f"This cannot be read: {error}") from None

    def _decode(self, data: memoryview) -> Any:
        length, count = struct.unpack_from("<QI", data)
        sizes = struct.unpack_from(f"<{count}Q", data, 12)
        start = 12 + 8 * count
        body = json.loads(bytes(data[start : start + length]))
        start += length
        if start + sum(sizes) != len(data):
            raise Unsendable("the message is cut short")
        blobs = []
        for size in sizes:
            blobs.append(data[start : start + size])
            start += size
        return self._unpack(body, blobs)

    def _pack(self, value: Any, blobs: list[bytes], depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unsendable(f"a value nested more than {MAX_DEPTH} deep")

        def pack(part: Any) -> Any:
            return self._pack(part, blobs, depth + 1)

        if value is None or isinstance(value, (bool, str)):
            return value if value is None or isinstance(value, bool) else str(value)
        if isinstance(value, np.generic):
            return {"scalar": _pack_array(np.asarray(value), blobs)}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if isinstance(value, np.ndarray):
            return {"array": _pack_array(value, blobs)}
        if isinstance(value, dict):
            return {"dict": [[pack(k), pack(v)] for k, v in value.items()]}
        for kind, name in ((list, "list"), (tuple, "tuple"), ((set, frozenset), "set")):
            if isinstance(value, kind):
                return {name: [pack(v) for v in value]}
        return self._pack_ir(value, blobs)

    def _pack_ir(self, value: Any, blobs: list[bytes]) -> Any:
        from course_lib.ir.graph import Graph
        from course_lib.ir.types import DType, TensorType

        if isinstance(value, Graph):
            text = _exact(value)
            self._graphs.setdefault(_key(text), value)
            return {"graph": text}
        if isinstance(value, TensorType):
            return {"type": str(value)}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if callable(value) and self.call is None:
            self.functions.append(value)
            return {"function": len(self.functions) - 1}
        raise Unsendable(f"a {type(value).__name__} is not plain data")

    def _unpack(self, packed: Any, blobs: list[memoryview]) -> Any:
        if not isinstance(packed, dict):
            if isinstance(packed, list):
                raise Unsendable("an untagged list")
            return packed
        ((kind, body),) = packed.items()
        if kind in ("list", "tuple", "set"):
            parts = [self._unpack(part, blobs) for part in body]
            return {"list": list, "tuple": tuple, "set": set}[kind](parts)
        if kind == "dict":
            return {self._unpack(k, blobs): self._unpack(v, blobs) for k, v in body}
        if kind == "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body]
        if kind == "array":
            return _unpack_array(body, blobs)
        if kind == "scalar":
            return _unpack_array(body, blobs)[()]
        if kind == "graph":
            return self._unpack_graph(str(body))
        if kind in ("type", "dtype"):
            return _unpack_type(kind, body)
        if kind == "function" and self.call is not None:
            return self._proxy(int(body))
        raise Unsendable(f"unknown tag {kind!r}")

    def _proxy(self, number: int) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            assert self.call is not None
            return self.call(number, args, kwargs)

        return call

    def _unpack_graph(self, text: str) -> Any:
        from course_lib.ir.text import parse_graph

        key = _key(text)
        if key not in self._graphs:
            _check_size(text)
            self._graphs[key] = parse_graph(text)
        return self._graphs[key]


def _exact(graph: Any) -> str:
    from course_lib.ir.text import print_graph
    from course_lib.ir.verify import verify

    try:
        return print_graph(verify(graph), constants="exact")
    except Exception as error:  # a student can put anything into a Graph
        raise Unsendable(f"The graph is not well formed: {error}") from None


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _pack_array(array: np.ndarray, blobs: list[bytes]) -> dict[str, Any]:
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in DTYPES:
        raise Unsendable(f"an array of dtype {array.dtype} is not plain data")
    blobs.append(array.astype(dtype, copy=False).tobytes())
    return {"dtype": dtype, "shape": list(array.shape), "blob": len(blobs) - 1}


def _unpack_array(body: Any, blobs: list[memoryview]) -> np.ndarray:
    dtype, shape = body["dtype"], tuple(body["shape"])
    if dtype not in DTYPES:
        raise Unsendable(f"dtype {dtype!r}")
    if not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 32:
        raise Unsendable(f"shape {shape!r}")
    blob = blobs[body["blob"]]
    if math.prod(shape) * np.dtype(dtype).itemsize != len(blob):
        raise Unsendable("an array's bytes do not fill its shape")
    return np.frombuffer(blob, dtype).reshape(shape).copy()


def _check_size(text: str) -> None:
    """Refuse a graph whose tensors would not fit, before anything of that size is allocated."""
    if text.count("\n") > MAX_LINES:
        raise Unsendable(f"a graph of more than {MAX_LINES} lines")
    total, at = 0, text.find("[")
    while at >= 0:
        if text[at - 1].isalnum():  # f32[1,3,224,224], not a list of numbers
            dims = text[at + 1 : text.find("]", at)]
            total += math.prod(int(d) for d in re.findall(r"\d+", dims[:400]))
            if total > MAX_ELEMENTS:
                raise Unsendable(f"a graph with tensors of more than {MAX_ELEMENTS:,} elements")
        at = text.find("[", at + 1)


def _unpack_type(kind: str, text: str) -> Any:
    from course_lib.ir import types

    return types.dtype(str(text)) if kind == "dtype" else types.parse_type(str(text))
