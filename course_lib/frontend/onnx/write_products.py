"""The export of products, of floats and of integers, and of what turns one into the other.

    %0 = matmul(%x, %w) {sums = "i32"} : i32[1,8]     ->   MatMulInteger
    %1 = quantize(%a, %s) : i8[4]                     ->   QuantizeLinear, zero point 0

`requantize` and `add_quantized` are written as their definitions (Cast, Mul, Round, Clip, Cast), so
that another engine rounds where we round. Next: `write.py`, the public function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.frontend.onnx.table import type_code
from course_lib.frontend.onnx.write_movement import RULES
from course_lib.frontend.onnx.write_rules import exports, window
from course_lib.frontend.onnx.writer import Writer
from course_lib.ir.graph.node import Node
from course_lib.ir.types import dtype

__all__ = ["RULES"]
BYTES = ("i8", "u8")  # of what ONNX has products with sums in i32


def _sums_of_bytes(node: Node) -> bool:
    """Is it a product of bytes with sums in i32?"""
    return node.type.dtype.name == "i32" and node.inputs[0].type.dtype.name in BYTES


@exports("matmul")
def _matmul(w: Writer, node: Node, x: str, y: str) -> str:
    if _sums_of_bytes(node):
        return w.emit("MatMulInteger", x, y)
    if node.attrs["sums"] is not None:
        wide = type_code(node.type.dtype)
        x, y = (w.emit("Cast", name, to=wide) for name in (x, y))
    return w.emit("MatMul", x, y)


@exports("conv")
def _conv(w: Writer, node: Node, x: str, weights: str) -> str:
    if not node.type.dtype.is_float and not _sums_of_bytes(node):
        raise ValueError(
            f"{node!r}: ONNX has convolutions of floats, and of i8 or u8 summed in i32"
        )
    name = "Conv" if node.type.dtype.is_float else "ConvInteger"
    return w.emit(name, x, weights, group=node.attrs["groups"], **window(node.attrs))


@exports("mul_rounded")
def _mul_rounded(w: Writer, node: Node, x: str, y: str) -> str:
    return w.emit("Mul", x, y)


@exports("quantize")
def _quantize(w: Writer, node: Node, x: str, scale: str) -> str | None:
    kind, scales = dtype(node.attrs["dtype"]), node.inputs[1].type
    if kind.name not in (*BYTES, "i16", "u16") or (kind.size > 1 and w.opset < 21):
        raise ValueError(f"{node!r}: ONNX opset {w.opset} cannot quantize to {kind}")
    zero = w.constant(np.zeros(scales.dims, kind.numpy))
    return w.emit("QuantizeLinear", x, scale, zero, **_axis(node))


@exports("dequantize")
def _dequantize(w: Writer, node: Node, x: str, scale: str) -> str | None:
    if node.inputs[0].type.dtype.name not in (*BYTES, "i32"):
        return None
    return w.emit("DequantizeLinear", x, scale, **_axis(node))


def _axis(node: Node) -> dict[str, Any]:
    return {"axis": node.attrs["axis"]} if node.inputs[1].type.rank else {}
