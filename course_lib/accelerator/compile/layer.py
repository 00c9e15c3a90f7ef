"""A match of a pattern becomes a layer of the chip's program: addresses, constants, instructions.

    lower_layer(match, dram, npu)   ->   Layer("layer1.0.conv1", 12,345 instructions, ...)

One function for each pattern of `support.py`. Next room: `build.py`, all layers of a part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.emit import Places, Program, emit
from course_lib.accelerator.compile.estimate import bound
from course_lib.accelerator.compile.product import Product, pack
from course_lib.accelerator.compile.search import choose_tile
from course_lib.accelerator.compile.support import Match
from course_lib.accelerator.compile.tiles import Tile, smallest
from course_lib.accelerator.compile.vector import (
    emit_add,
    emit_mean,
    emit_pool,
    mean_refused,
    pool_tile,
)
from course_lib.accelerator.compile.walk import spans, walk
from course_lib.ir.graph.node import Node
from course_lib.ir.types import TensorType

ALIGN = 64  # bytes; where values begin in DRAM
Choose = Callable[[Product, Chip], Tile]


@dataclass(eq=False)
class Dram:
    """Memory outside the chip while it is filled: an address for each value, bytes for constants.
    Images lie as NHWC, everything else as numpy has it."""

    size: int = 0
    addresses: dict[Node, int] = field(default_factory=dict)
    constants: list[tuple[int, np.ndarray]] = field(default_factory=list)

    def room(self, size: int) -> int:
        at = self.size
        self.size += -(-size // ALIGN) * ALIGN
        return at

    def put(self, array: np.ndarray) -> int:
        """A constant; its address."""
        data = np.ascontiguousarray(array).view(np.int8).ravel()
        at = self.room(data.size)
        self.constants.append((at, data))
        return at

    def of(self, node: Node) -> int:
        """The address of a value."""
        if node not in self.addresses:
            constant = node.op == "constant"
            self.addresses[node] = (
                self.put(as_stored(node.value)) if constant else self.room(node.type.numel)
            )
        return self.addresses[node]

    def image(self) -> np.ndarray:
        """All of it, the constants filled in."""
        image = np.zeros(max(self.size, ALIGN), np.int8)
        for at, data in self.constants:
            image[at : at + data.size] = data
        return image


def as_stored(array: np.ndarray) -> np.ndarray:
    """A value as its bytes lie in DRAM."""
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1) if array.ndim == 4 else array)


def as_read(data: np.ndarray, t: TensorType) -> np.ndarray:
    """A value from its bytes in DRAM; a copy."""
    if t.rank != 4:
        return data.reshape(t.dims).copy()
    n, c, h, w = t.dims
    return np.ascontiguousarray(data.reshape(n, h, w, c).transpose(0, 3, 1, 2))


@dataclass(frozen=True, eq=False)
class Layer:
    """What the chip does for one match. `bound` is the machine's roofline for it, clocks."""

    name: str
    pattern: str
    program: Program
    macs: int
    bound: int
    tile: Tile | None = None


def lower_layer(match: Match, dram: Dram, chip: Chip, choose: Choose = choose_tile) -> Layer:
    """The instructions of one match; its operands have addresses, its constants and its result get
    theirs."""
    lower = {"conv": _product, "matmul": _product, "mean": _mean, "max_pool": _pool}
    chosen: Callable[..., Layer] = lower.get(match.pattern.name, _elementwise)
    return chosen(match, dram, chip, choose)


def refused(match: Match, chip: Chip) -> str:
    """Why a match that the chip could compute does not fit it; "" if it does."""
    try:
        if match.pattern.name in ("conv", "matmul"):
            product = Product.of(match)
            widest = max(*product.low, *product.high, *(k - 1 for k in product.kernel))
            if widest > 15:
                return f"windows and borders of at most 16 pixels, got {widest + 1}"
            if any(max(product.low[a], product.high[a]) >= product.reach(a, 1) for a in (0, 1)):
                return "the border is as wide as the window"
            smallest(product, chip)
        elif match.pattern.name == "max_pool":
            pool_tile(Product.of(match), chip)
        elif match.pattern.name == "mean":
            return mean_refused(_pixels(match), chip)
    except ValueError as error:
        return f"does not fit the chip: {error}"
    return ""


def _name(match: Match) -> tuple[str, ...]:
    return tuple(dict.fromkeys(o for node in match.nodes for o in node.origin))


def _limits(match: Match) -> dict[str, int]:
    return {k: match.root.attrs[k] for k in ("low", "high") if k in match.root.attrs}


def _places(match: Match, dram: Dram, **more: Any) -> Places:
    x = dram.of(match.operands["x"])
    known: dict[str, Any] = {"weights": {}, "params": 0, **_limits(match), **more}
    return Places(x=x, y=dram.of(match.root), origin=_name(match), **known)


def _layer(match: Match, program: Program, macs: int, least: int, tile: Tile | None) -> Layer:
    name = match.nodes[0].origin or (match.root.name or match.pattern.name,)
    return Layer(name[0], match.pattern.name, program, macs, least, tile)


def _product(match: Match, dram: Dram, chip: Chip, choose: Choose) -> Layer:
    product = Product.of(match)
    tile = choose(product, chip)
    weights = match.operands["weights"].value
    held = {}
    for step in walk(product, tile, chip):
        for first, end in spans(step.outputs[1] - step.outputs[0], chip.cols):
            outputs = step.outputs[0] + first, step.outputs[0] + end
            inputs = outputs if product.depthwise else step.inputs
            if (inputs, outputs) not in held:
                held[inputs, outputs] = dram.put(
                    pack(product, weights, slice(*inputs), slice(*outputs))
                )
    params = dram.put(parameters(match, product.outputs, chip))
    program = emit(product, tile, chip, _places(match, dram, weights=held, params=params))
    return _layer(match, program, product.macs, bound(product, chip), tile)


def parameters(match: Match, outputs: int, chip: Chip) -> np.ndarray:
    """int32[blocks, 2, cols]: for each block of output channels its biases, and the bits of its
    scales, which are float32."""
    bias = match.operands.get("bias")
    given = np.zeros(outputs, "<i4") if bias is None else bias.value.astype("<i4").ravel()
    scale = np.broadcast_to(match.operands["scale"].value.astype("<f4"), (outputs,))
    blocks = np.zeros((-(-outputs // chip.cols), 2, chip.cols), "<i4")
    for block, (first, end) in enumerate(spans(outputs, chip.cols)):
        blocks[block, 0, : end - first] = np.broadcast_to(given, (outputs,))[first:end]
        blocks[block, 1, : end - first] = np.ascontiguousarray(scale[first:end]).view("<i4")
    return blocks


def _mean(match: Match, dram: Dram, chip: Chip, choose: Choose) -> Layer:
    product = _pixels(match)
    ones = dram.put(np.ones(product.size[0] * product.size[1], np.int8))
    params = dram.put(parameters(match, product.channels, chip))
    program = emit_mean(product, chip, _places(match, dram, params=params), ones)
    moved = match.operands["x"].type.numel + match.root.type.numel
    return _layer(match, program, 0, -(-moved // chip.dma_bytes), None)


def _pixels(match: Match) -> Product:
    n, c, h, w = match.operands["x"].type.dims
    return Product(n, (h, w), c, (1, 1), c)


def _pool(match: Match, dram: Dram, chip: Chip, choose: Choose) -> Layer:
    product = Product.of(match)
    program = emit_pool(product, chip, _places(match, dram))
    moved = match.operands["x"].type.numel + match.root.type.numel
    return _layer(match, program, 0, -(-moved // chip.dma_bytes), pool_tile(product, chip))


def _elementwise(match: Match, dram: Dram, chip: Chip, choose: Choose) -> Layer:
    """add; relu: x * 1 + x * 0, not below 0; rescale: x * scale + x * 0."""
    size, operands = match.root.type.numel, match.operands
    y, scales = None, (1.0, 0.0)
    places = _places(match, dram, **({"low": 0} if match.pattern.name == "relu" else {}))
    if match.pattern.name == "add":
        y = dram.of(operands["y"])
        scales = (float(operands["x_scale"].value), float(operands["y_scale"].value))
    elif match.pattern.name == "rescale":
        scales = (float(operands["scale"].value), 0.0)
    program = emit_add(size, chip, places, y, scales)
    moved = size * (2 if y is None else 3)
    return _layer(match, program, 0, -(-moved // chip.dma_bytes), None)
