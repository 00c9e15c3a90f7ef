"""What convolution and pooling share: a window that slides over the spatial axes of an image.

    Window.of((3, 3), {strides: (2, 2), pads: (1, 1, 1, 1), ...})    out 0 reads rows -1, 0, 1
                                                                    out 1 reads rows  1, 2, 3

`pads` lists all low sides, then all high ones. Next room: `contraction.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import Dim
from course_lib.ir.windows import positions
from course_lib.limits import check_room

V = Affine.var


@dataclass(frozen=True)
class Window:
    """How a window slides over the spatial axes. One entry per spatial axis everywhere."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    dilations: tuple[int, ...]

    @staticmethod
    def of(kernel: Sequence[Dim], attrs: Attrs, what: str) -> Window:
        """From a row's attributes; ValueError, which begins with `what`, if they make no window."""
        rank = len(kernel)
        strides = tuple(attrs["strides"] or [1] * rank)
        pads = tuple(attrs["pads"] or [0] * (2 * rank))
        dilations = tuple(attrs["dilations"] or [1] * rank)
        for name, given, wanted in (
            ("strides", strides, rank),
            ("pads", pads, 2 * rank),
            ("dilations", dilations, rank),
        ):
            if len(given) != wanted:
                raise ValueError(f"{what}: {name} needs {wanted} numbers, got {list(given)}")
        if min((*strides, *dilations), default=1) < 1 or min(pads, default=0) < 0:
            raise ValueError(f"{what}: strides and dilations start at 1, pads at 0")
        sizes = tuple(k for k in kernel if isinstance(k, int) and k >= 1)
        if len(sizes) < rank:
            raise ValueError(
                f"{what}: the sizes of a window are whole numbers, 1 or more; got {list(kernel)}"
            )
        return Window(sizes, strides, pads[:rank], pads[rank:], dilations)

    @property
    def padded(self) -> bool:
        return any(self.low) or any(self.high)

    def out(self, spatial: Sequence[Dim], what: str) -> tuple[Dim, ...]:
        """Result sizes: how many positions the window has along each axis."""
        sizes: list[Dim] = []
        for axis, size in enumerate(spatial):
            if not isinstance(size, int):
                raise ValueError(f"{what}: the spatial size {size} must be a number, not a symbol")
            low, high, dilation = self.low[axis], self.high[axis], self.dilations[axis]
            count = positions(size, self.kernel[axis], self.strides[axis], dilation, low, high)
            if count < 1:
                reach = dilation * (self.kernel[axis] - 1) + 1
                raise ValueError(
                    f"{what}: a window of {reach} does not fit into {size} "
                    f"(padding {low} + {high}) along spatial axis {axis}"
                )
            sizes.append(count)
        return tuple(sizes)

    @property
    def loops(self) -> tuple[tuple[str, int], ...]:
        """The loops over one window: k0, k1, ..."""
        return tuple((f"k{axis}", size) for axis, size in enumerate(self.kernel))

    def reads(self) -> tuple[Affine, ...]:
        """Where output (o0, o1, ...) and window (k0, k1, ...) read the input, without padding.
        ValueError for a window that has some."""
        if self.padded:
            raise ValueError(
                f"a window with padding {self.low} before and {self.high} after cannot be lowered; "
                "`decompose` makes padding an op of its own, and has to run before `fuse`"
            )
        steps = enumerate(zip(self.strides, self.dilations, strict=True))
        return tuple(V(f"o{axis}") * s + V(f"k{axis}") * d for axis, (s, d) in steps)

    def view(self, x: np.ndarray, fill: float | int | bool) -> np.ndarray:
        """All windows: [n, c, *out, *kernel], padded with `fill`; a view, no copy of windows."""
        widths = [(0, 0), (0, 0), *zip(self.low, self.high, strict=True)]
        if self.padded:
            sizes = [size + low + high for size, (low, high) in zip(x.shape, widths, strict=True)]
            check_room(math.prod(sizes) * x.itemsize, f"its operand with its padding, {sizes},")
        x = np.pad(x, widths, constant_values=fill) if self.padded else x
        axes = tuple(range(2, x.ndim))
        reach = tuple(d * (k - 1) + 1 for d, k in zip(self.dilations, self.kernel, strict=True))
        windows = sliding_window_view(x, reach, axes)  # type: ignore[call-overload]
        steps = [slice(None), slice(None)]
        steps += [slice(None, None, s) for s in self.strides]
        steps += [slice(None, None, d) for d in self.dilations]
        return windows[tuple(steps)]


def positions_of(sizes: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """The loops over all positions of a window, for a result of these spatial sizes: o0, o1, ..."""
    return tuple((f"o{axis}", size) for axis, size in enumerate(sizes))


WINDOW_ATTRS: dict[str, Any] = {
    "strides": Attr("ints", None, least=1),
    "pads": Attr("ints", None, least=0),
    "dilations": Attr("ints", None, least=1),
}


def without_padding(attrs: Attrs) -> dict:
    return {**attrs, "pads": None}


def padded(x: Node, window: Window, value: float) -> Node:
    """`x`: [n, c, spatial...] with the window's padding made explicit."""
    if not window.padded:
        return x
    return apply("pad", x, low=(0, 0, *window.low), high=(0, 0, *window.high), value=value)
