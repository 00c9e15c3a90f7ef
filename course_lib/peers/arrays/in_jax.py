"""A graph as a function of JAX's arrays, to be jitted.

    function = in_jax(graph)                       the constants of the graph are constants of it
    jax.jit(function).lower(x).compile()(x)    ->  [array of f32[1,10]]

The weights are closed over, not given as arguments: then XLA knows them when it compiles, as every
other system of this room does, and lays them out once and not in each call (ResNet-18: 83 ms of
processor time, and 131 with weights as arguments; JAX 0.10.2, one core of a Xeon with AVX-512).
Every call stands in a `named_scope` of its node's origin, which HLO keeps as `op_name`.

Numbers of 64 bits are computed as such (`jax_enable_x64`, for the whole process), and products of
f32 in f32. XLA makes the smallest numbers (denormal ones) 0; it may divide by a vector by
multiplying with its reciprocals, which are 0 for the very largest divisors. An index outside of its
axis is no error in JAX: what it picks is NaN, what it writes is dropped. Next room: `peers/jax.py`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy.special import erf

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.ops.sampling import sampled
from course_lib.ir.types import DTYPES
from course_lib.peers.arrays.library import Library, Rules, writes
from course_lib.peers.arrays.shared import SHARED, combined, low_high, wide

RULES: Rules = {}


def in_jax(graph: Graph) -> Callable[..., list[Any]]:
    """The graph as a function of its inputs. ValueError that names what JAX does not have."""
    jax.config.update("jax_enable_x64", True)
    plain = JAX.spelled(graph)

    def function(*inputs: Any) -> list[Any]:
        return JAX.results(plain, inputs)

    function.__name__ = re.sub(r"\W", "_", graph.name)  # XLA's texts show it
    return function


def _scope(node: Node) -> contextlib.AbstractContextManager[Any]:
    if not node.origin:
        return contextlib.nullcontext()
    return jax.named_scope(" ".join(node.origin).replace("/", "."))  # a slash would nest


# ── what JAX calls otherwise ──


def _scattered(x: Any, where: Sequence[Any], updates: Any, how: str, node: Node) -> Any:
    name = {"none": "set", "mul": "multiply"}.get(how, how)
    return getattr(x.at[tuple(where)], name)(updates)


def _power(a: Any, b: Any) -> Any:
    """Of integers bit by bit: `jnp.power` looks at six bits of the exponent."""
    if jnp.issubdtype(a.dtype, jnp.floating):
        return jnp.power(a, b)

    def step(_: int, state: Any) -> Any:
        result, square, left = state
        return jnp.where(left % 2 == 1, result * square, result), square * square, left // 2

    a, b = jnp.broadcast_arrays(a, b)
    return lax.fori_loop(0, 8 * a.dtype.itemsize, step, (jnp.ones_like(a), a, b))[0]


NAMES: dict[str, Any] = {
    "amax": jnp.max,
    "amin": jnp.min,
    "astype": lambda x, kind: x.astype(kind.numpy),
    "elu": nn.elu,
    "erf": erf,
    "from_front": lambda indices, size: indices,  # JAX counts negative ones by itself
    "gelu": lambda x, approximate: nn.gelu(x, approximate == "tanh"),
    "hard_swish": nn.hard_swish,
    "kind": lambda kind: kind.numpy,
    "leaky_relu": nn.leaky_relu,
    "log_softmax": nn.log_softmax,
    "mish": nn.mish,
    "power": _power,
    "relu": nn.relu,
    "rsqrt": lax.rsqrt,
    "scattered": _scattered,
    "sigmoid": nn.sigmoid,
    "silu": nn.silu,
    "softmax": nn.softmax,
    "softplus": nn.softplus,
    "softsign": nn.soft_sign,
    "truncated": lambda a, b: lax.div(*jnp.broadcast_arrays(a, b)),
}


# ── what it has whole ──


@writes(RULES, "clamp")
def _clamp(np: Library, node: Node, x: Any) -> Any:
    return jnp.clip(x, node.attrs["min"], node.attrs["max"])


@writes(RULES, "pad")
def _pad(np: Library, node: Node, x: Any) -> Any:
    low, high = node.attrs["low"], node.attrs["high"]
    gaps = node.attrs["interior"] or (0,) * len(low)
    fill = jnp.asarray(node.attrs["value"], node.type.dtype.numpy)
    return lax.pad(x, fill, list(zip(low, high, gaps, strict=True)))


def _window(node: Node) -> tuple[int, tuple[int, ...], tuple[int, ...], list[tuple[int, int]]]:
    """The number of spatial axes, strides, dilations, padding."""
    rank = node.inputs[0].type.rank - 2
    strides, dilations = (tuple(node.attrs[k] or (1,) * rank) for k in ("strides", "dilations"))
    return rank, strides, dilations, low_high(rank, node.attrs["pads"])


@writes(RULES, "conv")
def _conv(np: Library, node: Node, x: Any, w: Any) -> Any:
    _, strides, dilations, pads = _window(node)
    return lax.conv_general_dilated(
        wide(np, node, x), wide(np, node, w), strides, pads, rhs_dilation=dilations,
        feature_group_count=node.attrs["groups"],
    )  # fmt: skip


@writes(RULES, "conv_transpose")
def _conv_transpose(np: Library, node: Node, x: Any, w: Any) -> Any:
    """The convolution of x with gaps, by the filters turned round."""
    rank, strides, dilations, pads = _window(node)
    groups, (ic, oc, *kernel) = node.attrs["groups"], node.inputs[1].type.dims
    w = jnp.swapaxes(w.reshape(groups, ic // groups, oc, *kernel), 1, 2)
    w = jnp.flip(w.reshape(groups * oc, ic // groups, *kernel), tuple(range(2, 2 + rank)))
    extra = node.attrs["output_padding"] or (0,) * rank
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    sides = [(r - low, r - high + e) for r, (low, high), e in zip(reach, pads, extra, strict=True)]
    return lax.conv_general_dilated(
        x, w, (1,) * rank, sides, lhs_dilation=strides, rhs_dilation=dilations,
        feature_group_count=groups,
    )  # fmt: skip


@writes(RULES, "max_pool", "sum_pool")
def _pool(np: Library, node: Node, x: Any) -> Any:
    _, strides, dilations, pads = _window(node)
    kind = DTYPES["u8"] if node.type.dtype.kind == "bool" else node.type.dtype
    start = jnp.asarray(combined(node.op, kind), kind.numpy)
    combine = lax.max if node.op == "max_pool" else lax.add
    window = ((1, 1, *node.attrs["kernel"]), (1, 1, *strides), ((0, 0), (0, 0), *pads))
    pooled = lax.reduce_window(
        x.astype(kind.numpy), start, combine, *window, window_dilation=(1, 1, *dilations)
    )
    return pooled.astype(node.type.dtype.numpy)


@writes(RULES, "grid_sample")
def _grid_sample(np: Library, node: Node, x: Any, grid: Any) -> Any:
    return sampled([x, grid], node.attrs, jnp)


@writes(RULES, "scan")
def _scan(np: Library, node: Node, state: Any, *operands: Any) -> Any:
    body, count = node.attrs["body"], node.attrs["sequences"]

    def step(state: Any, elements: Any) -> tuple[Any, Any]:
        (following,) = np.results(body, [state, *elements, *operands[count:]])
        return following, following

    return lax.scan(step, state, operands[:count], reverse=node.attrs["reverse"])[1]


JAX = Library(jnp, NAMES, {**SHARED, **RULES}, frozenset(DTYPES), _scope)
