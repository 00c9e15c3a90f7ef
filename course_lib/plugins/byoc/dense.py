"""Dense layers in 8-bit integers, as Relax writes them, and what may stand between two of them.

    written(lambda x: between(layer(x, 8)), TensorType((4, 6), "int8"))

Next room: `regions.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.plugins.byoc.build import const, op
from course_lib.plugins.byoc.tree import GenericConst, TensorType, Var

RNG = np.random.default_rng(14)


def weights_of(k: int, n: int, rng: np.random.Generator = RNG) -> GenericConst:
    return const(rng.integers(-127, 128, (k, n)), "int8")


def bias_of(n: int, rng: np.random.Generator = RNG) -> GenericConst:
    return const(rng.integers(-3000, 3000, n), "int32")


def scale_of(k: int, n: int, rng: np.random.Generator = RNG) -> GenericConst:
    """So that most results are bytes: a sum of k products is about 5,000 times the root of k."""
    return const(rng.uniform(0.5, 1.5, n) * 40 / (5000 * np.sqrt(k)), "float32")


def layer(x: Var, n: int, bias: bool = True, relu: bool = True, transposed: bool = False,
          rng: np.random.Generator = RNG, **other: Any) -> Var:  # fmt: skip
    """A dense layer with n outputs. `transposed` weights are stored as PyTorch stores them.
    `other` replaces a part: `weights`, `bias_value`, `scale`, `step`, `sums_zero`, `zero`,
    `axis`, the types `sums` and `out`, or says that the bias comes first in its sum."""
    assert isinstance(x.ty, TensorType)
    k, sums_type = x.ty.shape[-1], other.get("sums", "int32")
    weights = other.get("weights") or weights_of(k, n, rng)
    if transposed:
        weights = op("permute_dims", weights_of(n, k, rng))
    value = op("matmul", x, weights, out_dtype=sums_type)
    if bias:
        operands = value, other.get("bias_value") or bias_of(n, rng)
        value = op("add", *operands[:: -1 if other.get("bias_first") else 1])
    scale, zero = other.get("scale") or scale_of(k, n, rng), other.get("sums_zero")
    value = op("dequantize", value, scale, zero or const(0, sums_type),
               axis=other.get("axis", -1), out_dtype="float32")  # fmt: skip
    value = op("nn.relu", value) if relu else value
    out = other.get("out", "int8")
    return op("quantize", value, other.get("step") or const(1, "float32"),
              other.get("zero") or const(0, out), axis=-1, out_dtype=out)  # fmt: skip


def between(x: Var, f: str = "sigmoid", step: float = 1 / 64) -> Var:
    """What the chip has no unit for: bytes as real numbers, a function, and bytes again."""
    real = op("dequantize", x, const(step, "float32"), const(0, "int8"), axis=-1,
              out_dtype="float32")  # fmt: skip
    return op("quantize", op(f, real), const(1 / 127, "float32"), const(0, "int8"), axis=-1,
              out_dtype="int8")  # fmt: skip


def real(sums: Var, scale: float = 0.01) -> Var:
    """Sums times one scale."""
    return op("dequantize", sums, const(scale, "float32"), const(0, "int32"), axis=-1,
              out_dtype="float32")  # fmt: skip


def whole(x: Var, step: int = 1) -> Var:
    """Rounded to bytes, in steps of a size."""
    return op("quantize", x, const(step, "float32"), const(0, "int8"), axis=-1, out_dtype="int8")
