"""ONNX rules for signals: Fourier transforms.

    STFT(%signal: f32[1,160,1], 40, %window)   ->   dft(gather(%signal, frames) * window)

Next: `contrib.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.onnx.table import translates
from course_lib.frontend.onnx.values import numbers
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import i64
from course_lib.limits import check_room


@translates("DFT")
def dft(x: Node, length: Node | None = None, where: Node | None = None, *, axis: int | None = None,
        inverse: int = 0, onesided: int = 0, opset: int = 20) -> Node:  # fmt: skip
    """The axis is an input since opset 20, an attribute before."""
    if where is not None:
        axis = int(numbers(where, "the axis").item())
    elif axis is None:
        axis = 1 if opset < 20 else -2
    count = None if length is None else int(numbers(length, "the length").item())
    return apply("dft", x, axis=normal_axis(axis, x.type.rank, "DFT"), length=count,
                 inverse=bool(inverse), onesided=bool(onesided))  # fmt: skip


@translates("STFT")
def stft(x: Node, step: Node, window: Node | None = None, length: Node | None = None, *,
         onesided: int = 1) -> Node:  # fmt: skip
    """The transform of each frame: [batch, time, 1 or 2] -> [batch, frame, frequency, 2].

    A real signal may come without its last axis. The window is as long as a frame.
    """
    x = blocks.add_axes(x, [2]) if x.type.rank == 2 else x
    hop = int(numbers(step, "the step").item())
    if length is not None:
        size = int(numbers(length, "the length of a frame").item())
    else:
        size = x.type.dims[1] if window is None else window.type.dims[0]
    if hop < 1 or not 1 <= size <= x.type.dims[1]:
        raise ValueError(f"frames of {size}, {hop} apart, do not fit into {x.type}")
    if window is not None and window.type.shape != (size,):
        raise ValueError(f"the window {window.type} must be as long as a frame, {size}")
    frames = (x.type.dims[1] - size) // hop + 1
    check_room(8 * frames * size, f"{frames} frames of {size}")
    starts = np.arange(0, x.type.dims[1] - size + 1, hop)
    frames = apply("gather", x, b.const(starts[:, None] + np.arange(size), i64), axis=1)
    if window is not None:
        frames = b.mul(frames, blocks.add_axes(window, [1]))
    return apply("dft", frames, axis=2, onesided=bool(onesided))
