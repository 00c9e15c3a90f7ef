"""The programs of the lab, in 8-bit integers.

    MODEL          four dense layers, with a sigmoid between the second and the third
    layer(x, 8)    the bindings of one dense layer with 8 outputs

They are modules of the stand-in (`course_lib/plugins/byoc`); `byoc.real` makes TVM's of them.
Next room: chip.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from course_lib.plugins.byoc.build import const, op, written
from course_lib.plugins.byoc.tree import GenericConst, IRModule, TensorType, Var

RNG = np.random.default_rng(14)


def zero(dtype: str) -> GenericConst:
    return const(0, dtype)


def weights_of(k: int, n: int, rng: np.random.Generator = RNG) -> GenericConst:
    return const(rng.integers(-127, 128, (k, n)), "int8")


def bias_of(n: int, rng: np.random.Generator = RNG) -> GenericConst:
    return const(rng.integers(-3000, 3000, n), "int32")


def scale_of(k: int, n: int, rng: np.random.Generator = RNG) -> GenericConst:
    """So that most results are bytes: a sum of k products is about 5,000 times the root of k."""
    return const(rng.uniform(0.5, 1.5, n) * 40 / (5000 * np.sqrt(k)), "float32")


def rounded(sums: Var, scale: GenericConst, relu: bool = True) -> Var:
    """Sums as bytes again: multiplied by a scale, perhaps not below 0, and rounded."""
    real = op("dequantize", sums, scale, zero("int32"), axis=-1, out_dtype="float32")
    real = op("nn.relu", real) if relu else real
    return op("quantize", real, const(1, "float32"), zero("int8"), axis=-1, out_dtype="int8")


def layer(x: Var, n: int, bias: bool = True, relu: bool = True, transposed: bool = False,
          rng: np.random.Generator = RNG) -> Var:  # fmt: skip
    """A dense layer with n outputs. `transposed` weights are stored as PyTorch stores them."""
    assert isinstance(x.ty, TensorType)
    k = x.ty.shape[-1]
    weights: GenericConst | Var = weights_of(k, n, rng)
    if transposed:
        weights = op("permute_dims", weights_of(n, k, rng))
    sums = op("matmul", x, weights, out_dtype="int32")
    sums = op("add", sums, bias_of(n, rng)) if bias else sums
    return rounded(sums, scale_of(k, n, rng), relu)


def between(x: Var, f: str = "sigmoid", step: float = 1 / 64) -> Var:
    """What the chip has no unit for: bytes as real numbers, a function, and bytes again."""
    real = op("dequantize", x, const(step, "float32"), zero("int8"), axis=-1, out_dtype="float32")
    return op("quantize", op(f, real), const(1 / 127, "float32"), zero("int8"), axis=-1,
              out_dtype="int8")  # fmt: skip


@cache
def model() -> IRModule:
    """16 rows through four layers. PyTorch's order of the weights in the first one, a scale of one
    number in no layer, no bias in the third, no relu in the last."""
    rng = np.random.default_rng(1400)

    def program(x: Var) -> Var:
        x = layer(layer(x, 96, transposed=True, rng=rng), 96, rng=rng)
        return layer(layer(between(x), 64, bias=False, rng=rng), 10, relu=False, rng=rng)

    return written(program, TensorType((16, 64), "int8"))


def inputs() -> list[np.ndarray]:
    """The rows that `model` is tried with."""
    return [np.random.default_rng(14).integers(-128, 128, (16, 64)).astype(np.int8)]
