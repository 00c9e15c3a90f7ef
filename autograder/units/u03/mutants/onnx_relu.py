"""Answers to `fuse_relu`: mistakes that the checks must catch, and other right ones."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

import onnx
from onnx import helper

from autograder.check.edits import edited
from autograder.check.framework import alternative, mutants
from autograder.units.u03.checks.onnx_relu import DOMAIN, RELU
from autograder.units.u03.mutants.readers import without_else, without_loops
from course_lib.exercises import slot
from course_lib.frontend.onnx.surgery import count_uses, element_types

fuse = slot(RELU).reference
NEEDED = "if FUSED_DOMAIN not in [known.domain for known in model.opset_import]:\n"
IMPORT = "model.opset_import.append(helper.make_opsetid(FUSED_DOMAIN, 1))"
ACTIVATION = "conv.attribute.append(helper.make_attribute('activation', 'Relu'))"
ALPHA = "conv.attribute.append(helper.make_attribute('alpha', 0.0))"
BEFORE = "graph.node[list(graph.node).index(relu) - 1]"
if_counted = edited(fuse, "fuse_relu(model", "fuse_relu(count_uses, model")

mutants(
    RELU,
    forgets_other_readers=(" or uses[conv.output[0]] != 1", ""),
    # The caller reads the outputs.
    forgets_the_caller=("(graph),", "(graph) - Counter((i.name for i in graph.output)),"),
    # Forgets the graphs inside nodes.
    forgets_the_branches=("count_uses(graph)", "Counter([name for n in graph.node for name in "
                          "n.input] + [o.name for o in graph.output])"),
    # Counts what the branch behind `then` reads, and what the body of a Loop does.
    forgets_the_else_branch=partial(if_counted, without_else),
    # Looks into the branches of an If; a Loop has a body.
    if_is_all_it_knows=partial(if_counted, without_loops),
    of_any_type=(" or types.get(conv.input[1]) != onnx.TensorProto.FLOAT", ""),
    # Looks at the name of an operator only; somebody else may have a Conv, too.
    of_any_domain=("conv.domain or relu.domain or ", ""),
    in_place=("model = _copy(model)", "pass"),
    in_no_domain=("('FusedConv', FUSED_DOMAIN)", "('FusedConv', '')"),
    imports_nothing=(IMPORT, "pass"),
    imports_once_for_each_pair=(NEEDED, "if True:\n"),
    imports_in_any_case=(f"    {NEEDED}            {IMPORT}", f"{NEEDED}        {IMPORT}"),
    # Writes the imports anew: ONNX's own, and that of the FusedConv.
    imports_two_domains=(NEEDED, "if True:\n            del model.opset_import[:]\n"
                         "            model.opset_import.append(helper.make_opsetid('', 17))\n"),
    more_than_the_text_says=(ACTIVATION, f"{ACTIVATION}\n        {ALPHA}"),
    # A new node that has only the activation.
    without_the_attributes=(ACTIVATION, f"del conv.attribute[:]\n        {ACTIVATION}"),
    # The FusedConv writes c, and whoever read y finds nothing.
    keeps_the_name_of_the_convolution=("conv.output[0] = relu.output[0]", "pass"),
    # A Conv and the node behind it in the list; the Relu may stand further down.
    only_neighbours=("conv is None", f"conv is None or {BEFORE} != conv"),
    # LeakyRelu is a Relu, too, by its name.
    of_that_ending=("n.op_type == 'Relu'", "n.op_type.endswith('Relu')"),
    # Takes away what nothing reads, also where nothing is fused and so nothing changes.
    cleans_up_as_well=("return model", "sweep(graph)\n    return model"),
    nothing=deepcopy,
)  # fmt: skip


def _kind(node):
    return node.domain, node.op_type


def _free(model):
    """The Convs with weights of f32 that have one reader, by what they write."""
    uses, types = count_uses(model.graph), element_types(model)
    convs = [n for n in model.graph.node if _kind(n) == ("", "Conv") and uses[n.output[0]] == 1]
    return {n.output[0]: n for n in convs if types.get(n.input[1]) == onnx.TensorProto.FLOAT}


@alternative(RELU)
def by_a_new_list(model):
    """Writes all nodes anew, the fused one where the Relu stood."""
    new, convs = deepcopy(model), _free(model)
    relus = [n for n in model.graph.node if _kind(n) == ("", "Relu") and n.input[0] in convs]
    fused = {n.input[0] for n in relus}
    del new.graph.node[:]
    for node in [n for n in model.graph.node if not (n.output and n.output[0] in fused)]:
        if node in relus:
            conv, y = convs[node.input[0]], node.output
            node = helper.make_node("FusedConv", conv.input, y, domain=DOMAIN, activation="Relu")
            node.attribute.extend(conv.attribute)
        new.graph.node.append(node)
    if fused and DOMAIN not in {o.domain for o in new.opset_import}:
        new.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return new


@alternative(RELU)
def from_the_convolutions(model):
    """Looks at each Conv for its only reader."""
    new = deepcopy(model)
    graph = new.graph
    for c, conv in _free(new).items():
        readers = [n for n in graph.node if c in n.input]
        if list(map(_kind, readers)) == [("", "Relu")]:
            conv.op_type, conv.domain = "FusedConv", DOMAIN
            conv.attribute.add(name="activation", type=onnx.AttributeProto.STRING, s=b"Relu")
            conv.output[:] = readers[0].output
            graph.node.remove(readers[0])
    any_fused = any(n.op_type == "FusedConv" for n in graph.node)
    if any_fused and not any(o.domain == DOMAIN for o in new.opset_import):
        new.opset_import.add(domain=DOMAIN, version=1)
    return new


@alternative(RELU)
def and_swept(model):
    """Forgets the declared types of values that are gone."""
    new = fuse(model)
    written = {name for node in new.graph.node for name in node.output}
    for info in [i for i in new.graph.value_info if i.name not in written]:
        new.graph.value_info.remove(info)
    return new
