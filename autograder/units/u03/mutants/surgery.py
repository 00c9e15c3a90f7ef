"""Mutants and alternatives of unit 3: batch norms folded in ONNX files."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, mutants
from autograder.units.u03.checks.onnx import FOLD
from autograder.units.u03.mutants.readers import without_else, without_loops
from course_lib.exercises import slot
from course_lib.frontend.onnx.surgery import attribute, constants_of, count_uses, names_in, sweep

fold = slot(FOLD).reference
NAME = "_fresh(f'{norm.output[0]}_{what}', taken)"
CONSTANTS = "constants_of(graph)"
INITIALIZERS = "{t.name: t for t in graph.initializer}"
DECLARED = "(*graph.initializer, *graph.input, *graph.output, *graph.value_info)"
REPLACEABLE = "[i.name for i in graph.input]"
KIND = "numpy_helper.to_array(constants[conv.input[1]]).dtype"
NEW = "for tensor, what in ((weight, 'weight'), (bias, 'bias')):"
if_counted = edited(fold, "fold_batch_norms(model", "fold_batch_norms(count_uses, model")
if_swept = edited(fold, "fold_batch_norms(model", "fold_batch_norms(sweep, model")


def _norms_are_one_reader(graph):
    """Counts who else reads c, and forgets that two norms may."""
    norms = [n.input[0] for n in graph.node if n.op_type == "BatchNormalization"]
    return count_uses(graph) - Counter(norms) + Counter(set(norms))


def _sweep_by_the_nodes(graph):
    """Removes the initializers that no node and no branch reads; a branch has branches."""
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    read = {name for part in (graph, *inner) for node in part.node for name in node.input}
    read |= {info.name for info in (*graph.output, *graph.input)}
    for tensor in [t for t in graph.initializer if t.name not in read]:
        graph.initializer.remove(tensor)


mutants(
    FOLD,
    names_that_may_be_taken=(NAME, "f'folded {norm.name} {what}'"),
    # Free among the initializers, inputs and outputs; nodes have names for values, too.
    names_of_no_initializer=("names_in(graph)", f"{{value.name for value in {DECLARED}}}"),
    one_name_for_two=(NAME, "f'{conv.input[1]} folded {what}'"),
    training_without_the_attribute=(" or any(norm.output[1:])", ""),
    in_training_too=("attribute(norm, 'training_mode', 0) or any(norm.output[1:])", "False"),
    # A weight in a Constant is no constant.
    initializers_only=(CONSTANTS, f"{INITIALIZERS[:-1]} if t.name not in {REPLACEABLE}}}"),
    replaceable_weights_too=(CONSTANTS, INITIALIZERS),
    whoever_else_reads_the_file=("uses[conv.output[0]] == 1", "True"),
    norms_are_no_readers=partial(if_counted, _norms_are_one_reader),
    # Looks into the branches of an If; a Loop has a body.
    if_is_all_it_knows=partial(if_counted, without_loops),
    # Counts what the branch behind `then` reads.
    forgets_the_else_branch=partial(if_counted, without_else),
    cleans_up_by_the_nodes=partial(if_swept, _sweep_by_the_nodes),
    leaves_rubbish=partial(if_swept, lambda graph: None),
    # Looks at the name of an operator only.
    of_any_domain=(" or conv.domain or norm.domain", ""),
    transposed_convolutions_too=("conv.op_type != 'Conv'", "'Conv' not in conv.op_type"),
    always_the_default_epsilon=("attribute(norm, 'epsilon', 1e-05)", "1e-05"),
    forgets_the_old_bias=("if len(conv.input) > 2 and conv.input[2] else", "if False else"),
    overwrites_the_weight=(NEW, "weight.name = conv.input[1]\n        constants[weight.name]."
                           "CopyFrom(weight)\n        for tensor, what in ((bias, 'bias'),):"),
    the_same_model=lambda model: model,
    # Folds, but in the caller's model.
    in_the_model_itself=("model = _copy(model)", "pass"),
    # Makes a new model, of nodes that it has changed on the way.
    nodes_of_the_old_graph=(
        "model = _copy(model)", "given, model = (model, _copy(model))", "return model",
        "for old, new in [(a, b) for a in given.graph.node for b in graph.node]:\n"
        "        if old.name == new.name:\n            old.CopyFrom(new)\n    return model"),
    always_single_precision=(KIND, "np.float32"),
    # The bias is made of the norm's vectors, so it has their type.
    types_of_the_vectors=(KIND, KIND.replace("conv.input[1]", "norm.input[2]")),
)  # fmt: skip
alternatives(FOLD, in_single_precision=(".astype(np.float64)", ""))


@alternative(FOLD)
def with_a_list_of_pairs(model):
    """Finds the pairs first, then writes a new list of nodes; the Conv where the norm was."""
    result = onnx.ModelProto.FromString(model.SerializeToString())
    graph, known, uses = result.graph, constants_of(result.graph), count_uses(result.graph)
    convs, norms = {}, {}
    for node in [n for n in graph.node if not n.domain]:
        training = attribute(node, "training_mode", 0) or any(node.output[1:])
        if node.op_type == "Conv" and uses[node.output[0]] == 1:
            convs[node.output[0]] = node
        elif node.op_type == "BatchNormalization" and not training:
            norms[node.input[0]] = node
    followed = [(convs[c], norms[c]) for c in convs.keys() & norms.keys()]
    pairs = {norm.output[0]: (conv, norm) for conv, norm in followed
             if {*conv.input[1:], *norm.input[1:]} - {""} <= known.keys()}  # fmt: skip
    inner = {conv.output[0] for conv, _ in pairs.values()}
    prefix, nodes = "f" * (1 + max(map(len, names_in(graph)))), []
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
    joined = onnx.NodeProto.FromString(conv.SerializeToString())
    w, *bias = [numpy_helper.to_array(known[name]) for name in conv.input[1:] if name]
    scale, shift, mean, var = [numpy_helper.to_array(known[name]) for name in norm.input[1:]]
    factor = scale / np.sqrt(var + attribute(norm, "epsilon", 1e-5))
    b = (np.sum(bias, axis=0) - mean) * factor + shift
    w2 = (w.T * factor).T
    del joined.input[1:]
    for key, array in (("w", w2), ("b", b)):
        joined.input.append(f"{prefix}{norm.output[0]} {key}")
        initializers.append(numpy_helper.from_array(array.astype(w.dtype), joined.input[-1]))
    joined.output[0] = norm.output[0]
    return joined


@alternative(FOLD)
def by_rebuilding_the_graph(model):
    """New nodes in a new graph, instead of changing old ones."""
    old = fold(model).graph
    nodes = [
        helper.make_node(n.op_type, n.input, n.output, n.name, domain=n.domain, **{
            a.name: helper.get_attribute_value(a) for a in n.attribute}) for n in old.node
    ]  # fmt: skip
    graph = helper.make_graph(nodes, "rebuilt", old.input, old.output, old.initializer)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
