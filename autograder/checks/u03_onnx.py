"""Checks of unit 3 for the surgery on ONNX files. onnxruntime says what a model computes.

Models here are small: `block` makes a convolution with a batch norm, `models` draws some of them.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from autograder.framework import Wrong, checks
from autograder.properties import close

FOLD = "frontend.onnx_surgery.fold_batch_norms"

FOLD_ALL = "Fold each BatchNormalization of an ONNX model into the Conv before it"
FOLD_UNUSED = "Initializers that nobody reads any more are removed"

# ── models ──


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


# ── checks ──


@checks(FOLD)
def onnx_fold_folds_one(fold_batch_norms):
    """Conv, BatchNormalization, Relu: two nodes are left."""
    for model in (block(), block(bias=True), block(epsilon=0.25), block(relu=False)):
        _folds(model, fold_batch_norms)
    return "with and without bias and epsilon"


@checks(FOLD, given=models(), examples=25, what="random models")
def onnx_fold_folds_all(fold_batch_norms, model):
    """1-D to 3-D, grouped and depthwise, with weights that others share."""
    _folds(model, fold_batch_norms)


@checks(FOLD)
def onnx_fold_leaves_what_it_must(fold_batch_norms):
    """Other readers, training mode, weights that are no constants, transposed convolutions."""
    cases = _left_alone()
    for before, problem, spec in cases:
        after = _same(before, fold_batch_norms(before), spec)
        if _ops(after) != _ops(before):
            raise _wrong(f"{problem} So nothing can be folded here.", before, after, spec)
    return f"{len(cases)} models with nothing to fold"


@checks(FOLD, spec="and an Identity of either")
def onnx_fold_knows_constants(fold_batch_norms):
    """As exporters write them: a mean that is an Identity of the shift, a weight in a Constant."""
    made = Maker((1, 4, 5))
    made.node("Identity", [made.weight("shift", 4)], "mean")
    w = numpy_helper.from_array(made.rng.uniform(-1, 1, (4, 4, 1)).astype(np.float32))
    made.nodes.append(helper.make_node("Constant", [], ["w"], "w", value=w))
    made.node("Conv", ["x", "w"], "c")
    vectors = [made.weight("scale", 4), "shift", "mean", made.weight("var", 4, low=0.1, high=2.0)]
    made.node("BatchNormalization", ["c", *vectors], "y")
    _folds(
        made.model("y"), fold_batch_norms, "what a node Constant holds, and an Identity of either"
    )
    return "constants as exporters write them"


@checks(FOLD, spec="with names that nothing else has")
def onnx_fold_finds_free_names(fold_batch_norms):
    """Whatever the new initializers are called, the next file has values of those names."""

    def named(first: str, second: str) -> onnx.ModelProto:
        made = Maker((1, 4, 5))
        made.node("Conv", ["x", made.weight("w", 4, 4, 1)], "c")
        end = made.node("Add", [made.norm("c", 4, "y"), made.weight(first, 4, 1)], second)
        return made.model(made.node("Relu", [end], "z"))

    before = named("offset", "sum")
    old = {t.name for t in before.graph.initializer}
    new = [t.name for t in _folds(before, fold_batch_norms).graph.initializer if t.name not in old]
    if len(new) == 2:
        for names in (new, new[::-1]):
            _folds(named(*names), fold_batch_norms)
    return "names that are taken"


@checks(FOLD, spec=FOLD_UNUSED)
def onnx_fold_cleans_up(fold_batch_norms):
    """The four vectors go; an initializer that another node reads stays."""
    made = Maker((1, 4, 5))
    made.node("Conv", ["x", made.weight("w", 4, 4, 1)], "c")
    y = made.norm("c", 4, "y")
    before = made.model(made.node("Add", [y, "w"], "z"))
    after = _folds(before, fold_batch_norms)
    used = {name for node in after.graph.node for name in node.input}
    left = [t.name for t in after.graph.initializer if t.name not in used]
    if left:
        raise _wrong(f"Nobody reads {left[0]!r} any more.", before, after, FOLD_UNUSED)
    return "initializers"


def _folds(before: onnx.ModelProto, fold: Any, spec: str = FOLD_ALL) -> onnx.ModelProto:
    """All batch norms are gone, and nothing else is."""
    after = _same(before, fold(before), "w2[oc] = w[oc] * factor[oc]")
    wanted, left = _ops(before), _ops(after)
    for ops in (wanted, left):
        for gone in ("Constant", "Identity"):  # they may stay or go
            del ops[gone]
    del wanted["BatchNormalization"]
    if left != wanted:
        raise _wrong(
            f"Every batch norm here can be folded, so that these nodes are left: "
            f"{_counted(wanted)}.",
            before,
            after,
            spec,
        )
    return after


def _same(before: onnx.ModelProto, result: Any, spec: str) -> onnx.ModelProto:
    """A well-formed model with the same inputs and outputs, that computes the same."""
    after = _well_formed(before, result)
    for mine, ours, info in zip(
        _run(after, before), _run(before, before), before.graph.output, strict=True
    ):
        if isinstance(mine, str):
            raise _wrong(f"onnxruntime runs the result: {mine}", before, after, spec)
        if not close(mine, ours, 1e-4):
            at = tuple(int(i) for i in np.argwhere(~np.isclose(mine, ours, 1e-4, 1e-4))[0])
            raise _wrong(
                f"The result computes what the model computes. {info.name}{list(at)} is "
                f"{mine[at]:.6g} instead of {ours[at]:.6g}.",
                before,
                after,
                spec,
            )
    return after


def _well_formed(before: onnx.ModelProto, result: Any) -> onnx.ModelProto:
    """Checked before anything runs: what comes back may be anything."""
    if not isinstance(result, onnx.ModelProto):
        raise Wrong("The function returns an onnx.ModelProto.", got=repr(result)[:200])
    if more := [f"{count} {op}" for op, count in (_ops(result) - _ops(before)).items()]:
        raise _wrong(f"Folding adds no node; here are {more[0]} more.", before, result)
    known = {_attribute(node.op_type, a) for node in before.graph.node for a in node.attribute}
    for node in result.graph.node:
        if any(_attribute(node.op_type, a) not in known for a in node.attribute):
            raise _wrong(f"An attribute of {node.name!r} changed.", before, result, "stay")
    size = sum(t.ByteSize() for t in before.graph.initializer)
    if sum(t.ByteSize() for t in result.graph.initializer) > 2 * size + 4096:
        raise _wrong("The initializers have grown to more than twice their size.", before, result)
    spec = "The inputs and outputs of the graph keep their names"
    for part in ("input", "output"):
        mine, ours = ([i.name for i in getattr(m.graph, part)] for m in (result, before))
        if mine != ours:
            raise _wrong(f"The {part}s are {ours}, not {mine}.", before, result, spec)
    try:
        onnx.checker.check_model(result)
    except Exception as error:  # its own exceptions have no base class but this
        words = str(error).splitlines()[0][:200]
        raise _wrong(
            f"onnx.checker says: {words}", before, result, "`onnx.checker.check_model` accepts"
        ) from None
    return result


def _attribute(op: str, attribute: onnx.AttributeProto) -> tuple[str, bytes]:
    return op, attribute.SerializeToString(deterministic=True)


def _run(model: onnx.ModelProto, like: onnx.ModelProto) -> list[Any]:
    """Its outputs on random inputs of the sizes that `like` has."""
    sizes = [
        (i.name, tuple(d.dim_value for d in i.type.tensor_type.shape.dim)) for i in like.graph.input
    ]
    return _outputs(model.SerializeToString(deterministic=True), tuple(sizes))


@functools.lru_cache(maxsize=64)
def _outputs(model: bytes, sizes: tuple[tuple[str, tuple[int, ...]], ...]) -> list[Any]:
    """What onnxruntime computes, its own optimizations off; an error as text."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    rng = np.random.default_rng(1)
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in sizes}
        return session.run(None, arrays)
    except Exception as error:  # its own exceptions have no base class but this
        return [str(error)[:200]] * len(onnx.load_from_string(model).graph.output)


def _ops(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def _counted(ops: Counter[str]) -> str:
    return ", ".join(f"{count} {op}" for op, count in ops.items() if count)


def _wrong(problem: str, before: onnx.ModelProto, after: onnx.ModelProto, spec: str = "") -> Wrong:
    return Wrong(problem, program=text(before), got=text(after), spec=spec)


def text(model: onnx.ModelProto) -> str:
    """A model in a few lines: inputs, initializers, nodes, outputs."""
    graph = model.graph
    lines = [f"input {i.name}" for i in graph.input]
    lines += [f"initializer {t.name}: {list(t.dims)}" for t in graph.initializer]
    for n in graph.node:
        attrs = ", ".join(f"{a.name}={_short(helper.get_attribute_value(a))}" for a in n.attribute)
        lines.append(f"{', '.join(n.output)} = {n.op_type}({', '.join(n.input)}) {attrs}".rstrip())
    return "\n".join([*lines, *(f"output {o.name}" for o in graph.output)])


def _short(value: Any) -> str:
    inner = isinstance(value, (onnx.GraphProto, onnx.TensorProto))
    return "{...}" if inner else f"{value}"[:40]


# ── what must be left alone ──


@functools.cache
def _left_alone() -> list[tuple[onnx.ModelProto, str, str]]:
    """(model, why nothing may be folded, words of the specification)"""
    reader = "if somebody else reads c, or if c is an output of the graph"
    training = "if it is in training mode"
    constant = "if w, b or one of the four vectors is no constant"
    second, returned, inside, computed = (Maker((1, 4, 5)) for _ in range(4))
    for made in (second, returned, inside):
        made.node("Conv", ["x", made.weight("w", 4, 4, 1)], "c")
        made.norm("c", 4, "y")
    second.node("Relu", ["c"], "z")
    inside.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    result = helper.make_tensor_value_info("r", TensorProto.FLOAT, ["d0", "d1", "d2"])
    relu = helper.make_node("Relu", ["c"], ["r"])
    branch = helper.make_graph([relu], "branch", [], [result])
    inside.node("If", ["yes"], "z", then_branch=branch, else_branch=branch)
    computed.node("Relu", [computed.weight("raw", 4, 4, 1)], "w")
    computed.node("Conv", ["x", "w"], "c")
    computed.norm("c", 4, "y")
    transposed = Maker((1, 4, 5))
    transposed.node("ConvTranspose", ["x", transposed.weight("w", 4, 4, 1)], "c")
    transposed.norm("c", 4, "y")
    replaceable = Maker((1, 4, 5))
    replaceable.node("Conv", ["x", replaceable.weight("w", 4, 4, 1)], "c")
    replaceable.norm("c", 4, "y")
    between = Maker((1, 4, 5))
    between.node("Conv", ["x", between.weight("w", 4, 4, 1)], "c")
    between.norm(between.node("Relu", ["c"], "r"), 4, "y")
    trained = Maker((1, 4, 5))
    trained.node("Conv", ["x", trained.weight("w", 4, 4, 1)], "c")
    trained.norm("c", 4, "y", "new_mean", "new_var", training_mode=1)
    older = Maker((1, 4, 5))
    older.node("Conv", ["x", older.weight("w", 4, 4, 1)], "c")
    older.norm("c", 4, "y", "new_mean", "new_var", "saved_mean", "saved_var")
    opset_13 = older.model("y")
    opset_13.opset_import[0].version = 13
    return [
        (second.model("y", "z"), "The Relu reads c, too.", reader),
        (returned.model("y", "c"), "c is an output.", reader),
        (inside.model("y", "z"), "The graphs inside the If read c.", reader),
        (trained.model("y"), "The batch norm is in training mode.", training),
        (opset_13, "Until opset 13, more outputs than one mean training mode.",
         "a second output with a name"),
        (computed.model("y"), "The weight is computed.", constant),
        (replaceable.model("y", inputs=["w"]), "A caller may replace w.", "also an input"),
        (replaceable.model("y", inputs=["y_mean"]), "A caller may replace the mean.",
         "also an input"),
        (transposed.model("y"), "The weight of a ConvTranspose begins with its input channels.",
         "A ConvTranspose keeps its batch norm"),
        (between.model("y"), "There is a Relu between.", "into the Conv before it"),
    ]  # fmt: skip
