"""Small programs with relayouts for the checks of unit 4, and how many relayouts must be left.

Next room: layout.py, the checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.ir.graph.build import (
    add,
    concat,
    matmul,
    neg,
    reduce_sum,
    relayout,
    relu,
    reshape,
    select,
    softmax,
    tanh,
    transpose,
)
from course_lib.ir.graph.node import Node, apply, const

PIXELS, BLOCKS = "f32[1,4,4,16]", "f32[1,1,4,4,16]"  # 16 channels: nhwc, and nchw16c
PLAIN = "f32[1,16,4,4]"


def up(x: Node, layout: str = "nhwc") -> Node:
    return relayout(x, layout, "nchw")


def down(x: Node, layout: str = "nhwc") -> Node:
    return relayout(x, "nchw", layout)


def pad(x: Node) -> Node:
    return apply("pad", x, low=(0, 0, 1, 1), high=(0, 0, 1, 1), value=-1.0)


def pool(x: Node) -> Node:
    return apply("max_pool", x, kernel=(2, 2), strides=(2, 2))


BIAS = np.arange(16, dtype=np.float32).reshape(16, 1, 1)
JOIN = "relayout(relayout(x, a, b), b, c)"
PAST = "f(relayout(x, a, nchw), ...)"
OPERANDS = "Every operand comes into layout a by `operand_in`"
IMAGE = "if that returns None for one of them, a whole image in nchw, f stays where it is"
OTHERS = "`past_other` makes all that replaces f"
NONE = "or returns None if it cannot: then f stays, too"
LAYOUTS = "If operands come from two layouts, a is either of the two"

# (what happens, words of the specification, program, input types, relayouts of images left)
Case = tuple[str, str, Callable[..., Any], tuple[str, ...], int]
CASES: list[Case] = [
    ("Going there and back does nothing.", JOIN, lambda x: relu(down(up(x))), (PIXELS,), 0),
    (
        "Two relayouts in a row make one.",
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
        OPERANDS,
        lambda x, y: down(relu(add(up(x), tanh(up(y))))),
        (PIXELS, PIXELS),
        0,
    ),
    (
        "A bias broadcasts: it gets a relayout of its own, and constants are free.",
        OPERANDS,
        lambda x: down(relu(up(x) + const(BIAS))),
        (PIXELS,),
        0,
    ),
    (
        "A bias broadcasts in blocks, too.",
        OPERANDS,
        lambda x: down(const(BIAS) - up(x, "nchw16c"), "nchw16c"),
        (BLOCKS,),
        0,
    ),
    (
        "A single number has no layout.",
        OPERANDS,
        lambda x: down(up(x) * 0.5),
        (PIXELS,),
        0,
    ),
    ("Padding can be done in the other layout.", OTHERS, lambda x: down(pad(up(x))), (PIXELS,), 0),
    (
        "Pooling can be done in the other layout.",
        OTHERS,
        lambda x: down(pool(relu(up(x, "nchw16c"))), "nchw16c"),
        (BLOCKS,),
        0,
    ),
    (
        "A concatenation can be done in the other layout.",
        OTHERS,
        lambda x, y: down(concat([up(x), up(y)], axis=1)),
        (PIXELS, PIXELS),
        0,
    ),
    (
        "After a global pooling, one pixel is left, and the reshape reads it in the same order.",
        OTHERS,
        lambda x: reshape(reduce_sum(up(x), axes=(2, 3), keepdims=True), (1, 16)),
        (PIXELS,),
        0,
    ),
    (
        "A sum over the pixels drops h and w: what is left has the same order in every layout.",
        OTHERS,
        lambda x: relu(reduce_sum(up(x), axes=(2, 3))),
        (PIXELS,),
        0,
    ),
    (
        "A sum over the pixels of blocks leaves the channels in blocks: one reshape merges them.",
        OTHERS,
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
        IMAGE,
        lambda x, y: softmax(up(x) + y, axis=1),
        (PIXELS, PLAIN),
        1,
    ),
    (
        "A reshape that reads more than one pixel reads them in the order of nchw.",
        NONE,
        lambda x: relu(reshape(up(x), (1, 256))),
        (PIXELS,),
        1,
    ),
    (
        "Four pixels side by side are not one pixel.",
        NONE,
        lambda x: relu(reshape(up(x), (1, 64))),
        ("f32[1,1,4,16]",),
        1,
    ),
    (
        "Four pixels one below the other are not one pixel.",
        NONE,
        lambda x: relu(reshape(up(x), (1, 64))),
        ("f32[1,4,1,16]",),
        1,
    ),
    (
        "One relayout treats what lies between them as nhwc and the other as nchw, so they do not "
        "join.",
        JOIN,
        lambda x: relayout(up(x), "nhwc", "nchw"),
        ("f32[1,2,3,4]",),
        2,
    ),
    (
        "The operands come from two layouts: one of them is rearranged.",
        LAYOUTS,
        lambda x, y: down(relu(up(x) + up(y, "nchw16c"))),
        (PIXELS, BLOCKS),
        2,
    ),
    (
        "A bias need not be a constant: it is rearranged because it is smaller than the image.",
        OPERANDS,
        lambda x, b: down(up(x) + b),
        (PIXELS, "f32[16,1,1]"),
        1,
    ),
    (
        "A constant is rearranged at compile time, however large it is.",
        OPERANDS,
        lambda x: down(up(x) * const(np.arange(256, dtype=np.float32).reshape(1, 16, 4, 4))),
        (PIXELS,),
        0,
    ),
    (
        "A single pixel is one for each image: a second image changes nothing.",
        OTHERS,
        lambda x: reshape(pool(pool(up(x))), (2, 16)),
        ("f32[2,4,4,16]",),
        0,
    ),
    (
        "In blocks, too, a single pixel has its channels in order.",
        OTHERS,
        lambda x: reshape(up(x, "nchw4c"), (16,)),
        ("f32[1,4,1,1,4]",),
        0,
    ),
    (
        "A maximum over h and w is a reduction, too, and so is a sum over w and h.",
        OTHERS,
        lambda x: down(reduced("max", up(x), (2, 3)) - reduced("sum", up(x), (-1, -2))),
        (PIXELS,),
        0,
    ),
    (
        "A sum over windows is pooling, too.",
        OTHERS,
        lambda x: down(apply("sum_pool", up(x), kernel=(2, 2), strides=(1, 1))),
        (PIXELS,),
        0,
    ),
    (
        "Images one below the other, or one after the other, are a concatenation, too.",
        OTHERS,
        lambda x: down(concat([concat([up(x), relu(up(x))], axis=2), up(x)], axis=-2)),
        (PIXELS,),
        0,
    ),
    (
        "One image of the two is in nchw: they are joined there.",
        NONE,
        lambda x, y: concat([up(x), y], axis=1),
        (PIXELS, PLAIN),
        1,
    ),
    (
        "A relayout that changes nothing joins the one above it.",
        JOIN,
        lambda x: relu(relayout(up(x), "nchw", "nchw")),
        (PIXELS,),
        1,
    ),
]  # fmt: skip


def reduced(kind: str, x: Node, axes: tuple[int, ...]) -> Node:
    return apply(f"reduce_{kind}", x, axes=axes, keepdims=True)


# What no rule is about: (what stays as it is, words of the specification, program, input types).
STAYS: list[tuple[str, str, Callable[..., Any], tuple[str, ...]]] = [
    (
        "A softmax has its axis at a fixed place: it stops the relayout.",
        NONE,
        lambda x: softmax(up(x), axis=1),
        (PIXELS,),
    ),
    (
        "A matmul has its axes at fixed places.",
        NONE,
        lambda x, y: matmul(up(x), y),
        (PIXELS, "f32[4,3]"),
    ),
    (
        "A transpose moves axes of its own: it stops the relayout.",
        NONE,
        lambda x: transpose(up(x), (0, 2, 1, 3)),
        (PIXELS,),
    ),
    (
        "A relayout from nchw stays where it is.",
        "Move each relayout `src -> nchw` down",
        lambda x: tanh(relu(down(x))),
        (PLAIN,),
    ),
    (
        "A reshape reads the pixels in the order of nchw.",
        NONE,
        lambda x: (lambda r: [relu(reshape(r, (4, 64))), neg(reshape(r, (16, 16)))])(up(x)),
        (PIXELS,),
    ),
    (
        "A sum over the rows alone, over the channels or over everything is not a sum over h and "
        "w.",
        NONE,
        lambda x: (lambda r: [reduced("sum", r, axes) for axes in ((2,), (1,), (1, 2, 3))])(up(x)),
        (PIXELS,),
    ),
    (
        "A pad along channels that lie in blocks cannot be done there.",
        NONE,
        lambda x: relu(apply("pad", up(x, "nchw16c"), low=(0, 1, 0, 0), high=(0, 3, 0, 0))),
        (BLOCKS,),
    ),
    (
        "There is no relayout, so there is nothing to do.",
        "with these rewrites at each node",
        lambda x: [x, relu(reshape(neg(x), (16, 16)))],
        (PLAIN,),
    ),
]
