"""Checks of unit 3 for `passes.bn_fold`: a batch norm becomes part of the convolution before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, checks
from autograder.check.properties import live_ops, same_meaning, valid_graph
from autograder.units.u03.checks.fold_cases import (
    batch_norm,
    blocks,
    convolution,
    left_alone,
    mixtures,
    shared,
    weights,
)
from course_lib.ir.graph.build import relu
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order

FOLDED = ("Fold each batch norm into the convolution before it", "w'[oc] = w[oc] * factor[oc]",
          "(b[oc] - mean[oc]) * factor[oc] + shift[oc]", "add(conv(x, w'), b')",
          "`convolution_before(norm)` finds the convolution",
          "there may be the convolution's own bias")  # fmt: skip


@checks("passes.bn_fold", spec=FOLDED)
def bn_fold_by_hand(bn_fold):
    """One channel: variance 3, epsilon 1, mean 5, scale 4, shift 7."""
    x = inp("x", "f32[1,1,2,2]")
    y = convolution(x, const(np.full((1, 1, 1, 1), 3.0, np.float32)))
    vectors = [np.array([n], np.float32) for n in (4.0, 7.0, 5.0, 3.0)]
    before = Graph.of([x], [apply("batch_norm", y, *vectors, eps=1.0)], "by_hand")
    after = _folded(before, bn_fold(before))
    (conv,) = (node for node in live_ops(after) if node.op == "conv")
    scaled = np.allclose(conv.inputs[1].value, 6)  # the weight is 3, and the factor is 2
    same_meaning(before, after, spec=FOLDED[2] if scaled else FOLDED[1])
    return "one program written by hand"


@checks(
    "passes.bn_fold", given=blocks(ranks=(2,)), examples=30, spec=[*FOLDED, "Grouped and depthwise"]
)
def bn_fold_leaves_a_convolution_and_a_bias(bn_fold, graph):
    """No batch norm is left, and the result computes what the program computes."""
    _same_after_folding(graph, bn_fold(graph), "(b[oc] - mean[oc]) * factor[oc] + shift[oc]")


@checks(
    "passes.bn_fold",
    spec=[
        *FOLDED,
        "A batch norm stays as it is",
        "if the weights or one of its four vectors are not constants",
        "has another user or is an output",
        "a constant with one number for each channel",
        "finds the convolution",
    ],
)
def bn_fold_leaves_what_it_must(bn_fold):
    """Other users, outputs, unknown numbers, and whatever is no convolution."""
    cases = left_alone()
    for before, problem, spec in cases:
        after = valid_graph(bn_fold(before), before, spec=spec)
        mine, ours = (Counter(node.op for node in live_ops(g)) for g in (after, before))
        if mine != ours:
            raise Wrong(
                f"{problem} So everything must stay as it is: {_counted(ours)}. The result has "
                f"{_counted(mine)}.",
                program=before,
                got=after,
                spec=spec,
            )
        same_meaning(before, after, spec=spec)
    _folds_one_of_two(bn_fold)
    return f"{len(cases)} programs with nothing to fold"


@checks("passes.bn_fold", given=mixtures(), examples=25, spec=["A batch norm stays", *FOLDED])
def bn_fold_folds_what_it_can(bn_fold, case):
    """Norms that can be folded, between others that cannot."""
    before, stuck = case
    same_meaning(before, _folded(before, bn_fold(before), stuck), spec=FOLDED[0])


IN_A_ROW = "Of two norms in a row the first folds"


@checks("passes.bn_fold", spec=[IN_A_ROW, *FOLDED])
def bn_fold_leaves_the_rest(bn_fold):
    """Additions, products and relus behind a norm, and without one."""
    numbers, x = weights((1, 2, 1, 1), 4), inp("x", "f32[3,2,3,3]")
    y = convolution(x, weights((2, 2, 1, 1)))
    norm = batch_norm(y)
    ends = [relu(relu(norm)), norm + numbers + numbers, norm * numbers, norm * 2.0]
    ends += [y * 2.0 + numbers, relu(relu(x)), relu(y + numbers), norm * 1.0, norm + 0.0]
    for end in ends:
        before = Graph.of([x], [end], "rest")
        same_meaning(before, _folded(before, bn_fold(before)), spec=FOLDED[0])
    twice = Graph.of([x], [batch_norm(norm, 1)], "twice")
    after = same_meaning(twice, bn_fold(twice), spec=IN_A_ROW)
    if _count(after, "batch_norm") > 1 or _count(after, "conv") != 1:
        raise Wrong("Of two norms in a row the first must be folded; the second may stay.",
                    program=twice, got=after, spec=IN_A_ROW)  # fmt: skip
    return "additions, products and relus behind a norm"


def _folds_one_of_two(bn_fold: Any) -> None:
    """The first norm folds, the second stays: what it reads is the new convolution."""
    x = inp("x", "f32[1,2,4,4]")
    first = batch_norm(convolution(x, weights((2, 2, 1, 1))))
    y = convolution(first, weights((2, 2, 1, 1), 1))
    before = Graph.of([x], [batch_norm(y, 1), relu(y)], "one_of_two")
    after = same_meaning(before, bn_fold(before), spec=FOLDED[0])
    left = (_count(after, "batch_norm"), _count(after, "conv"))
    if left != (1, 2):
        raise Wrong(
            f"The first batch norm must go, and the second must stay; here {left[0]} batch norms "
            f"and {left[1]} convolutions run. What stays must read the new nodes.",
            program=before,
            got=after,
            spec=FOLDED[0],
        )


@checks("passes.bn_fold", spec=["The new nodes carry the origins of both", *FOLDED])
def bn_fold_remembers_where_it_came_from(bn_fold):
    """What is left names the convolution and the batch norm that it stands for."""
    x = inp("x", "f32[1,2,4,4]")
    y = replace(convolution(x, weights((2, 2, 1, 1))), origin=("layer1.conv",))
    before = Graph.of([x], [replace(batch_norm(y), origin=("layer1.bn",))], "origins")
    after = _folded(before, bn_fold(before))
    for node in live_ops(after):
        if not {"layer1.conv", "layer1.bn"} <= set(node.origin):
            raise Wrong(
                f"What is left must carry the origins of both layers; this {node.op} comes from "
                f"{', '.join(node.origin) or 'nowhere'}.",
                program=before,
                got=after,
                marked=(value_names(after)[node],),
            )
    return "the names of the layers, kept"


@checks("passes.bn_fold", spec=["w' and b' are new constants of w's element type", *FOLDED])
def bn_fold_makes_new_constants(bn_fold):
    """In f16, f32 and f64, where others read the same weight, vectors, sum or norm."""
    cases = shared()
    for before, why in cases:
        kept = [constant.value.copy() for constant in before.constants]
        after = _folded(before, bn_fold(before))
        same_meaning(before, after, rtol=RTOL[str(before.inputs[0].type.dtype)])
        if not all(map(np.array_equal, kept, (c.value for c in before.constants))):
            raise Wrong(f"{why} Constants must keep their values: make new ones.", program=before)
    return f"{len(cases)} programs with shared parts"


@checks(
    "passes.bn_fold",
    given=blocks(ranks=(1, 3)),
    examples=15,
    spec=["Images are 1-D, 2-D or 3-D", *FOLDED],
)
def bn_fold_folds_images_of_any_rank(bn_fold, graph):
    """The same on rows and on volumes: the bias has one axis for each axis of the convolution."""
    _same_after_folding(graph, bn_fold(graph), "Images are 1-D, 2-D or 3-D")


RTOL = {"f16": 2e-2, "f32": 1e-4, "f64": 1e-10}


def _same_after_folding(before: Graph, result: Any, spec: str) -> None:
    """All norms are gone, and no precision of the element type is lost."""
    same_meaning(before, _folded(before, result), spec=spec,
                 rtol=RTOL[str(before.inputs[0].type.dtype)])  # fmt: skip


@checks("passes.bn_fold", spec="Fold each batch norm into the convolution before it")
def bn_fold_works_in_the_compiler(bn_fold):
    """Two blocks, compiled with this pass in its place."""
    x = inp("x", "f32[1,2,6,6]")
    y = relu(batch_norm(convolution(x, weights((4, 1, 2, 2)), groups=2, pads=[1, 0, 1, 0])))
    before = Graph.of([x], [batch_norm(convolution(y, weights((3, 4, 1, 1))), 1)], "two_blocks")
    program = works_in_the_compiler("passes.bn_fold", bn_fold, before)
    return f"compiled to {len(program.steps)} kernels"


def _folded(before: Graph, result: Any, stuck: Collection[Node] = ()) -> Graph:
    """A valid graph without batch norms, those that are `stuck` apart. For each that is gone there
    is an addition, which may be the one of the bias before it; all the rest is there as it was."""
    after = valid_graph(result, before)
    gone = [n for n in live_ops(before) if n.op == "batch_norm" and n not in stuck]
    left = _count(after, "batch_norm") - len(stuck)
    if left:
        raise Wrong(
            "Each of these batch norms has a convolution before it, with no more than a bias "
            "between them, and nobody else reads what is between them, so all must be folded."
            f"{_revived(left, len(gone))}"
            if not stuck
            else f"{len(stuck)} of these batch norms must stay, not {left + len(stuck)}.",
            program=before,
            got=after,
            spec="Fold each batch norm into the convolution before it",
        )
    wanted = Counter(node.op for node in live_ops(before))
    wanted["batch_norm"] -= len(gone)
    wanted["add"] += sum(norm.inputs[0].op == "conv" for norm in gone)
    if +wanted != (mine := Counter(node.op for node in live_ops(after))):
        raise Wrong(
            "A folded batch norm must leave a convolution and one addition, and everything else "
            f"must stay: {_counted(wanted)}. The result has {_counted(mine)}.",
            program=before,
            got=after,
            spec="add(conv(x, w'), b')",
        )
    _one_number_a_channel(before, after)
    return after


def _revived(left: int, norms: int) -> str:
    return (
        f" Of {norms}, {left} {'are' if left > 1 else 'is'} left. If you fold them all, a new "
        "convolution reads a node of the old graph: take its x from `inputs`."
        if left < norms
        else ""
    )


def _one_number_a_channel(before: Graph, after: Graph) -> None:
    for node in live_ops(after):
        conv = next((i for i in node.inputs if i.op == "conv"), None)
        b = next((i for i in node.inputs if i.op == "constant"), None)
        if node.op != "add" or conv is None or b is None or node in before.nodes:
            continue
        if b.type.numel > conv.type.dims[1] and b not in before.nodes:
            raise Wrong(
                f"b' must have {conv.type.dims[1]} numbers, one for each channel; it has "
                f"{b.type.numel}.",
                program=before,
                got=after,
                marked=(value_names(after)[b],),
                spec="(b[oc] - mean[oc]) * factor[oc] + shift[oc]",
            )


def _counted(ops: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {op}" for op, count in ops.items() if count)


def _count(graph: Graph, op: str) -> int:
    return sum(n.op == op for n in topological_order(graph.outputs))
