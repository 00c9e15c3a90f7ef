"""The row for layouts: an image or its filters with the axes in another order, or in blocks.

    %0 = relayout(%x) {src = "nchw", dst = "nchw16c"} : f32[1,4,56,56,16]   // x: f32[1,64,56,56]
    ==>  out[n, c, h, w, ci] = x[n, 16*c + ci, h, w]

A layout is written as in oneDNN: the axes from the outermost to the innermost, then the blocks.
`nhwc` has the channels of a pixel next to each other; `nchw16c` cuts them into blocks of 16, and
the 16 channels of a block lie next to each other. The filters of a convolution have layouts too:
`oihw`, or `oihw16i16o`. An axis has at most one block. Next room: `in_layout.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm
from course_lib.ir.graph.build import reshape, transpose
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import Op, no_flops, register
from course_lib.ir.types import Dim, TensorType, divide, type_of

V = Affine.var

IMAGE, FILTER = "nchw", "oihw"  # the plain layouts: row-major in this order
Place = tuple[str, bool]  # an axis, and whether this is the inside of its blocks


@dataclass(frozen=True)
class Coordinate:
    """A position along an axis that loops walk in blocks: `block * outer + inner`."""

    outer: Affine
    inner: Affine = field(default_factory=Affine)
    block: int = 1

    @staticmethod
    def over(var: str, block: int) -> Coordinate:
        """Along the loop `var`, and a loop inside each block if there are blocks."""
        return Coordinate(V(var), V(f"{var}l") if block > 1 else Affine(), block)

    @property
    def whole(self) -> Affine:
        return self.outer * self.block + self.inner


@dataclass(frozen=True)
class Layout:
    """`axes` from outermost to innermost; `blocks` (axis, size), which lie inside all of them."""

    axes: str
    blocks: tuple[tuple[str, int], ...] = ()

    @staticmethod
    @cache
    def of(text: str) -> Layout:
        """Read `nchw16c`; ValueError in words if that is no layout."""
        axes = re.match("[a-z]*", text)[0]  # type: ignore[index]
        blocks = tuple((axis, int(size)) for size, axis in re.findall(r"(\d+)([a-z])", text))
        layout, named = Layout(axes, blocks), [axis for axis, _ in blocks]
        distinct = len(set(axes)) == len(axes) and len(set(named)) == len(named)
        sound = distinct and set(named) <= set(axes) and all(size > 1 for _, size in blocks)
        if not axes or not sound or str(layout) != text:
            raise ValueError(
                f"{text!r} is not a layout: name each axis once, then the blocks of some of them, "
                "as in nchw, nhwc or nchw16c"
            )
        return layout

    def __str__(self) -> str:
        return self.axes + "".join(f"{size}{axis}" for axis, size in self.blocks)

    def block(self, axis: str) -> int:
        """How long the axis' blocks are; 1 if it has none."""
        return dict(self.blocks).get(axis, 1)

    @property
    def places(self) -> list[Place]:
        """What each axis of a tensor in this layout is."""
        return [(axis, False) for axis in self.axes] + [(axis, True) for axis, _ in self.blocks]

    def sizes(self, type: TensorType, what: str) -> dict[str, Dim]:
        """How long each axis is, of a tensor that lies in this layout."""
        blocks = [size for _, size in self.blocks]
        if type.rank != len(self.places) or list(type.shape[len(self.axes) :]) != blocks:
            raise ValueError(
                f"{what}: a tensor in layout {self} has {len(self.places)} axes"
                + (f", the last {blocks}" if blocks else "")
                + f"; got {type}"
            )
        return {a: size * self.block(a) for a, size in zip(self.axes, type.shape, strict=False)}

    def shape(self, sizes: Mapping[str, Dim], what: str) -> tuple[Dim, ...]:
        """The shape, in this layout, of a tensor with these sizes."""
        outer: dict[str, Dim] = {}
        for axis in self.axes:
            blocks = divide(sizes[axis], self.block(axis))
            if blocks is None:
                raise ValueError(
                    f"{what}: axis {axis} has size {sizes[axis]}, which does not divide into the "
                    f"blocks of {self.block(axis)} that {self} wants"
                )
            outer[axis] = blocks
        return tuple(self.block(a) if inside else outer[a] for a, inside in self.places)

    def at(self, point: Mapping[str, Coordinate]) -> tuple[Affine, ...]:
        """The index of a point. Where this layout has blocks, the coordinate comes in the same."""
        parts = []
        for axis, inside in self.places:
            c = point[axis]
            assert self.block(axis) in (1, c.block), f"{self}: {axis} comes in {c.block}s"
            outer = c.outer if self.block(axis) == c.block else c.whole
            parts.append(c.inner if inside else outer)
        return tuple(parts)


@cache
def relaid(type: TensorType, src: str, dst: str, what: str = "relayout") -> TensorType:
    """The type, in layout `dst`, of a tensor that lies in layout `src`."""
    old, new = Layout.of(src), Layout.of(dst)
    if set(old.axes) != set(new.axes):
        raise ValueError(f"{what}: {src} and {dst} do not have the same axes")
    return type.with_shape(new.shape(old.sizes(type, what), what))


def loops_over(
    layout: Layout, point: Mapping[str, Coordinate], sizes: Mapping[str, Any]
) -> tuple[tuple[str, int], ...]:
    """The loops of these coordinates, in the order in which a layout stores them."""
    extents: dict[str, int] = {}
    for axis, inside in layout.places:
        if axis not in point:
            continue
        c = point[axis]
        if not inside:
            extents[c.outer.vars[0]] = sizes[axis] // c.block
        if c.block > 1 and inside == (layout.block(axis) > 1):
            extents[c.inner.vars[0]] = c.block
    return tuple(extents.items())


def moves(type: TensorType, src: str, dst: str) -> list[tuple[str, tuple]]:
    """A relayout in terms of other ops: ("transpose", perm) and ("reshape", shape) in turns.

    Bring the old blocks to their axes, merge them, permute the axes, cut them into the new blocks,
    bring those to the end.
    """
    old, new = Layout.of(src), Layout.of(dst)
    sizes = old.sizes(type, "relayout")
    size_at = dict(zip(new.places, new.shape(sizes, "relayout"), strict=True))
    apart, cut = _side_by_side(old), _side_by_side(new)
    return [
        ("transpose", tuple(old.places.index(place) for place in apart)),
        ("reshape", tuple(sizes[axis] for axis in old.axes)),
        ("transpose", tuple(old.axes.index(axis) for axis in new.axes)),
        ("reshape", tuple(size_at[place] for place in cut)),
        ("transpose", tuple(cut.index(place) for place in new.places)),
    ]


def _side_by_side(layout: Layout) -> list[Place]:
    """The places of a layout with each block directly behind its axis."""
    both = [(axis, inside) for axis in layout.axes for inside in (False, True)]
    return [place for place in both if place in layout.places]


def rearranged(x: np.ndarray, src: str, dst: str) -> np.ndarray:
    """The array, which lies in layout `src`, in layout `dst`; a view of it if that is enough."""
    for op, argument in moves(type_of(x), src, dst):
        x = x.transpose(argument) if op == "transpose" else x.reshape(argument)
    return x


@cache
def _relayout(type: TensorType, src: str, dst: str) -> TensorType:
    old, new = Layout.of(src), Layout.of(dst)
    for axis in set(old.axes) & set(new.axes):
        small, large = sorted((old.block(axis), new.block(axis)))
        if large % small:
            raise ValueError(
                f"relayout: blocks of {old.block(axis)} do not divide into blocks of "
                f"{new.block(axis)}, nor the other way round; go through a layout without blocks"
            )
    return relaid(type, src, dst)


def _loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """Up to three loops for an axis: the larger blocks, the smaller ones in each, the elements."""
    old, new = Layout.of(attrs["src"]), Layout.of(attrs["dst"])
    whole = {axis: int(size) for axis, size in new.sizes(out, "relayout").items()}  # type: ignore
    extents: dict[str, int] = {}
    read: dict[str, Coordinate] = {}
    write: dict[str, Coordinate] = {}
    for axis in new.axes:
        small, large = sorted((old.block(axis), new.block(axis)))
        extents |= {axis: whole[axis] // large, f"{axis}m": large // small, f"{axis}l": small}
        o, m, i = (V(v) if extents[v] != 1 else Affine() for v in (axis, f"{axis}m", f"{axis}l"))
        coarse, fine = (
            Coordinate(o, m * small + i, large),
            Coordinate(o * (large // small) + m, i, small),
        )
        read[axis] = coarse if old.block(axis) == large else fine
        write[axis] = coarse if new.block(axis) == large else fine
    order = [v for index in new.at(write) for v in extents if v in index.vars]
    domain = tuple((v, extents[v]) for v in order)
    return [LoopForm(domain, new.at(write), lambda load: load(0, *old.at(read)))]


def _decompose(operands: Sequence[Node], attrs: Attrs) -> Node:
    (x,) = operands
    for op, argument in moves(x.type, attrs["src"], attrs["dst"]):
        x = transpose(x, argument) if op == "transpose" else reshape(x, argument)
    return x


register(
    Op(
        name="relayout",
        kind="movement",
        arity=1,
        doc="an image or filters in another layout: nchw, nhwc, in blocks as nchw16c, oihw16i16o",
        attrs={"src": Attr("string"), "dst": Attr("string")},
        infer=lambda types, attrs: _relayout(types[0], attrs["src"], attrs["dst"]),
        evaluate=lambda arrays, attrs: rearranged(arrays[0], attrs["src"], attrs["dst"]),
        loops=_loops,
        decompose=_decompose,
        flops=no_flops,
    )
)
