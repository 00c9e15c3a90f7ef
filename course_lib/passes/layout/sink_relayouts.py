"""Sinking relayouts: move each one down, past what does not care, until two of them cancel.

    %0 = relayout(%x) {src = "nhwc", dst = "nchw"}        %0 = relu(%x) : f32[1,56,56,64]
    %1 = relu(%0) : f32[1,64,56,56]                 ==>
    %2 = relayout(%1) {src = "nchw", dst = "nhwc"}

A chain of twenty convolutions, each between two relayouts, keeps one at its beginning and one at
its end. ResNet-18 keeps none: its first convolution reads the image as it comes, and where it ends,
a global pooling leaves one pixel, which has the same order in every layout. Next room:
`passes/fusion/horizontal.py`, the first kind of fusion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_lib.exercises import exercise
from course_lib.ir.graph.build import relayout, reshape
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.layout import IMAGE, Layout
from course_lib.ir.registry import normal_axes, normal_axis
from course_lib.ir.registry import op as op_row
from course_lib.passes.clean.dce import keep
from course_lib.passes.fusion.groups import REDUCTIONS
from course_lib.passes.infra.contract import contract


@contract(wants=["chosen layouts", "no groups"])
@exercise("passes.sink_relayouts", unit=4, points=4, baseline=keep, further=True)
def sink_relayouts(graph: Graph) -> Graph:
    """Move each relayout `src -> nchw` down as far as it goes; cancel it where it meets another.

    One walk from the inputs to the outputs, with these rewrites at each node:

        relayout(relayout(x, a, b), b, c)   ->  relayout(x, a, c), or x if a is c
        f(relayout(x, a, nchw), ...)        ->  relayout(f'(x, ...), a, nchw)

    `joined` does the first of them. In the second, f is
    - elementwise. Every operand comes into layout a by `operand_in`; if that returns None for one
      of them, a whole image in nchw, f stays where it is.
    - anything else. `past_other` makes the nodes that replace f, or returns None if it cannot: then
      f stays, too.

    If operands come from two layouts, a is either of the two. A value may have several users:
    the relayout moves past each user that it can pass, and the old one stays only for the others.

    Bit-exact. A rewritten node keeps its name and origin; relayouts without users are left for
    `dce`.

    >>> from course_lib.ir.graph.build import relu, trace
    >>> from course_lib.passes.clean.dce import dce
    >>> def two_layers(x):
    ...     y = relu(relayout(x, "nhwc", "nchw"))
    ...     return relu(relayout(y, "nchw", "nhwc"))
    >>> dce(sink_relayouts(trace(two_layers, "f32[1,8,8,3]")))
    graph @main(%x0: f32[1,8,8,3]) -> (f32[1,8,8,3]) {
      %0 = relu(%x0) : f32[1,8,8,3]
      %1 = relu(%0) : f32[1,8,8,3]
      return %1
    }
    <BLANKLINE>
    """

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        rebuilt = node.with_inputs(inputs)
        if node.op == "relayout":
            return joined(rebuilt)
        above = [i.attrs["src"] for i in inputs if is_relayout_to_nchw(i)]
        if not above:
            return rebuilt
        elementwise = op_row(node.op).kind == "elementwise"
        return (_past_elementwise if elementwise else past_other)(rebuilt, above[0])

    return graph.rebuild(visit)


def _past_elementwise(node: Node, layout: str) -> Node | None:
    operands = [operand_in(i, layout, node) for i in node.inputs]
    known = [i for i in operands if i is not None]
    if len(known) < len(operands):
        return None
    moved = _called(apply(node.op, *known, **node.attrs), node)
    return _called(relayout(moved, layout, IMAGE), node)


def _called(value: Node, node: Node) -> Node:
    """`value` with the name and the origin of `node`, whose value it computes."""
    return replace(value, name=node.name, origin=node.origin)


def past_other(node: Node, layout: str) -> Node | None:
    """What computes the value of `node`, which is not elementwise, with the relayouts from `layout`
    behind it instead of in front of it; None if that cannot be, or if it is no op that it knows.

    Everything that it makes has the name and the origin of `node`. It knows padding, pooling, a
    concatenation, or a reduction over h and w; behind one that drops h and w goes no relayout, but
    a reshape to the shape of the result. A reshape reads the elements in their order: only if h and
    w are 1, that order is the same, and the relayout vanishes. Everything else stops a relayout: a
    matmul, for example, has its axes at fixed places.
    """
    if node.op == "reshape":
        x = node.inputs[0].inputs[0]
        sizes = Layout.of(layout).sizes(x.type, "reshape")
        if not sizes["h"] == sizes["w"] == 1:
            return None
        return _called(reshape(x, node.type.shape), node)
    inner = in_layout(node, layout)
    if inner is None:
        return None
    moved = _called(inner, node)
    if moved.type.rank != len(Layout.of(layout).places):  # a reduction that drops h and w
        return _called(reshape(moved, node.type.shape), node)
    return _called(relayout(moved, layout, IMAGE), node)


def is_relayout_to_nchw(node: Node) -> bool:
    return node.op == "relayout" and node.attrs["dst"] == IMAGE


def joined(node: Node) -> Node:
    """A relayout of a relayout as one relayout, or none; any other relayout as it is.

    They join only where the layout between them is the same for both, and if the blocks at both
    ends divide each other.
    """
    (x,) = node.inputs
    if node.attrs["src"] == node.attrs["dst"]:
        return x
    if x.op != "relayout" or x.attrs["dst"] != node.attrs["src"]:
        return node
    src, dst = x.attrs["src"], node.attrs["dst"]
    if src == dst:
        return x.inputs[0]
    old, new = Layout.of(src), Layout.of(dst)
    if any(max(p) % min(p) for p in ((old.block(a), new.block(a)) for a in old.axes)):
        return node
    return _called(relayout(x.inputs[0], src, dst), node)


def operand_in(operand: Node, layout: str, result: Node) -> Node | None:
    """The operand of an elementwise op in another layout than nchw; None if that does not pay.

    `result` is the op. Of a relayout from `layout`, what it reads; of one from another layout, a
    relayout from there; a single number as it is; a constant or what broadcasts, such as a bias,
    rearranged. A whole image in nchw does not pay: moving it instead would gain nothing.
    """
    if result.type.rank != len(IMAGE):
        return None
    if is_relayout_to_nchw(operand):
        return joined(relayout(operand, IMAGE, layout))
    if not operand.type.is_static or not result.type.is_static:
        return None
    if operand.type.numel == 1:
        return operand
    if operand.op == "constant" or operand.type.numel < result.type.numel:
        return _rearranged(operand, layout)
    return None


def _rearranged(x: Node, layout: str) -> Node:
    """`x`, which may have fewer axes and sizes of 1, so that it broadcasts in the layout."""
    wanted = Layout.of(layout)
    shape = (1,) * (len(IMAGE) - x.type.rank) + x.type.dims
    size = dict(zip(IMAGE, shape, strict=True))
    blocks = tuple((axis, block) for axis, block in wanted.blocks if size[axis] > 1)
    reached = Layout(wanted.axes, blocks)  # an axis of size 1 has no blocks
    whole = x if x.type.dims == shape else reshape(x, shape)
    moved = joined(relayout(whole, IMAGE, str(reached)))
    if reached == wanted:
        return moved
    outer = [size[axis] // reached.block(axis) for axis in wanted.axes]
    return reshape(moved, (*outer, *(reached.block(axis) for axis, _ in wanted.blocks)))


def in_layout(node: Node, layout: str) -> Node | None:
    """A pad, pool, concat or reduction over h and w, made for operands in `layout`; else None.

    Any other op may be asked about, too: the answer is None. The operands are relayouts
    `layout -> nchw`; the new node reads what those read. Its result lies in `layout`, without h and
    w if the reduction drops them.
    """
    inner = [i.inputs[0] for i in node.inputs if is_relayout_to_nchw(i)]
    sources = {i.attrs["src"] for i in node.inputs if is_relayout_to_nchw(i)}
    if len(inner) != len(node.inputs) or sources != {layout}:
        return None
    wanted, attrs = Layout.of(layout), dict(node.attrs)
    blocked = {IMAGE.index(axis) for axis, _ in wanted.blocks}
    if node.op == "pad":
        sides = {key: attrs[key] for key in ("low", "high", "interior") if attrs[key] is not None}
        if any(side[axis] for side in sides.values() for axis in blocked):
            return None
        return apply(
            "pad", *inner, **{**attrs, **{k: _places(v, wanted) for k, v in sides.items()}}
        )
    if node.op in ("max_pool", "sum_pool"):
        return apply(f"{node.op}_in_layout", *inner, layouts=(layout, layout), **attrs)
    if node.op == "concat":
        axis = normal_axis(attrs["axis"], len(IMAGE), "concat")
        return apply("concat", *inner, axis=wanted.axes.index(IMAGE[axis]))
    if node.op in REDUCTIONS and normal_axes(attrs["axes"], len(IMAGE), node.op) == (2, 3):
        axes = [wanted.axes.index(axis) for axis in "hw"]
        return apply(node.op, *inner, **{**attrs, "axes": axes})
    return None


def _places(numbers: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """Numbers for n, c, h and w, in the order of the layout; 0 inside blocks."""
    return tuple(0 if inside else numbers[IMAGE.index(a)] for a, inside in layout.places)
