"""Checks of unit 2 for common subexpressions. Next room: match.py."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, graphs
from autograder.check.properties import live_ops, same_meaning
from autograder.units.u02.checks.shared import becomes, on_deep, same_bits, stays
from course_lib.ir.graph.build import cast, neg, relu, softmax, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.infra.match import COMMUTATIVE


@checks("passes.cse")
def cse_keeps_apart_what_differs(cse):
    """Different constants, attributes, orders and inputs are different values."""
    for before, problem, spec in _DIFFERENT:
        stays(cse, before, problem, spec)
    return f"{len(_DIFFERENT)} pairs that only look equal"


@checks("passes.cse")
def cse_merges_what_is_equal(cse):
    """Equal chains, operands in either order, constants with the same bytes."""
    for before, wanted, problem, spec in _EQUAL:
        becomes(cse, before, wanted, problem, spec)
    return f"{len(_EQUAL)} pairs that are equal"


@checks("passes.cse", given=graphs(size=8), examples=40)
def cse_keeps_every_bit(cse, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(
        graph, cse(graph), spec="Two nodes are equal if they have the same op, equal operands"
    )


@checks(
    "passes.cse",
    given=graphs(size=5, repeats=False),
    examples=40,
    spec="two equal chains merge all along",
)
def cse_merges_a_program_with_its_copy(cse, graph):
    """A program that computes everything twice is left with each operation once."""
    twice = _doubled(graph, turned=False)
    _once(cse, twice, len(graph.ops))


@checks(
    "passes.cse", given=graphs(size=5, repeats=False), examples=40, spec="may stand in either order"
)
def cse_merges_operands_in_either_order(cse, graph):
    """The same, with the operands of commutative operations the other way round in the copy."""
    twice = _doubled(graph, turned=True)
    _once(cse, twice, len(graph.ops))


@checks("passes.cse")
def cse_may_merge_outputs(cse):
    """Two outputs that are equal are one value, returned twice."""
    before = trace(lambda x: (relu(x), relu(x)), "f32[4]")
    after = same_bits(before, cse(before))
    if len(live_ops(after)) != 1 or len(after.outputs) != 2:
        raise Wrong(
            "One relu is left, and it is returned twice.",
            program=before,
            got=after,
            spec="Outputs may be: both then return the same node",
        )
    return "equal outputs"


@checks("passes.cse", spec="in one walk from the inputs")
def cse_takes_deep_programs(cse):
    """1,200 operations in a row, twice."""
    twice = _doubled(deep(1200), turned=False)
    if len(live_ops(on_deep(cse, twice))) != 1200:
        raise Wrong("Of 2,400 operations 1,200 are left.", program="two equal chains of 1,200 relu")
    return "two rows of 1,200 operations"


@functools.lru_cache(maxsize=1000)
def _doubled(graph: Graph, turned: bool) -> Graph:
    """Every operation a second time; both versions of each output are returned."""
    copy: dict[Node, Node] = {n: n for n in graph.nodes if n.op in ("input", "constant")}
    nodes = list(graph.nodes)
    for node in graph.ops:
        inputs = [copy[i] for i in node.inputs]
        if turned and node.op in COMMUTATIVE:
            inputs.reverse()
        copy[node] = apply(node.op, *inputs, **node.attrs)
        nodes.append(copy[node])
    outputs = (*graph.outputs, *(copy[n] for n in graph.outputs))
    return Graph(graph.name, graph.inputs, tuple(nodes), outputs)


def _once(cse: Any, twice: Graph, bound: int) -> None:
    after = same_meaning(twice, cse(twice))
    half = len(after.outputs) // 2
    for first, second in zip(after.outputs[:half], after.outputs[half:], strict=True):
        if first is not second:
            names = value_names(after)
            raise Wrong(
                f"Every operation stands here twice, so at most {bound} of {len(twice.ops)} are "
                f"left. %{names[first]} and %{names[second]} are still two.",
                program=twice,
                got=after,
                marked=(names[second],),
            )


F = "f32[4]"
_LONG = np.where(np.arange(2000) == 999, 2.0, 1.0).astype(np.float32)
_EQUAL_CONSTANTS = "Constants are equal if they have the same element type, shape and *bytes*"

# Programs that cse must shorten: (program, at most so long, why, words of the specification).
_EQUAL = [
    (
        trace(lambda x: neg(relu(x)) * neg(relu(x)), F),
        trace(lambda x: (y := neg(relu(x))) * y, F),
        "Both chains are the same value: once the relu are one node, so are the neg.",
        "two equal chains merge all along",
    ),
    (
        trace(lambda x, y: (x + y) * (y + x), F, F),
        trace(lambda x, y: (z := x + y) * z, F, F),
        "x + y is y + x.",
        "may stand in either order",
    ),
    (
        trace(lambda x: (x * const(2.0)) + (x * const(2.0)), F),
        trace(lambda x: (y := x * 2.0) + y, F),
        "The two constants hold the same bytes, so both products are the same value.",
        _EQUAL_CONSTANTS,
    ),
]

# Programs that cse must leave alone: (program, why, words of the specification).
_DIFFERENT = [
    (
        trace(lambda x, y: (x - y) * (y - x), "f32[4]", "f32[4]"),
        "x - y is not y - x.",
        "`sub`, `div`, `matmul` are not commutative",
    ),
    (
        trace(lambda x: softmax(x, 0) + softmax(x, 1), "f32[4,4]"),
        "softmax along axis 0 is not softmax along axis 1.",
        "Attributes count: softmax along axis 0 is not softmax along axis 1",
    ),
    (
        trace(lambda x: (x + const(0.0)) * (x + const(-0.0)), "f32[4]"),
        "0.0 == -0.0 is True, and x + 0.0 is not x + -0.0.",
        "-0.0 == 0.0 (but 1/x tells them apart)",
    ),
    (
        trace(lambda x: (x * const([1.0, 2.0])) + (x * const([1.0, 3.0])), "f32[2]"),
        "The constants [1.0, 2.0] and [1.0, 3.0] differ.",
        _EQUAL_CONSTANTS,
    ),
    (
        trace(lambda x: (x * const(_LONG)) + (x * const(_LONG[::-1])), "f32[2000]"),
        "The constants differ in two of 2,000 elements; str(array) shows neither of them.",
        _EQUAL_CONSTANTS,
    ),
    (
        trace(lambda x: cast(x * const(np.int32(1)), "f32") * const(1.0), "i32[4]"),
        "1 : i32 and 1.0 : f32 are different constants.",
        "The numbers 1 : i32 and 1.0 : f32 are different constants",
    ),
    (
        trace(lambda x, y: relu(x) * relu(y), "f32[4]", "f32[4]"),
        "Two inputs of one type are two values.",
        "Inputs are never merged with each other",
    ),
]
