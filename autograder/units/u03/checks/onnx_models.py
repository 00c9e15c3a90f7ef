"""Small ONNX models for the surgery of unit 3, written as text: nodes on one input `x`.

    small("c = Conv(x, w)" + norm("c", "y"), "y")

`small` draws what no node writes; a name tells how large it is. `block` is one convolution with its
batch norm, `models` draws several in a row, `foldable` has those in which all norms go.

Next room: onnx_left.py, models in which something has to stay.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper, parser

from autograder.units.u03.checks.onnx_results import ATTRIBUTES, ENDS

SIGNAL = (1, 4, 5)  # n, c, length
Sizes = Mapping[str, tuple[int, ...]]
Case = tuple[onnx.ModelProto, str, str]  # a model, what is special, words of the specification


def small(nodes: str, *outputs: str, x: tuple[int, ...] = SIGNAL, sizes: Sizes | None = None,
          inputs: Iterable[str] = (), idle: Iterable[str] = (), opset: int = 17, low: float = 0.1,
          seed: int = 0) -> onnx.ModelProto:  # fmt: skip
    """A model of these nodes. `inputs` are initializers that a caller may replace, `idle` those
    that nothing reads; no variance is below `low`."""
    axes = ",".join(f"d{axis}" for axis in range(len(x)))
    results = ", ".join(f"float[{axes}] {name}" for name in outputs)
    given = ",".join(map(str, x))
    graph = parser.parse_graph(f"small (float[{given}] x) => ({results}) {{ {nodes} }}")
    for node in graph.node:
        node.name = node.output[0]
    rng = np.random.default_rng(seed)
    for name in [*idle, *_unwritten(graph, {"x", ""})]:
        size = (sizes or {}).get(name, _size(name, len(x) - 2))
        low_, high = (low, 20 * low) if "var" in name else (-1.0, 1.0)
        array = _SINGLE.get(name, rng.uniform(low_, high, size).astype(np.float32))
        graph.initializer.append(numpy_helper.from_array(array, name))
    for tensor in graph.initializer:
        if tensor.name in inputs:
            kind = helper.make_tensor_value_info(tensor.name, TensorProto.FLOAT, tensor.dims)
            graph.input.append(kind)
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid("nobody", 1)] * ("nobody." in nodes)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


_SINGLE = {"yes": np.array(True), "times": np.array(2, np.int64)}


def _size(name: str, rank: int) -> tuple[int, ...]:
    """w.. is a weight of 4 channels, o.. is added to all pixels, the rest has a number for each."""
    return {"w": (4, 4, *[1] * rank), "o": (4, *[1] * rank)}.get(name[0], (4,))


def _unwritten(graph: onnx.GraphProto, known: set[str]) -> list[str]:
    """What nodes read, those of graphs inside nodes, too, and nothing writes."""
    known = known | {i.name for i in graph.input} | {n for node in graph.node for n in node.output}
    names = [name for node in graph.node for name in node.input if name not in known]
    for inner in [a.g for node in graph.node for a in node.attribute if a.HasField("g")]:
        names += _unwritten(inner, known)
    return list(dict.fromkeys(names))


def norm(c: str = "c", y: str = "y", attrs: str = "", more: str = "") -> str:
    """A batch norm with vectors of its own; `more` are further outputs."""
    vectors = ", ".join(f"{y}_{name}" for name in ("scale", "shift", "mean", "var"))
    return f"{y}{more} = BatchNormalization {f'<{attrs}>' * bool(attrs)} ({c}, {vectors})\n"


CONV = "c = Conv(x, w)\n"
PAIR = CONV + norm()


def choice(then: str, otherwise: str = "", z: str = "z", r: str = "") -> str:
    """z, an If with these branches; each gives r, or what its first node writes."""
    texts = [text.strip() for text in (then, otherwise or then)]
    graphs = [f"b () => (float[d0,d1,d2] {r or t.split()[0]}) {{ {t} }}" for t in texts]
    return "{} = If (yes) <then_branch = {}, else_branch = {}>\n".format(z, *graphs)


def loop(part: str, start: str = "y") -> str:
    """z, a Loop that adds `part` twice."""
    return f"""z = Loop (times, "", {start}) <body = body (int64 i, bool go, float[d0,d1,d2] v)
        => (bool still, float[d0,d1,d2] v_new)
        {{ still = Identity(go) part = {part} v_new = Add(v, part) }}>\n"""


def read_elsewhere(pair: str) -> list[tuple[onnx.ModelProto, str]]:
    """(a model in which somebody else reads c, who): another node, the caller, graphs in nodes."""
    c, y = "r = Neg(c)", "r = Neg(y)"
    return [
        (small(f"{pair} z = Neg(c)", "y", "z"), "Another node reads c."),
        (small(pair, "y", "c"), "c is an output."),
        (small(pair + choice(c), "y", "z"), "The branches of the If read c."),
        (small(pair + choice(c, y), "y", "z"), "The then branch of the If reads c."),
        (small(pair + choice(y, c), "y", "z"), "The else branch of the If reads c."),
        (small(pair + choice(choice(c, z="s")), "y", "z"), "A branch of a branch reads c."),
        (small(pair + loop("Neg(c)"), "z"), "The body of the Loop reads c."),
    ]


def held(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The same model; a node Constant holds this initializer."""
    graph = model.graph
    tensor = next(t for t in graph.initializer if t.name == name)
    graph.node.insert(0, helper.make_node("Constant", [], [name], f"{name}_held", value=tensor))
    graph.initializer.remove(tensor)
    return model


def typed(model: onnx.ModelProto, kind: type, vectors: type | None = None) -> onnx.ModelProto:
    """The same model in other precision; `vectors` is that of what is neither w nor b."""
    for tensor in model.graph.initializer:
        mine = kind if tensor.name in ("w", "b") else vectors or kind
        array = numpy_helper.to_array(tensor).astype(mine)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    del model.graph.value_info[:]
    return model


def block(rank: int = 2, groups: int = 1, bias: bool = False, relu: bool = True,
          attrs: str = "") -> onnx.ModelProto:  # fmt: skip
    """Conv, BatchNormalization and perhaps Relu, on 4 channels."""
    count = 6 if groups == 1 else 8
    sizes: dict[str, Any] = dict.fromkeys(("b", "y_scale", "y_shift", "y_mean", "y_var"), (count,))
    sizes["w"] = (count, 4 // groups, *[3] * rank)
    conv = f"c = Conv <group={groups}, pads={[1] * (2 * rank)}> (x, w{', b' * bias})\n"
    nodes, end = conv + norm(attrs=attrs) + "z = Relu(y)" * relu, "z" if relu else "y"
    return small(nodes, end, x=(1, 4, *[5] * rank), sizes=sizes, seed=rank + groups)


@st.composite
def models(draw: st.DrawFn, most: int = 3) -> onnx.ModelProto:
    """Blocks in a row; some convolutions and some norms share their weights with others."""
    rank = draw(st.sampled_from((2, 1, 3)))
    nodes, y, sizes = "", "x", {}
    for k in range(draw(st.integers(1, most))):
        groups = draw(st.sampled_from((1, 2, 4)))
        w = draw(st.sampled_from((f"w{k}", "w_shared"))) if groups == 1 else f"w{k}"
        bias = draw(st.sampled_from(("", "", ", numbers", f", b{k}")))
        pads = [0 if w == "w_shared" else 1] * (2 * rank)
        sizes[f"w{k}"] = (4, 4 // groups, *[3] * rank)
        nodes += f"c{k} = Conv <group={groups}, pads={pads}> ({y}, {w}{bias})\n"
        nodes += norm(f"c{k}", f"n{k}", draw(st.sampled_from(("", "epsilon=0.5"))))
        y = draw(st.sampled_from((f"n{k}", f"r{k}")))
        nodes += f"{y} = Relu(n{k})\n" if y[0] == "r" else ""
    return small(nodes, y, x=(1, 4, *[4] * rank), sizes=sizes, seed=draw(st.integers(0, 9)))


EPSILON = "`epsilon` is an attribute of the batch norm; without it, it is 1e-5"
EACH = "Fold each BatchNormalization of an ONNX model"
KEEP = "Initializers that others read keep their values"
HELD = "what a node Constant holds, and an Identity of either"
OTHERS = ("y_scale", "y_shift", "y_mean", "y_var")


@functools.cache
def foldable() -> list[Case]:
    """Models all norms of which can be folded."""
    return [*_of_one_pair(), *_with_other_readers()]


def _of_one_pair() -> list[Case]:
    """What a Conv and its norm may carry."""
    last = "momentum=0.5, training_mode=0, epsilon=0.001"
    wide = "c = Conv <group=2, dilations=[2], strides=[2], pads=[1,2]> (x, w)\n"
    same = 'c = Conv <kernel_shape=[3], auto_pad="SAME_UPPER", strides=[2]> (x, w)\n'
    bias = "same = Identity(b) bias = Identity(same) c = Conv(x, w, bias)\n"
    one = "c = Conv(x, w, b) y = BatchNormalization(c, b, b, b, var)"
    no_names = ', "", ""'
    return [
        # Small variances, so that an epsilon matters, and what a Conv and a norm may carry.
        (small(PAIR, "y", low=1e-5), "The norm has no epsilon.", EPSILON),
        (small(CONV + norm(attrs="epsilon=0.0"), "y", low=1e-5), "An epsilon of 0 is an epsilon.",
         EPSILON),
        (small(CONV + norm(attrs=last), "y", low=1e-3),
         "Epsilon is not the first attribute; training_mode is 0.", EPSILON),
        (small(same + norm(), "y", x=(1, 4, 9), sizes={"w": (4, 4, 3)}),
         "Its kernel_shape and its auto_pad stay.", ATTRIBUTES),
        (small(wide + norm(), "y", x=(1, 4, 9), sizes={"w": (4, 2, 3)}),
         "Groups, dilations, strides, pads.", ATTRIBUTES),
        (small(CONV + norm(more=no_names), "y"), "Its further outputs have no names.",
         "a second output with a name"),
        (small(PAIR, "y", low=1e-3, opset=11), "Opset 11 has batch norms, too.", EACH),
        # Biases that are no third name, or no initializer.
        (held(small(bias + norm(), "y"), "b"), "The bias is an Identity of an Identity of a "
         "Constant.", HELD),
        (small(one, "y"), "Bias, scale, shift and mean are one initializer.", KEEP),
        (held(small(f"y_mean = Identity(y_shift) {PAIR}", "y"), "w"), "The mean is an Identity of "
         "the shift, and a Constant holds the weight.", HELD),
    ]  # fmt: skip


def _with_other_readers() -> list[Case]:
    """Who reads the norm's value, and what else the graph hands in and out."""
    sums = "".join(f"and_{v} = Add({y}, {v})\n" for y, v in zip(
        ("y", *map("and_{}".format, OTHERS)), OTHERS, strict=False))  # fmt: skip
    parts = ("r = Add(y, only_then)", "r = Add(y, only_else)")
    return [
        (small(PAIR + "z = Add(y, y)", "y", "z"), "Two read y, and it is an output.", ENDS),
        (small(PAIR + "z = Add(y, w)", "z"), "Another node reads the old weight.", KEEP),
        (small(PAIR + sums, "and_y_var", x=(1, 4, 4)), "Other nodes read the four vectors.", KEEP),
        (small(PAIR + choice("r = Add(y, w)"), "z"), "The branches of the If read the old weight.",
         KEEP),
        (small(PAIR + "r = Relu(y) z = Relu(r)", "z"), "Two Relu behind it stay, and do not "
         "matter.", EACH),
        (small(PAIR + choice("r = Add(y, only_inside)"), "z"),
         "The branches of the If read y and an initializer.", KEEP),
        (_weight_as_an_output(), "The weight is an output, and nothing reads an input.", ENDS),
        # Initializers that only a graph inside a node reads.
        (small(PAIR + choice(*parts), "z"), "Each branch of the If reads an initializer of its "
         "own.", KEEP),
        (small(PAIR + choice(choice(*parts, z="s")), "z"),
         "A branch of a branch reads an initializer.", KEEP),
        (small(PAIR + loop("Add(only_then, only_else)"), "z"),
         "The body of the Loop reads two initializers.", KEEP),
        (two_pairs("Add(y1, y2)"), "Each norm stands behind the other's Conv.", EACH),
    ]  # fmt: skip


def _weight_as_an_output() -> onnx.ModelProto:
    model = small(PAIR, "y", idle=["spare"], inputs=["spare"])
    model.graph.output.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 4, 1]))
    return model


def two_pairs(end: str) -> onnx.ModelProto:
    """Two Conv, then their norms."""
    convs = "c1 = Conv(x, w1) c2 = Conv(x, w2)\n"
    return small(f"{convs}{norm('c1', 'y1')}{norm('c2', 'y2')}z = {end}", "z")


# What else the file of `taken` names.
NAMES = {
    "an initializer": "offset",
    "an initializer that nothing reads, before all others": "idle",
    "an initializer that nothing reads, behind all others": "rest",
    "a value": "sum",
    "a value that nothing reads, before all others": "nobody",
    "a value that nothing reads, behind all others": "either",
    "an input that nothing reads": "spare",
    "a value in one branch": "r",
    "a value in the other branch": "t",
    "a value in a branch of a branch": "s",
}


def taken(names: Mapping[str, str]) -> onnx.ModelProto:
    """One pair beside all that `NAMES` lists; some of those have other names."""
    inner = [choice("s = Relu(sum)", z=name) for name in ("r", "t")]
    nodes = f"nobody = Neg(x) {PAIR} sum = Add(y, offset) {choice(*inner)} either = Neg(x)"
    model = small(nodes, "z", idle=["rest", "idle"])
    model.graph.initializer.append(model.graph.initializer.pop(0))
    model.graph.input.insert(0, helper.make_tensor_value_info("spare", TensorProto.FLOAT, [4]))
    _rename(model.graph, names)
    return model


def _rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    for value in (*graph.input, *graph.initializer, *graph.output):
        value.name = names.get(value.name, value.name)
    for node in graph.node:
        for part in (node.input, node.output):
            part[:] = [names.get(name, name) for name in part]
        for inner in [a.g for a in node.attribute if a.HasField("g")]:
            _rename(inner, names)
