"""Checks of unit 2 for the pass manager: results that differ in one element, and some that do not.

    [nan, inf, 1.5]  ->  [nan, nan, 1.5]        # a broken pass
    [0.0, nan, 1.5]  ->  [-0.0, nan, 1.5]       # a good one

Next room: rules.py, the rules for the rewriter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.check.framework import checks
from autograder.units.u02.checks.machinery import COMPARED, EQUAL, EVERY, STOPS, ends, of_outputs
from course_lib.ir.graph.build import abs, neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import const

Pass = Callable[[Graph], Graph]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, 1.5, -2.0, 3.0])


def puts(output: int, values: np.ndarray, name: str) -> Pass:
    """A pass that returns these numbers as that output."""
    return of_outputs(name, lambda *o: (*o[:output], const(values), *o[output + 1 :]))


def drops_relu(graph: Graph) -> Graph:
    """relu(x) -> x: right wherever x is not negative."""
    return graph.rebuild(lambda node, inputs: inputs[0] if node.op == "relu" else None)


swaps_outputs = of_outputs("swaps_outputs", lambda *o: (o[1], o[0], *o[2:]))


def others_than(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Arrays of which most differ from this one in one element, and what was done."""
    for at in sorted({0, values.size // 2, values.size - 1}):
        yield "adds_one", _with(values, at, values[at] + 1 if values[at] == values[at] else 1)
    yield "reverses", values[::-1].copy()
    if values.dtype.kind != "f":
        return
    most, upwards = np.finfo(values.dtype).max, values.dtype.type(np.inf)
    for at in range(values.size):
        for name, number in (("nan", np.nan), ("inf", np.inf), ("zero", 0.0),
                             ("the_largest", most)):  # fmt: skip
            yield f"puts_{name}", _with(values, at, number)
        if np.isfinite(values[at]):
            yield "puts_the_next_number", _with(values, at, np.nextafter(values[at], upwards))
        yield "turns_the_sign", _with(values, at, -values[at])
        yield "swaps_two_numbers", _with(values, [at - 1, at], values[[at, at - 1]])


def _with(values: np.ndarray, at: Any, number: Any) -> np.ndarray:
    other = values.copy()
    other[at] = number
    return other


def differ(a: np.ndarray, b: np.ndarray) -> bool:
    return not np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _unlike(kind: str) -> tuple[Graph, list[np.ndarray], list[np.ndarray]]:
    """A program of three outputs, its inputs, and the first two outputs."""
    with np.errstate(invalid="ignore"):
        x = SPECIAL.astype(kind) if kind[0] == "f" else np.arange(-3, 4).astype(kind)
    name = {"f4": "f32", "f8": "f64", "i8": "i64"}[kind]
    graph = trace(lambda x: (neg(x), abs(x), relu(x)), f"{name}[{x.size}]")
    return graph, [x], [-x, np.abs(x)]


@checks("u02.careful", spec=[EVERY, COMPARED])
def sees_every_element(careful):
    """An output in which one element is another: a NaN, an infinity, the next number, a sign.

    Each of the four outputs of floats has every sixth of the changes, from another one on."""
    count = 0
    for turn, (kind, output) in enumerate(itertools.product(("f4", "f8", "i8"), (0, 1))):
        graph, inputs, results = _unlike(kind)
        others = [o for o in others_than(results[output]) if differ(results[output], o[1])]
        for name, other in others[turn % 4 :: 6] if kind[0] == "f" else others:
            ends(careful, graph, [puts(output, other, name)], inputs, 0, EVERY)
            count += 1
    return f"{count} results that differ in one element"


@checks("u02.careful", spec=[EQUAL, STOPS, COMPARED])
def compares_on_the_inputs_it_is_given(careful):
    """What is right on these inputs is good, and what is wrong on them is not."""
    for kind in ("f4", "f8", "i8"):
        graph, inputs, (first, _) = _unlike(kind)
        same = -(inputs[0] + 0) if kind == "i8" else np.where(first == 0, -first, first)
        ends(careful, graph, [puts(0, same, "puts_the_same")], inputs, 1, EQUAL)
        moved = first[[1, 0, *range(2, first.size)]]  # a NaN, among the floats
        ends(careful, graph, [puts(0, moved, "swaps_two_numbers")], inputs, 0, EVERY)
        ends(careful, graph, [drops_relu], inputs, 0, COMPARED)
        ends(careful, graph, [swaps_outputs], inputs, 0, EVERY)
        ends(careful, graph, [drops_relu], [np.abs(inputs[0])], 1, COMPARED)
    twice = trace(lambda x, y: (relu(x), y + y + y, relu(y)), "f32[2]", "f32[2]")
    given = [np.array([1, 2], np.float32), np.array([3, -4], np.float32)]
    ends(careful, twice, [drops_relu], given, 0, EVERY)
    return "the given inputs, and no others"
