"""Rows for convolution and pooling of images that lie in memory in another layout than nchw.

    %2 = conv_in_layout(%0, %1) {layouts = ["nhwc", "ohwi", "nhwc"]} : f32[1,56,56,64]

is, by definition, the convolution in the plain layouts with relayouts around it:

    %2 = relayout(%0) {src = "nhwc", dst = "nchw"} : f32[1,64,58,58]
    %3 = relayout(%1) {src = "ohwi", dst = "oihw"} : f32[64,64,3,3]
    %4 = conv(%2, %3) : f32[1,64,56,56]
    %5 = relayout(%4) {src = "nchw", dst = "nhwc"} : f32[1,56,56,64]

Only its loops are its own: they run over the images as they lie, and nothing is moved. `layouts`
are those of the operands, then that of the result. Next room: `winograd.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm
from course_lib.ir.graph.build import relayout
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.contraction import CONV, product
from course_lib.ir.ops.layout import (
    FILTER,
    IMAGE,
    Coordinate,
    Layout,
    loops_over,
    rearranged,
    relaid,
)
from course_lib.ir.ops.pooling import MAX_POOL, SUM_POOL
from course_lib.ir.ops.window import Window
from course_lib.ir.registry import Op, register
from course_lib.ir.types import TensorType

V = Affine.var


# ── the definition ──


@dataclass(frozen=True)
class InLayout:
    """The op `plain` with relayouts around it.

    layouts   those that `plain` works in: of its operands, then of its result
    check     (operand types, attrs): ValueError for layouts that no loops can work in
    """

    plain: Op
    layouts: tuple[str, ...]
    check: Callable[[Sequence[TensorType], Attrs], None]

    def infer(self, types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        if len(attrs["layouts"]) != len(self.layouts):
            raise ValueError(
                f"{self.plain.name}: layouts are those of the operands and of the result, "
                f"{len(self.layouts)} in all; got {list(attrs['layouts'])}"
            )
        move = partial(relaid, what=self.plain.name)
        result = self._between(move, self.plain.infer, types, attrs)
        self.check(types, attrs)
        return result

    def evaluate(self, arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
        return self._between(rearranged, self.plain.evaluate, arrays, attrs)

    def decompose(self, operands: Sequence[Node], attrs: Attrs) -> Node:
        def build(plain: Sequence[Node], attrs: Attrs) -> Node:
            return apply(self.plain.name, *plain, **attrs)

        return self._between(relayout, build, operands, attrs)

    def _between(self, move: Callable, compute: Callable, operands: Sequence, attrs: Attrs) -> Any:
        """The definition, of types, of arrays or of nodes; `move(x, src, dst)` is the relayout."""
        *given, result = zip(attrs["layouts"], self.layouts, strict=True)
        plain = [move(x, here, there) for x, (here, there) in zip(operands, given, strict=True)]
        here, there = result
        return move(compute(plain, self.plain_attrs(attrs)), there, here)

    def flops(self, out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
        *operands, result = self.plain_types([*ins, out], attrs)
        return self.plain.flops(result, operands, self.plain_attrs(attrs))

    def plain_types(self, types: Sequence[TensorType], attrs: Attrs) -> list[TensorType]:
        """Of operands and result, the types that they have in the plain layouts."""
        pairs = zip(attrs["layouts"], self.layouts, strict=True)
        return [relaid(t, here, there) for t, (here, there) in zip(types, pairs, strict=True)]

    def plain_attrs(self, attrs: Attrs) -> dict[str, Any]:
        return {name: attrs[name] for name in self.plain.attrs}

    def row(self, loops: Callable[..., list[LoopForm]]) -> Op:
        return Op(
            name=f"{self.plain.name}_in_layout",
            kind=self.plain.kind,
            arity=self.plain.arity,
            doc=f"{self.plain.name} of images that lie in `layouts`, in loops of its own",
            attrs={**self.plain.attrs, "layouts": Attr("layouts")},
            infer=self.infer,
            evaluate=self.evaluate,
            loops=loops,
            decompose=self.decompose,
            flops=self.flops,
        )


def plain_types(node: Node) -> list[TensorType]:
    """The types of a node's operands and, last, of its result, as they are in the plain layouts.

    They differ from those that the node has for `conv_in_layout` and the like only.
    """
    types = [*(i.type for i in node.inputs), node.type]
    return ROWS[node.op].plain_types(types, node.attrs) if node.op in ROWS else types


def _block(what: str, *layouts: tuple[Layout, str]) -> int:
    """How long the blocks of channels are that one loop walks in several layouts (each with the
    name of its channels); ValueError if it cannot, for they are of different lengths."""
    blocks = sorted({layout.block(axis) for layout, axis in layouts} - {1}) or [1]
    if len(blocks) > 1:
        among = ", ".join(str(layout) for layout, _ in layouts)
        raise ValueError(f"{what} lie in blocks of {blocks[0]} and {blocks[1]}: {among}")
    return blocks[0]


def _only_channels(*layouts: Layout) -> None:
    for layout in layouts:
        if {axis for axis, _ in layout.blocks} & set("nhw"):
            raise ValueError(f"{layout} has blocks of n, h or w; only channels can be in blocks")


# ── convolution ──


def _check_conv(types: Sequence[TensorType], attrs: Attrs) -> None:
    x, w, y = (Layout.of(text) for text in attrs["layouts"])
    groups, filters = attrs["groups"], w.sizes(types[1], "conv")
    if groups > 1 and (groups, 1) != (filters["o"], filters["i"]):
        raise ValueError(f"conv: {groups} groups of several channels run in nchw only, not in {x}")
    _only_channels(x, w, y)
    _conv_blocks(x, w, y, groups > 1)


def _conv_blocks(x: Layout, w: Layout, y: Layout, depthwise: bool) -> tuple[int, int]:
    """How long the blocks are: of the channels of the result, and of those that are summed."""
    if depthwise:
        return _block("conv: channels", (x, "c"), (w, "o"), (y, "c")), 1
    results = _block("conv: channels of filters and result", (w, "o"), (y, "c"))
    return results, _block("conv: channels of operand and filters", (x, "c"), (w, "i"))


def _conv_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """Loops over the result in the order of its layout, over a window in that of the filters.

    If the filters are larger than the image, the channels come first: so a block of filters stays
    in the cache while all pixels pass, instead of all filters for each row of pixels.
    """
    x, w, y = (Layout.of(text) for text in attrs["layouts"])
    sizes, filters = y.sizes(out, "conv"), w.sizes(ins[1], "conv")
    window = Window.of([filters["h"], filters["w"]], attrs, "conv")
    depthwise = attrs["groups"] > 1
    blocks = _conv_blocks(x, w, y, depthwise)
    o, i = Coordinate.over("oc", blocks[0]), Coordinate.over("ic", blocks[1])
    n, oh, ow, kh, kw = (Coordinate(V(v)) for v in ("n", "o0", "o1", "k0", "k1"))
    ih, iw = (Coordinate(index) for index in window.reads())
    result = {"n": n, "c": o, "h": oh, "w": ow}
    source = {"n": n, "c": o if depthwise else i, "h": ih, "w": iw}
    weight = {"o": o, "i": i, "h": kh, "w": kw}
    order = Layout(IMAGE, y.blocks) if ins[1].nbytes > ins[0].nbytes else y
    return [
        LoopForm(
            domain=loops_over(order, result, sizes),
            write=y.at(result),
            body=lambda load: product(load(0, *x.at(source)), load(1, *w.at(weight)), out),
            reduce=loops_over(w, {axis: weight[axis] for axis in "ihw"}, filters),
            combine="add",
        )
    ]


# ── pooling ──


def _check_pool(types: Sequence[TensorType], attrs: Attrs) -> None:
    x, y = (Layout.of(text) for text in attrs["layouts"])
    _only_channels(x, y)
    _block("pool: channels", (x, "c"), (y, "c"))


def _pool_loops(
    combine: str, out: TensorType, ins: Sequence[TensorType], attrs: Attrs
) -> list[LoopForm]:
    """Loops over the result in the order of its layout; every element has a window of its own."""
    x, y = (Layout.of(text) for text in attrs["layouts"])
    window = Window.of(attrs["kernel"], attrs, "pool")
    n, oh, ow = (Coordinate(V(v)) for v in ("n", "o0", "o1"))
    c = Coordinate.over("c", _block("pool: channels", (x, "c"), (y, "c")))
    ih, iw = (Coordinate(index) for index in window.reads())
    result, source = {"n": n, "c": c, "h": oh, "w": ow}, {"n": n, "c": c, "h": ih, "w": iw}
    return [
        LoopForm(
            domain=loops_over(y, result, y.sizes(out, "pool")),
            write=y.at(result),
            body=lambda load: load(0, *x.at(source)),
            reduce=window.loops,
            combine=combine,
        )
    ]


ROWS: dict[str, InLayout] = {}
for _defined, _loops in (
    (InLayout(CONV, (IMAGE, FILTER, IMAGE), _check_conv), _conv_loops),
    (InLayout(MAX_POOL, (IMAGE, IMAGE), _check_pool), partial(_pool_loops, "max")),
    (InLayout(SUM_POOL, (IMAGE, IMAGE), _check_pool), partial(_pool_loops, "add")),
):
    ROWS[register(_defined.row(_loops)).name] = _defined
