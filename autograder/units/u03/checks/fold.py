"""Checks of unit 3 for `passes.bn_fold`: a batch norm becomes part of the convolution before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import live_ops, same_meaning, valid_graph
from course_lib.ir.graph.build import relu
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order


def convolution(x: Node, w: Node, **attrs: Any) -> Node:
    return apply("conv", x, w, **attrs)


def batch_norm(y: Node, seed: int = 0, **attrs: Any) -> Node:
    """A batch norm with trained-looking vectors."""
    rng, count = np.random.default_rng(seed), y.type.dims[1]
    vectors = rng.uniform(0.5, 2, (4, count)).astype(y.type.dtype.numpy)
    scale, shift, mean, variance = vectors
    return apply("batch_norm", y, scale, shift - 1, mean - 1, variance, **attrs)


def weights(shape: tuple[int, ...], seed: int = 0, kind: str = "f32") -> Node:
    return const(np.random.default_rng(seed).integers(-4, 5, shape) / 2, kind)


@st.composite
def blocks(draw: st.DrawFn, most: int = 2, ranks: tuple[int, ...] = (2, 1)) -> Graph:
    """One to `most` blocks of convolution, perhaps a bias, batch norm, perhaps a ReLU."""
    rank, kind = draw(st.sampled_from(ranks)), draw(st.sampled_from(("f32", "f64")))
    channels = draw(st.sampled_from((1, 2, 4)))
    y = x = inp("x", f"{kind}[1,{channels},{','.join(['6'] * rank)}]")
    for index in range(draw(st.integers(1, most))):
        count = y.type.dims[1]
        groups = draw(st.sampled_from([g for g in (1, 2, count) if count % g == 0]))
        outputs = groups * draw(st.integers(1, 2))
        size = min(y.type.dims[2:])
        window = draw(st.integers(1, min(2, size)))
        w = weights((outputs, count // groups, *[window] * rank), index, kind)
        y = convolution(y, w, groups=groups, **draw(st.sampled_from(_steps(rank, window, size))))
        bias = draw(st.sampled_from(("none", "left", "right", "one number")))
        if bias != "none":
            shape = (1, outputs, *[1] * rank) if bias != "one number" else ()
            numbers = weights(shape, index + 7, kind)
            y = apply("add", *((numbers, y) if bias == "left" else (y, numbers)))
        y = batch_norm(y, index, eps=draw(st.sampled_from((1e-5, 0.25))))
        y = relu(y) if draw(st.booleans()) else y
    return Graph.of([x], [y], "blocks")


def _steps(rank: int, window: int, size: int) -> list[dict[str, list[int]]]:
    """How a window moves on an image of that size: none of it is a batch norm's business."""
    steps = [{}, {"strides": [2] * rank}, {"pads": [1, 0] * rank}]
    return [*steps, {"dilations": [2] * rank}] if 2 * window - 1 <= size else steps


background("passes.bn_fold", "Source: Jacob et al.", because="where it comes from")
background("passes.bn_fold", "2018, section 3.2.", because="where it comes from")
background(
    "passes.bn_fold",
    "On ResNet-18 and MobileNetV2 the outputs differ by less than 1e-6 of the largest one.",
    because="measured with our own answer; tests/units/test_u03.py",
)

FOLDED = ("Fold each batch norm into the convolution before it", "w'[oc] = w[oc] * factor[oc]",
          "(b[oc] - mean[oc]) * factor[oc] + shift[oc]", "add(conv(x, w'), b')",
          "Not bit-exact", "`convolution_before(norm)` finds the convolution",
          "there may be the convolution's own bias")  # fmt: skip


@checks("passes.bn_fold", spec=FOLDED)
def bn_fold_by_hand(bn_fold):
    """One channel: variance 3, epsilon 1, mean 5, scale 4, shift 7."""
    x = inp("x", "f32[1,1,2,2]")
    y = convolution(x, const(np.full((1, 1, 1, 1), 3.0, np.float32)))
    vectors = [np.array([n], np.float32) for n in (4.0, 7.0, 5.0, 3.0)]
    before = Graph.of([x], [apply("batch_norm", y, *vectors, eps=1.0)], "by_hand")
    after = _folded(before, bn_fold(before))
    same_meaning(before, after, spec="w'[oc] = w[oc] * factor[oc]")
    return "one by hand"


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
    cases = _left_alone()
    for before, problem, spec in cases:
        after = valid_graph(bn_fold(before), before, spec=spec)
        for op in ("batch_norm", "conv"):
            got, wanted = _count(after, op), _count(before, op)
            if got != wanted:
                raise Wrong(
                    f"{problem} Here {got} {op} are left of {wanted}.",
                    program=before,
                    got=after,
                    spec=spec,
                )
        same_meaning(before, after, spec=spec)
    _folds_one_of_two(bn_fold)
    return f"{len(cases)} programs with nothing to fold"


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
            f"The first batch norm can go, the second stays; here {left[0]} batch norms and "
            f"{left[1]} convolutions run. What stays has to read the new nodes.",
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
                f"A profile has to find both layers again; this {node.op} comes from "
                f"{', '.join(node.origin) or 'nowhere'}.",
                program=before,
                got=after,
                marked=(value_names(after)[node],),
            )
    return "origins"


@checks("passes.bn_fold", spec=["w' and b' are new constants of w's element type", *FOLDED])
def bn_fold_makes_new_constants(bn_fold):
    """In f16, f32 and f64, where others read the same weight, vectors, sum or norm."""
    cases = _shared()
    for before, why in cases:
        kept = [constant.value.copy() for constant in before.constants]
        after = _folded(before, bn_fold(before), before.ops[-1].op)
        same_meaning(before, after, rtol=RTOL[str(before.inputs[0].type.dtype)])
        if not all(map(np.array_equal, kept, (c.value for c in before.constants))):
            raise Wrong(f"{why} Make new constants.", program=before)
    return f"{len(cases)} programs with shared parts"


def _shared() -> list[tuple[Graph, str]]:
    """(program, all norms of which can be folded; what is shared)"""
    cases = []
    for kind in ("f32", "f64", "f16"):
        x, w = inp("x", f"{kind}[1,2,4,4]"), weights((2, 2, 1, 1), 0, kind)
        ends = [batch_norm(convolution(x, w)), convolution(x, w)]
        cases.append((Graph.of([x], ends, "shared"), "The other convolution reads the old weight."))
    x, v = inp("x", "f32[1,2,4,4]"), weights((2, 2, 1, 1), 1)
    one, two = batch_norm(convolution(x, v)), batch_norm(convolution(x, v) + weights((1, 2, 1, 1)))
    both = apply("batch_norm", convolution(one, v), *two.inputs[1:])
    norm = batch_norm(convolution(x, v))
    return [
        *cases,
        (Graph.of([x], [one, both + two], "vectors"), "Two norms read one scale."),
        (Graph.of([x], [norm, relu(norm) * norm, norm], "read"), "The norm has two readers."),
    ]


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


def _folded(before: Graph, result: Any, end: str = "") -> Graph:
    """A valid graph without batch norms, with as many convolutions, and an add for each norm."""
    after = valid_graph(result, before)
    norms = _count(before, "batch_norm")
    left = _count(after, "batch_norm")
    if left:
        revived = (
            f" Left of {norms}: {left}. If you fold them all, a new convolution reads a node of "
            "the old graph: its x comes from `inputs`."
        )
        raise Wrong(
            "Each of these batch norms has a convolution right before it, and nobody else reads "
            f"what is between: all of them can be folded.{revived if left < norms else ''}",
            program=before,
            got=after,
            spec="Fold each batch norm into the convolution before it",
        )
    others = {"relu", *([end] if end not in ("conv", "batch_norm") else [])}
    bound = _count(before, "conv") + norms + sum(_count(before, op) for op in others)
    if _count(after, "conv") != _count(before, "conv") or len(live_ops(after)) > bound:
        raise Wrong(
            f"A batch norm leaves a convolution and one addition, so at most {bound} operations "
            f"are left; here are {len(live_ops(after))}.",
            program=before,
            got=after,
            spec="add(conv(x, w'), b')",
        )
    return after


def _count(graph: Graph, op: str) -> int:
    return sum(n.op == op for n in topological_order(graph.outputs))


def _left_alone() -> list[tuple[Graph, str, str]]:
    """(program, why nothing may be folded, words of the specification)"""
    x, v = inp("x", "f32[1,2,4,4]"), inp("v", "f32[2,2,1,1]")
    w = weights((2, 2, 1, 1))
    y = convolution(x, w)
    sum_ = y + weights((1, 2, 1, 1), 3)
    variable = [const(np.ones(2, np.float32)) for _ in range(3)]
    mean = inp("mean", "f32[2]")
    other = "has another user or is an output"
    before = "finds the convolution"
    constants = "if the weights or one of its four vectors are not constants"
    padded = apply("pad", y, low=(0, 0, 1, 1), high=(0, 0, 1, 1))
    image = y + weights((1, 2, 4, 4), 3)
    return [
        (Graph.of([x], [batch_norm(y), relu(y)]), "relu needs the old convolution.", other),
        (Graph.of([x], [batch_norm(y), y]), "The convolution is an output.", other),
        (Graph.of([x], [batch_norm(sum_), sum_]), "The sum is an output.", other),
        (Graph.of([x], [batch_norm(sum_), y]), "The convolution is an output.", other),
        (Graph.of([x], [batch_norm(sum_), relu(sum_)]), "relu needs the old sum.", other),
        (Graph.of([x], [batch_norm(sum_), relu(y)]), "relu needs the old convolution.", other),
        (Graph.of([x], [batch_norm(y, 1) + batch_norm(y, 2)]), "Two norms read it.", other),
        (Graph.of([x, v], [batch_norm(convolution(x, v))]), "The weight is an input.", constants),
        (Graph.of([x, mean], [apply("batch_norm", y, *variable[:2], mean, variable[2])]),
         "The mean is an input.", constants),
        (Graph.of([x], [batch_norm(relu(y))]), "There is a relu between.", before),
        (Graph.of([x], [batch_norm(padded)]), "A padded zero is shifted, too.", before),
        (Graph.of([x], [batch_norm(image)]), "This is no bias: a number for each pixel.",
         "a constant with one number for each channel"),
    ]  # fmt: skip
