"""Answers to `fuse_relu`: mistakes that the checks must catch, and other right ones."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

import onnx
from onnx import helper

from autograder.check.framework import alternative, equivalent, mutant
from autograder.units.u03.checks.onnx_relu import DOMAIN, RELU
from autograder.units.u03.mutants.readers import without_else, without_loops
from course_lib.frontend.onnx.surgery import count_uses, element_types


def _fuse(model, counted=count_uses, floats=True, domain=DOMAIN, imports=1, copy=True, extra=(),
          own=True):  # fmt: skip
    model = deepcopy(model) if copy else model
    graph, types = model.graph, element_types(model)
    uses = counted(graph)
    writer = {name: node for node in graph.node for name in node.output}
    for relu in [n for n in graph.node if n.op_type == "Relu"]:
        conv = writer.get(relu.input[0])
        if conv is None or conv.op_type != "Conv" or uses[conv.output[0]] != 1:
            continue
        if floats and types.get(conv.input[1]) != onnx.TensorProto.FLOAT:
            continue
        if own and (conv.domain or relu.domain):
            continue
        conv.op_type, conv.domain = "FusedConv", domain
        for name, value in (("activation", "Relu"), *extra):
            conv.attribute.append(helper.make_attribute(name, value))
        conv.output[0] = relu.output[0]
        graph.node.remove(relu)
        if DOMAIN not in [o.domain for o in model.opset_import] or imports > 1:
            model.opset_import.extend([helper.make_opsetid(DOMAIN, 1)] * min(imports, 1))
    return model


def _nodes_only(graph):
    """Forgets the caller, who reads the outputs."""
    uses = count_uses(graph)
    uses.subtract(info.name for info in graph.output)
    return uses


def _not_inside(graph):
    """Forgets the graphs inside nodes."""
    return onnx_counter(graph, [i.name for i in graph.output])


def onnx_counter(graph, more=()):
    found = dict.fromkeys([name for node in graph.node for name in node.output], 0)
    for name in [*(name for node in graph.node for name in node.input), *more]:
        found[name] = found.get(name, 0) + 1
    return found


@mutant(RELU)
def forgets_other_readers(model):
    class One(dict):
        def __missing__(self, name):
            return 1

    return _fuse(model, counted=lambda graph: One())


@mutant(RELU)
def forgets_the_caller(model):
    return _fuse(model, counted=_nodes_only)


@mutant(RELU)
def forgets_the_branches(model):
    return _fuse(model, counted=_not_inside)


@mutant(RELU)
def of_any_type(model):
    return _fuse(model, floats=False)


@mutant(RELU)
def of_any_domain(model):
    """Looks at the name of an operator only; somebody else may have a Conv, too."""
    return _fuse(model, own=False)


@mutant(RELU)
def in_place(model):
    return _fuse(model, copy=False)


@mutant(RELU)
def in_no_domain(model):
    return _fuse(model, domain="")


@mutant(RELU)
def imports_nothing(model):
    return _fuse(model, imports=0)


@mutant(RELU)
def imports_once_for_each_pair(model):
    return _fuse(model, imports=2)


@mutant(RELU)
def imports_in_any_case(model):
    model = _fuse(model)
    if DOMAIN not in [o.domain for o in model.opset_import]:
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return model


@mutant(RELU)
def more_than_the_text_says(model):
    return _fuse(model, extra=[("alpha", 0.0)])


@mutant(RELU)
def without_the_attributes(model):
    """A new node that has only the activation."""
    fused = _fuse(model)
    for node in fused.graph.node:
        if node.op_type == "FusedConv":
            kept = [a for a in node.attribute if a.name == "activation"]
            del node.attribute[:]
            node.attribute.extend(kept)
    return fused


@mutant(RELU)
def keeps_the_name_of_the_convolution(model):
    """The FusedConv writes c, and whoever read y finds nothing."""
    fused = _fuse(model)
    for old, new in zip(model.graph.node, fused.graph.node, strict=False):
        if new.op_type == "FusedConv" and old.op_type == "Conv":
            new.output[0] = old.output[0]
    return fused


@mutant(RELU)
def forgets_the_else_branch(model):
    """Counts what the branch behind `then` reads, and what the body of a Loop does."""
    return _fuse(model, counted=without_else)


@mutant(RELU)
def if_is_all_it_knows(model):
    """Looks into the branches of an If; a Loop has a body."""
    return _fuse(model, counted=without_loops)


@mutant(RELU)
def only_neighbours(model):
    """A Conv and the node behind it in the list; the Relu may stand further down."""
    after = _fuse(model)
    nodes = list(model.graph.node)
    pairs = [(one, two) for one, two in pairwise(nodes)
             if (one.op_type, two.op_type) == ("Conv", "Relu")]  # fmt: skip
    near = {two.output[0] for one, two in pairs if one.output[0] == two.input[0]}
    fused = [n for n in after.graph.node if n.op_type == "FusedConv" and n not in nodes]
    return after if all(n.output[0] in near for n in fused) else deepcopy(model)


@mutant(RELU)
def of_that_ending(model):
    """LeakyRelu is a Relu, too, by its name."""
    renamed = deepcopy(model)
    for node in renamed.graph.node:
        if node.op_type.endswith("Relu") and not node.domain:
            node.op_type = "Relu"
            del node.attribute[:]
    fused = _fuse(renamed)
    return fused if len(fused.graph.node) < len(model.graph.node) else deepcopy(model)


@mutant(RELU)
def imports_two_domains(model):
    """Writes the imports anew: ONNX's own, and that of the FusedConv."""
    fused = _fuse(model)
    if any(n.op_type == "FusedConv" for n in fused.graph.node):
        del fused.opset_import[:]
        fused.opset_import.extend([helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)])
    return fused


@mutant(RELU)
def cleans_up_as_well(model):
    """Takes away what nobody reads, also where nothing is fused and so nothing changes."""
    fused = _fuse(model)
    uses = count_uses(fused.graph)
    for tensor in list(fused.graph.initializer):
        if not uses[tensor.name]:
            fused.graph.initializer.remove(tensor)
    return fused


@mutant(RELU)
def nothing(model):
    return deepcopy(model)


@alternative(RELU)
def by_a_new_list(model):
    """Writes all nodes anew, the fused one where the Relu stood."""
    new = onnx.ModelProto()
    new.CopyFrom(model)
    uses, types = count_uses(model.graph), element_types(model)
    convs = {n.output[0]: n for n in model.graph.node if (n.domain, n.op_type) == ("", "Conv")
             and types.get(n.input[1]) == onnx.TensorProto.FLOAT
             and uses[n.output[0]] == 1}  # fmt: skip
    fused = {n.input[0]: n for n in model.graph.node
             if (n.domain, n.op_type) == ("", "Relu") and n.input[0] in convs}  # fmt: skip
    nodes = []
    for node in model.graph.node:
        if node.output and node.output[0] in fused:
            continue
        if node.op_type == "Relu" and node.input[0] in fused:
            conv = convs[node.input[0]]
            made = helper.make_node("FusedConv", conv.input, node.output, domain=DOMAIN,
                                    activation="Relu")  # fmt: skip
            made.attribute.extend(conv.attribute)
            node = made
        nodes.append(node)
    del new.graph.node[:]
    new.graph.node.extend(nodes)
    if fused and DOMAIN not in {o.domain for o in new.opset_import}:
        new.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return new


@alternative(RELU)
def from_the_convolutions(model):
    """Looks at each Conv for its only reader."""
    new = deepcopy(model)
    graph, uses, types = new.graph, count_uses(new.graph), element_types(new)
    for conv in list(graph.node):
        if (conv.domain, conv.op_type) != ("", "Conv"):
            continue
        if types.get(conv.input[1]) != onnx.TensorProto.FLOAT or uses[conv.output[0]] != 1:
            continue
        readers = [n for n in graph.node if conv.output[0] in n.input]
        if [(n.domain, n.op_type) for n in readers] == [("", "Relu")]:
            conv.op_type, conv.domain = "FusedConv", DOMAIN
            conv.attribute.add(name="activation", type=onnx.AttributeProto.STRING, s=b"Relu")
            conv.output[:] = readers[0].output
            graph.node.remove(readers[0])
    made = any(n.op_type == "FusedConv" for n in graph.node)
    if made and not any(o.domain == DOMAIN for o in new.opset_import):
        new.opset_import.add(domain=DOMAIN, version=1)
    return new


@alternative(RELU)
def and_swept(model):
    """Forgets the declared types of values that are gone."""
    new = _fuse(model)
    written = {name for node in new.graph.node for name in node.output}
    for info in list(new.graph.value_info):
        if info.name not in written:
            new.graph.value_info.remove(info)
    return new


LAST = "a Conv and a Relu have one output, a Relu has one input"
ORDER = "in any order"
FIRST = "a Relu that reads a Conv is not the first node, and its Conv is not the last"
SAME = (
    ("uses[conv.output[0]]", "uses[conv.output[-1]]"),
    ("conv.output[0] = relu", "conv.output[-1] = relu"),
    ("relu.output[0]", "relu.output[-1]"),
    ("relu.input[0]", "relu.input[-1]"),
)
for old, new in SAME:
    equivalent(RELU, old, new, because=LAST)
equivalent(RELU, "for relu in [n for n in", "in reversed(list(", because=ORDER)
equivalent(RELU, "for relu in [n for n in", "list(graph.node)[1:]", because=FIRST)
equivalent(RELU, "{name: node for node in", "list(graph.node)[:-1]", because=FIRST)
equivalent(RELU, "conv.attribute.append(", "conv.attribute.insert(0", because=ORDER)
equivalent(RELU, "[known.domain", "reversed(list(model.opset_import))", because=ORDER)
equivalent(RELU, "model.opset_import.append(", "model.opset_import.insert(0", because=ORDER)
