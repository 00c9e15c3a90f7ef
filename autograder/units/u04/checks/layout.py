"""Visible checks of unit 4 for layouts: sink_relayouts.

What counts are the relayouts of images that are left: live, and not of a constant, which is
rearranged at compile time. Whatever else the pass does, the program computes the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, checks
from autograder.check.properties import same_meaning
from course_lib.ir.graph.build import (
    add,
    concat,
    neg,
    reduce_sum,
    relayout,
    relu,
    reshape,
    select,
    softmax,
    tanh,
    trace,
)
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order

PIXELS, BLOCKS = "f32[1,4,4,16]", "f32[1,1,4,4,16]"  # 16 channels: nhwc, and nchw16c
PLAIN = "f32[1,16,4,4]"
SHAPES = {"nhwc": PIXELS, "nchw16c": BLOCKS, "nchw4c": "f32[1,4,4,4,4]"}


def up(x: Node, layout: str = "nhwc") -> Node:
    return relayout(x, layout, "nchw")


def down(x: Node, layout: str = "nhwc") -> Node:
    return relayout(x, "nchw", layout)


def _pad(x: Node) -> Node:
    return apply("pad", x, low=(0, 0, 1, 1), high=(0, 0, 1, 1), value=-1.0)


def _pool(x: Node) -> Node:
    return apply("max_pool", x, kernel=(2, 2), strides=(2, 2))


BIAS = np.arange(16, dtype=np.float32).reshape(16, 1, 1)
JOIN = "relayout(relayout(x, a, b), b, c)"
PAST = "f(relayout(x, a, nchw), ...)"
OTHERS = "padding, pooling, a concatenation, or a reduction over h and w"

# (what happens, words of the specification, program, input types, relayouts of images left)
Case = tuple[str, str, Callable[..., Any], tuple[str, ...], int]
CASES: list[Case] = [
    ("There and back is nothing.", JOIN, lambda x: relu(down(up(x))), (PIXELS,), 0),
    (
        "Two relayouts in a row are one.",
        JOIN,
        lambda x: relu(down(up(x), "nchw16c")),
        (PIXELS,),
        1,
    ),
    (
        "Between two layers there is only an elementwise operation.",
        PAST,
        lambda x: tanh(down(relu(up(x)))),
        (PIXELS,),
        0,
    ),
    (
        "A long chain is no obstacle.",
        PAST,
        lambda x: down(relu(neg(tanh(up(x, "nchw16c")))), "nchw16c"),
        (BLOCKS,),
        0,
    ),
    (
        "Both operands of the addition come from the same layout.",
        "a relayout is undone",
        lambda x, y: down(relu(add(up(x), tanh(up(y))))),
        (PIXELS, PIXELS),
        0,
    ),
    (
        "A bias broadcasts: it gets a relayout of its own, and constants are free.",
        "an operand smaller than the result (it broadcasts: a bias) gets a relayout of its",
        lambda x: down(relu(up(x) + const(BIAS))),
        (PIXELS,),
        0,
    ),
    (
        "A bias broadcasts, also in blocks.",
        "an operand smaller than the result (it broadcasts: a bias) gets a relayout of its",
        lambda x: down(const(BIAS) - up(x, "nchw16c"), "nchw16c"),
        (BLOCKS,),
        0,
    ),
    (
        "A single number has no layout.",
        "a single number stays",
        lambda x: down(up(x) * 0.5),
        (PIXELS,),
        0,
    ),
    ("Padding is made in the other layout.", OTHERS, lambda x: down(_pad(up(x))), (PIXELS,), 0),
    (
        "Pooling is made in the other layout.",
        OTHERS,
        lambda x: down(_pool(relu(up(x, "nchw16c"))), "nchw16c"),
        (BLOCKS,),
        0,
    ),
    (
        "A concatenation is made in the other layout.",
        OTHERS,
        lambda x, y: down(concat([up(x), up(y)], axis=1)),
        (PIXELS, PIXELS),
        0,
    ),
    (
        "Behind a global pooling, one pixel is left, and the reshape reads it in the same order.",
        "that order is the same, and the relayout vanishes",
        lambda x: reshape(reduce_sum(up(x), axes=(2, 3), keepdims=True), (1, 16)),
        (PIXELS,),
        0,
    ),
    (
        "A mean over the pixels drops h and w: what is left has the same order in every layout.",
        "no relayout goes behind that, but a reshape to the shape of the result",
        lambda x: relu(reduce_sum(up(x), axes=(2, 3))),
        (PIXELS,),
        0,
    ),
    (
        "A mean over the pixels of blocks leaves the channels in blocks: one reshape merges them.",
        "no relayout goes behind that, but a reshape to the shape of the result",
        lambda x: relu(reduce_sum(up(x, "nchw16c"), axes=(2, 3))),
        (BLOCKS,),
        0,
    ),
    (
        "A comparison, a select with three operands and a cast are elementwise, too.",
        PAST,
        lambda x: down(apply("cast", select(apply("lt", up(x), 0.5), up(x) * 2.0, up(x)),
                             dtype="f64")),
        (PIXELS,),
        0,
    ),
    (
        "Whole numbers have layouts, too.",
        PAST,
        lambda x: down(apply("max", up(x, "nchw4c"), 0) + 1, "nchw4c"),
        ("i32[1,4,4,4,4]",),
        0,
    ),
    (
        "The user that can takes the relayout past itself; the softmax keeps it.",
        "A value with several users is no obstacle",
        lambda x: (lambda r: [down(relu(r)), softmax(r, axis=1)])(up(x)),
        (PIXELS,),
        1,
    ),
    (
        "The other operand is a whole image in nchw: nothing may get worse.",
        "If it returns None for one of them, a whole image in nchw, f stays where it is",
        lambda x, y: softmax(up(x) + y, axis=1),
        (PIXELS, PLAIN),
        1,
    ),
    (
        "A reshape that reads more than one pixel reads them in the order of nchw.",
        "A reshape ends a relayout",
        lambda x: relu(reshape(up(x), (1, 256))),
        (PIXELS,),
        1,
    ),
    (
        "Four pixels side by side are not one pixel.",
        "Only if h and w are 1",
        lambda x: relu(reshape(up(x), (1, 64))),
        ("f32[1,1,4,16]",),
        1,
    ),
    (
        "Four pixels one below the other are not one pixel.",
        "Only if h and w are 1",
        lambda x: relu(reshape(up(x), (1, 64))),
        ("f32[1,4,1,16]",),
        1,
    ),
]  # fmt: skip


@st.composite
def networks(draw: DrawFn, most: int = 6, stops: bool = True) -> Graph:
    """Layers that want another layout, with other operations between them.

    With `stops`, some of those operations are such that no relayout can pass.
    """
    kinds = ["layer", "relu", "bias", "add"] + ["image", "softmax"] * stops
    layout = draw(st.sampled_from(["nhwc", "nchw16c", "nchw4c"]))
    first, plain = inp("x", SHAPES[layout]), inp("y", PLAIN)
    values = [up(first, layout)]
    for _ in range(draw(st.integers(1, most))):
        x = draw(st.sampled_from(values[-2:]))
        kind = draw(st.sampled_from(kinds))
        if kind == "layer":
            values.append(up(tanh(down(x, layout)), layout))
        elif kind == "bias":
            values.append(x - const(BIAS))
        elif kind == "add":
            values.append(x + draw(st.sampled_from(values)))
        elif kind == "image":
            values.append(x * plain)
        elif kind == "softmax":
            values.append(softmax(x, axis=1))
        else:
            values.append(relu(x))
    end = values[-1] if draw(st.booleans()) else down(values[-1], layout)
    return Graph.of([first, plain], [end], "random")


RULES = (
    *("One walk from the inputs to the outputs", "Move each relayout `src -> nchw` down", PAST),
    *("Every operand comes into layout a by `operand_in`", JOIN, OTHERS, "elementwise."),
    *("Everything else stops it", "Bit-exact", "relayouts without users are left for `dce`"),
)


@checks("passes.sink_relayouts", spec=[*RULES, *(spec for _, spec, *_ in CASES)])
def each_relayout_that_can_cancel_does(sink_relayouts):
    """On small programs, as many relayouts are left as must be."""
    for why, spec, program, types, expected in CASES:
        before = trace(program, *types)
        after = same_meaning(before, sink_relayouts(before), spec=spec)
        _at_most(
            expected, before, after, f"{why} {_count(expected)} of {len(moving(before))}", spec
        )
    return f"{len(CASES)} small programs"


@checks(
    "passes.sink_relayouts",
    given=networks(6, stops=False),
    examples=40,
    what="random networks",
    spec="Move each relayout `src -> nchw` down as far as it goes",
)
def every_relayout_reaches_the_end(sink_relayouts, graph):
    """Where nothing stops a relayout, one is left behind the last operation, or none."""
    after = same_meaning(graph, sink_relayouts(graph))
    expected = 1 if str(graph.outputs[0].type) == PLAIN else 0  # the result in nchw needs one
    _at_most(expected, graph, after, f"Nothing stops a relayout here. {_count(expected)}")


def _at_most(expected: int, before: Graph, after: Graph, wanted: str, spec: str = "") -> None:
    left = moving(after)
    if len(left) > expected:
        names = value_names(after)
        raise Wrong(
            f"{wanted} should be left; here are {len(left)}.",
            program=before,
            got=after,
            marked=tuple(names[n] for n in left),
            spec=spec,
        )


@checks("passes.sink_relayouts", given=networks(6), examples=20, what="random networks", spec=RULES)
def sinking_keeps_the_meaning(sink_relayouts, graph):
    """The result computes what the program computes."""
    same_meaning(graph, sink_relayouts(graph))


@checks("passes.sink_relayouts", spec="A rewritten node keeps its name and origin")
def rewritten_nodes_keep_their_names(sink_relayouts):
    """An operation that is made anew still has its name, and says which layer it came from."""
    x = inp("x", PIXELS)
    padded = replace(_pad(replace(relu(up(x)), name="r", origin=("layer1",))), name="p")
    pooled = replace(_pool(replace(padded, origin=("layer2",))), name="m", origin=("layer3",))
    ends = [down(pooled), replace(tanh(pooled), name="t", origin=("layer4",))]
    before = Graph.of([x], ends, "layers")
    after = same_meaning(before, sink_relayouts(before))
    made = {(n.op.removesuffix("_in_layout"), n.name, n.origin) for n in
            topological_order(after.outputs)}  # fmt: skip
    for node in before.ops:
        if node.origin and (node.op, node.name, node.origin) not in made:
            raise Wrong(
                f"No {node.op} is called %{node.name} and comes from {node.origin[0]} any more.",
                program=before,
                got=after,
            )
    return "names and origins"


@checks("passes.sink_relayouts", spec="Bit-exact")
def sinking_works_in_the_compiler(sink_relayouts):
    """Two layers in blocks, one of which is read twice, compiled with this pass in its place."""

    def layers(x: Node) -> list[Node]:
        y = up(x, "nchw16c")
        z = up(down(relu(y + const(BIAS)), "nchw16c"), "nchw16c")
        return [down(z + y, "nchw16c"), reduce_sum(_pad(z), axes=(2, 3))]

    program = works_in_the_compiler("passes.sink_relayouts", sink_relayouts, trace(layers, BLOCKS))
    return f"compiled to {len(program.steps)} kernels"


def moving(graph: Graph) -> list[Node]:
    """The live relayouts of something that is not known at compile time."""
    live = topological_order(graph.outputs)
    known: set[Node] = set()
    for node in live:  # a constant, or made of constants alone
        if node.op == "constant" or (node.inputs and all(i in known for i in node.inputs)):
            known.add(node)
    return [n for n in live if n.op == "relayout" and n not in known]


def _count(number: int) -> str:
    return "None" if number == 0 else str(number)
