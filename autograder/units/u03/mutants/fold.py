"""Mutants and alternatives of unit 3: batch norms folded, in our graphs and in ONNX files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autograder.check.framework import alternative, mutant
from autograder.units.u03.checks.onnx import FOLD
from course_lib.frontend.onnx.surgery import attribute, constants_of, count_uses, sweep
from course_lib.ir.graph.node import apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.bn_fold import convolution_before
from course_lib.passes.clean.dce import dce

# ── passes.bn_fold ──


def _bn_fold(graph, *, users=True, bias=True, eps=True, order="right", axis=0, origin=origins,
             attrs=None, ones=None, fresh=True):  # fmt: skip
    readers, outputs = graph.users(), set(graph.outputs)

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        old, new = convolution_before(node), convolution_before(made)
        if old is None or new is None:
            return made
        if users and any(len(readers[n]) > 1 or n in outputs for n in old.nodes):
            return made
        x, w = new.conv.inputs if fresh else old.conv.inputs
        scale, shift, mean, variance = (v.value for v in made.inputs[1:])
        factor = scale / np.sqrt(variance + (made.attrs["eps"] if eps else 0.0))
        sizes = [1] * w.type.rank
        sizes[axis] = -1
        if axis and w.type.dims[1] != len(factor):
            return made
        b = new.bias if bias else 0.0
        b = (b - mean) * factor + shift if order == "right" else b * factor - mean + shift
        come = origin(*new.nodes, made)
        weight = replace(const(w.value * factor.reshape(sizes), w.type.dtype), origin=come)
        offset = const(b.reshape(1, -1, *[1] * (ones or w.type.rank - 2)), w.type.dtype)
        kept = {k: v for k, v in new.conv.attrs.items() if attrs is None or k in attrs}
        conv = apply("conv", x, weight, origin=come, **kept)
        return apply("add", conv, replace(offset, origin=come), origin=come)

    return graph.rebuild(visit)


@mutant("passes.bn_fold")
def whoever_else_reads_it(graph):
    return _bn_fold(graph, users=False)


@mutant("passes.bn_fold")
def forgets_the_bias(graph):
    return _bn_fold(graph, bias=False)


@mutant("passes.bn_fold")
def forgets_epsilon(graph):
    return _bn_fold(graph, eps=False)


@mutant("passes.bn_fold")
def mean_after_the_factor(graph):
    return _bn_fold(graph, order="mean last")


@mutant("passes.bn_fold")
def scales_the_input_channels(graph):
    return _bn_fold(graph, axis=1)


@mutant("passes.bn_fold")
def forgets_strides_and_pads(graph):
    return _bn_fold(graph, attrs=("groups",))


@mutant("passes.bn_fold")
def forgets_origins(graph):
    return _bn_fold(graph, origin=lambda *nodes: ())


@mutant("passes.bn_fold")
def only_images(graph):
    """A bias of two axes behind the channel, whatever the convolution has."""
    return _bn_fold(graph, ones=2)


@mutant("passes.bn_fold")
def reads_the_old_graph(graph):
    return _bn_fold(graph, fresh=False)


@mutant("passes.bn_fold")
def does_nothing(graph):
    return graph


@mutant("passes.bn_fold")
def always_f32(graph):
    """Believes that every model is one of f32."""
    floats = [n for n in graph.nodes if n.op == "batch_norm" and n.type.dtype.name != "f32"]
    return graph if floats else _bn_fold(graph)


@mutant("passes.bn_fold")
def only_where_the_norm_has_one_reader(graph):
    """Mixes up whose readers matter: those of the convolution, not those of the norm."""
    users = graph.users()
    many = any(len(users[n]) > 1 for n in graph.nodes if n.op == "batch_norm")
    return graph if many else _bn_fold(graph)


@alternative("passes.bn_fold")
def bias_on_the_left(graph):
    """b' + conv, under names of its own."""
    folded = _bn_fold(graph)
    made = {n for n in folded.ops if n.op == "add" and n not in graph.nodes}

    def turned(node, inputs):
        return node.with_inputs(inputs[::-1]) if node in made else None

    return folded.rebuild(turned)


@alternative("passes.bn_fold")
def then_dce(graph):
    """What nobody reads may go at once."""
    return dce(_bn_fold(graph))


@alternative("passes.bn_fold")
def in_f32(graph):
    """Rounds in between, as most compilers do."""
    return _bn_fold(graph)


# ── frontend.onnx_surgery.fold_batch_norms ──


def _fold(model, *, single=True, inference=True, strict=True, names="fresh", tidy=True,
          epsilon=True, bias=True, ops=("Conv",), shared=True, second=True, prefix="",
          known=constants_of, kind=None):  # fmt: skip
    new = onnx.ModelProto()
    new.CopyFrom(model)
    graph = new.graph
    arrays = known(graph) if strict else {t.name: t for t in graph.initializer}
    prefix = prefix or _unused(graph)
    uses = count_uses(graph)
    makers = {name: node for node in graph.node for name in node.output}
    for norm in [n for n in graph.node if n.op_type == "BatchNormalization"]:
        conv = makers.get(norm.input[0])
        if conv is None or conv.op_type not in ops or (single and uses[norm.input[0]] > 1):
            continue
        if inference and attribute(norm, "training_mode", 0):
            continue
        if inference and second and any(norm.output[1:]):
            continue
        if any(name not in arrays for name in (*conv.input[1:], *norm.input[1:])):
            continue
        where = norm.name if names == "fresh" else conv.input[1]
        for key, array in _numbers(conv, norm, arrays, epsilon, bias, kind).items():
            tensor = numpy_helper.from_array(array, f"{prefix}{where} {key}")
            if shared:
                graph.initializer.append(tensor)
            elif key == "w":  # in place of the old one
                tensor.name = conv.input[1]
                arrays[tensor.name].CopyFrom(tensor)
            else:
                graph.initializer.append(tensor)
        new_w = f"{prefix}{where} w" if shared else conv.input[1]
        conv.input[1:] = [new_w, f"{prefix}{where} b"]
        conv.output[0] = norm.output[0]
        graph.node.remove(norm)
    if tidy:
        sweep(graph)
    return new


def _numbers(conv, norm, arrays, epsilon, bias, kind):
    """The weight and the bias of the two together."""
    w, *b = [numpy_helper.to_array(arrays[name]) for name in conv.input[1:]]
    scale, shift, mean, var = [numpy_helper.to_array(arrays[n]) for n in norm.input[1:]]
    factor = scale / np.sqrt(var + (attribute(norm, "epsilon", 1e-5) if epsilon else 1e-5))
    old = b[0] if b and bias else np.zeros_like(mean)
    made = {
        "w": w * factor.reshape(-1, *[1] * (w.ndim - 1)),
        "b": (old - mean) * factor + shift,
    }
    return {key: array.astype(kind or w.dtype) for key, array in made.items()}


def _unused(graph):
    """Something that no name in the graph, or in a graph inside a node, begins with."""
    names = [info.name for info in graph.input]
    for node in graph.node:
        names += [*node.input, *node.output]
        names += [_unused(a.g) for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return "f" * (1 + max(map(len, names)))


@mutant(FOLD)
def names_that_may_be_taken(model):
    return _fold(model, prefix="folded ")


@mutant(FOLD)
def training_without_the_attribute(model):
    return _fold(model, second=False)


@mutant(FOLD)
def initializers_only(model):
    """A weight in a Constant is no constant."""
    return _fold(model, known=lambda graph: {t.name: t for t in graph.initializer
                 if t.name not in [i.name for i in graph.input]})  # fmt: skip


@mutant(FOLD)
def whoever_else_reads_the_file(model):
    return _fold(model, single=False)


@mutant(FOLD)
def in_training_too(model):
    return _fold(model, inference=False)


@mutant(FOLD)
def replaceable_weights_too(model):
    return _fold(model, strict=False)


@mutant(FOLD)
def one_name_for_two(model):
    return _fold(model, names="by weight")


@mutant(FOLD)
def leaves_rubbish(model):
    return _fold(model, tidy=False)


@mutant(FOLD)
def always_the_default_epsilon(model):
    return _fold(model, epsilon=False)


@mutant(FOLD)
def forgets_the_old_bias(model):
    return _fold(model, bias=False)


@mutant(FOLD)
def overwrites_the_weight(model):
    return _fold(model, shared=False)


@mutant(FOLD)
def transposed_convolutions_too(model):
    return _fold(model, ops=("Conv", "ConvTranspose"))


@mutant(FOLD)
def the_same_model(model):
    return model


@mutant(FOLD)
def in_the_model_itself(model):
    """Folds, but in the caller's model."""
    model.CopyFrom(_fold(model))
    return model


@mutant(FOLD)
def always_single_precision(model):
    return _fold(model, kind=np.float32)


@mutant(FOLD)
def names_of_no_initializer(model):
    """Free among the initializers, inputs and outputs; nodes have names for values, too."""
    graph = model.graph
    declared = (*graph.initializer, *graph.input, *graph.output, *graph.value_info)
    prefix = "folded "
    while any(value.name.startswith(prefix) for value in declared):
        prefix += "again "
    return _fold(model, prefix=prefix)


@alternative(FOLD)
def in_single_precision(model):
    return _fold(model)


@alternative(FOLD)
def by_rebuilding_the_graph(model):
    """New nodes in a new graph, instead of changing old ones."""
    folded = _fold(model)
    nodes = []
    for node in folded.graph.node:
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        nodes.append(helper.make_node(node.op_type, node.input, node.output, node.name, **attrs))
    graph = helper.make_graph(
        nodes, "rebuilt", folded.graph.input, folded.graph.output, folded.graph.initializer
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
