"""Checks of unit 3 for `passes.bn_fold`: a batch norm becomes part of the convolution before it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, checks
from autograder.check.properties import live_ops, same_meaning, valid_graph
from autograder.units.u03.checks import fold_cases as cases
from autograder.units.u03.checks.fold_cases import batch_norm, convolution, weights
from autograder.units.u03.checks.results import counted, keeps_origins, leaves, ops_of, wrong
from course_lib.ir.graph.build import relu
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

BN_FOLD = "passes.bn_fold"
EACH = "Fold each batch norm into the convolution before it"
SCALED, BIAS = "w'[oc] = w[oc] * factor[oc]", "(b[oc] - mean[oc]) * factor[oc] + shift[oc]"
BECOMES = "add(conv(x, w'), b')"
FOLDED = (EACH, SCALED, BIAS, BECOMES, "`convolution_before(norm)` finds the convolution",
          "there may be the convolution's own bias")  # fmt: skip
ORIGINS = "The new conv and add carry the origins of both"
RANKS = "Images are 1-D, 2-D or 3-D"
IN_A_ROW = "Of two norms in a row the first folds"
RTOL = {"f16": 2e-2, "f32": 1e-4, "f64": 1e-10}


@checks(BN_FOLD, spec=FOLDED)
def bn_fold_by_hand(bn_fold):
    """One channel: variance 3, epsilon 1, mean 5, scale 4, shift 7."""
    x = inp("x", "f32[1,1,2,2]")
    y = convolution(x, const(np.full((1, 1, 1, 1), 3.0, np.float32)))
    vectors = [np.array([n], np.float32) for n in (4.0, 7.0, 5.0, 3.0)]
    before = Graph.of([x], [apply("batch_norm", y, *vectors, eps=1.0)], "by_hand")
    after = _folded(before, bn_fold(before))
    (conv,) = (node for node in live_ops(after) if node.op == "conv")
    scaled = np.allclose(conv.inputs[1].value, 6)  # the weight is 3, and the factor is 2
    same_meaning(before, after, spec=BIAS if scaled else SCALED)
    return "one program written by hand"


@checks(BN_FOLD, given=cases.blocks(), examples=45, spec=[*FOLDED, "Grouped and depthwise", RANKS])
def bn_fold_leaves_a_convolution_and_a_bias(bn_fold, graph):
    """No batch norm is left, and the result computes what the program computes, in its precision;
    the bias has one axis for each axis of the convolution."""
    x = graph.inputs[0].type
    same_meaning(graph, _folded(graph, bn_fold(graph)), rtol=RTOL[str(x.dtype)],
                 spec=BIAS if x.rank == 4 else RANKS)  # fmt: skip


@checks(BN_FOLD, spec=[*FOLDED, "A batch norm stays as it is",
        *(spec for _, _, spec in cases.left_alone())])  # fmt: skip
def bn_fold_leaves_what_it_must(bn_fold):
    """Other users, outputs, unknown numbers, and whatever is no convolution."""
    leaves(bn_fold, cases.left_alone(), "So everything must stay as it is")
    x = inp("x", "f32[1,2,4,4]")
    y = convolution(batch_norm(convolution(x, weights((2, 2, 1, 1)))), weights((2, 2, 1, 1), 1))
    before = Graph.of([x], [batch_norm(y, 1), relu(y)], "one_of_two")
    after = same_meaning(before, bn_fold(before), spec=EACH)
    if (ops := ops_of(after))["batch_norm"] != 1 or ops["conv"] != 2:
        raise wrong("The first batch norm must go, and the second must stay; what stays must read "
                    f"the new nodes. Here are {counted(ops)}.", before, after, EACH)  # fmt: skip
    return f"{len(cases.left_alone())} programs with nothing to fold"


@checks(BN_FOLD, given=cases.mixtures(), examples=25, spec=["A batch norm stays", *FOLDED])
def bn_fold_folds_what_it_can(bn_fold, case):
    """Norms that can be folded, between others that cannot."""
    before, stuck = case
    same_meaning(before, _folded(before, bn_fold(before), stuck), spec=EACH)


@checks(BN_FOLD, spec=[IN_A_ROW, *FOLDED])
def bn_fold_leaves_the_rest(bn_fold):
    """Additions, products and relus behind a norm, and without one."""
    numbers, x = weights((1, 2, 1, 1), 4), inp("x", "f32[3,2,3,3]")
    y = convolution(x, weights((2, 2, 1, 1)))
    norm = batch_norm(y)
    ends = [relu(relu(norm)), norm + numbers + numbers, norm * numbers, norm * 2.0]
    ends += [y * 2.0 + numbers, relu(relu(x)), relu(y + numbers), norm * 1.0, norm + 0.0]
    for end in ends:
        before = Graph.of([x], [end], "rest")
        same_meaning(before, _folded(before, bn_fold(before)), spec=EACH)
    twice = Graph.of([x], [batch_norm(norm, 1)], "twice")
    after = same_meaning(twice, bn_fold(twice), spec=IN_A_ROW)
    if (ops := ops_of(after))["batch_norm"] > 1 or ops["conv"] != 1:
        problem = "Of two norms in a row the first must be folded; the second may stay."
        raise wrong(problem, twice, after, IN_A_ROW)
    return "additions, products and relus behind a norm"


@checks(BN_FOLD, spec=[ORIGINS, *FOLDED])
def bn_fold_remembers_where_it_came_from(bn_fold):
    """What is left names the convolution and the batch norm that it stands for."""
    x = inp("x", "f32[1,2,4,4]")
    y = replace(convolution(x, weights((2, 2, 1, 1))), origin=("layer1.conv",))
    before = Graph.of([x], [replace(batch_norm(y), origin=("layer1.bn",))], "origins")
    after = _folded(before, bn_fold(before))
    for node in live_ops(after):
        keeps_origins(before, after, {"layer1.conv", "layer1.bn"}, node, ORIGINS)
    return "the names of the layers, kept"


@checks(BN_FOLD, spec=["w' and b' are new constants of w's element type", *FOLDED])
def bn_fold_makes_new_constants(bn_fold):
    """In f16, f32 and f64, where others read the same weight, vectors, sum or norm."""
    for before, why in cases.shared():
        kept = [constant.value.copy() for constant in before.constants]
        after = _folded(before, bn_fold(before))
        same_meaning(before, after, rtol=RTOL[str(before.inputs[0].type.dtype)])
        if not all(map(np.array_equal, kept, (c.value for c in before.constants))):
            raise Wrong(f"{why} Constants must keep their values: make new ones.", program=before)
    return f"{len(cases.shared())} programs with shared parts"


@checks(BN_FOLD, spec=EACH)
def bn_fold_works_in_the_compiler(bn_fold):
    """Two blocks, compiled with this pass in its place."""
    x = inp("x", "f32[1,2,6,6]")
    y = relu(batch_norm(convolution(x, weights((4, 1, 2, 2)), groups=2, pads=[1, 0, 1, 0])))
    before = Graph.of([x], [batch_norm(convolution(y, weights((3, 4, 1, 1))), 1)], "two_blocks")
    program = works_in_the_compiler(BN_FOLD, bn_fold, before)
    return f"compiled to {len(program.steps)} kernels"


def _folded(before: Graph, result: Any, stuck: Collection[Node] = ()) -> Graph:
    """A valid graph without batch norms, those that are `stuck` apart. For each that is gone there
    is an addition, which may be the one of the bias before it; all the rest is there as it was."""
    after = valid_graph(result, before)
    gone = [n for n in live_ops(before) if n.op == "batch_norm" and n not in stuck]
    mine, wanted = ops_of(after), ops_of(before)
    if left := mine["batch_norm"] - len(stuck):
        problem = f"{len(stuck)} of these batch norms must stay, not {mine['batch_norm']}."
        raise wrong(problem if stuck else _all_fold(left, len(gone)), before, after, EACH)
    wanted["batch_norm"] -= len(gone)
    wanted["add"] += sum(norm.inputs[0].op == "conv" for norm in gone)
    if +wanted != mine:
        raise wrong(
            "A folded batch norm must leave a convolution and one addition, and everything else "
            f"must stay: {counted(wanted)}. The result has {counted(mine)}.", before, after, BECOMES
        )  # fmt: skip
    _one_number_a_channel(before, after)
    return after


def _all_fold(left: int, norms: int) -> str:
    """Why all must go; where only some are left, the old graph may still be read."""
    problem = "Each of these batch norms has a convolution before it, with no more than a bias "
    problem += "between them, and nothing else reads what is between them, so all must be folded. "
    old = f"Of {norms}, {left} {'are' if left > 1 else 'is'} left. If you fold them all, a new "
    old += "convolution reads a node of the old graph: take its x from `inputs`."
    return f"{problem}{old * (left < norms)}".strip()


def _one_number_a_channel(before: Graph, after: Graph) -> None:
    for node in [n for n in live_ops(after) if n.op == "add" and n not in before.nodes]:
        conv = next((i for i in node.inputs if i.op == "conv"), None)
        b = next((i for i in node.inputs if i.op == "constant" and i not in before.nodes), None)
        if conv is not None and b is not None and b.type.numel > conv.type.dims[1]:
            problem = f"b' must have {conv.type.dims[1]} numbers, one for each channel; it has"
            raise wrong(f"{problem} {b.type.numel}.", before, after, BIAS, b)
