"""What a limited process and its owner say to each other: a head as JSON, and bytes.

    write(stream, {"name": "counted"}, array.tobytes())
    head, (blob,) = read(stream)

A message is the length of its head, the head, and the bytes whose sizes the head announces. Only
the standard library is used, so that any child can begin with it. Next room: onnx_child.py and
cpp_child.py, which read what their owner, autograder/check/outside.py, writes.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any, BinaryIO

HEAD = struct.Struct("<Q")
MAX_RESULT = 256 << 20  # bytes


def write(stream: BinaryIO, head: dict[str, Any], *blobs: bytes) -> None:
    text = json.dumps({**head, "sizes": [len(b) for b in blobs]}).encode()
    stream.write(HEAD.pack(len(text)) + text + b"".join(blobs))
    stream.flush()


def read(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]]:
    """The next message; at the end of them, this process ends."""
    start = stream.read(HEAD.size)
    if len(start) < HEAD.size:
        os._exit(0)  # the other end is gone
    head = json.loads(stream.read(HEAD.unpack(start)[0]))
    return head, [stream.read(size) for size in head["sizes"]]


def pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two ends that lead to the owner. What else is printed here goes nowhere."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    return source, sink
