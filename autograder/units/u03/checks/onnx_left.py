"""ONNX models for the surgery of unit 3 in which batch norms have to stay: `left_alone` has one
reason each, `mixtures` draws pairs that can be folded beside pairs that cannot.

Next room: onnx_results.py, what must be true of a result.
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
    conv_and_norm,
    foreign,
    loop,
    loop_body,
)

Case = tuple[onnx.ModelProto, str, str]


@functools.cache
def left_alone() -> list[Case]:
    """(model, why nothing may be folded, words of the specification)"""
    return [*_read_elsewhere(), *_in_training(), *_not_constant(), *_another_pattern()]


def _read_elsewhere() -> list[Case]:
    second, returned, inside, deep, other, again = (conv_and_norm() for _ in range(6))
    looped, normed = conv_and_norm(), conv_and_norm()
    second.node("Relu", ["c"], "z")
    for made in (inside, deep, other, again):
        made.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    inside.node("If", ["yes"], "z", **branches("Relu", ["c"]))
    deep.node("If", ["yes"], "z", **branches("If", ["yes"], "s", **branches("Relu", ["c"])))
    parts = {"then_branch": branches("Relu", ["y"])["then_branch"]}
    other.node("If", ["yes"], "z", **(branches("Relu", ["c"]) | parts))
    parts = {"else_branch": branches("Relu", ["y"])["else_branch"]}
    again.node("If", ["yes"], "z", **(branches("Relu", ["c"]) | parts))
    loop(looped, loop_body("Relu", ["c"]), "y", "z")
    normed.norm("c", 4, "z")
    reader = "if somebody else reads c, or if c is an output of the graph"
    return [
        (second.model("y", "z"), "The Relu reads c, too.", reader),
        (returned.model("y", "c"), "c is an output.", reader),
        (inside.model("y", "z"), "The graphs inside the If read c.", reader),
        (other.model("y", "z"), "The else branch of the If reads c.", reader),
        (again.model("y", "z"), "The then branch of the If reads c.", reader),
        (looped.model("z"), "The body of the Loop reads c.", reader),
        (normed.model("y", "z"), "Two batch norms read c.", reader),
        (deep.model("y", "z"), "A graph inside a graph inside the If reads c.", reader),
    ]


def _in_training() -> list[Case]:
    alone = conv_and_norm(training_mode=1)
    trained = conv_and_norm("new_mean", "new_var", training_mode=1)
    older = conv_and_norm("new_mean", "new_var", "saved_mean", "saved_var")
    opset_13 = older.model("y")
    opset_13.opset_import[0].version = 13
    two = conv_and_norm("new_mean", "", "", "").model("y")
    two.opset_import[0].version = 9
    outputs = "Until opset 13, more outputs than one mean training mode."
    return [
        (trained.model("y"), "The batch norm is in training mode.", "if it is in training mode"),
        (opset_13, outputs, "a second output with a name"),
        (two, outputs, "a second output with a name"),
        (alone.model("y"), "The batch norm is in training mode.", "attribute `training_mode` 1"),
    ]


def _not_constant() -> list[Case]:
    constant = "if w, b or one of the four vectors is not a constant"
    cases = []
    for name in PARAMETERS:
        computed, replaceable = _with_bias(), _with_bias().model("y", inputs=[name])
        tensor = next(t for t in computed.weights if t.name == name)
        tensor.name = "raw"
        computed.nodes.insert(0, helper.make_node("Abs", ["raw"], [name], "computed"))
        cases += [
            (computed.model("y"), f"{name} is computed by a node.", constant),
            (replaceable, f"A caller may replace {name}.", "also an input of the graph"),
        ]
    through = conv_and_norm(weight="v")
    through.nodes.insert(0, helper.make_node("Identity", ["w"], ["v"], "v"))
    replaced = through.model("y", inputs=["w"])
    return [*cases, (replaced, "A caller may replace what v is.", "also an input of the graph")]


PARAMETERS = ("w", "b", "y_scale", "y_shift", "y_mean", "y_var")


def _with_bias() -> Maker:
    made = Maker(SIGNAL)
    made.node("Conv", ["x", made.weight("w", 4, 4, 1), made.weight("b", 4)], "c")
    made.norm("c", 4, "y")
    return made


def _another_pattern() -> list[Case]:
    alone, transposed = Maker(SIGNAL), conv_and_norm(op="ConvTranspose")
    alone.norm("x", 4, "y")
    pattern, between = "into the Conv before it", []
    for op, more in (("Relu", ()), ("Add", ("offset",)), ("Mul", ("offset",))):
        made = Maker(SIGNAL)
        made.node("Conv", ["x", made.weight("w", 4, 4, 1)], "c")
        made.norm(made.node(op, ["c", *(made.weight(name, 4, 1) for name in more)], "r"), 4, "y")
        between.append((made.model("y"), f"The {op} stands between the two.", pattern))
    return [
        (transposed.model("y"), "The weight of a ConvTranspose begins with its input channels.",
         "A ConvTranspose keeps its batch norm"),
        (alone.model("y"), "The norm reads what the caller gives.", pattern),
        *between,
        *((foreign(conv_and_norm(), op), f"The {op} is of another domain.",
           "if one of the two has a `domain` that is not empty")
          for op in ("Conv", "BatchNormalization")),
        (_folded_inside(), "The pair stands in the branches of an If.",
         "What stands in a graph inside a node (the branches of an If) stays as it is"),
    ]  # fmt: skip


def _folded_inside() -> onnx.ModelProto:
    """An If whose branches hold a Conv and its norm."""
    made, inner = Maker(SIGNAL), conv_and_norm()
    made.weights = [numpy_helper.from_array(np.array(True), "yes")]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["d0", "d1", "d2"])
    branch = helper.make_graph(inner.nodes, "branch", [], [result], inner.weights)
    made.node("If", ["yes"], "z", then_branch=branch, else_branch=branch)
    return made.model("z")


FREE = ("plain", "biased", "held", "renamed")  # these pairs can be folded
STUCK = ("read", "returned", "replaceable", "computed", "transposed", "between")


@st.composite
def mixtures(draw: st.DrawFn, most: int = 3) -> tuple[onnx.ModelProto, int]:
    """Pairs in a row of which some cannot be folded, and how many norms have to stay."""
    made, y = Maker((1, 4, 4), seed=draw(st.integers(0, 99))), "x"
    outputs: list[str] = []
    inputs: list[str] = []
    kinds = draw(st.lists(st.sampled_from((*FREE, *STUCK)), min_size=1, max_size=most))
    for k, kind in enumerate(kinds):
        y = _pair(made, y, k, kind, draw(st.integers(0, 5)), outputs, inputs)
        y = made.node("Relu", [y], f"r{k}") if draw(st.booleans()) else y
    return made.model(y, *outputs, inputs=inputs), sum(kind in STUCK for kind in kinds)


def _pair(
    made: Maker, x: str, k: int, kind: str, which: int, outputs: list[str], inputs: list[str]
) -> str:
    """A Conv and its norm; `which` of the six parameters is replaceable, computed, or renamed."""
    c, y = f"c{k}", f"y{k}"
    biased = kind == "biased" or which % 2 == 1
    parts = [x, made.weight(f"w{k}", 4, 4, 1), *([made.weight(f"b{k}", 4)] if biased else [])]
    made.node("ConvTranspose" if kind == "transposed" else "Conv", parts, c)
    before = made.node("Tanh", [c], f"t{k}") if kind == "between" else c
    made.norm(before, 4, y, epsilon=0.01 * (which + 1))
    names = [*parts[1:], *made.nodes[-1].input[1:]]
    name = names[which % len(names)]
    if kind == "replaceable":
        inputs.append(name)
    elif kind in ("computed", "renamed", "held"):
        _from_a_node(made, name, kind)
    elif kind == "returned":
        outputs.append(c)
    elif kind == "read":
        return made.node("Add", [y, made.node("Neg", [c], f"n{k}")], f"s{k}")
    return y


def _from_a_node(made: Maker, name: str, kind: str) -> None:
    """The value `name` is no initializer any more: a node gives it."""
    tensor = next(t for t in made.weights if t.name == name)
    if kind == "held":
        made.weights.remove(tensor)
        node = helper.make_node("Constant", [], [name], f"{name}_held", value=tensor)
    else:
        tensor.name = f"{name}_raw"
        op = "Identity" if kind == "renamed" else "Abs"
        node = helper.make_node(op, [tensor.name], [name], f"{name}_node")
    made.nodes.insert(0, node)
