"""ONNX models for the checks of `fuse_relu`: `pairs` has some to fuse, `apart` has none, `chains`
draws both in a row.

Next room: onnx_models.py, which makes them.
"""

from __future__ import annotations

import functools

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from autograder.units.u03.checks.onnx_models import (
    SIGNAL,
    Maker,
    branches,
    foreign,
    loop,
    loop_body,
)

READS = "if anybody else reads c"
ANOTHER, WITHIN, CALLER = (
    "another node",
    "a graph inside a node",
    "because c is an output of the graph",
)
FLOATS = "does not say that w holds 32-bit floats"
PAIR = "Make one node of each Conv and the Relu that reads it"
INNER = "What stands in a graph inside a node (the branches of an If) stays as it is"
ATTRIBUTES = "It keeps the Conv's operands and attributes"
ONCE = "`opset_import` names its domain, once, in version 1"
OUTPUT = "c, because"
OTHERS = "if one of the two has a `domain` that is not empty"
NOTHING = "if it has none, nothing changes"


def pair(relu: str = "Relu", conv: str = "Conv", w: str = "w", **attrs: int) -> Maker:
    """c = Conv(x, w); y = Relu(c)"""
    made = Maker(SIGNAL)
    made.weight("w", 4, 4, 1)
    made.node(conv, ["x", w], "c")
    made.node(relu, ["c"], "y", **attrs)
    return made


def _yes(made: Maker) -> Maker:
    made.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    return made


@functools.cache
def apart() -> list[tuple[onnx.ModelProto, str, str]]:
    """(model, why nothing can be fused, words of the specification)"""
    between, computed = Maker(SIGNAL), pair(w="v")
    between.node("Conv", ["x", between.weight("w", 4, 4, 1)], "c")
    between.node("Relu", [between.node("Neg", ["c"], "n")], "y")
    computed.nodes.insert(0, helper.make_node("Abs", ["w"], ["v"], "v"))
    given = Maker(SIGNAL)
    given.node("Relu", ["x"], "y")
    normed = Maker(SIGNAL)
    normed.node("Conv", ["x", normed.weight("w", 4, 4, 1)], "c")
    normed.node("Relu", [normed.norm("c", 4, "n")], "y")
    return [
        *_read_elsewhere(),
        (_with_much_beside_it(), "w is in double precision.", NOTHING),
        *((pair(op).model("y"), f"{op} is no Relu.", PAIR)
          for op in ("Tanh", "LeakyRelu", "Clip", "Elu")),
        (pair(conv="ConvTranspose").model("y"), "ConvTranspose is no Conv.", PAIR),
        (between.model("y"), "The Relu reads Neg, which reads the Conv.", PAIR),
        (normed.model("y"), "The Relu reads the batch norm.", PAIR),
        (given.model("y"), "The Relu reads what the caller gives.", PAIR),
        (computed.model("y"), "The file does not say what type w has.", FLOATS),
        (_of(np.float16), "w is in half precision.", FLOATS),
        (_of(np.float64), "w is in double precision.", FLOATS),
        (_inside(), "The pair stands in the branches of an If.", INNER),
        (foreign(pair(), "Conv"), "The Conv is of another domain.", OTHERS),
        (foreign(pair(), "Relu"), "The Relu is of another domain.", OTHERS),
    ]  # fmt: skip


def _read_elsewhere() -> list[tuple[onnx.ModelProto, str, str]]:
    read, twice, inside, deep = pair(), pair(), _yes(pair()), _yes(pair())
    read.node("Neg", ["c"], "z")
    twice.node("Relu", ["c"], "z")
    inside.node("If", ["yes"], "z", **branches("Neg", ["c"]))
    deep.node("If", ["yes"], "z", **branches("If", ["yes"], "s", **branches("Neg", ["c"])))
    parts = {name: _yes(pair()) for name in ("then_branch", "else_branch")}
    for name, made in parts.items():
        reads = branches("Neg", ["y"]) | {name: branches("Neg", ["c"])[name]}
        made.node("If", ["yes"], "z", **reads)
    looped = pair()
    loop(looped, loop_body("Neg", ["c"]), "y", "z")
    return [
        (read.model("y", "z"), "Another node reads c.", ANOTHER),
        (twice.model("y", "z"), "Two Relus read c.", READS),
        (pair().model("y", "c"), "c is an output.", CALLER),
        (inside.model("y", "z"), "The branches of the If read c.", WITHIN),
        (deep.model("y", "z"), "A branch of a branch reads c.", WITHIN),
        *((made.model("y", "z"), f"The {name} of the If reads c.", WITHIN)
          for name, made in parts.items()),
        (looped.model("z"), "The body of a Loop reads c.", WITHIN),
    ]  # fmt: skip


def _with_much_beside_it() -> onnx.ModelProto:
    """Weights of f64, an initializer and a node that nobody reads, and a declared type."""
    model = _of(np.float64)
    spare = numpy_helper.from_array(np.ones(4), "spare")
    model.graph.initializer.append(spare)
    model.graph.node.append(helper.make_node("Neg", ["x"], ["idle"], "idle"))
    model.graph.value_info.append(
        helper.make_tensor_value_info("c", TensorProto.DOUBLE, list(SIGNAL))
    )
    return model


def _of(kind: type) -> onnx.ModelProto:
    model = pair().model("y")
    (tensor,) = model.graph.initializer
    tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(kind), "w"))
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    return model


def _inside() -> onnx.ModelProto:
    made, inner = _yes(Maker(SIGNAL)), pair()
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["d0", "d1", "d2"])
    branch = helper.make_graph(inner.nodes, "branch", [], [result], inner.weights)
    made.node("If", ["yes"], "z", then_branch=branch, else_branch=branch)
    return made.model("z")


@functools.cache
def pairs() -> list[tuple[onnx.ModelProto, int, str, str]]:
    """(model, pairs in it that can be fused, what is special, words of the specification)"""
    wide = Maker((1, 4, 9))
    parts = ["x", wide.weight("w", 4, 2, 3), wide.weight("b", 4)]
    wide.node("Conv", parts, "c", group=2, dilations=[2], strides=[2], pads=[1, 2])
    wide.node("Relu", ["c"], "y")
    same = Maker((1, 4, 9))
    same.node("Conv", ["x", same.weight("w", 4, 4, 3)], "c", kernel_shape=[3], strides=[2],
              auto_pad="SAME_UPPER")  # fmt: skip
    same.node("Relu", ["c"], "y")
    many, again = pair(), pair()
    many.node("Add", ["y", "y"], "z")
    again.node("Relu", ["y"], "z")
    row, reader = pair(), _yes(pair())
    row.node("Relu", [row.node("Conv", ["y", row.weight("v", 4, 4, 1)], "d")], "z")
    reader.node("If", ["yes"], "z", **branches("Neg", ["y"]))
    known = pair(w="v")
    known.nodes.insert(0, helper.make_node("Abs", ["w"], ["v"], "v"))
    typed = known.model("y")
    typed.graph.value_info.append(helper.make_tensor_value_info("v", TensorProto.FLOAT, [4, 4, 1]))
    taken = pair()
    taken.node("Neg", ["x"], "activation")
    return [
        (wide.model("y"), 1, "Groups, dilations, strides and pads stay.", ATTRIBUTES),
        (same.model("y"), 1, "kernel_shape and auto_pad stay.", ATTRIBUTES),
        (many.model("y", "z"), 1, "y has readers, and is an output.", PAIR),
        (again.model("z"), 1, "A second Relu reads the first.", PAIR),
        (row.model("z"), 2, "Two pairs in a row.", ONCE),
        *_as_files_have_them(),
        (reader.model("z"), 1, "The branches of an If read y.", PAIR),
        (typed, 1, "w is computed, and the file says what type it has.", FLOATS),
        (pair().model("y", inputs=["w"]), 1, "The caller may give another w.", PAIR),
        (taken.model("y", "activation"), 1, "Something else is called activation.", PAIR),
        (_fused_before(), 1, "One pair was fused before.", ONCE),
        (_fused_before(first=True), 1, "The file imports com.microsoft first.", ONCE),
    ]


def _as_files_have_them() -> list[tuple[onnx.ModelProto, int, str, str]]:
    bare, two, older = Maker(SIGNAL), Maker(SIGNAL), pair().model("y")
    bare.node("Conv", ["x", bare.weight("w", 4, 4, 1), ""], "c")
    bare.node("Relu", ["c"], "y")
    for k in (1, 2):
        two.node("Conv", ["x", two.weight(f"w{k}", 4, 4, 1)], f"c{k}")
    for k in (1, 2):
        two.node("Relu", [f"c{k}"], f"y{k}")
    older.opset_import[0].version = 13
    older.opset_import.append(helper.make_opsetid("nobody", 1))
    return [
        (two.model("y1", "y2"), 2, "Two Conv, and then their two Relus.", PAIR),
        (bare.model("y"), 1, 'The bias is left out by the name "".', ATTRIBUTES),
        (older, 1, "The file imports opset 13, and another domain that it does not use.", ONCE),
    ]


def _fused_before(first: bool = False) -> onnx.ModelProto:
    made = Maker(SIGNAL)
    made.node("FusedConv", ["x", made.weight("w", 4, 4, 1)], "f", activation="Relu")
    made.nodes[-1].domain = "com.microsoft"
    made.node("Relu", [made.node("Conv", ["f", made.weight("v", 4, 4, 1)], "c")], "y")
    model = made.model("y")
    model.opset_import.insert(0 if first else 1, helper.make_opsetid("com.microsoft", 1))
    return model


FREE, STUCK = ("plain", "biased", "grouped"), ("read", "returned", "tanh", "untyped", "none")


@st.composite
def chains(draw: st.DrawFn, most: int = 4) -> tuple[onnx.ModelProto, int]:
    """Convolutions in a row, most with a Relu, and how many pairs can be fused."""
    made, y = Maker((1, 4, 4), seed=draw(st.integers(0, 99))), "x"
    outputs: list[str] = []
    kinds = draw(st.lists(st.sampled_from((*FREE, *STUCK)), min_size=1, max_size=most))
    for k, kind in enumerate(kinds):
        y = _link(made, y, k, kind, outputs)
    return made.model(y, *outputs), sum(kind in FREE for kind in kinds)


def _link(made: Maker, x: str, k: int, kind: str, outputs: list[str]) -> str:
    groups = 2 if kind == "grouped" else 1
    w, c = made.weight(f"w{k}", 4, 4 // groups, 1), f"c{k}"
    if kind == "untyped":
        w = made.node("Abs", [w], f"v{k}")
    made.node("Conv", [x, w, *([made.weight(f"b{k}", 4)] if kind == "biased" else [])], c,
              group=groups)  # fmt: skip
    if kind == "none":
        return c
    y = made.node("Tanh" if kind == "tanh" else "Relu", [c], f"y{k}")
    if kind == "returned":
        outputs.append(c)
    return made.node("Add", [y, c], f"s{k}") if kind == "read" else y
