"""Surgery on an ONNX file: batch norms into convolutions, ReLUs into the convolutions' kernels.

    %c = Conv(%x, %w)                                   %y = Conv(%x, %w2, %b2)
    %y = BatchNormalization(%c, ...)   fold_batch_norms ==>   %z = Relu(%y)
    %z = Relu(%y)                      fuse_relu        ==>   %z = FusedConv(%x, %w2, %b2)

The same two steps as `passes/clean/bn_fold.py` and `passes/fusion/fuse.py`, on the file format
instead of our graph: values are names, nodes are a list, and to rename a value is to think
of all its readers. Both functions return a new model. Next room:
`peers/onnxruntime.py`, which runs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import onnx
from onnx import helper, numpy_helper

from course_lib.exercises import exercise

FUSED_DOMAIN = "com.microsoft"  # where onnxruntime keeps the ops that its own optimizer makes
FOLDABLE = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)


@exercise("frontend.onnx_surgery.fold_batch_norms", unit=3, points=4, further=True)
def fold_batch_norms(model: onnx.ModelProto) -> onnx.ModelProto:
    """Fold each BatchNormalization of an ONNX model into the Conv before it. Returns a new model.

        c = Conv(x, w, b)                             y = Conv(x, w2, b2)
        y = BatchNormalization(c, scale, B, mean, var)    ==>
            w2[oc] = w[oc] * factor[oc]               factor = scale / sqrt(var + epsilon)
            b2[oc] = (b[oc] - mean[oc]) * factor[oc] + B[oc]

    The Conv may have no bias (then b is 0), may be grouped or depthwise (axis 0 of w is the output
    channel in any case), and may work on 1-D, 2-D or 3-D images. Its attributes stay. `epsilon` is
    an attribute of the batch norm; without it, it is 1e-5.

    A batch norm stays, and its Conv with it,
    - if anything else reads c, or if c is an output of the graph;
    - if one of the two has a `domain` that is not empty, as in operators of other libraries;
    - if it is in training mode: attribute `training_mode` 1, or a second output with a name;
    - if w, b or one of the four vectors is not a constant. `constants_of(graph)` finds them:
      an initializer that is not also an input of the graph (a caller may replace those), what a
      node Constant holds, and an Identity of either.
    A ConvTranspose keeps its batch norm, too: axis 0 of its weight is the *input* channel. Of two
    batch norms in a row the first folds; whether the second follows is up to you.

    The input model is not changed. Initializers that others read keep their values: the new weight
    and bias are new initializers, of the weight's element type, with names that nothing else has,
    not even in the branches of an If: `names_in(graph)` gives all names in use.
    Initializers that nothing reads any more are removed. The inputs and outputs of the graph keep
    their names, and `onnx.checker.check_model` accepts the result. What stands in a graph inside
    a node (the branches of an If) stays as it is.
    """
    model = _copy(model)
    graph = model.graph
    constants, uses = constants_of(graph), count_uses(graph)
    writer = {name: node for node in graph.node for name in node.output}
    taken = names_in(graph)
    for norm in [n for n in graph.node if n.op_type == "BatchNormalization"]:
        conv = writer.get(norm.input[0])
        if conv is None or not _foldable(norm, conv, constants, uses):
            continue
        weight, bias = _folded(norm, conv, constants)
        for tensor, what in ((weight, "weight"), (bias, "bias")):
            tensor.name = _fresh(f"{norm.output[0]}_{what}", taken)
            graph.initializer.append(tensor)
            constants[tensor.name] = tensor
        conv.input[:] = [conv.input[0], weight.name, bias.name]
        conv.output[0] = norm.output[0]
        writer[norm.output[0]] = conv  # for a second batch norm in a row
        graph.node.remove(norm)
    sweep(graph)
    return model


def _foldable(norm, conv, constants: dict[str, onnx.TensorProto], uses: Counter[str]) -> bool:
    """Is this batch norm in inference mode, all in constants, and the convolution's only reader?"""
    if conv.op_type != "Conv" or conv.domain or norm.domain:
        return False
    if attribute(norm, "training_mode", 0) or any(norm.output[1:]):
        return False
    parameters = [name for name in (*conv.input[1:], *norm.input[1:]) if name]
    if not all(name in constants for name in parameters):
        return False
    if any(constants[name].data_type not in FOLDABLE for name in parameters):
        return False
    return uses[conv.output[0]] == 1


def _folded(norm, conv, constants) -> tuple[onnx.TensorProto, onnx.TensorProto]:
    """The new weight and bias, computed in float64 and rounded once."""
    kind = numpy_helper.to_array(constants[conv.input[1]]).dtype

    def wide(name: str) -> np.ndarray:
        return numpy_helper.to_array(constants[name]).astype(np.float64)

    weight = wide(conv.input[1])
    scale, shift, mean, variance = (wide(name) for name in norm.input[1:5])
    bias = wide(conv.input[2]) if len(conv.input) > 2 and conv.input[2] else 0.0
    factor = scale / np.sqrt(variance + attribute(norm, "epsilon", 1e-5))
    weight = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    bias = (bias - mean) * factor + shift
    return numpy_helper.from_array(weight.astype(kind)), numpy_helper.from_array(bias.astype(kind))


@exercise("frontend.onnx_surgery.fuse_relu", unit=3, points=3)
def fuse_relu(model: onnx.ModelProto) -> onnx.ModelProto:
    """Make one node of each Conv and the Relu that reads it. Returns a new model.

        c = Conv(x, w, b)
        y = Relu(c)          ==>    y = FusedConv(x, w, b) {activation = "Relu"}

    FusedConv is one of onnxruntime's own operators, in the domain "com.microsoft". It keeps the
    Conv's operands and attributes, and gets one more attribute. If at least one pair was fused, the
    model's `opset_import` names its domain, once, in version 1. If none was, nothing changes.

    A pair stays as it is
    - if anything else reads c: another node, a graph inside a node, or the caller, because c is an
      output of the graph;
    - if `element_types(model)` does not say that w holds 32-bit floats (`onnx.TensorProto.FLOAT`):
      onnxruntime's FusedConv for processors supports only those;
    - if one of the two has a `domain` that is not empty, as in operators of other libraries.

    The model that was given is not changed. The inputs and outputs of the graph keep their names,
    and `onnx.checker.check_model` accepts the result. What stands in a graph inside a node (the
    branches of an If) stays as it is.
    """
    model = _copy(model)
    graph = model.graph
    uses, types = count_uses(graph), element_types(model)
    writer = {name: node for node in graph.node for name in node.output}
    for relu in [n for n in graph.node if n.op_type == "Relu"]:
        conv = writer.get(relu.input[0])
        if conv is None or conv.op_type != "Conv" or uses[conv.output[0]] != 1:
            continue
        if conv.domain or relu.domain or types.get(conv.input[1]) != onnx.TensorProto.FLOAT:
            continue
        conv.op_type, conv.domain = "FusedConv", FUSED_DOMAIN
        conv.attribute.append(helper.make_attribute("activation", "Relu"))
        conv.output[0] = relu.output[0]
        graph.node.remove(relu)
        if FUSED_DOMAIN not in [known.domain for known in model.opset_import]:
            model.opset_import.append(helper.make_opsetid(FUSED_DOMAIN, 1))
    return model


# ── what a surgeon has to know about a graph ──


def count_uses(graph: onnx.GraphProto) -> Counter[str]:
    """How often each value is read: by nodes, by graphs inside nodes, and as an output."""
    uses = Counter(info.name for info in graph.output)
    for node in graph.node:
        uses.update(name for name in node.input if name)
        for inner in _graphs_in(node):
            uses.update(count_uses(inner))
    return uses


def constants_of(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """The values that are known before the model runs, by name.

    Initializers that no caller can replace, what a Constant holds, and an Identity of either: of
    two equal initializers an exporter may write one, and an Identity for the other.
    """
    inputs = {info.name for info in graph.input}
    constants = {t.name: t for t in graph.initializer if t.name not in inputs}
    for node in graph.node:
        held = attribute(node, "value", None) if node.op_type == "Constant" else None
        if held is not None:
            constants[node.output[0]] = held
        elif node.op_type == "Identity" and node.input[0] in constants:
            constants[node.output[0]] = constants[node.input[0]]
    return constants


def element_types(model: onnx.ModelProto) -> dict[str, int]:
    """The element type of each value outside branches that has one declared, in ONNX's numbers."""
    graph = model.graph
    declared = (*graph.input, *graph.value_info, *graph.output)
    types = {info.name: info.type.tensor_type.elem_type for info in declared}
    return types | {t.name: t.data_type for t in graph.initializer}


def attribute(node: onnx.NodeProto, name: str, default):
    """The value of an attribute; `default` if the node does not have it."""
    for entry in node.attribute:
        if entry.name == name:
            return helper.get_attribute_value(entry)
    return default


def sweep(graph: onnx.GraphProto) -> None:
    """Remove, in place, what nothing reads: initializers, and Constant and Identity nodes; then the
    types of values that are gone."""
    uses = count_uses(graph)
    for node in reversed(list(graph.node)):
        if node.op_type in ("Constant", "Identity") and not uses[node.output[0]]:
            uses.subtract(node.input)
            graph.node.remove(node)
    inputs = {info.name for info in graph.input}
    for tensor in list(graph.initializer):
        if not uses[tensor.name] and tensor.name not in inputs:
            graph.initializer.remove(tensor)
    written = {name for node in graph.node for name in node.output} | {
        t.name for t in graph.initializer
    }
    for info in list(graph.value_info):
        if info.name not in written:
            graph.value_info.remove(info)


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    new = onnx.ModelProto()
    new.CopyFrom(model)
    return new


def _graphs_in(node: onnx.NodeProto) -> Iterable[onnx.GraphProto]:
    """The bodies of an If, a Loop or a Scan; they see the values around them."""
    for entry in node.attribute:
        if entry.type == onnx.AttributeProto.GRAPH:
            yield entry.g
        yield from entry.graphs


def names_in(graph: onnx.GraphProto) -> set[str]:
    """The names of all values, declared or not, those in graphs inside nodes included."""
    values = {name for node in graph.node for name in (*node.input, *node.output)}
    for node in graph.node:
        for inner in _graphs_in(node):
            values |= names_in(inner)
    declared = {i.name for i in (*graph.input, *graph.output, *graph.value_info)}
    return values | declared | {t.name for t in graph.initializer}


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
