"""A model is one function of machine code, and numpy's steps cut it."""

from typing import Any

import numpy as np
import pytest

from course_lib.compiler import compile
from course_lib.cost import work
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const, inp

RNG = np.random.default_rng(8)


def weights(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def perceptron() -> Graph:
    layers = [weights(96, 96) for _ in range(4)]

    def net(x):
        for w in layers:
            x = relu(x @ const(w))
        return x

    return trace(net, "f32[64,96]")


def test_a_model_is_one_call() -> None:
    compiled: Any = compile(perceptron(), threads=1)
    (entry,) = compiled.code.entries
    assert (entry.first, entry.last) == (0, 4)
    text, _ = compiled.code.modules["entries"]
    assert text.count("define") == 1 and "run_parallel" not in text


def test_only_what_is_worth_it_asks_for_help(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for least in (0, 10**12):
        monkeypatch.setattr(work, "WORTH_A_THREAD", least)
        compiled: Any = compile(perceptron(), threads=2)
        text, _ = compiled.code.modules["entries"]
        asked.append(text.count('call i64 @"course_lib.run_parallel"'))
    assert asked == [4, 0]


def test_steps_that_numpy_runs_stand_between_two_functions() -> None:
    x = inp("x", "f32[6,6]")
    order = apply("argsort", relu(x), axis=1)
    graph = Graph.of([x], [relu(order), relu(x)], "sorted")
    compiled: Any = compile(graph)
    numbers = [n for n, step in enumerate(compiled.program.steps) if step.kernel is None]
    assert numbers == [1] and [(e.first, e.last) for e in compiled.code.entries] == [
        (0, 1),
        (2, 3),
    ]
    a = weights(6, 6)
    for got, want in zip(compiled(a), run(graph, [a]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_step_that_meets_a_wrong_index_is_named_and_the_next_call_is_right() -> None:
    x, i, j = inp("x", "f32[9,4]"), inp("i", "i64[5]"), inp("j", "i64[3]")
    first = relu(apply("gather", x, i, axis=0))
    second = apply("gather", first, j, axis=0)
    graph = Graph.of([x, i, j], [relu(second)], "twice")
    compiled = compile(graph)
    a = weights(9, 4)
    good = [a, np.array([0, 8, 3, 3, 1]), np.array([4, 0, 2])]
    want = run(graph, good)[0]
    np.testing.assert_array_equal(compiled(*good), want)
    with pytest.raises(IndexError, match="9"):
        compiled(a, np.array([0, 9, 3, 3, 1]), good[2])
    with pytest.raises(IndexError, match="5"):
        compiled(a, good[1], np.array([4, 5, 2]))
    np.testing.assert_array_equal(compiled(*good), want)
