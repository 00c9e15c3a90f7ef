"""Rules for the ops of onnxruntime's own domain, which stand in the models that it saves.

    FusedConv(%x, %w, %b, activation="Relu")   ->   relu(add(conv(%x, %w), %b))

Its optimizer fuses ONNX's ops into these (session option `optimized_model_filepath`). We read each
as the composition that it is; our own passes fuse again, for this compiler's kernels. What it makes
for the layout of one processor (domain com.microsoft.nchwc) cannot be read: how many channels stand
in a block is not in the file. Next: `recurrent.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course_lib.frontend import blocks
from course_lib.frontend.onnx.rules.nn import conv, gemm, layer_norm
from course_lib.frontend.onnx.table import MICROSOFT, RULES, call, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import normal_axis

PARAMETERS = {  # what `activation_params` lists
    "LeakyRelu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "Clip": ("min", "max"),
}
ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign", *PARAMETERS)


def activated(y: Node, name: str, values: dict[str, float]) -> Node:
    """One of ONNX's activations after another op; without a name, none."""
    if not name:
        return y
    if name not in ACTIVATIONS:
        raise ValueError(f"the activation {name!r} is not supported")
    if name == "Clip":
        return apply("clamp", y, min=values["min"], max=values["max"])
    return call(RULES[name], [y], values)


@translates("FusedConv", domain=MICROSOFT)
def fused_conv(x: Node, w: Node, bias: Node | None = None, added: Node | None = None, *,
               activation: str = "", activation_params: Sequence[float] = (),
               **window: Any) -> Node:  # fmt: skip
    y = conv(x, w, bias, **window)
    y = y if added is None else b.add(y, added)
    names, values = PARAMETERS.get(activation, ()), list(activation_params)
    if len(names) != len(values):
        raise ValueError(f"the activation {activation!r} takes {len(names)} numbers, got {values}")
    return activated(y, activation, dict(zip(names, values, strict=True)))


@translates("FusedGemm", domain=MICROSOFT)
def fused_gemm(x: Node, y: Node, z: Node | None = None, *, activation: str = "",
               activation_alpha: float | None = None, activation_beta: float | None = None,
               activation_gamma: float | None = None, **how: Any) -> Node:  # fmt: skip
    given = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    values = {name: value for name, value in given.items() if value is not None}
    return activated(gemm(x, y, z, **how), activation, values)


@translates("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(x: Node, y: Node, *, alpha: float = 1.0, transA: int = 0, transB: int = 0,
                 transBatchA: int = 0, transBatchB: int = 0) -> Node:  # fmt: skip
    x, y = _turned(x, transA, transBatchA), _turned(y, transB, transBatchB)
    product = blocks.matmul(x, y)
    return product if alpha == 1 else b.mul(product, float(alpha))


def _turned(x: Node, last: int, batch: int) -> Node:
    """`batch` moves the first axis behind the other batch axes, `last` swaps the last two."""
    if x.type.rank < 2:
        return x
    axes = list(range(x.type.rank))
    if batch:
        axes = [*axes[1:-1], axes[0], axes[-1]]
    if last:
        axes = [*axes[:-2], axes[-1], axes[-2]]
    return b.transpose(x, axes) if axes != sorted(axes) else x


# ── activations ──


@translates("Gelu", domain=MICROSOFT)
def gelu(x: Node) -> Node:
    return b.gelu(x)


@translates("BiasGelu", domain=MICROSOFT)
def bias_gelu(x: Node, bias: Node) -> Node:
    return b.gelu(b.add(x, bias))


@translates("FastGelu", domain=MICROSOFT)
def fast_gelu(x: Node, bias: Node | None = None) -> Node:
    x = x if bias is None else b.add(x, bias)
    return apply("gelu", x, approximate="tanh")


@translates("QuickGelu", domain=MICROSOFT)
def quick_gelu(x: Node, *, alpha: float = 1.702) -> Node:
    return b.mul(x, b.sigmoid(b.mul(x, float(alpha))))


# ── normalization ──


translates("LayerNormalization", domain=MICROSOFT)(layer_norm)


@translates("SimplifiedLayerNormalization", domain=MICROSOFT)
def simplified_layer_norm(x: Node, scale: Node, *, axis: int = -1, epsilon: float = 1e-5,
                          stash_type: int = 1) -> list[Node | None]:  # fmt: skip
    first = normal_axis(axis, x.type.rank, "SimplifiedLayerNormalization")
    return [blocks.rms_norm(x, tuple(range(first, x.type.rank)), scale, epsilon), None]


@translates("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_norm(
    x: Node, skip: Node, scale: Node, shift: Node | None = None, bias: Node | None = None, *,
    epsilon: float = 1e-5,
) -> list[Node | None]:  # fmt: skip
    total = _residual(x, skip, bias)
    affine = [scale] if shift is None else [scale, shift]
    return [apply("layer_norm", total, *affine, eps=epsilon), None, None, total]


@translates("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_norm(x: Node, skip: Node, scale: Node, bias: Node | None = None, *,
                               epsilon: float = 1e-5) -> list[Node | None]:  # fmt: skip
    total = _residual(x, skip, bias)
    return [blocks.rms_norm(total, (total.type.rank - 1,), scale, epsilon), None, None, total]


def _residual(x: Node, skip: Node, bias: Node | None) -> Node:
    total = b.add(x, skip)
    return total if bias is None else b.add(total, bias)
