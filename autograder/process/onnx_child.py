"""The process in which onnxruntime runs a model that somebody handed in.

    outside.py                           here
      model, names and arrays     ->
                                  <-     arrays, or what onnxruntime said

A message is the length of its head, the head as JSON, and the bytes that the head announces. Its
own optimizations are off: what is asked for is what the model says. Limits are set before the first
model is read. Next room: autograder/check/outside.py, the other end.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import Any, BinaryIO

HEAD = struct.Struct("<Q")
LIMITS = {
    "RLIMIT_AS": 3 << 30,
    "RLIMIT_FSIZE": 0,
    "RLIMIT_NOFILE": 32,
    "RLIMIT_CORE": 0,
}
MAX_RESULT = 256 << 20  # bytes


def write(stream: BinaryIO, head: dict[str, Any], *blobs: bytes) -> None:
    text = json.dumps({**head, "sizes": [len(b) for b in blobs]}).encode()
    stream.write(HEAD.pack(len(text)) + text + b"".join(blobs))
    stream.flush()


def _read(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]]:
    start = stream.read(HEAD.size)
    if len(start) < HEAD.size:
        os._exit(0)  # the other end is gone
    head = json.loads(stream.read(HEAD.unpack(start)[0]))
    return head, [stream.read(size) for size in head["sizes"]]


def _answer(onnxruntime: Any, numpy: Any, head: dict[str, Any], blobs: list[bytes]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(blobs[0], options, providers=["CPUExecutionProvider"])
    arrays = {
        name: numpy.frombuffer(blob, dtype).reshape(shape)
        for (name, dtype, shape), blob in zip(head["inputs"], blobs[1:], strict=True)
    }
    return [numpy.ascontiguousarray(array) for array in session.run(None, arrays)]


def main() -> None:
    uid, folder, packages = sys.argv[1:]
    sys.path[:0] = [folder, packages]
    sys.dont_write_bytecode = True
    import numpy
    import onnxruntime
    from child import lock  # type: ignore[import-not-found]

    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    lock(int(uid), LIMITS)
    while True:
        head, blobs = _read(source)
        try:
            arrays = _answer(onnxruntime, numpy, head, blobs)
            if sum(array.nbytes for array in arrays) > MAX_RESULT:
                raise ValueError(f"its results have more than {MAX_RESULT >> 20} MB")
            kinds = [[array.dtype.str, array.shape] for array in arrays]
            parts = [array.tobytes() for array in arrays]
        except Exception as error:  # onnxruntime's own exceptions have no base class but this
            write(sink, {"error": str(error)[:500]})
        else:
            write(sink, {"arrays": kinds}, *parts)


if __name__ == "__main__":
    main()
