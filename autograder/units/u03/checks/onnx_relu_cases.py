"""ONNX models for the checks of `fuse_relu`: `pairs` has some to fuse, `apart` has none, `chains`
draws both in a row.

Next room: onnx_models.py, which makes them.
"""

from __future__ import annotations

import functools

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper

from autograder.units.u03.checks.onnx_models import CONV, SIGNAL, Case, choice, norm, small, typed
from autograder.units.u03.checks.onnx_models import read_elsewhere as others

READS = "if anything else reads c"
NODE, WITHIN = "another node", "a graph inside a node"
CALLER = "because c is an output of the graph"
FLOATS = "does not say that w holds 32-bit floats"
FUSE = "Make one node of each Conv and the Relu that reads it"
INSIDE = "What stands in a graph inside a node (the branches of an If) stays as it is"
ATTRIBUTES = "It keeps the Conv's operands and attributes"
IMPORT = "`opset_import` names its domain, once, in version 1"
OTHERS = "if one of the two has a `domain` that is not empty"
NOTHING = "If none was, nothing changes"
PAIR = f"{CONV}y = Relu(c)\n"
COMPUTED = f"w = Abs(w_raw) {PAIR}"


@functools.cache
def apart() -> list[Case]:
    """Models in which nothing can be fused, each for one reason."""
    specs = (NODE, CALLER, *[WITHIN] * 5)
    return [
        *((model, why, spec) for (model, why), spec in zip(others(PAIR), specs, strict=True)),
        (small(PAIR + "z = Relu(c)", "y", "z"), "Two Relus read c.", READS),
        (_with_much_beside_it(), "w is in double precision.", FLOATS),
        *((small(PAIR.replace("Relu", op), "y"), f"{op} is no Relu.", FUSE)
          for op in ("Tanh", "LeakyRelu", "Clip", "Elu")),
        (small(PAIR.replace("Conv", "ConvTranspose"), "y"), "ConvTranspose is no Conv.", FUSE),
        (small(f"{CONV} n = Neg(c) y = Relu(n)", "y"), "The Relu reads Neg, which reads the Conv.",
         FUSE),
        (small(f"{CONV} {norm(y='n')} y = Relu(n)", "y"), "The Relu reads the batch norm.", FUSE),
        (small("y = Relu(x)", "y"), "The Relu reads what the caller gives.", FUSE),
        (small(COMPUTED, "y"), "The file does not say what type w has.", FLOATS),
        (typed(small(PAIR, "y"), np.float16), "w is in half precision.", FLOATS),
        (typed(small(PAIR, "y"), np.float64), "w is in double precision.", FLOATS),
        (small(choice(PAIR, r="y"), "z"),
         "The pair stands in the branches of an If.", INSIDE),
        *((small(PAIR.replace(op, f"nobody.{op}"), "y"), f"The {op} is of another domain.", OTHERS)
          for op in ("Conv", "Relu")),
    ]  # fmt: skip


def _with_much_beside_it() -> onnx.ModelProto:
    """Weights of f64, an initializer and a node that nothing reads, and a declared type."""
    model = typed(small(PAIR + "idle = Neg(x)", "y", idle=["spare"]), np.float64)
    return _declared(model, "c", SIGNAL, TensorProto.DOUBLE)


def _declared(model: onnx.ModelProto, name: str, size: tuple[int, ...], kind: int = 1
              ) -> onnx.ModelProto:  # fmt: skip
    model.graph.value_info.append(helper.make_tensor_value_info(name, kind, size))
    return model


@functools.cache
def pairs() -> list[tuple[onnx.ModelProto, int, str, str]]:
    """(model, pairs in it that can be fused, what is special, words of the specification)"""
    wide = "c = Conv <group=2, dilations=[2], strides=[2], pads=[1,2]> (x, w, b) y = Relu(c)"
    same = 'c = Conv <kernel_shape=[3], strides=[2], auto_pad="SAME_UPPER"> (x, w) y = Relu(c)'
    row = PAIR + "d = Conv(y, w1) z = Relu(d)"
    two = "c1 = Conv(x, w1) c2 = Conv(x, w2) y1 = Relu(c1) y2 = Relu(c2)"
    before = 'f = com.microsoft.FusedConv <activation="Relu"> (x, w)\n' + PAIR.replace("x", "f")
    older, fused, first = small(PAIR, "y", opset=13), small(before, "y"), small(before, "y")
    older.opset_import.append(helper.make_opsetid("nobody", 1))
    for place, model in ((1, fused), (0, first)):
        model.opset_import.insert(place, helper.make_opsetid("com.microsoft", 1))
    return [
        (small(wide, "y", x=(1, 4, 9), sizes={"w": (4, 2, 3)}), 1,
         "Groups, dilations, strides and pads stay.", ATTRIBUTES),
        (small(same, "y", x=(1, 4, 9), sizes={"w": (4, 4, 3)}), 1,
         "kernel_shape and auto_pad stay.", ATTRIBUTES),
        (small(PAIR + "z = Add(y, y)", "y", "z"), 1, "y has readers, and is an output.", FUSE),
        (small(PAIR + "z = Relu(y)", "z"), 1, "A second Relu reads the first.", FUSE),
        (small(row, "z"), 2, "Two pairs in a row.", FUSE),
        (small(two, "y1", "y2"), 2, "Two Conv, and then their two Relus.", FUSE),
        (small(PAIR.replace("w)", 'w, "")'), "y"), 1, 'The bias is left out by the name "".',
         ATTRIBUTES),
        (older, 1, "The file imports opset 13, and another domain that it does not use.", FUSE),
        (small(PAIR + choice("r = Neg(y)"), "z"), 1, "The branches of an If read y.", FUSE),
        (_declared(small(COMPUTED, "y"), "w", (4, 4, 1)), 1,
         "w is computed, and the file says what type it has.", FLOATS),
        (small(PAIR, "y", inputs=["w"]), 1, "The caller may give another w.", FUSE),
        (small(PAIR + "activation = Neg(x)", "y", "activation"), 1,
         "Something else is called activation.", FUSE),
        (fused, 1, "One pair was fused before.", FUSE),
        (first, 1, "The file imports com.microsoft first.", FUSE),
    ]  # fmt: skip


FREE, STUCK = ("plain", "biased", "grouped"), ("read", "returned", "tanh", "untyped", "none")


@st.composite
def chains(draw: st.DrawFn, most: int = 4) -> tuple[onnx.ModelProto, int]:
    """Convolutions in a row, most with a Relu, and how many pairs can be fused."""
    kinds = draw(st.lists(st.sampled_from((*FREE, *STUCK)), min_size=1, max_size=most))
    nodes, x, outputs, sizes = "", "x", [], {}
    for k, kind in enumerate(kinds):
        c, y, w = f"c{k}", f"y{k}", f"v{k}" if kind == "untyped" else f"w{k}"
        groups, bias = (2 if kind == "grouped" else 1), f", b{k}" * (kind == "biased")
        sizes[f"w{k}"] = (4, 4 // groups, 1)
        nodes += f"{w} = Abs(w{k})\n" if kind == "untyped" else ""
        nodes += f"{c} = Conv <group={groups}> ({x}, {w}{bias})\n"
        outputs += [c] * (kind == "returned")
        if kind != "none":
            nodes += f"{y} = {'Tanh' if kind == 'tanh' else 'Relu'}({c})\n"
        nodes += f"s{k} = Add({y}, {c})\n" if kind == "read" else ""
        x = {"none": c, "read": f"s{k}"}.get(kind, y)
    seed = draw(st.integers(0, 99))
    model = small(nodes, x, *outputs, x=(1, 4, 4), sizes=sizes, seed=seed)
    return model, sum(kind in FREE for kind in kinds)
