"""ATen rules for elementwise ops.

    aten.add.Tensor(%x, %y, alpha=2)   ->   add(%x, mul(%y, 2))

PyTorch mixes element types and numbers freely; our ops do not. So each rule first brings its
operands to the type that PyTorch would compute in (`promote`). Next: `reductions.py`.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from course_lib.frontend import blocks
from course_lib.frontend.torch.table import element_type, promote, together, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import bool_, f32


def as_float(x: Any) -> Node:
    """PyTorch's mathematical functions turn integers into float32."""
    return x if x.type.dtype.is_float else as_type(x, f32)


# ── one argument: mostly our row is named, and that is the whole rule ──

MATH = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal",
    "sigmoid": "sigmoid", "tanh": "tanh", "erf": "erf", "special_erf": "erf",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "silu": "silu", "hardswish": "hard_swish", "hardsigmoid": "hard_sigmoid", "mish": "mish",
    "isnan": "isnan", "isinf": "isinf",
}  # fmt: skip
for _aten, _ours in MATH.items():
    translates(_aten)(lambda x, ours=_ours: apply(ours, as_float(x)))

for _same in ("neg", "abs", "relu"):
    translates(_same)(lambda x, ours=_same: apply(ours, x))


@translates("sign")
def sign(x: Node) -> Node:
    """PyTorch's sign of NaN is 0; in numpy and ONNX it is NaN."""
    y = apply("sign", x)
    return b.select(apply("isnan", x), 0.0, y) if x.type.dtype.is_float else y


for _aten, _ours in {"floor": "floor", "ceil": "ceil", "round.default": "round"}.items():
    translates(_aten)(lambda x, ours=_ours: apply(ours, x) if x.type.dtype.is_float else x)


@translates("trunc", "fix")
def trunc(x: Node) -> Node:
    return blocks.truncate(x) if x.type.dtype.is_float else x


@translates("logical_not")
def logical_not(x: Node) -> Node:
    return apply("not", as_type(x, bool_))


@translates("bitwise_not")
def bitwise_not(x: Node) -> Node:
    return apply("not" if x.type.dtype == bool_ else "bit_not", x)


@translates("log1p")
def log1p(x: Node) -> Node:
    return blocks.log_one_plus(as_float(x))


@translates("expm1")
def expm1(x: Node) -> Node:
    return blocks.exp_minus_one(as_float(x))


@translates("log2")
def log2(x: Node) -> Node:
    return b.mul(b.log(as_float(x)), 1 / math.log(2))


@translates("log10")
def log10(x: Node) -> Node:
    return b.mul(b.log(as_float(x)), 1 / math.log(10))


@translates("exp2")
def exp2(x: Node) -> Node:
    return b.exp(b.mul(as_float(x), math.log(2)))


@translates("square")
def square(x: Node) -> Node:
    return b.mul(x, x)


@translates("gelu")
def gelu(x: Node, approximate: str = "none") -> Node:
    return apply("gelu", x, approximate=approximate)


@translates("relu6")
def relu6(x: Node) -> Node:
    return clamp(x, 0.0, 6.0)


@translates("leaky_relu")
def leaky_relu(x: Node, negative_slope: float = 0.01) -> Node:
    return apply("leaky_relu", x, slope=float(negative_slope))


@translates("elu")
def elu(x: Node, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Node:
    """scale * (x above 0, alpha * (exp(input_scale * x) - 1) below); SELU is one of these."""
    if input_scale != 1:
        raise ValueError("an input_scale other than 1 is not supported")
    y = apply("elu", x, alpha=float(alpha))
    return y if scale == 1 else b.mul(y, float(scale))


@translates("prelu", "_prelu_kernel")
def prelu(x: Node, weight: Node) -> Node:
    if weight.type.rank == 1 and x.type.rank > 1:
        weight = b.reshape(weight, (-1, *[1] * (x.type.rank - 2)))
    return b.select(apply("gt", x, 0.0), x, b.mul(x, weight))


@translates("softplus")
def softplus(x: Node, beta: float = 1.0, threshold: float = 20.0) -> Node:
    """Above the threshold PyTorch returns x itself.

    At 20 or more the difference is below float32's precision, so only a lower one needs a select.
    """
    scaled = x if beta == 1 else b.mul(x, float(beta))
    y = apply("softplus", scaled)
    y = y if beta == 1 else b.mul(y, 1 / beta)
    return y if threshold >= 20 else b.select(apply("gt", scaled, float(threshold)), x, y)


@translates("clamp", "hardtanh", "clip")
def clamp(x: Node, min: Any = None, max: Any = None) -> Node:
    if isinstance(min, Node) or isinstance(max, Node):
        x = x if min is None else b.maximum(*together(x, min))
        return x if max is None else b.minimum(*together(x, max))
    limits = [limit for limit in (min, max) if limit is not None]
    kind = promote(x, *limits)
    low, high = (None if v is None else float(v) if kind.is_float else int(v) for v in (min, max))
    return apply("clamp", as_type(x, kind), min=low, max=high)


@translates("clamp_min")
def clamp_min(x: Node, min: Any) -> Node:
    return clamp(x, min, None)


@translates("clamp_max")
def clamp_max(x: Node, max: Any) -> Node:
    return clamp(x, None, max)


@translates("to", "_to_copy", "type_as")
def to(x: Node, *args: Any, dtype: Any = None, **_: Any) -> Node:
    """Devices, layouts and copies have no meaning here; an element type has."""
    for given in (*args, dtype):
        if isinstance(given, torch.dtype):
            return as_type(x, element_type(given))
        if isinstance(given, Node):
            return as_type(x, given.type.dtype)
    return x


# ── two arguments ──


@translates("add")
def add(x: Any, other: Any, alpha: Any = 1) -> Node:
    x, other = together(x, other)
    if x.type.dtype == bool_:
        return apply("or", x, other)
    return b.add(x, other if alpha == 1 else b.mul(other, as_type(alpha, other.type.dtype)))


@translates("sub", "subtract")
def sub(x: Any, other: Any, alpha: Any = 1) -> Node:
    x, other = together(x, other)
    return b.sub(x, other if alpha == 1 else b.mul(other, as_type(alpha, other.type.dtype)))


@translates("rsub")
def rsub(x: Any, other: Any, alpha: Any = 1) -> Node:
    return sub(other, x, alpha)


@translates("mul", "multiply")
def mul(x: Any, other: Any) -> Node:
    x, other = together(x, other)
    return apply("and" if x.type.dtype == bool_ else "mul", x, other)


@translates("div", "true_divide", "divide")
def div(x: Any, other: Any, rounding_mode: str | None = None) -> Node:
    x, other = together(x, other)
    if rounding_mode is None:
        return b.div(as_float(x), as_float(other))
    return (blocks.floor_divide if rounding_mode == "floor" else blocks.divide_truncating)(x, other)


@translates("floor_divide")
def floor_divide(x: Any, other: Any) -> Node:
    return blocks.floor_divide(*together(x, other))


@translates("pow")
def pow(x: Any, exponent: Any) -> Node:
    """Small whole powers become products: that is what every compiler does with them."""
    if isinstance(x, Node) and exponent == 2:
        return b.mul(x, x)
    if isinstance(x, Node) and exponent == 0.5:
        return b.sqrt(as_float(x))
    x, exponent = together(x, exponent)
    return b.pow(x, exponent)


for _aten, _ours in {
    "maximum": "max", "minimum": "min", "max.other": "max", "min.other": "min",
    "remainder": "mod", "fmod": "fmod",
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
}.items():  # fmt: skip
    translates(_aten)(lambda x, other, ours=_ours: apply(ours, *together(x, other)))

for _name in ("and", "or", "xor"):
    translates(f"logical_{_name}")(
        lambda x, other, ours=_name: apply(ours, as_type(x, bool_), as_type(other, bool_))
    )

    def _bitwise(x: Any, other: Any, name: str = _name) -> Node:
        x, other = together(x, other)
        return apply(name if x.type.dtype == bool_ else f"bit_{name}", x, other)

    translates(f"bitwise_{_name}", f"__{_name}__")(_bitwise)


@translates("where")
def where(condition: Node, x: Any, other: Any) -> Node:
    return b.select(condition, *together(x, other))


@translates("masked_fill")
def masked_fill(x: Node, mask: Node, value: Any) -> Node:
    y = b.select(mask, as_type(value, x.type.dtype), x)
    return y
