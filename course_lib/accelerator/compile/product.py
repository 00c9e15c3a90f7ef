"""A layer as the chip sees it: pixels, a window, input and output channels.

    Product.of(match)     conv 3x3, 64 -> 64 channels, 56 x 56   |   matmul [128, 256] @ [256, 1024]
                          kernel (3, 3), channels 64, ...        |   1 image, 1 row of 128 pixels

A matrix product is a convolution with a window of one pixel, so everything behind this file knows
convolutions only. Images lie as NHWC. The sum of one output runs over `runs`: stretches of bytes
that lie side by side in the piece of image that is on the chip (`patch`). In NHWC, a row of the
window is one stretch of kw * channels bytes (implicit im2col). Next room: `tiles.py`.

Reading path of the chip, 5 of 12; next: `accelerator/compile/tiles.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from course_lib.accelerator.compile.support import Match
from course_lib.ir.ops.window import Window


class Block(NamedTuple):
    """Result pixels that are computed together: rows y .. y + h, columns x .. x + w of an image."""

    image: int
    y: int
    h: int
    x: int
    w: int

    @property
    def pixels(self) -> int:
        return self.h * self.w


class Run(NamedTuple):
    """`length` bytes side by side, `offset` bytes behind the first pixel of a window."""

    offset: int
    length: int


@dataclass(frozen=True)
class Product:
    """Sums of products of int8. Pairs are (along y, along x).

    images, size, channels   of the operand, NHWC      out, outputs   of the result
    kernel ... dilations     the window                depthwise      a filter for each channel
    """

    images: int
    size: tuple[int, int]
    channels: int
    out: tuple[int, int]
    outputs: int
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    low: tuple[int, int] = (0, 0)
    high: tuple[int, int] = (0, 0)
    dilations: tuple[int, int] = (1, 1)
    depthwise: bool = False

    @staticmethod
    def of(match: Match) -> Product:
        """Of a match of the patterns `conv`, `matmul` and `max_pool` (a window, and no weights)."""
        if match.pattern.name == "matmul":
            (k, n), pixels = match.operands["weights"].type.dims, match.root.type.numel
            return matrix(pixels // n, k, n)
        return _windowed(match)

    @property
    def macs(self) -> int:
        """Multiply-accumulates that the layer asks for."""
        return self.pixels * self.outputs * self.depth

    @property
    def pixels(self) -> int:
        """Pixels of the result."""
        return self.images * self.out[0] * self.out[1]

    @property
    def depth(self) -> int:
        """Products in one sum."""
        return self.kernel[0] * self.kernel[1] * (1 if self.depthwise else self.channels)

    @property
    def moved(self) -> int:
        """Bytes that must cross the port at least: what is needed of the image, weights and result
        once each."""
        image = self.images * self._needed(0) * self._needed(1) * self.channels
        return image + self.depth * self.outputs + self.pixels * self.outputs

    def _needed(self, axis: int) -> int:
        """Rows (axis 0) or columns (1) of the image that are read, or a few more: strides may leave
        some out."""
        out, kernel = self.out[axis], self.kernel[axis]
        return min(self.size[axis], out * kernel, self.reach(axis, out))

    def reach(self, axis: int, many: int) -> int:
        """Rows (axis 0) or columns (1) of the image that `many` of the result need."""
        span = (self.kernel[axis] - 1) * self.dilations[axis]
        return (many - 1) * self.strides[axis] + span + 1

    def patch(self, block: Block) -> tuple[int, int]:
        """Rows and columns of the piece of image that a block needs, its border included."""
        return self.reach(0, block.h), self.reach(1, block.w)

    def runs(self, width: int, channels: int) -> Iterator[Run]:
        """What a sum of a dense product reads of a patch [.., width, channels], in the order in
        which the weights lie."""
        kh, kw = self.kernel
        for r in range(kh):
            row = r * self.dilations[0] * width * channels
            if self.dilations[1] == 1:
                yield Run(row, kw * channels)
                continue
            for s in range(kw):
                yield Run(row + s * self.dilations[1] * channels, channels)

    def taps(self, width: int, channels: int, first: int, count: int) -> Iterator[Run]:
        """What a depthwise product reads for channels first .. first + count of the patch."""
        for r in range(self.kernel[0]):
            for s in range(self.kernel[1]):
                pixel = r * self.dilations[0] * width + s * self.dilations[1]
                yield Run(pixel * channels + first, count)


def matrix(m: int, k: int, n: int) -> Product:
    """[m, k] x [k, n]: one image, one row of m pixels."""
    return Product(1, (1, m), k, (1, m), n)


def pack(product: Product, weights: np.ndarray, inputs: slice, outputs: slice) -> np.ndarray:
    """The weights of some channels as a matrix int8[k, n], in the order of the runs. `weights` as
    in the model: [outputs, channels, kh, kw] or [k, n]. A depthwise filter has one number for a
    channel: it stands on the diagonal of a square for each pixel of the window, and the rest are
    zeros, which is why at most one cell in `cols` does useful work."""
    if weights.ndim == 2:
        return weights[inputs, outputs]
    if product.depthwise:
        taps = weights[outputs, 0].reshape(weights[outputs].shape[0], -1).T
        return (np.eye(taps.shape[1], dtype=np.int8) * taps[:, :, None]).reshape(-1, taps.shape[1])
    chosen = weights[outputs, inputs].transpose(2, 3, 1, 0)
    return chosen.reshape(-1, chosen.shape[3])


def _windowed(match: Match) -> Product:
    conv_node = match.node("conv")
    node, conv = (match.root, False) if conv_node is None else (conv_node, True)
    n, c, *size = match.operands["x"].type.dims
    kernel = node.inputs[1].type.dims[2:] if conv else node.attrs["kernel"]
    window = Window.of(kernel, node.attrs, node.op)
    product = Product(
        n, _pair(size), c, _pair(node.type.dims[2:]), node.type.dims[1], _pair(window.kernel),
        _pair(window.strides), _pair(window.low), _pair(window.high), _pair(window.dilations),
        depthwise=not conv or node.attrs["groups"] > 1,
    )  # fmt: skip
    pointwise = not product.depthwise and product.kernel == product.strides == (1, 1)
    if pointwise and product.low == product.high == (0, 0):
        return matrix(product.pixels, c, product.outputs)
    return product


def _pair(numbers) -> tuple[int, int]:
    y, x = numbers
    return int(y), int(x)
