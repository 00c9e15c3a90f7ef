"""Mutants and alternatives of unit 3: batch norms folded in ONNX files."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autograder.check.framework import alternative, mutant
from autograder.units.u03.checks.onnx import FOLD
from autograder.units.u03.mutants.readers import without_else, without_loops
from course_lib.frontend.onnx.surgery import attribute, constants_of, count_uses, sweep


def _fold(model, *, single=True, inference=True, strict=True, names="fresh", tidy=True,
          epsilon=True, bias=True, ops=("Conv",), shared=True, second=True, prefix="",
          known=constants_of, kind=None, own=True, counted=count_uses):  # fmt: skip
    new = onnx.ModelProto()
    new.CopyFrom(model)
    graph = new.graph
    arrays = known(graph) if strict else {t.name: t for t in graph.initializer}
    prefix = prefix or _unused(graph)
    uses = counted(graph)
    makers = {name: node for node in graph.node for name in node.output}
    for norm in [n for n in graph.node if n.op_type == "BatchNormalization"]:
        conv = makers.get(norm.input[0])
        if conv is None or conv.op_type not in ops or (single and uses[norm.input[0]] > 1):
            continue
        if own and (conv.domain or norm.domain):
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
    names = [known.name for known in (*graph.input, *graph.initializer)]
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
def norms_are_no_readers(model):
    """Counts who else reads c, and forgets that two norms may."""

    def counted(graph):
        uses = count_uses(graph)
        norms = [n.input[0] for n in graph.node if n.op_type == "BatchNormalization"]
        uses.subtract(norms)
        return uses + Counter(set(norms))

    return _fold(model, counted=counted)


@mutant(FOLD)
def if_is_all_it_knows(model):
    """Looks into the branches of an If; a Loop has a body."""
    return _fold(model, counted=without_loops)


@mutant(FOLD)
def forgets_the_else_branch(model):
    """Counts what the branch behind `then` reads."""
    return _fold(model, counted=without_else)


@mutant(FOLD)
def cleans_up_by_the_nodes(model):
    """Removes the initializers that no node and no branch reads; a branch has branches."""
    folded = _fold(model, tidy=False)
    graph = folded.graph
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    nodes = [node for one in (graph, *inner) for node in one.node]
    read = {name for node in nodes for name in node.input}
    read |= {info.name for info in (*graph.output, *graph.input)}
    for tensor in list(graph.initializer):
        if tensor.name not in read:
            graph.initializer.remove(tensor)
    return folded


@mutant(FOLD)
def of_any_domain(model):
    """Looks at the name of an operator only."""
    return _fold(model, own=False)


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


@mutant(FOLD)
def nodes_of_the_old_graph(model):
    """Makes a new model, of nodes that it has changed on the way."""
    folded = _fold(model)
    writers = {norm.output[0]: norm.input[0] for norm in model.graph.node if norm.input[1:]}
    for node in model.graph.node:
        for new in folded.graph.node:
            if (
                node.op_type == new.op_type == "Conv"
                and writers.get(new.output[0]) == node.output[0]
            ):
                node.CopyFrom(new)
    return folded


@mutant(FOLD)
def types_of_the_vectors(model):
    """The bias is made of the norm's vectors, so it has their type."""
    arrays = constants_of(model.graph)
    norms = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    shifts = [arrays[norm.input[2]] for norm in norms if norm.input[2] in arrays]
    return _fold(model, kind=numpy_helper.to_array(shifts[0]).dtype if shifts else None)


@alternative(FOLD)
def with_a_list_of_pairs(model):
    """Finds the pairs first, then writes a new list of nodes; the Conv where the norm was."""
    result = onnx.ModelProto.FromString(model.SerializeToString())
    graph, known, uses = result.graph, constants_of(result.graph), count_uses(result.graph)
    convs = [node for node in graph.node if node.op_type == "Conv" and not node.domain]
    by_output = {node.output[0]: node for node in convs}
    pairs = {}
    for node in graph.node:
        norm = node.op_type == "BatchNormalization" and not node.domain
        conv = by_output.get(node.input[0]) if norm else None
        if conv is None or uses[node.input[0]] != 1 or [o for o in node.output[1:] if o]:
            continue
        numbers = [name for name in [*conv.input[1:], *node.input[1:]] if name]
        if attribute(node, "training_mode", 0) == 0 and set(numbers) <= known.keys():
            pairs[node.output[0]] = conv, node
    inner = {conv.output[0] for conv, _ in pairs.values()}
    prefix, nodes = _unused(graph), []
    for node in graph.node:
        if node.output[0] in pairs:
            nodes.append(_joined(*pairs[node.output[0]], known, prefix, graph.initializer))
        elif node.output[0] not in inner:
            nodes.append(node)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    sweep(graph)
    return result


def _joined(conv, norm, known, prefix, initializers):
    """A Conv that computes what the two compute; its numbers are new initializers."""
    arrays = {name: known[name] for name in [*conv.input[1:], *norm.input[1:]] if name}
    made = onnx.NodeProto()
    made.CopyFrom(conv)
    bare = onnx.NodeProto()
    bare.CopyFrom(conv)
    bare.input[1:] = [name for name in conv.input[1:] if name]
    names = []
    for key, array in _numbers(bare, norm, arrays, True, True, None).items():
        names.append(f"{prefix}{norm.output[0]} {key}")
        initializers.append(numpy_helper.from_array(array, names[-1]))
    made.input[1:], made.output[0] = names, norm.output[0]
    return made


@alternative(FOLD)
def by_rebuilding_the_graph(model):
    """New nodes in a new graph, instead of changing old ones."""
    folded = _fold(model)
    nodes = []
    for node in folded.graph.node:
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        nodes.append(helper.make_node(node.op_type, node.input, node.output, node.name,
                                      domain=node.domain, **attrs))  # fmt: skip
    graph = helper.make_graph(
        nodes, "rebuilt", folded.graph.input, folded.graph.output, folded.graph.initializer
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
