"""The programs of the lab, in 8-bit integers.

    MODEL          four dense layers, with a sigmoid between the second and the third
    layer(x, 8)    the bindings of one dense layer with 8 outputs

They are modules of the stand-in (`course_lib/plugins/byoc`); `byoc.real` makes TVM's of them.
Next room: chip.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from course_lib.plugins.byoc.build import const, op, written
from course_lib.plugins.byoc.tree import GenericConst, IRModule, TensorType, Var

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
    value = op("dequantize", value, other.get("scale") or scale_of(k, n, rng),
               other.get("sums_zero") or const(0, sums_type), axis=other.get("axis", -1), out_dtype="float32")  # fmt: skip
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


@cache
def model() -> IRModule:
    """16 rows through four layers. PyTorch's order of the weights in the first one, no bias in the third, no relu in the last."""
    rng = np.random.default_rng(1400)

    def program(x: Var) -> Var:
        x = layer(layer(x, 96, transposed=True, rng=rng), 96, rng=rng)
        return layer(layer(between(x), 64, bias=False, rng=rng), 10, relu=False, rng=rng)

    return written(program, TensorType((16, 64), "int8"))


def inputs() -> list[np.ndarray]:
    """The rows that `model` is tried with."""
    return [np.random.default_rng(14).integers(-128, 128, (16, 64)).astype(np.int8)]
