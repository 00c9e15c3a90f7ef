"""What the checks of unit 2 share: the same bits, at most so many operations, nothing to do.

    same_bits(before, fold(before))     # also on -0.0, infinity and NaN
    becomes(cse, before, wanted, ...)   # as few live nodes as `wanted`
    stays(cse, before, ...)             # no operation may go

Dead nodes that a pass leaves behind or sweeps away never count. Next room: dead.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.check import plugs
from autograder.check.cases import for_each
from autograder.check.framework import Crashed, TimedOut, Wrong, checks
from autograder.check.meaning import meaning_of
from autograder.check.properties import (
    close,
    live,
    live_ops,
    random_inputs,
    same_meaning,
    valid_graph,
)
from autograder.check.steps import with_steps
from course_lib.compiler import compile
from course_lib.ir.graph.build import neg, relu, reshape, softmax, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import DType
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.infra.manager import PassError
from course_lib.passes.prepare.decompose import decompose

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.1, 1e-30, -1e-30, 1e30, np.inf, -np.inf, np.nan)


def special_inputs(graph: Graph) -> list[np.ndarray]:
    """Signed zeros, infinities and NaN in every input, in another order in each."""
    rng = np.random.default_rng(7)
    arrays = []
    for node in graph.inputs:
        kind = node.type.dtype
        values = rng.choice(np.array(SPECIAL) if kind.is_float else _whole(kind), node.type.dims)
        with np.errstate(over="ignore"):  # 1e30 is infinite as an f16
            arrays.append(values.astype(node.type.dtype.numpy))
    return arrays


def _whole(kind: DType) -> np.ndarray:
    """0 to 8, and the least and the greatest number of the type."""
    if kind.kind == "bool":
        return np.array([False, True])
    info = np.iinfo(kind.numpy)
    return np.array([*range(9), info.min, info.max], kind.numpy)


def same_bits(before: Graph, result: Any, *, spec: str = "", given: Any = special_inputs) -> Graph:
    """`result` computes exactly what `before` computes, also on -0.0, infinity and NaN.

    `given(graph)` makes the inputs on which every bit is compared.
    """
    after = same_meaning(before, result, spec=spec)
    meaning = meaning_of(before, given)
    rows = zip(after.outputs, meaning.outputs_of(after), meaning.outputs, strict=True)
    for node, got, expected in rows:
        if got is expected or (same := equal_bits(got, expected)).all():
            continue
        at = tuple(np.argwhere(~same)[0].tolist())
        inputs = zip(before.inputs, meaning.inputs, strict=True)
        given = ", ".join(f"%{i.name} = {_as_list(v)}" for i, v in inputs)
        raise Wrong(
            f"The result must be the same bit for bit, but {f'at {list(at)} ' * bool(at)}it is "
            f"{got[at]!s} instead of {expected[at]!s}, for {given}.",
            program=before, got=after, marked=(value_names(after)[node],), spec=spec,
        )  # fmt: skip
    return after


def equal_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elementwise; NaN equals NaN, and 0.0 is not -0.0."""
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    return np.asarray(((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b)))


def _as_list(array: np.ndarray) -> str:
    text = np.array2string(array, separator=", ", threshold=8)
    return " ".join(text.split())


def becomes(
    implementation: Any, before: Graph, wanted: Graph, problem: str, spec: str,
    given: Any = special_inputs,
) -> None:  # fmt: skip
    """On `before` the pass leaves at most the operations and constants that `wanted` has."""
    after = same_bits(before, implementation(before), spec=spec, given=given)
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
    """What a pass makes of a long chain; a crash and a time-out say what the program was."""
    try:
        return valid_graph(implementation(graph), graph)
    except (Crashed, TimedOut) as error:
        error.program = error.program or f"{len(graph.ops):,} operations, many of them in a chain"
        raise


Large = tuple[Callable[[], Graph], int, str, str, int, str]


def takes_large(slot: str, rows: list[Large], counted: Any = live_ops) -> None:
    """Register a check with programs of many operations, or of many paths.

    A row: a function that makes the program, the steps that it may take (0: any), what it is, why
    it might take more, how many operations are left, and words of the specification."""
    graph_of = functools.cache(lambda make: make())

    @for_each(slot, rows, "{} large programs" if len(rows) > 1 else "a large program")
    def takes_large_programs(
        implementation: Any, make: Any, steps: int, what: str, why: str, count: int, spec: str
    ) -> None:
        """Long chains and values with many users, in few steps."""
        graph = graph_of(make)
        few = with_steps(implementation, steps, what, why) if steps else implementation
        after = on_deep(few, graph)
        if len(counted(after)) != count:
            problem = f"Of {len(graph.ops):,} operations, {count:,} must be left."
            raise Wrong(problem, program=what, spec=spec)


@functools.cache
def doubled_often(times: int = 60) -> Graph:
    """x + x, that added to itself, and so on: 2**60 paths lead from the output to the input."""

    def doubled(x: Node) -> Node:
        for _ in range(times):
            x = x + x
        return x

    return trace(doubled, "f32[2]")


def compiles(slot: str, spec: str) -> None:
    """Register the check of a pass at its place in the compiler."""
    name = slot.rpartition(".")[2]

    def check(implementation: Any) -> str:
        in_the_compiler(slot, implementation)
        return "programs compiled with your function"

    check.__name__ = f"{name}_works_in_the_compiler"
    check.__doc__ = f"Compiled with your {name}, a program computes what it computed."
    checks(slot, spec=spec)(check)


def in_the_compiler(name: str, answer: Any, program: Graph | None = None) -> Graph:
    """A small network, compiled with `answer` in the slot `name`, computes what it computed.

    Returns the compiled graph.
    """
    graph = _network() if program is None else program
    inputs = random_inputs(graph)
    try:
        with plugs.in_the_compiler(name, answer):
            passes = [decompose, fold, simplify, strength, cse, dce]
            model = compile(graph, target="interpreter", passes=passes)
    except PassError as error:
        if isinstance(error.__cause__, (Crashed, Wrong)):
            raise error.__cause__ from None
        problem = f"The compiler must be able to run with this answer. {error}"
        raise Wrong(problem, program=graph) from None
    results = model.run(inputs)
    for node, got, expected in zip(graph.outputs, results, run(graph, inputs), strict=True):
        if not close(got, expected, 1e-5):
            problem = "Compiled with this answer, the program computes something else: "
            problem += f"%{value_names(graph)[node]} differs."
            raise Wrong(problem, program=graph, got=model.graph)
    return model.graph


@functools.cache
def _network() -> Graph:
    """Batch norm, attention's division and softmax, integers, two outputs that are equal."""
    trained = np.linspace(0.5, 1.5, 8, dtype=np.float32).reshape(4, 2)

    def network(x: Node, k: Node) -> tuple[Node, ...]:
        y = relu(apply("batch_norm", x, *trained))
        z = softmax(reshape(neg(neg(y)) * 1.0, (1, 8)) / 8.0)
        return z, k * 1 + (k - k), y + y, y + y

    return trace(network, "f32[1,2,2,2]", "i32[3]")
