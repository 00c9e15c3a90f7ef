"""Whatever an answer returns, the answer is judged: "the checker failed" is never said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.check.answer import Answer
from autograder.check.framework import Check, Crashed, Stop, Unusable, Wrong, checks_of
from autograder.check.here import crashed
from autograder.check.judging import _failed, blamed, perform
from autograder.check.verdict import GRADER, PASSED, Verdict
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.wire.codec import Codec, Unsendable
from course_lib import exercises
from course_lib.exercises import slot
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import const, inp

NAMES = [name for source in sources(COURSE / "notebooks") for name in source.exercises()]
JUDGED = [name for name in NAMES if slot(name).kind != "explain"]


class Hostile:
    """Nothing that one may ask of a value works."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparing")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __str__ = __repr__


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def _raise(error: BaseException) -> Any:
    raise error


def other_inputs() -> Graph:
    return trace(lambda a, b: a * b, "i64[3]", "i64[3]")


def broken_graph() -> Graph:
    """A node is read before it is defined."""
    x = inp("x", "f32[4]")
    return Graph("broken", (x,), (x, x * 2.0), (x * 3.0,))


ANSWERS: dict[str, Callable[..., Any]] = {
    "nothing": lambda *_: None,
    "true": lambda *_: True,
    "minus one": lambda *_: -1,
    "huge": lambda *_: 10**400,
    "nan": lambda *_: float("nan"),
    "infinity": lambda *_: float("inf"),
    "complex": lambda *_: 1j,
    "text": lambda *_: "\ud800 not a graph %0",
    "long text": lambda *_: "a" * 200_000,
    "many lines": lambda *_: "ab\n" * 60_000,
    "long texts": lambda *_: ["b" * 150_000, "c" * 150_000],
    "bytes": lambda *_: b"bytes",
    "empty list": lambda *_: [],
    "long list": lambda *_: list(range(20_000)),
    "list of nothing": lambda *_: [None] * 3,
    "deep list": lambda *_: [[[[[1], 2], "a"], None]],
    "pair of odd things": lambda *_: ({1: 2}, [None]),
    "three odd things": lambda *_: (None, 1, "x"),
    "odd keys": lambda *_: {None: 1, (1, 2): [None], 3.5: {}, "A": "Z", "nchw": None},
    "names": lambda *_: {"a": "a", "b": -64, "x": 0.5},
    "set": lambda *_: {1, "a", None},
    "generator": lambda *_: (i for i in range(3)),
    "function": lambda *_: len,
    "class": lambda *_: Hostile,
    "hostile": lambda *_: Hostile(),
    "hostile in a list": lambda *_: [Hostile()],
    "text array": lambda *_: np.array(["a", "b"]),
    "object array": lambda *_: np.array([None, {}], dtype=object),
    "complex array": lambda *_: np.ones((2, 2), np.complex64),
    "date": lambda *_: np.datetime64("2026-01-01"),
    "float16": lambda *_: np.float16(3),
    "a node": lambda *_: inp("z", "f32[4]"),
    "a constant": lambda *_: const(1.0),
    "other inputs": lambda *_: other_inputs(),
    "broken graph": lambda *_: broken_graph(),
    "graph and numbers": lambda *_: (other_inputs(), 1, 2),
    "its argument": lambda *given: given[0] if given else None,
    "its arguments": lambda *given: given,
    "raises": lambda *_: _raise(Unspeakable()),
    "raises at length": lambda *_: _raise(ValueError("d" * 200_000)),
    "leaves": lambda *_: _raise(SystemExit(3)),
}


@pytest.mark.parametrize("name", JUDGED)
def test_an_odd_result_is_the_answers_own_affair(name):
    for label, answer in ANSWERS.items():
        call = arriving(answer)
        with exercises.using({}):
            for check in checks_of(name, with_hidden=True):
                verdict = _verdict(check, call)
                assert verdict.kind != GRADER, f"{check.name} on {label}"
                assert Verdict.from_json(verdict.to_json()) == verdict, f"{check.name} on {label}"


def arriving(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The answer as a check meets it: what it returns has crossed the wire, its errors are its."""

    def call(*args: Any, **_: Any) -> Any:
        try:
            result = answer(*args)
        except (Exception, SystemExit) as error:
            raise crashed(error, answer) from None
        if any(result is given for given in (args, *args)):
            return result
        try:
            return Codec().decode(Codec(call=lambda *_: None).encode(result))
        except Unsendable as error:
            raise Unusable(error) from None

    return call


def _verdict(check: Check, call: Callable[..., Any]) -> Verdict:
    """On this check alone."""
    verdict = Verdict.on(slot(check.slot), PASSED)
    try:
        perform(check, call, shrink=False)
    except (Wrong, Crashed, Stop) as error:
        return _failed(verdict, check, error)
    except Exception as error:
        return _failed(verdict, check, blamed(check, Answer.of(call), 0, error))
    return verdict
