"""Small ONNX models for the surgery of unit 3: `block` is one convolution with its batch norm,
`models` draws several in a row, `left_alone` has those in which nothing may be folded.

Next room: onnx.py, the checks.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

SIGNAL = (1, 4, 5)  # n, c, length


class Maker:
    """Collects the nodes and initializers of a model with one input `x`."""

    def __init__(self, shape: tuple[int, ...], seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.shape, self.nodes, self.weights = shape, [], []

    def weight(self, name: str, *shape: int, low: float = -1.0, high: float = 1.0) -> str:
        array = self.rng.uniform(low, high, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, inputs: Iterable[str], output: str, *more: str, **attrs: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [output, *more], output, **attrs))
        return output

    def norm(self, y: str, channels: int, name: str, *more: str, **attrs: Any) -> str:
        """A batch norm with vectors of its own. `more` are further outputs."""
        vectors = [self.weight(f"{name}_{v}", channels) for v in ("scale", "shift", "mean")]
        vectors.append(self.weight(f"{name}_var", channels, low=0.1, high=2.0))
        return self.node("BatchNormalization", [y, *vectors], name, *more, **attrs)

    def model(self, *outputs: str, inputs: Iterable[str] = ()) -> onnx.ModelProto:
        """`inputs` are initializers that a caller may replace."""
        kind = TensorProto.FLOAT
        shapes = {t.name: list(t.dims) for t in self.weights}
        given = [helper.make_tensor_value_info("x", kind, list(self.shape))]
        given += [helper.make_tensor_value_info(name, kind, shapes[name]) for name in inputs]
        open_sizes = [f"d{axis}" for axis in range(len(self.shape))]
        results = [helper.make_tensor_value_info(name, kind, open_sizes) for name in outputs]
        graph = helper.make_graph(self.nodes, "small", given, results, self.weights)
        opset = helper.make_opsetid("", 17)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8)


def block(rank: int = 2, groups: int = 1, bias: bool = False, relu: bool = True, **attrs: Any):
    """Conv, BatchNormalization and perhaps Relu, on 4 channels."""
    made = Maker((1, 4, *[5] * rank), seed=rank + groups)
    parts = ["x", made.weight("w", 6 if groups == 1 else 8, 4 // groups, *[3] * rank)]
    if bias:
        parts.append(made.weight("b", 6 if groups == 1 else 8))
    made.node("Conv", parts, "c", group=groups, pads=[1] * (2 * rank))
    end = made.norm("c", 6 if groups == 1 else 8, "y", **attrs)
    return made.model(made.node("Relu", [end], "z") if relu else end)


@st.composite
def models(draw: st.DrawFn, most: int = 3) -> onnx.ModelProto:
    """Blocks in a row; some convolutions and some norms share their weights with others."""
    rank = draw(st.sampled_from((2, 1, 3)))
    made, y = Maker((1, 4, *[4] * rank), seed=draw(st.integers(0, 9))), "x"
    made.weight("shared", 4, 4, *[1] * rank)
    made.weight("numbers", 4)
    for k in range(draw(st.integers(1, most))):
        groups = draw(st.sampled_from((1, 2, 4)))
        w = made.weight(f"w{k}", 4, 4 // groups, *[3] * rank)
        w = draw(st.sampled_from((w, "shared"))) if groups == 1 else w
        parts = [y, w]
        if draw(st.booleans()):
            parts.append(draw(st.sampled_from(("numbers", made.weight(f"b{k}", 4)))))
        pads = [0 if w == "shared" else 1] * (2 * rank)
        y = made.node("Conv", parts, f"c{k}", group=groups, pads=pads)
        more = {"epsilon": 0.5} if draw(st.booleans()) else {}
        y = made.norm(y, 4, f"n{k}", **more)
        y = made.node("Relu", [y], f"r{k}") if draw(st.booleans()) else y
    return swept(made.model(y))


def swept(model: onnx.ModelProto) -> onnx.ModelProto:
    """Without the initializers that nobody reads."""
    used = {name for node in model.graph.node for name in node.input}
    for tensor in list(model.graph.initializer):
        if tensor.name not in used:
            model.graph.initializer.remove(tensor)
    return model


Case = tuple[onnx.ModelProto, str, str]


@functools.cache
def left_alone() -> list[Case]:
    """(model, why nothing may be folded, words of the specification)"""
    return [*_read_elsewhere(), *_in_training(), *_not_constant(), *_another_pattern()]


def _read_elsewhere() -> list[Case]:
    second, returned, inside = (_conv_and_norm() for _ in range(3))
    second.node("Relu", ["c"], "z")
    inside.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    result = helper.make_tensor_value_info("r", TensorProto.FLOAT, ["d0", "d1", "d2"])
    relu = helper.make_node("Relu", ["c"], ["r"])
    branch = helper.make_graph([relu], "branch", [], [result])
    inside.node("If", ["yes"], "z", then_branch=branch, else_branch=branch)
    reader = "if somebody else reads c, or if c is an output of the graph"
    return [
        (second.model("y", "z"), "The Relu reads c, too.", reader),
        (returned.model("y", "c"), "c is an output.", reader),
        (inside.model("y", "z"), "The graphs inside the If read c.", reader),
    ]


def _in_training() -> list[Case]:
    trained = _conv_and_norm("new_mean", "new_var", training_mode=1)
    older = _conv_and_norm("new_mean", "new_var", "saved_mean", "saved_var")
    opset_13 = older.model("y")
    opset_13.opset_import[0].version = 13
    outputs = "Until opset 13, more outputs than one mean training mode."
    return [
        (trained.model("y"), "The batch norm is in training mode.", "if it is in training mode"),
        (opset_13, outputs, "a second output with a name"),
    ]


def _not_constant() -> list[Case]:
    computed, replaceable = Maker(SIGNAL), _conv_and_norm()
    computed.node("Relu", [computed.weight("raw", 4, 4, 1)], "w")
    computed.node("Conv", ["x", "w"], "c")
    computed.norm("c", 4, "y")
    constant = "if w, b or one of the four vectors is no constant"
    return [
        (computed.model("y"), "The weight is computed.", constant),
        (replaceable.model("y", inputs=["w"]), "A caller may replace w.", "also an input"),
        (replaceable.model("y", inputs=["y_mean"]), "A caller may replace the mean.",
         "also an input"),
    ]  # fmt: skip


def _another_pattern() -> list[Case]:
    between = Maker(SIGNAL)
    between.node("Conv", ["x", between.weight("w", 4, 4, 1)], "c")
    between.norm(between.node("Relu", ["c"], "r"), 4, "y")
    transposed = _conv_and_norm(op="ConvTranspose")
    return [
        (transposed.model("y"), "The weight of a ConvTranspose begins with its input channels.",
         "A ConvTranspose keeps its batch norm"),
        (between.model("y"), "There is a Relu between.", "into the Conv before it"),
    ]  # fmt: skip


def _conv_and_norm(*more: str, op: str = "Conv", **attrs: Any) -> Maker:
    """c, a convolution of x, and y, its batch norm with `more` outputs."""
    made = Maker(SIGNAL)
    made.node(op, ["x", made.weight("w", 4, 4, 1)], "c")
    made.norm("c", 4, "y", *more, **attrs)
    return made
