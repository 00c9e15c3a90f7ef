"""What the chip can compute: one table of patterns over the ops of an integer graph.

    conv    requantize(add?(conv(x, *weights), *bias), *scale)     i8 images, weights known before
    add     add_quantized(x, y, *x_scale, *y_scale)

A pattern is a small expression: an op of the graph, or `op?`, which may be missing (then its first
operand stands for it); a name, any i8 value; or `*name`, a constant. Whoever hands work to the chip
reads this table: our own compiler and other compilers that see it as a backend, which is the idea
of TVM's BYOC (Chen et al. 2021). Who knows tiles only reads `unit.py`. Next room: `unit.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np

from course_lib.ir.graph.node import Node
from course_lib.ir.ops.window import Window
from course_lib.ir.registry import flops, normal_axes, normal_axis
from course_lib.ir.types import i8, u8
from course_lib.passes.quantize.site import channel_axis, per_channel

Expression = Union[str, tuple]  # "x", "*weights", or (op, operand, ...)


@dataclass(frozen=True)
class Pattern:
    """One thing that the chip does in one go.

    refuse   given a match: why the chip cannot do this one all the same; "" if it can
    """

    name: str
    expression: Expression
    doc: str
    refuse: Callable[[Match], str]

    def __str__(self) -> str:
        return _text(self.expression)

    @property
    def root(self) -> str:
        return self.expression[0]


@dataclass(frozen=True, eq=False)
class Match:
    """A pattern found in a graph.

    nodes     what the chip computes, operands first; the last one is the root
    operands  the values that it reads, by the names that the pattern gives them
    """

    pattern: Pattern
    nodes: tuple[Node, ...]
    operands: Mapping[str, Node]

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def node(self, op: str) -> Node | None:
        """The node of this op; None if the match does without."""
        return next((n for n in self.nodes if n.op == op), None)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the array."""
        return sum(macs(node) for node in self.nodes)


def macs(node: Node) -> int:
    """Multiply-accumulates of a convolution or matrix product; 0 for all other ops."""
    return flops(node) // 2 if node.op in ("conv", "matmul") else 0


# ── limits: what a pattern does not say ──


def _no_limit(match: Match) -> str:
    return ""


def _per_channel(match: Match, product: Node) -> str:
    """Bias and scale are read once for each column of the array, which is an output channel."""
    bias, scale = match.operands.get("bias"), match.operands["scale"].type
    if bias is not None and not per_channel(bias, product):
        return f"the bias {bias.type} is not one number for each output channel of {product.type}"
    axis = normal_axis(match.root.attrs["axis"], product.type.rank, "requantize")
    if scale.rank and axis != channel_axis(product):
        return f"the scales are along axis {axis}, not along the output channels"
    return ""


def _conv(match: Match) -> str:
    conv = match.node("conv")
    assert conv is not None
    x, groups = match.operands["x"].type, conv.attrs["groups"]
    if x.rank != 4:
        return f"images of two axes are expected, got {x}"
    if groups > 1 and not groups == x.dims[1] == conv.type.dims[1]:
        return f"{groups} groups: a convolution is dense or depthwise (a filter for each channel)"
    return _per_channel(match, conv)


def _matmul(match: Match) -> str:
    product, weights = match.node("matmul"), match.operands["weights"].type
    assert product is not None
    if weights.rank != 2:
        return f"weights are a matrix [k, n], got {weights}"
    if 0 in (*product.type.shape, *weights.shape):
        return f"a product of m, k, n from 1 on is expected, got {product.type} from {weights}"
    if product.type.rank == 4:
        return f"values of four axes lie as images (nhwc), so {product.type} has no rows of k"
    return _per_channel(match, product)


def _window(match: Match) -> str:
    pool = match.root
    if pool.type.rank != 4:
        return f"images of two axes are expected, got {pool.type}"
    window = Window.of(pool.attrs["kernel"], pool.attrs, "max_pool")
    return "" if set(window.dilations) == {1} else "the window has gaps (dilations)"


def _one_scale(match: Match) -> str:
    scale = match.operands["scale"]
    if scale.type.rank:
        return f"one scale for all numbers is expected, got {scale.type}"
    return "" if np.isfinite(scale.value) else f"its scale is {scale.value}"


def _images(match: Match) -> str:
    x, total = match.operands["x"].type, match.node("reduce_sum")
    assert total is not None
    if x.rank == 4 and normal_axes(total.attrs["axes"], 4, "reduce_sum") == (2, 3):
        return ""
    return f"the mean over the pixels of images is expected, not over axes of {x}"


def _flat(match: Match) -> str:
    """Images lie as nhwc on the chip: only [n, c, 1, 1] has the same order there as here."""
    x, y = match.operands["x"].type, match.root.type
    if all(t.rank != 4 or t.dims[2:] == (1, 1) for t in (x, y)):
        return ""
    return f"from {x} to {y}, images that lie as nhwc would have to be rearranged"


# ── the table ──

PATTERNS = (
    Pattern(
        "conv",
        ("requantize", ("add?", ("conv", "x", "*weights"), "*bias"), "*scale"),
        "convolution, dense or depthwise, with bias, rescaling, ReLU or ReLU6",
        _conv,
    ),
    Pattern(
        "matmul",
        ("requantize", ("add?", ("matmul", "x", "*weights"), "*bias"), "*scale"),
        "product with a matrix of weights, with bias, rescaling, ReLU or ReLU6",
        _matmul,
    ),
    Pattern(
        "mean",
        ("requantize", ("reduce_sum", ("cast", "x")), "*scale"),
        "mean of each channel of an image (global average pooling)",
        _images,
    ),
    Pattern(
        "add",
        ("add_quantized", "x", "y", "*x_scale", "*y_scale"),
        "sum of two tensors of one shape, as at the end of a residual block, with ReLU",
        _no_limit,
    ),
    Pattern(
        "rescale",
        ("requantize", ("cast", "x"), "*scale"),
        "the same numbers in steps of another size",
        _one_scale,
    ),
    Pattern("max_pool", ("max_pool", "x"), "the largest of each window", _window),
    Pattern("relu", ("relu", "x"), "negative numbers become 0", _no_limit),
    Pattern("reshape", ("reshape", "x"), "another shape for the same bytes", _flat),
)


# ── matching ──


def match(
    root: Node,
    may_hide: Callable[[Node], bool] = lambda node: True,
    patterns: Sequence[Pattern] = PATTERNS,
) -> Match | str:
    """What the chip does to compute `root`, or in words why it does not.

    `may_hide(node)` says of each node but the root whether nobody else needs its value; `patterns`
    is the table of another chip.
    """
    if root.type.dtype == u8:
        return "its result is u8, whose 0 to 255 do not fit the i8 of the chip"
    if root.type.dtype != i8:
        return f"its result is {root.type.dtype}, the chip's are i8"
    if any(0 in node.type.shape for node in (root, *root.inputs)):
        return f"there is nothing to compute in {root.type}"
    reasons = []
    for pattern in patterns:
        parts: tuple[list[Node], dict[str, Node]] = ([], {})
        if not _fits(pattern.expression, root, *parts):
            continue
        candidate = Match(pattern, tuple(parts[0]), parts[1])
        why = _refused(candidate, may_hide)
        if not why:
            return candidate
        reasons.append(f"{pattern.name}: {why}")
    return "; ".join(reasons) or f"no pattern of the chip fits {_shape_of(root)}"


def _refused(candidate: Match, may_hide: Callable[[Node], bool]) -> str:
    """Why the chip cannot do what has the right ops; "" if it can."""
    for name in constants(candidate.pattern.expression):
        node = candidate.operands.get(name)
        if node is not None and node.op != "constant":
            return f"its {name} must be a constant, but {node.op} computes it"
    shown = [node for node in candidate.nodes[:-1] if not may_hide(node)]
    if shown:
        return f"something else reads its {shown[0].op}"
    return candidate.pattern.refuse(candidate)


def constants(expression: Expression) -> list[str]:
    """The names of what must be known before the model runs."""
    if isinstance(expression, str):
        return [expression[1:]] if expression[0] == "*" else []
    return [name for part in expression[1:] for name in constants(part)]


def _fits(expression: Expression, node: Node, nodes: list[Node], operands: dict[str, Node]) -> bool:
    """Does the node look like the expression? Collects what it is made of, operands first."""
    if isinstance(expression, str):
        operands[expression.lstrip("*")] = node
        return expression[0] == "*" or node.type.dtype == i8
    op, *parts = expression
    if op.endswith("?") and node.op != op[:-1]:
        return _fits(parts[0], node, nodes, operands)
    if node.op != op.rstrip("?") or len(node.inputs) != len(parts):
        return False
    fit = all(_fits(p, i, nodes, operands) for p, i in zip(parts, node.inputs, strict=True))
    nodes.append(node)
    return fit


def _shape_of(node: Node) -> str:
    """An op and its operands' ops, as in `requantize(matmul, constant)`."""
    return f"{node.op}({', '.join(i.op for i in node.inputs)})"


def _text(expression: Expression) -> str:
    if isinstance(expression, str):
        return expression
    op, *parts = expression
    return f"{op}({', '.join(map(_text, parts))})"


def table(patterns: Sequence[Pattern] = PATTERNS) -> str:
    """The table as text, a pattern in a line."""
    width = max(len(p.name) for p in patterns)
    return "\n".join(f"{p.name:<{width}}  {p}\n{'':<{width}}  {p.doc}" for p in patterns)
