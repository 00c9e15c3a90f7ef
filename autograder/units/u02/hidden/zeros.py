"""Hidden checks of unit 2: additions of zero, a pass manager and a rewriter, on drawn programs.

Next room: programs.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.check.framework import Wrong, hidden
from autograder.check.properties import live_ops, valid_graph
from autograder.units.u02.checks import machinery, rules
from autograder.units.u02.checks.compare import smallest
from autograder.units.u02.checks.compared import differ, others_than, puts
from autograder.units.u02.checks.machinery import AGAIN, EQUAL, EVERY, FIRST, STOPS, anew, ends
from autograder.units.u02.checks.shared import same_bits
from autograder.units.u02.checks.zeros import BITS, COUNT, GOES, F, pairs
from autograder.units.u02.hidden.programs import pick
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
        numbers = rng.choice(np.array([1, -2, 0.5, 0.0], np.float32), SHAPE)
        mixed = np.where(rng.random(SHAPE) < 0.1, np.float32(-0.0), numbers)
        x, y = (pick(rng, nodes[-6:]) for _ in range(2))
        nodes.append(pick(rng, STEPS)(rng, x, y, numbers, mixed))
    outputs = [pick(rng, nodes[-4:]) for _ in range(2)]
    outputs = [apply("add", o, const(1.0)) if rng.random() < 0.7 else o for o in outputs]
    return Graph.of(inputs, outputs, "drawn")


# What becomes of two values x and y, with numbers n, and with numbers m of which some are -0.0.
STEPS: list[Callable[..., Node]] = [
    *[lambda rng, x, y, n, m: apply("add", x, const(0.0))] * 5,
    *[lambda rng, x, y, n, m: apply("add", const(np.zeros(SHAPE, np.float32)), x)] * 2,
    *[lambda rng, x, y, n, m: apply("add", x, const(m))] * 2,
    *[lambda rng, x, y, n, m: apply("mul", x, const(n))] * 3,
    *[lambda rng, x, y, n, m: apply("add", x, y)] * 2,
    *(lambda rng, x, y, n, m, op=op: apply(op, x, y) for op in ("mul", "max", "div")),
    *(lambda rng, x, y, n, m, op=op: apply(op, x) for op in ("relu", "neg", "reciprocal")),
    *(lambda rng, x, y, n, m, op=op: apply(op, x, const(m)) for op in ("sub", "min")),
    lambda rng, x, y, n, m: apply("reshape", x, shape=SHAPE),
    lambda rng, x, y, n, m: apply("sub", const(n), x),
    lambda rng, x, y, n, m: apply("mul", x, const(0.0)),
    lambda rng, x, y, n, m: apply("pow", x, const(pick(rng, (2.0, 3.0, 1.0)))),
    lambda rng, x, y, n, m: apply(
        pick(rng, ("sqrt", "tanh", "sign", "abs", "floor", "sin")), x),
]  # fmt: skip


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


@hidden("u02.careful", seed=SEED, spec=[STOPS, machinery.RESULT])
def stops_in_drawn_lists(careful, rng):
    """Lists of good and of broken passes, in an order drawn for this run."""
    graph, inputs = machinery.programs()[0]
    bad = (machinery.turns_minus, machinery.doubles_the_last)
    for _ in range(8):
        passes = [pick(rng, (anew, _turned)) for _ in range(int(rng.integers(0, 5)))]
        good = len(passes)
        if rng.random() < 0.7:
            passes += [pick(rng, bad), anew]
        ends(careful, graph, passes, inputs, good, STOPS)
    return "8 lists of passes"


@machinery.each_node
def _turned(node: Node, inputs: tuple[Node, ...]) -> Node | None:
    """x * y becomes y * x."""
    return node.with_inputs(inputs[::-1]) if node.op == "mul" else None


@hidden("u02.careful", seed=SEED, spec=[EVERY, EQUAL, STOPS])
def compares_drawn_results(careful, rng):
    """Programs of two to four outputs, with results drawn for this run, one of them another."""
    for _ in range(8):
        kinds = rng.choice(["f2", "f4", "f8", "i4", "i8"], rng.integers(2, 5))
        arrays = [_some(rng, str(kind)) for kind in kinds]
        inputs = [inp(f"x{k}", type_of(a)) for k, a in enumerate(arrays)]
        graph = Graph.of(inputs, [apply("max", i, i) for i in inputs], "drawn")
        at = int(rng.integers(len(arrays)))
        name, other = pick(rng, [o for o in others_than(arrays[at]) if differ(arrays[at], o[1])])
        good = [puts(k, a, "puts_the_same") for k, a in enumerate(arrays)][: int(rng.integers(3))]
        ends(careful, graph, [*good, puts(at, other, name), anew], arrays, len(good), EVERY)
    return "programs with drawn results"


def _some(rng: np.random.Generator, kind: str) -> np.ndarray:
    """A few numbers; of floats, some are special."""
    count = int(rng.integers(2, 7))
    if kind[0] == "i":
        return rng.integers(-1000, 1000, count).astype(kind)
    special = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]), count)
    return np.where(rng.random(count) < 0.4, special, rng.normal(0, 10, count)).astype(kind)


RULES = (rules.no_double_neg, rules.relu_to_tanh, rules.exp_to_negs, rules.mul_by_one,
         rules.two_to_three, rules.relu_to_integers, rules.mul_to_max)  # fmt: skip


@hidden("u02.apply_rules", seed=SEED, spec=[FIRST, AGAIN])
def rewrites_drawn_programs(apply_rules, rng):
    """Random programs, under random lists of rules, become what ours makes of them."""
    for _ in range(15):
        node = x = inp("x", "f32[4]")
        for _ in range(int(rng.integers(3, 12))):
            op = pick(rng, ("neg", "neg", "relu", "exp", "tanh", "mul"))
            one = const(pick(rng, (1.0, 1.0, 2.0, np.ones((2, 1), np.float32))))
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
