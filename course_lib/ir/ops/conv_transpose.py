"""The row for transposed convolution: a dense convolution for each phase of the result.

    stride 2, kernel 4, no padding:    out[2*q]     = x[q] * w[0] + x[q - 1] * w[2]
                                       out[2*q + 1] = x[q] * w[1] + x[q - 1] * w[3]

With stride s, the elements p, p + s, p + 2*s, ... of an axis of the result are one *phase*: they
read x with the same few taps of the kernel, at neighbouring places, which is a convolution. (To
spread x out with zeros and to convolve once computes the same, and multiplies mostly zeros.) Phases
that read x alike are channels of one convolution. Next room: `fourier.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.ops.composite import composite
from course_lib.ir.ops.window import WINDOW_ATTRS, Window

WIDEST = 4096  # a stride has as many phases, which are looked at one by one


@composite(
    **WINDOW_ATTRS, groups=Attr("int", 1, least=1), output_padding=Attr("ints", None, least=0)
)
def conv_transpose(x: Node, w: Node, *, groups: int, output_padding, **where: Any) -> Node:
    """the transpose of conv: w is [ic, oc/groups, ...]"""
    _check(x, w, groups)
    window = Window.of(w.type.dims[2:], where, "conv_transpose")
    sizes = _sizes(x, window, output_padding or [0] * len(window.kernel))
    phases = _Phases(x, w, groups, window, sizes)
    return phases.interleaved(phases.joined([]))


def _check(x: Node, w: Node, groups: int) -> None:
    if x.type.rank < 3 or x.type.rank != w.type.rank:
        raise ValueError(f"conv_transpose: needs x[n,c,spatial...] and w[c,...], got {x} and {w}")
    if x.type.shape[1] != w.type.shape[0] or w.type.dims[0] % groups:
        raise ValueError(
            f"conv_transpose: {x.type} and the weights {w.type} need the same channels, "
            f"a multiple of the {groups} groups"
        )


def _sizes(x: Node, window: Window, extra: Sequence[int]) -> list[int]:
    """Of the spatial axes of the result."""
    if len(extra) != len(window.kernel):
        raise ValueError(
            f"conv_transpose: output_padding needs {len(window.kernel)} numbers, got {list(extra)}"
        )
    sizes = []
    for axis, size in enumerate(x.type.dims[2:]):
        reach = window.dilations[axis] * (window.kernel[axis] - 1) + 1
        whole = window.strides[axis] * (size - 1) + reach + extra[axis]
        left = whole - window.low[axis] - window.high[axis]
        if size < 1 or left < 1:
            raise ValueError(
                f"conv_transpose: padding {window.low[axis]} + {window.high[axis]} leaves nothing "
                f"of {whole} along spatial axis {axis}"
            )
        sizes.append(left)
    return sizes


@dataclass(frozen=True)
class Run:
    """Neighbouring phases of one axis that read x alike.

    taps   for each phase, the places in the kernel that it uses, the last one first
    first  where the first element of the phases begins to read x; negative: before it
    apart  how far apart the taps read x
    """

    taps: tuple[tuple[int, ...], ...]
    first: int
    apart: int


def runs(kernel: int, stride: int, dilation: int, low: int) -> list[Run]:
    """The phases of one axis: element `stride*q + p` of the result reads `x[q + first + ...]`.

    Tap k brings x[i] to element stride*i + dilation*k - low.
    """

    def taps(phase: int) -> tuple[int, ...]:
        fits = [k for k in range(kernel) if (phase + low - dilation * k) % stride == 0]
        return tuple(reversed(fits))

    def first(phase: int) -> int:
        return (phase + low - dilation * max(taps(phase), default=0)) // stride

    apart = dilation // math.gcd(dilation, stride)
    alike = groupby(range(stride), lambda phase: (len(taps(phase)), first(phase)))
    return [Run(tuple(map(taps, phases)), key[1], apart) for key, phases in alike]


class _Phases:
    """The convolutions, and how their results are put together."""

    def __init__(self, x: Node, w: Node, groups: int, window: Window, sizes: Sequence[int]) -> None:
        self.x, self.w, self.groups, self.sizes = x, w, groups, sizes
        self.strides = window.strides
        self.positions = [-(-n // s) for n, s in zip(sizes, window.strides, strict=True)]
        if max(window.strides) > WIDEST:
            strides = list(window.strides)
            raise ValueError(f"conv_transpose: a stride is {WIDEST} or less, got {strides}")
        each = zip(window.kernel, window.strides, window.dilations, window.low, strict=True)
        self.runs = [runs(*axis) for axis in each]

    def joined(self, chosen: list[Run]) -> Node:
        """[n, groups, *phases, oc/groups, *positions]; the runs of the first axes are chosen."""
        axis = len(chosen)
        if axis == len(self.runs):
            return self.computed(chosen)
        parts = [self.joined([*chosen, run]) for run in self.runs[axis]]
        return parts[0] if len(parts) == 1 else b.concat(parts, 2 + axis)

    def computed(self, chosen: Sequence[Run]) -> Node:
        """One convolution, with the phases of these runs as channels."""
        phases = [len(run.taps) for run in chosen]
        batch, channels = self.x.type.shape[0], self.w.type.dims[1]
        shape = (batch, self.groups, *phases, channels, *self.positions)
        if not all(run.taps[0] for run in chosen):  # a stride that is longer than the kernel
            return b.expand(b.const(0, self.x.type.dtype), shape)
        y = apply("conv", self.read(chosen), self.filters(chosen), groups=self.groups,
                  dilations=tuple(run.apart for run in chosen))  # fmt: skip
        return b.reshape(y, shape)

    def read(self, chosen: Sequence[Run]) -> Node:
        """What these runs read of x, with zeros around it."""
        starts, stops, low, high = [0, 0], list(self.x.type.shape[:2]), [0, 0], [0, 0]
        for run, count, size in zip(chosen, self.positions, self.x.type.dims[2:], strict=True):
            reach = count + run.apart * (len(run.taps[0]) - 1)
            begin = min(max(run.first, 0), size)
            end = max(min(run.first + reach, size), begin)
            before = min(max(-run.first, 0), reach)
            starts.append(begin)
            stops.append(end)
            low.append(before)
            high.append(reach - before - (end - begin))
        cut = apply("slice", self.x, starts=tuple(starts), stops=tuple(stops))
        return apply("pad", cut, low=tuple(low), high=tuple(high))

    def filters(self, chosen: Sequence[Run]) -> Node:
        """[groups * phases * oc/groups, ic/groups, *taps]: the taps of every phase."""
        w, rank = self.w, len(chosen)
        for axis, run in enumerate(chosen):  # an axis of the kernel becomes [phases, taps]
            w = apply("gather", w, const(np.array(run.taps)), axis=2 + 2 * axis)
        ic, oc, *places = w.type.dims
        w = b.reshape(w, (self.groups, ic // self.groups, oc, *places))
        phases, taps = range(3, 3 + 2 * rank, 2), range(4, 4 + 2 * rank, 2)
        w = b.transpose(w, (0, *phases, 2, 1, *taps))
        filters = self.groups * math.prod(places[::2]) * oc
        return b.reshape(w, (filters, ic // self.groups, *places[1::2]))

    def interleaved(self, phases: Node) -> Node:
        """[n, groups, *phases, oc/groups, *positions] as an image [n, oc, *sizes]."""
        rank, (batch, groups, *_) = len(self.sizes), phases.type.shape
        if max(self.strides) > 1:
            pairs = [axis for k in range(rank) for axis in (3 + rank + k, 2 + k)]
            phases = b.transpose(phases, (0, 1, 2 + rank, *pairs))
        whole = [n * s for n, s in zip(self.positions, self.strides, strict=True)]
        image = b.reshape(phases, (batch, groups * self.w.type.dims[1], *whole))
        if whole == list(self.sizes):
            return image
        return apply("slice", image, starts=(0,) * (2 + rank),
                     stops=(*image.type.shape[:2], *self.sizes))  # fmt: skip
