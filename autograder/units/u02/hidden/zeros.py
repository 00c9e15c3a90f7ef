"""Hidden checks of unit 2: additions of zero, a pass manager and a rewriter, on drawn programs.

Next room: __init__.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.framework import Wrong, hidden
from autograder.check.properties import live_ops, valid_graph
from autograder.units.u02.checks import machinery, rules
from autograder.units.u02.checks.compare import smallest
from autograder.units.u02.checks.compared import differ, others_than, puts
from autograder.units.u02.checks.machinery import (
    AGAIN,
    EQUAL,
    EVERY,
    FIRST,
    RESULT,
    STOPS,
    ends,
)
from autograder.units.u02.checks.shared import same_bits
from autograder.units.u02.checks.zeros import BITS, COUNT, GOES, F, pairs
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import type_of
from course_lib.passes.clean.fixpoint import same_program

SEED = 20_642
SHAPE = (COUNT,)


def _drawn(rng: np.random.Generator, size: int) -> Graph:
    """A random program of sums, products and movements; every third addition is one of zero."""
    nodes: list[Node] = [inp(name, F) for name in "xy"]
    inputs = list(nodes)
    for _ in range(size):
        x, y = (nodes[int(k)] for k in rng.integers(max(0, len(nodes) - 6), len(nodes), 2))
        nodes.append(_operation(rng, x, y))
    outputs = [nodes[int(k)] for k in rng.integers(len(nodes) - 4, len(nodes), 2)]
    outputs = [apply("add", o, const(1.0)) if rng.random() < 0.7 else o for o in outputs]
    return Graph.of(inputs, outputs, "drawn")


def _operation(rng: np.random.Generator, x: Node, y: Node) -> Node:
    numbers = rng.choice(np.array([1, -2, 0.5, 0.0], np.float32), SHAPE)
    mixed = np.where(rng.random(SHAPE) < 0.1, np.float32(-0.0), numbers)
    makes: list[Any] = [
        *[lambda: apply("add", x, const(0.0))] * 5,
        *[lambda: apply("add", const(np.zeros(SHAPE, np.float32)), x)] * 2,
        *[lambda: apply("add", x, const(mixed))] * 2,
        *[lambda: apply("mul", x, const(numbers))] * 3,
        *[lambda: apply("add", x, y)] * 2,
        lambda: apply("mul", x, y),
        lambda: apply("max", x, y),
        lambda: apply("relu", x),
        lambda: apply("neg", x),
        lambda: apply("reshape", x, shape=SHAPE),
        lambda: apply("reciprocal", x),
        lambda: apply("div", x, y),
        lambda: apply("sub", x, const(mixed)),
        lambda: apply("sub", const(numbers), x),
        lambda: apply("mul", x, const(0.0)),
        lambda: apply("pow", x, const(float(rng.choice([2.0, 3.0, 1.0])))),
        lambda: apply(str(rng.choice(["sqrt", "tanh", "sign", "abs", "floor", "sin"])), x),
        lambda: apply("min", x, const(mixed)),
    ]
    return makes[int(rng.integers(len(makes)))]()


@hidden("u02.drop_zeros", seed=SEED, spec=[BITS, GOES])
def drops_zeros_of_drawn_programs(drop_zeros, rng):
    """On random programs no bit changes, and no more additions are left than ours leaves."""

    def one(graph: Graph) -> None:
        after = same_bits(graph, valid_graph(drop_zeros(graph), graph), spec=BITS, given=pairs)
        ours = slot("u02.drop_zeros").reference(graph)
        if len(live_ops(after)) > len(live_ops(ours)):
            raise Wrong("An addition of 0.0 is left that can go.", program=graph, got=after,
                        expected=ours, spec=GOES)  # fmt: skip

    for size in (4, 6, 8, *[12] * 20, *[25] * 12):
        smallest(one, _drawn(rng, size))
    return "35 random programs"


@hidden("u02.careful", seed=SEED, spec=[STOPS, RESULT])
def stops_in_drawn_lists(careful, rng):
    """Lists of good and of broken passes, in an order drawn for this run."""
    graph, inputs = machinery.programs()[0]
    bad = (machinery.turns_minus, machinery.doubles_the_last)
    good = (_anew, _turned)
    for _ in range(8):
        count = int(rng.integers(0, 5))
        passes = [good[int(k)] for k in rng.integers(0, 2, count)]
        if rng.random() < 0.7:
            passes += [bad[int(rng.integers(2))], _anew]
        wanted = slot("u02.careful").reference(graph, passes, inputs)
        got = careful(graph, passes, inputs)
        pair = isinstance(got, (tuple, list)) and len(got) == 2
        if not pair or got[1] != wanted[1] or not same_program(got[0], wanted[0]):
            names = ", ".join(one.__name__.strip("_") for one in passes) or "none"
            raise Wrong(f"The passes are: {names}. The first {wanted[1]} keep every output.",
                        program=graph, got=repr(got)[:400], spec=STOPS)  # fmt: skip
    return "12 lists of passes"


@hidden("u02.careful", seed=SEED, spec=[EVERY, EQUAL, STOPS])
def compares_drawn_results(careful, rng):
    """Programs of two to four outputs, with results drawn for this run, one of them another."""
    for _ in range(8):
        kinds = [
            str(kind) for kind in rng.choice(["f2", "f4", "f8", "i4", "i8"], rng.integers(2, 5))
        ]
        arrays = [_some(rng, kind) for kind in kinds]
        inputs = [inp(f"x{k}", type_of(a)) for k, a in enumerate(arrays)]
        graph = Graph.of(inputs, [apply("max", i, i) for i in inputs], "drawn")
        at = int(rng.integers(len(arrays)))
        differing = [(name, b) for name, b in others_than(arrays[at]) if differ(arrays[at], b)]
        name, other = differing[int(rng.integers(len(differing)))]
        good = [puts(k, a, "puts_the_same") for k, a in enumerate(arrays)][: int(rng.integers(3))]
        ends(careful, graph, [*good, puts(at, other, name), _anew], arrays, len(good), EVERY)
    return "programs with drawn results"


def _some(rng: np.random.Generator, kind: str) -> np.ndarray:
    """A few numbers; of floats, some are special."""
    count = int(rng.integers(2, 7))
    if kind[0] == "i":
        return rng.integers(-1000, 1000, count).astype(kind)
    special = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]), count)
    return np.where(rng.random(count) < 0.4, special, rng.normal(0, 10, count)).astype(kind)


def _anew(graph: Graph) -> Graph:
    return graph.rebuild(lambda node, inputs: None)


def _turned(graph: Graph) -> Graph:
    """x * y becomes y * x."""
    return graph.rebuild(
        lambda node, inputs: node.with_inputs(inputs[::-1] if node.op == "mul" else inputs)
    )


RULES = (
    rules.no_double_neg,
    rules.relu_to_tanh,
    rules.exp_to_negs,
    rules.mul_by_one,
    rules.two_to_three,
    rules.relu_to_integers,
    rules.mul_to_max,
)


@hidden("u02.apply_rules", seed=SEED, spec=[FIRST, AGAIN])
def rewrites_drawn_programs(apply_rules, rng):
    """Random programs, under random lists of rules, become what ours makes of them."""
    for _ in range(15):
        x = inp("x", "f32[4]")
        node: Node = x
        for _ in range(int(rng.integers(3, 12))):
            op = ("neg", "neg", "relu", "exp", "tanh", "mul")[int(rng.integers(6))]
            one = const((1.0, 1.0, 2.0, np.ones((2, 1), np.float32))[int(rng.integers(4))])
            node = node * one if op == "mul" else apply(op, node)
        graph = Graph.of([x], [node], "drawn")
        chosen = [RULES[int(k)] for k in rng.permutation(len(RULES))[: int(rng.integers(1, 6))]]
        after = valid_graph(apply_rules(graph, chosen), graph)
        ours = slot("u02.apply_rules").reference(graph, chosen)
        mine, theirs = (Graph.of(g.inputs, g.outputs, g.name) for g in (after, ours))
        if not same_program(mine, theirs):
            names = ", ".join(rule.__name__ for rule in chosen)
            raise Wrong(f"The rules are {names}.", program=graph, got=mine, expected=theirs,
                        spec=FIRST)  # fmt: skip
    return "15 random programs"
