"""Programs for the checks of `passes.bn_fold`: random blocks, shared parts, and what has to stay.

Next room: fold.py, the checks.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.units.u03.checks.results import Case
from course_lib.ir.graph.build import relu, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

convolution = partial(apply, "conv")  # of an image and weights


def batch_norm(y: Node, seed: int = 0, **attrs: Any) -> Node:
    """A batch norm with trained-looking vectors; some scales are negative, and some are 0."""
    rng, count = np.random.default_rng(seed), y.type.dims[1]
    vectors = rng.uniform(0.5, 2, (4, count))
    vectors[0] *= rng.choice((1, 1, -1, 0), count)
    scale, shift, mean, variance = vectors.astype(y.type.dtype.numpy)
    return apply("batch_norm", y, scale, shift - 1, mean - 1, variance, **attrs)


def weights(shape: tuple[int, ...], seed: int = 0, kind: str = "f32") -> Node:
    return const(np.random.default_rng(seed).integers(-4, 5, shape) / 2, kind)


@st.composite
def blocks(draw: st.DrawFn, most: int = 2, ranks: tuple[int, ...] = (2, 2, 1, 3)) -> Graph:
    """One to `most` blocks of convolution, perhaps a bias, batch norm, perhaps a ReLU."""
    rank, kind = draw(st.sampled_from(ranks)), draw(st.sampled_from(("f32", "f64")))
    channels = draw(st.sampled_from((1, 2, 4)))
    sizes = ",".join(map(str, [draw(st.integers(1, 2)), channels, *range(6, 6 + rank)]))
    y = x = inp("x", f"{kind}[{sizes}]")
    for index in range(draw(st.integers(1, most))):
        count = y.type.dims[1]
        groups = draw(st.sampled_from([g for g in (1, 2, count) if count % g == 0]))
        outputs = groups * draw(st.integers(1, 2))
        size = min(y.type.dims[2:])
        window = draw(st.integers(1, min(2, size)))
        w = weights((outputs, count // groups, *[window] * rank), index, kind)
        y = convolution(y, w, groups=groups, **draw(st.sampled_from(_steps(rank, window, size))))
        bias = draw(st.sampled_from(("none", "left", "right")))
        if bias != "none":
            per_channel = (outputs, *[1] * rank)
            shapes = ((1, *per_channel), per_channel, (), (1,) * (rank + 2), (1,))
            numbers = weights(draw(st.sampled_from(shapes)), index + 7, kind)
            y = apply("add", *((numbers, y) if bias == "left" else (y, numbers)))
        y = batch_norm(y, index, eps=draw(st.sampled_from((1e-5, 0.25))))
        y = relu(y) if draw(st.booleans()) else y
    return Graph.of([x], [y], "blocks")


def _steps(rank: int, window: int, size: int) -> list[dict[str, Any]]:
    """How a window moves on an image of that size: a batch norm does not depend on it."""
    steps = [{}, {"strides": [2] * rank}, {"pads": [1, 0] * rank}]
    return [*steps, {"dilations": [2] * rank}] if 2 * window - 1 <= size else steps


def shared() -> list[tuple[Graph, str]]:
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
    untrained = np.array([[1, 1], [0, 0], [0, 0], [1, 1]], np.float32)
    return [
        *cases,
        (Graph.of([x], [one, both + two], "vectors"), "Two norms read one scale."),
        (Graph.of([x], [norm, relu(norm) * norm, norm], "read"), "The norm has two readers."),
        (Graph.of([x], [apply("batch_norm", convolution(x, v), *untrained)], "new"), "b' is 0."),
    ]


@cache
def left_alone() -> list[Case]:
    """Programs in which nothing may be folded."""
    return [*_read_elsewhere(), *_no_constants(), *_no_convolution()]


def _read_elsewhere() -> list[Case]:
    x = inp("x", "f32[1,2,4,4]")
    y = convolution(x, weights((2, 2, 1, 1)))
    sum_ = y + weights((1, 2, 1, 1), 3)
    other = [batch_norm(y, 1) + batch_norm(y, 2)]
    cases = [
        ([batch_norm(y), relu(y)], "relu needs the old convolution."),
        ([batch_norm(y), y], "The convolution is an output."),
        ([batch_norm(sum_), sum_], "The sum is an output."),
        ([batch_norm(sum_), y], "The convolution is an output."),
        ([batch_norm(sum_), relu(sum_)], "relu needs the old sum."),
        ([batch_norm(sum_), relu(y)], "relu needs the old convolution."),
        (other, "Two norms read the convolution."),
    ]
    return [(Graph.of([x], ends), why, "has another user or is an output") for ends, why in cases]


def _no_constants() -> list[Case]:
    """Weights, and each of the four vectors, that the caller gives or an operation computes."""
    x, v = inp("x", "f32[1,2,4,4]"), inp("v", "f32[2,2,1,1]")
    w = weights((2, 2, 1, 1))
    y = convolution(x, w)
    spec = "if the weights or one of its four vectors are not constants"
    turned = batch_norm(convolution(x, transpose(w, (1, 0, 2, 3))))
    cases = [
        (Graph.of([x, v], [batch_norm(convolution(x, v))]), "The weight is an input.", spec),
        (Graph.of([x], [turned]), "The weight is computed.", spec),
    ]
    for place, name in enumerate(("scale", "shift", "mean", "variance"), 1):
        vector = inp(name, "f32[2]")
        for operand, problem in ((vector, "is an input"), (relu(vector), "is computed")):
            norm = batch_norm(y)
            operands = [*norm.inputs[:place], operand, *norm.inputs[place + 1 :]]
            graph = Graph.of([x, vector], [norm.with_inputs(operands)])
            cases.append((graph, f"The {name} {problem}.", spec))
    return cases


def _no_convolution() -> list[Case]:
    """What stands before the norm is no convolution, or no bias of it."""
    x, b = inp("x", "f32[1,2,4,2]"), inp("b", "f32[1,2,1,1]")
    y, numbers = convolution(x, weights((2, 2, 1, 1))), weights((1, 2, 1, 1), 3)
    finds, channel = "finds the convolution", "a constant with one number for each channel"
    padded = apply("pad", y, low=(0, 0, 1, 1), high=(0, 0, 1, 1))
    pooled = apply("max_pool", y, kernel=(2, 2))
    before = [
        (x, "It reads an input.", finds),
        (relu(y), "There is a relu between the two.", finds),
        (padded, "The batch norm shifts the padded zeros, too.", finds),
        (pooled, "There is a max_pool between the two.", finds),
        (y - numbers, "There is a subtraction between the two.", finds),
        (y * numbers, "There is a multiplication between the two.", finds),
        (y + convolution(x, weights((2, 2, 1, 1), 1)), "It reads two convolutions.", finds),
        (y + x, "What is added is the input.", channel),
        (y + b, "What is added is an input.", channel),
        (y + relu(numbers), "What is added is computed.", channel),
        (y + weights((1, 2, 4, 2), 3), "A number for each pixel is no bias.", channel),
        (y + weights((2,), 3), "A number for each column is no bias.", channel),
        (y + weights((4, 1), 3), "A number for each row is no bias.", channel),
    ]
    return [(Graph.of([x, b], [batch_norm(node)]), problem, spec) for node, problem, spec in before]


STUCK = ("read", "returned", "weight", "vector", "relu", "sub", "columns")


@st.composite
def mixtures(draw: st.DrawFn, most: int = 3) -> tuple[Graph, frozenset[Node]]:
    """Blocks in a row, and the norms among them that have to stay."""
    x = y = inp("x", "f32[1,2,3,2]")
    inputs, outputs, stuck = [x], [], []
    for k in range(draw(st.integers(1, most))):
        kind = draw(st.sampled_from(("plain", "bias", "plain", "bias", *STUCK)))
        w = inp(f"w{k}", "f32[2,2,1,1]") if kind == "weight" else weights((2, 2, 1, 1), k)
        conv = before = convolution(y, w)
        if kind in ("bias", "columns"):
            before = conv + weights((1, 2, 1, 1) if kind == "bias" else (2,), k + 5)
        before = relu(conv) if kind == "relu" else before
        before = conv - weights((1, 2, 1, 1)) if kind == "sub" else before
        y = norm = batch_norm(before, k, eps=0.1)
        if kind == "vector":
            place = draw(st.integers(1, 4))
            vector = inp(f"v{k}", "f32[2]")
            y = norm = norm.with_inputs([*norm.inputs[:place], vector, *norm.inputs[place + 1 :]])
            inputs.append(vector)
        inputs += [w] if kind == "weight" else []
        outputs += [conv] if kind == "returned" else []
        y = y + conv if kind == "read" else y
        y = relu(relu(y)) if draw(st.booleans()) else y
        stuck += [norm] if kind in STUCK else []
    return Graph.of(inputs, [y, *outputs], "mixture"), frozenset(stuck)
