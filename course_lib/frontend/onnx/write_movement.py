"""The export of ops that move elements: reshape, transpose, slice, pad, gather, scatter.

    slice(%x) {starts = [0, 2], stops = [3, 8]}     ->   Slice(%x, starts [2], ends [8], axes [1])
    of %x : f32[3,8]

ONNX takes shapes, bounds and axes as operands, so they become constants here. Next:
`write_products.py`, products of floats and of integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from course_lib.frontend.onnx.write_rules import RULES, exports
from course_lib.frontend.onnx.writer import Writer
from course_lib.ir.graph.node import Node
from course_lib.ir.types import Sym

__all__ = ["RULES"]


def _shape(w: Writer, node: Node) -> str:
    """The result's shape as a constant; one symbolic size may be left to ONNX as -1."""
    symbols = [d for d in node.type.shape if isinstance(d, Sym)]
    if len(symbols) > 1 or (symbols and node.op != "reshape"):
        raise ValueError(f"{node!r}: cannot write a shape with symbols {symbols} into ONNX")
    return w.constant(np.array([-1 if isinstance(d, Sym) else d for d in node.type.shape],
                               np.int64))  # fmt: skip


@exports("reshape")
def _reshape(w: Writer, node: Node, x: str) -> str:
    shape = _shape(w, node)
    if 0 in node.type.shape and w.opset >= 14:
        return w.emit("Reshape", x, shape, allowzero=1)
    return w.emit("Reshape", x, shape)


@exports("expand")
def _expand(w: Writer, node: Node, x: str) -> str:
    return w.emit("Expand", x, _shape(w, node))


@exports("transpose")
def _transpose(w: Writer, node: Node, x: str) -> str:
    perm = node.attrs["perm"]
    return w.emit("Transpose", x, perm=perm) if perm else w.emit("Identity", x)


@exports("concat")
def _concat(w: Writer, node: Node, *parts: str) -> str:
    return w.emit("Concat", *parts, axis=node.attrs["axis"])


@exports("slice")
def _slice(w: Writer, node: Node, x: str) -> str:
    """Axes that are kept whole are left out; a stop of -1 (walking backwards) is far outside."""
    old = node.inputs[0].type.shape
    steps = node.attrs["steps"] or (1,) * len(old)
    parts = [
        (a, start, -(2**31) if stop == -1 else stop, step)
        for a, (start, stop, step) in enumerate(
            zip(node.attrs["starts"], node.attrs["stops"], steps, strict=True)
        )
        if (start, stop, step) != (0, old[a], 1)
    ]
    if not parts:
        return w.emit("Identity", x)
    axes, starts, stops, steps = (np.array(v, np.int64) for v in zip(*parts, strict=True))
    return w.emit("Slice", x, *(w.constant(v) for v in (starts, stops, axes, steps)))


@exports("pad")
def _pad(w: Writer, node: Node, x: str) -> str:
    """Padding between neighbours: give each element an axis of its own, pad that, cut the end."""
    operand, fill = node.inputs[0].type, np.array(node.attrs["value"], node.type.dtype.numpy)
    gaps = node.attrs["interior"] or (0,) * operand.rank
    if any(gaps):
        dims = operand.dims
        apart = [size for n in dims for size in (n, 1)]
        x = w.emit("Reshape", x, w.constant(np.array(apart, np.int64)))
        high = [size for g in gaps for size in (0, g)]
        x = _padded(w, x, [0] * len(high), high, fill)
        wide = [n * (g + 1) for n, g in zip(dims, gaps, strict=True)]
        x = w.emit("Reshape", x, w.constant(np.array(wide, np.int64)))
        ends = [n - g if n else 0 for n, g in zip(wide, gaps, strict=True)]
        zeros, axes = [0] * len(ends), list(range(len(ends)))
        x = w.emit("Slice", x, *(w.constant(np.array(v, np.int64)) for v in (zeros, ends, axes)))
    return _padded(w, x, node.attrs["low"], node.attrs["high"], fill)


def _padded(w: Writer, x: str, low: Sequence[int], high: Sequence[int], fill: np.ndarray) -> str:
    return w.emit("Pad", x, w.constant(np.array([*low, *high], np.int64)), w.constant(fill))


@exports("gather", "gather_elements")
def _gather(w: Writer, node: Node, x: str, indices: str) -> str:
    name = {"gather": "Gather", "gather_elements": "GatherElements"}[node.op]
    return w.emit(name, x, _index(w, node.inputs[1], indices), axis=node.attrs["axis"])


@exports("scatter_elements", "scatter_nd")
def _scatter(w: Writer, node: Node, x: str, indices: str, updates: str) -> str:
    name = {"scatter_elements": "ScatterElements", "scatter_nd": "ScatterND"}[node.op]
    attrs = {} if node.op == "scatter_nd" else {"axis": node.attrs["axis"]}
    if node.attrs["reduction"] != "none":
        attrs["reduction"] = node.attrs["reduction"]
    return w.emit(name, x, _index(w, node.inputs[1], indices), updates, **attrs)


def _index(w: Writer, node: Node, name: str) -> str:
    """ONNX indexes with i32 and i64 only."""
    if node.type.dtype.name in ("i32", "i64"):
        return name
    return w.emit("Cast", name, to=onnx.TensorProto.INT64)


@exports("grid_sample")
def _grid_sample(w: Writer, node: Node, x: str, grid: str) -> str:
    """Older opsets know images of two axes only, and other names of the modes for them."""
    mode, flat = node.attrs["mode"], node.type.rank == 4
    if w.opset < 16 or (w.opset < 20 and not flat):
        raise ValueError(f"{node!r}: ONNX opset {w.opset} has no op for this")
    if w.opset < 20:
        mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    return w.emit("GridSample", x, grid, mode=mode, padding_mode=node.attrs["padding"],
                  align_corners=int(node.attrs["aligned"]))  # fmt: skip
