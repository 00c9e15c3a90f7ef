"""Small programs with relayouts for the checks of unit 4, and how many relayouts must be left.

Next room: layout.py, the checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.ir.graph.build import concat, neg, reduce_sum, relayout, relu, reshape, tanh
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.registry import OPS

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


def softmax(x: Node) -> Node:
    return apply("softmax", x, axis=1)


def reduced(kind: str, x: Node, axes: tuple[int, ...]) -> Node:
    return apply(f"reduce_{kind}", x, axes=axes, keepdims=True)


BIAS = np.arange(16, dtype=np.float32).reshape(16, 1, 1)
LARGE = np.arange(256, dtype=np.float32).reshape(1, 16, 4, 4)
TO_BLOCKS = "nchw16c"
JOIN = "relayout(relayout(x, a, b), b, c)"
PAST = "f(relayout(x, a, nchw), ...)"
OPERANDS = "Every operand comes into layout a by `operand_in`"
IMAGE = "if that returns None for one of them, a whole image in nchw, f stays where it is"
OTHERS = "`past_other` makes the nodes that replace f"
NONE = "or returns None if it cannot: then f stays, too"
LAYOUTS = "If operands come from two layouts, a is either of the two"
SHARED = "A value may have several users"
RULES = ("One walk from the inputs to the outputs", "Move each relayout `src -> nchw` down", PAST,
         OPERANDS, JOIN, OTHERS, NONE, "elementwise.", "anything else.", "Bit-exact",
         "relayouts without users are left for `dce`")  # fmt: skip

# (words of the specification, relayouts of images left, input types, what happens, program)
Case = tuple[str, int, str, str, Callable[..., Any]]
CASES: list[Case] = [
    (JOIN, 0, PIXELS, "Going there and back does nothing.", lambda x: relu(down(up(x)))),
    (JOIN, 1, PIXELS, "Two relayouts in a row make one.", lambda x: relu(down(up(x), TO_BLOCKS))),
    (JOIN, 1, PIXELS, "A relayout that changes nothing joins the one above it.",
     lambda x: relu(relayout(up(x), "nchw", "nchw"))),
    (JOIN, 2, "f32[1,2,3,4]", "One relayout treats what lies between them as nhwc and the other "
     "as nchw, so they do not join.", lambda x: relayout(up(x), "nhwc", "nchw")),
    (PAST, 0, PIXELS, "Between two layers there is only an elementwise operation.",
     lambda x: tanh(down(relu(up(x))))),
    (PAST, 0, BLOCKS, "A long chain is no obstacle.",
     lambda x: down(relu(neg(tanh(up(x, TO_BLOCKS)))), TO_BLOCKS)),
    (PAST, 0, PIXELS, "A comparison, a select with three operands and a cast are elementwise, too.",
     lambda x: down(apply("cast", apply("select", apply("lt", up(x), 0.5), up(x) * 2.0, up(x)),
                          dtype="f64"))),
    (PAST, 0, "i32[1,4,4,4,4]", "Whole numbers have layouts, too.",
     lambda x: down(apply("max", up(x, "nchw4c"), 0) + 1, "nchw4c")),
    (OPERANDS, 0, f"{PIXELS} {PIXELS}", "Both operands of the addition come from the same layout.",
     lambda x, y: down(relu(up(x) + tanh(up(y))))),
    (OPERANDS, 0, PIXELS, "A bias broadcasts: it gets a relayout of its own, and constants are "
     "free.", lambda x: down(relu(up(x) + const(BIAS)))),
    (OPERANDS, 0, BLOCKS, "A bias broadcasts in blocks, too.",
     lambda x: down(const(BIAS) - up(x, TO_BLOCKS), TO_BLOCKS)),
    (OPERANDS, 0, PIXELS, "A single number has no layout.", lambda x: down(up(x) * 0.5)),
    (OPERANDS, 1, f"{PIXELS} f32[16,1,1]", "A bias need not be a constant: it is rearranged "
     "because it is smaller than the image.", lambda x, b: down(up(x) + b)),
    (OPERANDS, 0, PIXELS, "A constant is rearranged at compile time, however large it is.",
     lambda x: down(up(x) * const(LARGE))),
    (LAYOUTS, 2, f"{PIXELS} {BLOCKS}", "The operands come from two layouts: one of them is "
     "rearranged.", lambda x, y: down(relu(up(x) + up(y, TO_BLOCKS)))),
    (IMAGE, 1, f"{PIXELS} {PLAIN}", "The other operand is a whole image in nchw: nothing may get "
     "worse.", lambda x, y: softmax(up(x) + y)),
    (SHARED, 1, PIXELS, "The relayout moves past the relu, but it must stay for the softmax.",
     lambda x: (lambda r: [down(relu(r)), softmax(r)])(up(x))),
    (OTHERS, 0, PIXELS, "Padding can be done in the other layout.", lambda x: down(pad(up(x)))),
    (OTHERS, 0, BLOCKS, "Pooling can be done in the other layout.",
     lambda x: down(pool(relu(up(x, TO_BLOCKS))), TO_BLOCKS)),
    (OTHERS, 0, PIXELS, "A sum over windows is pooling, too.",
     lambda x: down(apply("sum_pool", up(x), kernel=(2, 2), strides=(1, 1)))),
    (OTHERS, 0, f"{PIXELS} {PIXELS}", "A concatenation can be done in the other layout.",
     lambda x, y: down(concat([up(x), up(y)], axis=1))),
    (OTHERS, 0, PIXELS, "Images one below the other, or one after the other, are a concatenation, "
     "too.", lambda x: down(concat([concat([up(x), relu(up(x))], axis=2), up(x)], axis=-2))),
    (OTHERS, 0, PIXELS, "After a global pooling, one pixel is left, and the reshape reads it in "
     "the same order.", lambda x: reshape(reduced("sum", up(x), (2, 3)), (1, 16))),
    (OTHERS, 0, "f32[2,4,4,16]", "A single pixel is one for each image: a second image changes "
     "nothing.", lambda x: reshape(pool(pool(up(x))), (2, 16))),
    (OTHERS, 0, "f32[1,4,1,1,4]", "In blocks, too, a single pixel has its channels in order.",
     lambda x: reshape(up(x, "nchw4c"), (16,))),
    (OTHERS, 0, PIXELS, "A sum over the pixels drops h and w: what is left has the same order in "
     "every layout.", lambda x: relu(reduce_sum(up(x), axes=(2, 3)))),
    (OTHERS, 0, BLOCKS, "A sum over the pixels of blocks leaves the channels in blocks: one "
     "reshape merges them.", lambda x: relu(reduce_sum(up(x, TO_BLOCKS), axes=(2, 3)))),
    (OTHERS, 0, PIXELS, "A maximum over h and w is a reduction, too, and so is a sum over w and h.",
     lambda x: down(reduced("max", up(x), (2, 3)) - reduced("sum", up(x), (-1, -2)))),
    (OTHERS, 0, PIXELS, "A minimum and a product over h and w are reductions, too.",
     lambda x: down(reduced("min", up(x), (2, 3)) + reduced("prod", up(x), (2, 3)))),
    (OTHERS, 0, PIXELS, "A concatenation may have three operands, or one of them three times.",
     lambda x: down(concat([(y := up(x)), neg(y), y], axis=1))),
    (NONE, 1, PIXELS, "A reshape that reads more than one pixel reads them in the order of nchw.",
     lambda x: relu(reshape(up(x), (1, 256)))),
    (NONE, 1, "f32[1,1,4,16]", "Four pixels side by side are not one pixel.",
     lambda x: relu(reshape(up(x), (1, 64)))),
    (NONE, 1, "f32[1,4,1,16]", "Four pixels one below the other are not one pixel.",
     lambda x: relu(reshape(up(x), (1, 64)))),
    (NONE, 1, f"{PIXELS} {PLAIN}", "One image of the two is in nchw: they are joined there.",
     lambda x, y: concat([up(x), y], axis=1)),
]  # fmt: skip


def _types_of(name: str, arity: int, **attrs: Any) -> str:
    """Input types, images in nhwc, that an operation takes."""
    for kinds in ("f32 f32 f32", "i32 i32", "bool f32 f32", "bool bool"):
        types = [f"{kind}[1,4,4,2]" for kind in kinds.split()[:arity]]
        try:
            apply(name, *(inp(f"x{k}", type) for k, type in enumerate(types)), **attrs)
        except (ValueError, TypeError):
            continue
        return " ".join(types)
    raise ValueError(f"no types of images fit {name}")


def _elementwise(name: str, arity: int) -> Case:
    attrs: dict[str, Any] = {"dtype": "f64"} if name == "cast" else {}
    return ("elementwise.", 0, _types_of(name, arity, **attrs), f"`{name}` is elementwise, too.",
            lambda *xs: down(apply(name, *map(up, xs), **attrs)))  # fmt: skip


CASES += [
    _elementwise(row.name, row.arity)
    for row in OPS.values()
    if row.kind == "elementwise" and isinstance(row.arity, int)
]

# What no rule is about: (words of the specification, input types, what stays as it is, program).
STAYS: list[tuple[str, str, str, Callable[..., Any]]] = [
    (NONE, PIXELS, "A softmax has its axis at a fixed place: it stops the relayout.",
     lambda x: softmax(up(x))),
    (NONE, f"{PIXELS} f32[4,3]", "A matmul has its axes at fixed places.", lambda x, y: up(x) @ y),
    (NONE, PIXELS, "A transpose moves axes of its own: it stops the relayout.",
     lambda x: apply("transpose", up(x), perm=(0, 2, 1, 3))),
    (NONE, PIXELS, "A reshape reads the pixels in the order of nchw.",
     lambda x: (lambda r: [relu(reshape(r, (4, 64))), neg(reshape(r, (16, 16)))])(up(x))),
    (NONE, PIXELS, "A sum over the rows alone, over the channels or over everything is not a sum "
     "over h and w.",
     lambda x: (lambda r: [reduced("sum", r, axes) for axes in ((2,), (1,), (1, 2, 3))])(up(x))),
    (NONE, BLOCKS, "A pad along channels that lie in blocks cannot be done there.",
     lambda x: relu(apply("pad", up(x, TO_BLOCKS), low=(0, 1, 0, 0), high=(0, 3, 0, 0)))),
    ("Move each relayout `src -> nchw` down", PLAIN, "A relayout from nchw stays where it is.",
     lambda x: tanh(relu(down(x)))),
    ("with these rewrites at each node", PLAIN, "There is no relayout, so there is nothing to do.",
     lambda x: [x, relu(reshape(neg(x), (16, 16)))]),
]  # fmt: skip
