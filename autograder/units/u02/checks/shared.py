"""What the checks of unit 2 share: the same bits, at most so many operations, nothing to do.

    same_bits(before, fold(before))     # also on -0.0, infinity and NaN
    becomes(cse, before, wanted, ...)   # as few live nodes as `wanted`
    stays(cse, before, ...)             # no operation may go

Dead nodes that a pass leaves behind or sweeps away never count. Next room: cleaning.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong
from autograder.check.meaning import meaning_of
from autograder.check.properties import live, live_ops, same_meaning, valid_graph
from course_lib.ir.graph.graph import Graph, value_names

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.1, 1e-30, -1e-30, 1e30, np.inf, -np.inf, np.nan)


def special_inputs(graph: Graph) -> list[np.ndarray]:
    """Signed zeros, infinities and NaN in every input, in another order in each."""
    rng = np.random.default_rng(7)
    arrays = []
    for node in graph.inputs:
        if node.type.dtype.is_float:
            values = rng.choice(np.array(SPECIAL), node.type.dims)
        else:
            values = rng.integers(0, 2 if node.type.dtype.kind == "bool" else 9, node.type.dims)
        arrays.append(values.astype(node.type.dtype.numpy))
    return arrays


def same_bits(before: Graph, result: Any, *, spec: str = "") -> Graph:
    """`result` computes exactly what `before` computes, also on -0.0, infinity and NaN."""
    after = same_meaning(before, result, spec=spec)
    meaning = meaning_of(before, special_inputs)
    for node, got, expected in zip(
        after.outputs, meaning.outputs_of(after), meaning.outputs, strict=True
    ):
        if got is expected:
            continue
        apart = ~equal_bits(got, expected)
        if apart.any():
            at = tuple(int(i) for i in np.argwhere(apart)[0])
            given = ", ".join(
                f"%{i.name} = {_as_list(v)}"
                for i, v in zip(before.inputs, meaning.inputs, strict=True)
            )
            raise Wrong(
                f"The result is the same bit for bit. Here {_place(at)}it is {got[at]!s} "
                f"instead of {expected[at]!s}, for {given}.",
                program=before,
                got=after,
                marked=(value_names(after)[node],),
                spec=spec,
            )
    return after


def equal_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elementwise; NaN equals NaN, and 0.0 is not -0.0."""
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    return np.asarray(((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b)))


def _as_list(array: np.ndarray) -> str:
    text = np.array2string(array, separator=", ", threshold=8)
    return " ".join(text.split())


def _place(at: tuple[int, ...]) -> str:
    return f"at {list(at)} " if at else ""


def becomes(implementation: Any, before: Graph, wanted: Graph, problem: str, spec: str) -> None:
    """On `before` the pass leaves at most the operations and constants that `wanted` has."""
    after = same_bits(before, implementation(before), spec=spec)
    for count in (live_ops, live):
        if len(count(after)) > len(count(wanted)):
            raise Wrong(problem, program=before, got=after, expected=wanted, spec=spec)


def stays(implementation: Any, before: Graph, problem: str, spec: str) -> None:
    """The pass leaves the operations of `before` alone."""
    after = valid_graph(implementation(before), before, spec=spec)
    if sorted(n.op for n in live_ops(after)) != sorted(n.op for n in live_ops(before)):
        raise Wrong(problem, program=before, got=after, expected=before, spec=spec)
    same_bits(before, after, spec=spec)


def on_deep(implementation: Any, graph: Graph) -> Graph:
    """What a pass makes of a long chain; a crash says what the program was."""
    try:
        return valid_graph(implementation(graph), graph)
    except Crashed as error:
        error.program = f"{len(graph.ops):,} operations, a long chain of relu among them"
        raise
