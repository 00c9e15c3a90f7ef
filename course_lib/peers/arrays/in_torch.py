"""A graph as a torch module: what torch eager and torch.compile run for an ONNX file.

    in_torch(graph).code

    def forward(self, x):
        w = self.w
        layers_0 = torch.matmul(x, w);  x = w = None            # named after its origin
        relu = torch.relu(layers_0);  layers_0 = None
        return relu

It is an FX graph module: straight Python without a loop over our nodes, which runs as fast as if it
were written by hand, and which Dynamo reads as such. The constants of the graph are its buffers. A
matmul and the addition after it stay two calls, as the graph has them; `torch.compile` may join
them.

torch computes with no unsigned integers but bytes. Three of its answers are its own: a remainder is
NaN where the quotient is beyond the type, a position of `grid_sample` that is NaN gives NaN, and
one that is far outside is reflected to another place. Next room: `in_jax.py`.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import torch
from torch import fx
from torch.fx.proxy import GraphAppendingTracer
from torch.nn import functional

from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.peers.arrays.library import Library, Rules, writes
from course_lib.peers.arrays.shared import SHARED, combined, low_high, wide

KINDS = {
    "f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
    "bool": torch.bool,
}  # fmt: skip
RULES: Rules = {}


def in_torch(graph: Graph) -> fx.GraphModule:
    """The graph as a module in eval mode. ValueError that names what torch does not have."""
    return _Writing(graph).module()


class _Writing(GraphAppendingTracer):
    """One module as it grows: calls on proxies become lines of its forward."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(fx.Graph())
        names = {**NAMES, "asarray": self.constant}
        self.library = Library(
            torch, names, {**SHARED, **RULES}, frozenset(KINDS), self.called_after
        )
        self.source = self.library.spelled(graph)
        self.names = value_names(self.source)
        self.root = torch.nn.Module()
        self.hint = ""
        self.read: dict[int, tuple[numpy.ndarray, fx.Proxy]] = {}  # by the identity of an array

    def module(self) -> fx.GraphModule:
        source, lines = self.source, self.graph
        inputs = [fx.Proxy(lines.placeholder(_word(self.names[n])), self) for n in source.inputs]
        outputs = [value.node for value in self.library.results(source, inputs)]
        lines.output(outputs[0] if len(outputs) == 1 else tuple(outputs))
        return fx.GraphModule(self.root, lines, source.name).eval()

    @contextlib.contextmanager
    def called_after(self, node: Node) -> Iterator[None]:
        """What is written in here is called after the node's origin."""
        self.hint = _word(node.origin[0] if node.origin else self.names.get(node, node.op))
        yield

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: Any = None, type: Any = None
    ) -> fx.Node:
        return super().create_node(kind, target, args, kwargs, self.hint or name, type)

    def constant(self, array: numpy.ndarray) -> fx.Proxy:
        """An array as a buffer, and the line that reads it."""
        if id(array) not in self.read:
            name = self.hint
            while name in self.root._buffers:
                name += "_"
            self.root.register_buffer(name, torch.from_numpy(array.copy()))
            self.read[id(array)] = array, self.create_proxy("get_attr", name, (), {})
        return self.read[id(array)][1]


def _word(text: str) -> str:
    """A name as Python takes it, which is none of the module's own."""
    word = re.sub(r"\W", "_", text)
    return word if word[:1].isalpha() and not hasattr(torch.nn.Module, word) else f"_{word}"


# ── what torch calls otherwise ──


def _products(x: Any, axes: Sequence[int], keepdims: bool) -> Any:
    """Products along one axis after the other, the last one first."""
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis, keepdim=keepdims)
    return x


def _along(name: str) -> Any:
    function = getattr(torch, name)
    return lambda x, axes, keepdims: function(x, axes, keepdim=keepdims)


NAMES: dict[str, Any] = {
    "all": _along("all"), "any": _along("any"), "amax": _along("amax"), "amin": _along("amin"),
    "argmax": _along("argmax"), "argmin": _along("argmin"), "mean": _along("mean"),
    "sum": _along("sum"), "prod": _products,
    "argsort": lambda x, axis, stable: torch.argsort(x, dim=axis, stable=stable),
    "astype": lambda x, kind: x.to(KINDS[kind.name]),
    "concatenate": torch.cat,
    "elu": functional.elu,
    "equal": torch.eq,
    "from_front": lambda indices, size: torch.where(indices < 0, indices + size, indices),
    "gelu": lambda x, approximate: functional.gelu(x, approximate=approximate),
    "hard_swish": functional.hardswish,
    "invert": torch.bitwise_not,
    "kind": lambda kind: KINDS[kind.name],
    "leaky_relu": functional.leaky_relu,
    "mish": functional.mish,
    "power": torch.pow,
    "rint": torch.round,
    "sign": lambda x: torch.where(x == x, torch.sign(x), x),  # torch: 0 for NaN
    "silu": functional.silu,
    "softplus": lambda x: functional.softplus(x, threshold=40),  # at 20, f64 shows a difference
    "softsign": functional.softsign,
    "take": lambda x, indices, axis: torch.index_select(x, axis, indices),
    "take_along_axis": lambda x, indices, axis: torch.gather(x, axis, indices),
    "transpose": torch.permute,
    "true_divide": torch.div,
    "truncated": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
}  # fmt: skip


# ── what it has whole ──


@writes(RULES, "clamp", fits=lambda node: {node.attrs["min"], node.attrs["max"]} != {None})
def _clamp(np: Library, node: Node, x: Any) -> Any:
    return torch.clamp(x, node.attrs["min"], node.attrs["max"])


@writes(
    RULES,
    "hard_sigmoid",
    fits=lambda node: math.isclose(node.attrs["alpha"], 1 / 6) and node.attrs["beta"] == 0.5,
)
def _hard_sigmoid(np: Library, node: Node, x: Any) -> Any:
    return functional.hardsigmoid(x)


def _normalizes(node: Node) -> bool:
    """Have the scale and the shift the shape of what is standardized?"""
    x, *others = node.inputs
    return all(o.type.dims == x.type.dims[node.attrs["axis"] :] for o in others)


@writes(RULES, "layer_norm", fits=_normalizes)
def _layer_norm(np: Library, node: Node, x: Any, scale: Any = None, shift: Any = None) -> Any:
    shape = node.type.dims[node.attrs["axis"] :]
    return functional.layer_norm(x, shape, scale, shift, node.attrs["eps"])


@writes(RULES, "group_norm")
def _group_norm(np: Library, node: Node, x: Any, scale: Any = None, shift: Any = None) -> Any:
    return functional.group_norm(x, node.attrs["groups"], scale, shift, node.attrs["eps"])


@writes(RULES, "batch_norm")
def _batch_norm(np: Library, node: Node, x: Any, scale: Any, shift: Any, mean: Any, var: Any):
    return functional.batch_norm(x, mean, var, scale, shift, eps=node.attrs["eps"])


def _window(node: Node) -> tuple[int, list[int], list[int]]:
    """The number of spatial axes, the strides and the dilations."""
    rank = node.inputs[0].type.rank - 2
    strides, dilations = (list(node.attrs[k] or [1] * rank) for k in ("strides", "dilations"))
    return rank, strides, dilations


def _pads(node: Node, fill: float, x: Any) -> tuple[Any, list[int]]:
    """x, and the padding that is left to the function: it knows the same on both sides only."""
    sides = low_high(node.inputs[0].type.rank - 2, node.attrs["pads"])
    if all(low == high for low, high in sides):
        return x, [low for low, _ in sides]
    return _padded(x, sides, fill), [0] * len(sides)


def _padded(x: Any, sides: Sequence[tuple[int, int]], fill: float) -> Any:
    return functional.pad(x, [n for side in reversed(sides) for n in side], value=fill)


@writes(RULES, "conv", fits=lambda node: node.type.rank <= 5)
def _conv(np: Library, node: Node, x: Any, w: Any) -> Any:
    rank, strides, dilations = _window(node)
    x, pads = _pads(node, 0, wide(np, node, x))
    function = getattr(torch, f"conv{rank}d")
    return function(x, wide(np, node, w), None, strides, pads, dilations, node.attrs["groups"])


def _one_call(node: Node) -> bool:
    """What `conv_transpose2d` takes; anything else is spelled out."""
    rank, strides, dilations = _window(node)
    extra = node.attrs["output_padding"] or [0] * rank
    same = all(low == high for low, high in low_high(rank, node.attrs["pads"]))
    small = all(e < max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True))
    return rank <= 3 and same and small


@writes(RULES, "conv_transpose", fits=_one_call)
def _conv_transpose(np: Library, node: Node, x: Any, w: Any) -> Any:
    rank, strides, dilations = _window(node)
    pads = [low for low, _ in low_high(rank, node.attrs["pads"])]
    extra = list(node.attrs["output_padding"] or [0] * rank)
    function = getattr(torch, f"conv_transpose{rank}d")
    return function(x, w, None, strides, pads, extra, node.attrs["groups"], dilations)


@writes(RULES, "max_pool")
def _max_pool(np: Library, node: Node, x: Any) -> Any:
    """Of floats by torch's own function, which pads with at most half a window."""
    rank, strides, dilations = _window(node)
    kernel, fill = node.attrs["kernel"], combined("max_pool", node.type.dtype)
    if not node.type.dtype.is_float or rank > 3 or 0 in node.type.dims:
        return torch.amax(_windows(node, x, fill), list(range(-rank, 0)))
    x, pads = _pads(node, fill, x)
    if any(2 * p > k for p, k in zip(pads, kernel, strict=True)):
        x, pads = _padded(x, [(p, p) for p in pads], fill), [0] * rank
    return getattr(functional, f"max_pool{rank}d")(x, list(kernel), strides, pads, dilations)


@writes(RULES, "sum_pool")
def _sum_pool(np: Library, node: Node, x: Any) -> Any:
    inside = list(range(node.inputs[0].type.rank, node.inputs[0].type.rank + len(_window(node)[1])))
    windows = _windows(node, x, 0)
    if node.type.dtype.kind == "bool":
        return torch.any(windows, inside)
    return np.astype(torch.sum(windows, inside), node.type.dtype)


def _windows(node: Node, x: Any, fill: Any) -> Any:
    """[n, c, *positions, *kernel]: a view."""
    rank, strides, dilations = _window(node)
    x = _padded(x, low_high(rank, node.attrs["pads"]), fill)
    every = (slice(None),) * (2 + rank)
    for axis, kernel in enumerate(node.attrs["kernel"]):
        x = x.unfold(2 + axis, dilations[axis] * (kernel - 1) + 1, strides[axis])
    return x[(*every, *(slice(None, None, d) for d in dilations))]


def _torch_averages(node: Node) -> bool:
    rank, _, dilations = _window(node)
    sides = low_high(rank, node.attrs["pads"])
    fits = all(low == high and 2 * low <= k
               for (low, high), k in zip(sides, node.attrs["kernel"], strict=True))  # fmt: skip
    return fits and rank <= 3 and set(dilations) <= {1} and 0 not in node.type.dims


@writes(RULES, "avg_pool", fits=_torch_averages)
def _avg_pool(np: Library, node: Node, x: Any) -> Any:
    rank, strides, _ = _window(node)
    pads = [low for low, _ in low_high(rank, node.attrs["pads"])]
    function = getattr(functional, f"avg_pool{rank}d")
    return function(x, list(node.attrs["kernel"]), strides, pads, False,
                    node.attrs["count_include_pad"])  # fmt: skip


@writes(RULES, "pad")
def _pad(np: Library, node: Node, x: Any) -> Any:
    """With gaps inside: x, written into what fills them."""
    low, high, value = node.attrs["low"], node.attrs["high"], node.attrs["value"]
    gaps = node.attrs["interior"]
    if not gaps or not any(gaps):
        return _padded(x, list(zip(low, high, strict=True)), value)
    parts = tuple(
        slice(a, a + n + g * (n - 1), g + 1) if n else slice(0, 0)
        for n, a, g in zip(node.inputs[0].type.dims, low, gaps, strict=True)
    )
    whole = x.new_full(node.type.dims, value)
    places = torch.arange(math.prod(node.type.dims)).reshape(node.type.dims)[parts].reshape(-1)
    flat = torch.scatter(whole.reshape(-1), 0, np.asarray(places.numpy()), x.reshape(-1))
    return flat.reshape(node.type.dims)


REDUCE = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _scattered(x: Any, where: Sequence[Any], updates: Any, how: str, node: Node) -> Any:
    """Through one index into the first axes, made flat."""
    sizes, count = node.type.dims[: len(where)], len(where)
    rest = math.prod(node.type.dims[count:])
    index = where[0]
    for other, size in zip(where[1:], sizes[1:], strict=True):
        index = index * size + other
    places = math.prod(node.inputs[2].type.dims) // rest if rest else 0
    index = index.reshape(places, 1).expand(places, rest)
    flat, rows = x.reshape(math.prod(sizes), rest), updates.reshape(places, rest)
    if how == "none":
        return torch.scatter(flat, 0, index, rows).reshape(node.type.dims)
    return torch.scatter_reduce(flat, 0, index, rows, REDUCE[how]).reshape(node.type.dims)


NAMES["scattered"] = _scattered


@writes(RULES, "grid_sample", fits=lambda node: node.type.rank <= 4 or (
    node.type.rank == 5 and node.attrs["mode"] != "cubic"))  # fmt: skip
def _grid_sample(np: Library, node: Node, x: Any, grid: Any) -> Any:
    """Images of one axis get a second one, in whose middle the positions are."""
    attrs = node.attrs
    mode = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}[attrs["mode"]]
    if node.type.rank == 3:
        x, grid = x.unsqueeze(2), functional.pad(grid, [0, 1]).unsqueeze(1)
    y = functional.grid_sample(x, grid, mode, attrs["padding"], attrs["aligned"])
    return y.squeeze(2) if node.type.rank == 3 else y


@writes(RULES, "scan")
def _scan(np: Library, node: Node, state: Any, *operands: Any) -> Any:
    """Written out, once for each step: torch has no loop that it would run as one."""
    body, count = node.attrs["body"], node.attrs["sequences"]
    sequences, others = operands[:count], operands[count:]
    steps, history = range(node.type.dims[0]), {}
    for t in reversed(steps) if node.attrs["reverse"] else steps:
        (state,) = np.results(body, [state, *(s[t] for s in sequences), *others])
        history[t] = state
    if not history:
        return np.asarray(numpy.zeros(node.type.dims, node.type.dtype.numpy))
    return torch.stack([history[t] for t in steps])
