"""What checks assert. Each function is silent or raises `Wrong` with all that a learner needs.

    same_meaning(graph, dce(graph))        # same outputs on random inputs, by the interpreter
    at_most(graph, dce(graph), 5)          # at most five operations are left

Next room: programs.py, the random graphs; autograder/units/u02/checks, where both are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong
from autograder.check.meaning import meaning_of
from autograder.check.shown import returned
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.verify import verify


def valid_graph(result: Any, before: Graph | None = None, *, spec: str = "") -> Graph:
    """`result` is a well-formed Graph, with the inputs and the output types of `before`."""
    if not isinstance(result, Graph):
        got = returned(None) if result is None else _kind(result)
        raise Wrong(
            "The function must return a Graph.",
            program=before,
            got=got,
            expected="a Graph",
            spec=spec,
        )
    try:
        verify(result)
    except ValueError as error:
        raise Wrong(
            f"The result must be a well-formed graph: {error}",
            program=before,
            got=result,
            spec=spec,
        ) from None
    if before is not None:
        for what in ("inputs", "outputs"):
            wanted, got = _types(getattr(before, what)), _types(getattr(result, what))
            if wanted != got:
                raise Wrong(
                    f"The result must have the {what} of the program, {wanted}. It has {got}.",
                    program=before,
                    got=result,
                    spec=spec,
                )
    return result


def same_meaning(
    before: Graph, result: Any, *, rtol: float = 1e-4, seed: int = 0, spec: str = ""
) -> Graph:
    """`result` computes what `before` computes, on random inputs, to a relative tolerance."""
    after = valid_graph(result, before, spec=spec)
    meaning = meaning_of(before, random_inputs, seed)
    try:
        got = meaning.outputs_of(after)
    except Exception as error:  # whatever numpy makes of it
        raise Wrong(
            f"The result cannot be run: {error}", program=before, got=after, spec=spec
        ) from None
    for node, mine, ours in zip(after.outputs, got, meaning.outputs, strict=True):
        if mine is not ours and not close(mine, ours, rtol):
            name = value_names(after)[node]
            raise Wrong(
                f"The result must compute what the program computes, but %{name} differs. "
                f"{_first_difference(mine, ours, rtol)}",
                program=before,
                got=after,
                marked=(name,),
                spec=spec,
            )
    return after


def at_most(
    before: Graph,
    after: Graph,
    bound: int,
    unit: str = "operations",
    *,
    count: Callable[[Graph], int] = lambda graph: len(graph.ops),
    spec: str = "",
) -> None:
    """`after` has at most `bound` of what `count` counts."""
    got = count(after)
    if got > bound:
        raise Wrong(
            f"At most {bound} of {count(before)} {unit} may be left; here are {got}.",
            program=before,
            got=after,
            spec=spec,
        )


def number(
    got: Any, expected: float, *, unit: str, rtol: float = 0.02, shown: bool = False, spec: str = ""
) -> None:
    """A number in `unit` within a relative tolerance. `shown`: tell the right one."""
    value = a_number(got, unit=unit)
    if not math.isclose(value, expected, rel_tol=rtol, abs_tol=1e-12):
        side = _side(value, expected)
        raise Wrong(
            f"The number must be right {_exactness(rtol)}: {value:.6g} {unit} is {side}.",
            got=f"{value:.6g} {unit}",
            expected=f"{expected:.6g} {unit}" if shown else "",
            spec=spec,
        )


def raises(
    wanted: type[Exception],
    call: Callable[[], Any],
    problem: str,
    *,
    program: Any = None,
    spec: str = "",
    called: str = "",
    says: str = "",
) -> None:
    """`call()`, a call of the answer, raises this exception or one made of it. `problem` says when
    and why, in a sentence; what came instead is added. `called` is what the student has to raise,
    where the library makes another exception of it. `says` is a line of its message."""
    expected = called or wanted.__name__
    try:
        result = call()
    except Crashed as error:
        if wanted.__name__ in error.kinds:
            if not says or says in map(str.strip, error.error.splitlines()):
                return
            expected = f"{expected}, {says}"
        raise Wrong(
            problem, program=program, got=error.error, expected=expected, spec=spec
        ) from None
    got = result if isinstance(result, Graph) else _kind(result)
    raise Wrong(
        f"{problem} Yours raised nothing.",
        program=program,
        got=got,
        expected=expected,
        spec=spec,
    )


@contextmanager
def recursion_ends(program: Any, spec: str) -> Iterator[None]:
    """A call in this block that recurses too deep is told so, if `spec` speaks of recursion."""
    try:
        yield
    except Crashed as error:
        if "RecursionError" not in error.kinds or "recursion" not in spec:
            raise
        problem = "Python's recursion ends at a thousand calls."
        raise Wrong(problem, program=program, got=error.error, spec=spec) from None


def a_number(got: Any, *, unit: str, program: Any = None) -> float:
    """One finite number, whatever numpy or Python calls its type. `program` is the call."""
    problem = f"The answer must be one number, in {unit}."
    if got is None:
        raise Wrong(problem, program=program, got=returned(None))
    try:
        value = float(np.asarray(got, dtype=np.float64).reshape(()))
    except (TypeError, ValueError, OverflowError):
        raise Wrong(problem, program=program, got=_kind(got)) from None
    if not math.isfinite(value):
        problem = f"The answer must be a finite number, in {unit}."
        raise Wrong(problem, program=program, got=str(value))
    return value


def live(graph: Graph) -> list[Node]:
    """The nodes that the outputs need, without the inputs."""
    return [n for n in topological_order(graph.outputs) if n.op != "input"]


def live_ops(graph: Graph) -> list[Node]:
    """The operations that the outputs need; constants are none."""
    return [n for n in live(graph) if n.op != "constant"]


def random_inputs(graph: Graph, seed: int = 0) -> list[np.ndarray]:
    """Small numbers of the right types, zero and negative ones among them."""
    rng = np.random.default_rng(seed)
    arrays = []
    for node in graph.inputs:
        values = rng.integers(-8, 9, node.type.dims) / 4
        if not node.type.dtype.is_float:
            values = np.abs(np.round(values))
        arrays.append(values.astype(node.type.dtype.numpy))
    return arrays


def close(got: np.ndarray, expected: np.ndarray, rtol: float) -> bool:
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    finite = np.abs(expected[np.isfinite(expected)]) if expected.dtype.kind == "f" else expected
    scale = float(np.max(finite, initial=0)) if expected.dtype.kind == "f" else 0
    return np.allclose(got, expected, rtol=rtol, atol=rtol * scale, equal_nan=True)


def _types(nodes: Sequence[Node]) -> str:
    return ", ".join(str(n.type) for n in nodes)


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}: {repr(value)[:200]}"


def _exactness(rtol: float) -> str:
    return f"within {100 * rtol:g} %" if rtol else "exactly"


def _side(value: float, expected: float) -> str:
    return "too small" if value < expected else "too large"


def _first_difference(got: np.ndarray, expected: np.ndarray, rtol: float) -> str:
    if got.shape != expected.shape:
        return f"Its shape is {got.shape}, expected {expected.shape}."
    apart = ~np.isclose(got, expected, rtol=rtol, equal_nan=True)
    where = tuple(int(i) for i in np.argwhere(apart)[0]) if apart.any() else ()
    if not apart.any() or not where:
        return f"It is {got.reshape(-1)[:1]}, expected {expected.reshape(-1)[:1]}."
    return f"At {list(where)} it is {got[where]!s}, expected {expected[where]!s}."
