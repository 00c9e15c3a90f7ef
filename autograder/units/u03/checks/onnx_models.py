"""Small ONNX models for the surgery of unit 3: `block` is one convolution with its batch norm,
`models` draws several in a row, `foldable` has those in which all norms go.

Next room: onnx_left.py, models in which something has to stay.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
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

    def norm(
        self, y: str, channels: int, name: str, *more: str, low: float = 0.1, **attrs: Any
    ) -> str:
        """A batch norm with vectors of its own, no variance below `low`. `more` are further
        outputs."""
        vectors = [self.weight(f"{name}_{v}", channels) for v in ("scale", "shift", "mean")]
        vectors.append(self.weight(f"{name}_var", channels, low=low, high=20 * low))
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


Foldable = tuple[onnx.ModelProto, str, str]


@functools.cache
def foldable() -> list[Foldable]:
    """(model, all norms of which can be folded; what is special; words of the specification)"""
    return [*_attributes(), *_parts(), *_readers(), *_readers_inside(), *_places()]


def _attributes() -> list[Foldable]:
    """Small variances, so that an epsilon matters, and what a Conv and a norm may carry."""
    epsilon = "`epsilon` is an attribute of the batch norm; without it, it is 1e-5"
    absent, zero = conv_and_norm(low=1e-5), conv_and_norm(low=1e-5, epsilon=0.0)
    second = conv_and_norm(low=1e-3, momentum=0.5, epsilon=1e-3, training_mode=0)
    turned = list(second.nodes[-1].attribute)[::-1]
    del second.nodes[-1].attribute[:]
    second.nodes[-1].attribute.extend(turned)
    open_end = conv_and_norm("", "")
    wide = Maker((1, 4, 9))
    parts = ["x", wide.weight("w", 4, 2, 3)]
    wide.node("Conv", parts, "c", group=2, dilations=[2], strides=[2], pads=[1, 2])
    wide.norm("c", 4, "y")
    same = Maker((1, 4, 9))
    parts = ["x", same.weight("w", 4, 4, 3)]
    same.node("Conv", parts, "c", kernel_shape=[3], auto_pad="SAME_UPPER", strides=[2])
    same.norm("c", 4, "y")
    older = conv_and_norm(low=1e-3).model("y")
    older.opset_import[0].version = 11
    return [
        (absent.model("y"), "The norm has no epsilon.", epsilon),
        (zero.model("y"), "An epsilon of 0 is an epsilon.", epsilon),
        (second.model("y"), "Epsilon is not the first attribute; training_mode is 0.", epsilon),
        (same.model("y"), "Its kernel_shape and its auto_pad stay.", "Its attributes stay"),
        (open_end.model("y"), "Its further outputs have no names.", "a second output with a name"),
        (wide.model("y"), "Groups, dilations, strides, pads.", "Its attributes stay"),
        (older, "Opset 11 has batch norms, too.", "Fold each BatchNormalization"),
    ]


def _parts() -> list[Foldable]:
    """Biases that are no third name, or no initializer."""
    constant, swapped = Maker(SIGNAL), Maker(SIGNAL)
    held = numpy_helper.from_array(np.arange(4, dtype=np.float32))
    constant.nodes.append(helper.make_node("Constant", [], ["held"], "held", value=held))
    constant.node("Identity", ["held"], "same")
    constant.node("Identity", ["same"], "bias")
    constant.node("Conv", ["x", constant.weight("w", 4, 4, 1), "bias"], "c")
    constant.norm("c", 4, "y")
    swapped.node("Conv", ["x", swapped.weight("w", 4, 4, 1), swapped.weight("b", 4)], "c")
    vectors = ["b", "b", "b", swapped.weight("var", 4, low=0.1)]
    swapped.node("BatchNormalization", ["c", *vectors], "y")
    return [
        (constant.model("y"), "The bias is an Identity of an Identity of a Constant.",
         "what a node Constant holds, and an Identity of either"),
        (swapped.model("y"), "Bias, scale, shift and mean are one initializer.",
         "Initializers that others read keep their values"),
    ]  # fmt: skip


def _readers() -> list[Foldable]:
    """Who reads the norm's value, and what else the graph hands in and out."""
    many, inside, listed = (conv_and_norm() for _ in range(3))
    many.node("Add", ["y", "y"], "z")
    vectors = Maker((1, 4, 4))  # a row of four numbers may be added to it
    vectors.node("Conv", ["x", vectors.weight("w", 4, 4, 1)], "c")
    end = vectors.norm("c", 4, "y")
    for vector in ("y_scale", "y_shift", "y_mean", "y_var"):
        end = vectors.node("Add", [end, vector], f"and_{vector}")
    inside_w = conv_and_norm()
    inside_w.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    inside_w.node("If", ["yes"], "r", **branches("Add", ["y", "w"], "s"))
    behind = conv_and_norm()
    behind.node("Relu", [behind.node("Relu", ["y"], "r")], "z")
    inside.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    inside.weight("only_inside", 4, 1)
    inside.node("If", ["yes"], "z", **branches("Add", ["y", "only_inside"]))
    listed.weight("spare", 4)
    replaceable = listed.model("y", "w", inputs=["spare"])
    for info in replaceable.graph.output:
        if info.name == "w":
            info.type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, [4, 4, 1]))
    unread = "The inputs and outputs of the graph keep their names"
    keep = "Initializers that others read keep their values"
    return [
        (many.model("y", "z"), "Two read y, and it is an output.", unread),
        (vectors.model(end), "Other nodes read the four vectors.", keep),
        (inside_w.model("r"), "The branches of the If read the old weight.", keep),
        (
            behind.model("z"),
            "Two Relu behind it are none of its business.",
            "Fold each BatchNormalization",
        ),
        (inside.model("z"), "The branches of the If read y and an initializer.", keep),
        (replaceable, "The weight is an output, and nobody reads an input.", unread),
    ]


def _readers_inside() -> list[Foldable]:
    """Initializers that only a graph inside a node reads."""
    one, deep, looped = (conv_and_norm() for _ in range(3))
    for made in (one, deep, looped):
        made.weights.append(numpy_helper.from_array(np.array(True), "yes"))
        for name in ("only_then", "only_else"):
            made.weight(name, 4, 1)
    parts = {key: branches("Add", ["y", f"only_{key[:4]}"])[key]
             for key in ("then_branch", "else_branch")}  # fmt: skip
    one.node("If", ["yes"], "z", **parts)
    deep.node("If", ["yes"], "z", **branches("If", ["yes"], "s", **parts))
    loop(looped, loop_body("Add", ["only_then", "only_else"]), "y", "z")
    keep = "Initializers that others read keep their values"
    return [
        (one.model("z"), "Each branch of the If reads an initializer of its own.", keep),
        (deep.model("z"), "A branch of a branch reads an initializer.", keep),
        (looped.model("z"), "The body of the Loop reads two initializers.", keep),
    ]


def _places() -> list[Foldable]:
    """Two pairs, and their nodes in another order."""
    return [
        (_two_pairs("Add", ["y1", "y2"]), "Each norm stands behind the other's Conv.",
         "Fold each BatchNormalization of an ONNX model"),
    ]  # fmt: skip


def empty_bias() -> onnx.ModelProto:
    """A Conv whose third operand is left out by the name "": to fold it or not is both right."""
    made = Maker(SIGNAL)
    made.node("Conv", ["x", made.weight("w", 4, 4, 1), ""], "c")
    return made.model(made.norm("c", 4, "y"))


def twice() -> onnx.ModelProto:
    """Two norms in a row: the first can be folded, and then perhaps the second."""
    made = conv_and_norm()
    return made.model(made.norm("y", 4, "z"))


def mixed() -> onnx.ModelProto:
    """Two pairs; the first norm has to stay, because somebody else reads its Conv."""
    return _two_pairs("Sum", ["c1", "y1", "y2"])


def _two_pairs(op: str, inputs: Sequence[str]) -> onnx.ModelProto:
    made = Maker(SIGNAL)
    for k in (1, 2):
        made.node("Conv", ["x", made.weight(f"w{k}", 4, 4, 1)], f"c{k}")
    for k in (1, 2):
        made.norm(f"c{k}", 4, f"y{k}")
    return made.model(made.node(op, inputs, "z"))


# What else a file names, and what `taken` calls it.
NAMES = {
    "an initializer": "offset",
    "an initializer that nobody reads, before all others": "idle",
    "an initializer that nobody reads, behind all others": "rest",
    "a value": "sum",
    "a value that nobody reads, before all others": "nobody",
    "a value that nobody reads, behind all others": "either",
    "an input that nobody reads": "spare",
    "a value in one branch": "r",
    "a value in the other branch": "t",
    "a value in a branch of a branch": "s",
}


def taken(names: Mapping[str, str] = NAMES, also: Iterable[str] = ()) -> onnx.ModelProto:
    """One pair beside all that `NAMES` lists; `also` are further initializers."""
    offset, idle, rest, total, nobody, either, spare, one, other, deep = names.values()
    made = conv_and_norm()
    made.weight(idle, 4)
    made.node("Neg", ["x"], nobody)
    for found in (made.weights, made.nodes):
        found.insert(0, found.pop())
    end = made.node("Add", ["y", made.weight(offset, 4, 1)], total)
    for k, name in enumerate(also):
        end = made.node("Add", [end, made.weight(name, 4, 1)], f"with{k}")
    made.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    inner = branches("Relu", [end], deep)
    then, otherwise = (branches("If", ["yes"], name, **inner) for name in (one, other))
    parts = {"then_branch": then["then_branch"], "else_branch": otherwise["else_branch"]}
    made.node("If", ["yes"], "z", **parts)
    made.node("Neg", ["x"], either)
    made.weight(rest, 4)
    model = made.model("z")
    model.graph.input.insert(0, helper.make_tensor_value_info(spare, TensorProto.FLOAT, [4]))
    return model


def conv_and_norm(*more: str, op: str = "Conv", weight: str = "w", **attrs: Any) -> Maker:
    """c, a convolution of x, and y, its batch norm with `more` outputs."""
    made = Maker(SIGNAL)
    made.weight("w", 4, 4, 1)
    made.node(op, ["x", weight], "c")
    made.norm("c", 4, "y", *more, **attrs)
    return made


def foreign(made: Maker, op: str, end: str = "y") -> onnx.ModelProto:
    """The same model, but its `op` is an operator of somebody else's, of that name."""
    for node in made.nodes:
        node.domain = "nobody" if node.op_type == op else ""
    model = made.model(end)
    model.opset_import.append(helper.make_opsetid("nobody", 1))
    return model


def branches(
    op: str, inputs: Sequence[str], name: str = "r", **attrs: Any
) -> dict[str, onnx.GraphProto]:
    """The two graphs of an If, each with one node that reads values from outside."""
    result = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["d0", "d1", "d2"])
    node = helper.make_node(op, inputs, [name], **attrs)
    branch = helper.make_graph([node], "branch", [], [result])
    return {"then_branch": branch, "else_branch": branch}


def loop_body(op: str, inputs: Sequence[str]) -> onnx.GraphProto:
    """The body of a Loop that hands on the value `v`: v + op(inputs)."""
    number, truth = (helper.make_tensor_value_info(name, kind, []) for name, kind in
                     (("i", TensorProto.INT64), ("go", TensorProto.BOOL)))  # fmt: skip
    still = helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    old, new = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["d0", "d1", "d2"])
                for name in ("v", "v_new"))  # fmt: skip
    nodes = [helper.make_node("Identity", ["go"], ["still"]),
             helper.make_node(op, inputs, ["part"]),
             helper.make_node("Add", ["v", "part"], ["v_new"])]  # fmt: skip
    return helper.make_graph(nodes, "body", [number, truth, old], [still, new])


def loop(made: Maker, body: onnx.GraphProto, start: str, output: str) -> str:
    """A Loop that runs `body` twice, from the value `start`."""
    made.weights.append(numpy_helper.from_array(np.array(2, np.int64), "times"))
    return made.node("Loop", ["times", "", start], output, body=body)
