"""Searches of TVM's MetaSchedule for three layers, recorded or run here.

    LOGS["dense"]["trials"][0]      {"trace": [instructions, decisions], "seconds": 2.9e-05}
    LOGS["dense"]["plain"]          seconds of the loops as they were written

A trace has two or three kilobytes, and most of it is the same in all trials, so the recording is
compressed. Next room: shown.py.
"""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from textwrap import wrap
from typing import Any

from course_lib.peers.peer import lacking, peer
from course_lib.recorded import recorded

BY_TVM = recorded(__file__, "layers.txt")
SIZES = {
    "conv2d": "{} channels of {} x {}, {} filters of {} x {}, bias and ReLU",
    "dense": "{} rows of {} numbers, {} results, bias and ReLU",
    "batch_matmul": "{} products of {} x {} and {} x {}",
}
Log = dict[str, Any]


def packed(log: Log) -> str:
    """A log as lines of letters."""
    small = zlib.compress(json.dumps(log, separators=(",", ":")).encode(), 9)
    return "\n".join(wrap(base64.b64encode(small).decode(), 96)) + "\n"


def unpacked(text: str) -> Log:
    """The log of such lines."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


LOGS: dict[str, Log] = {name: unpacked(text) for name, text in BY_TVM.texts.items()}


@cache
def search(name: str, trials: int = 8, seed: int = 2) -> Log:
    """A short search on this machine. Where TVM is not installed, it says so: the recorded one."""
    if words := lacking(peer("tvm")):
        print(f"{words} Here is what was {BY_TVM.words}.")
        return LOGS[name]
    from course_lib.peers.tvm_layers import LAYERS, searched  # TVM need not be installed

    return searched(LAYERS[name], trials, seed)
