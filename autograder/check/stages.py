"""Rows of a stage, made up in the words of one of four compilers, and the softmaxes among them.

    one = Writer(0, most=3)
    one.rows, one.due                     {"line": 23, ...}, ... and {23: [18, 20]}

Next room: stack.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course_lib.peers.align.rows import WORDS, Row

LESS_ONE = {"StableHLO": "stablehlo.exponential_minus_one", "Relax": "R.log", "TIR": "T.log",
            "HLO, optimized": "exponential-minus-one"}  # fmt: skip


class Writer:
    """Rows in the making, and the softmaxes that were put into them."""

    def __init__(self, seed: int, most: int) -> None:
        self.rng = random.Random(seed)
        self.stage = self.rng.choice(list(WORDS))
        self.words = WORDS[self.stage]
        self.rows: list[Row] = []
        self.due: dict[int, list[int]] = {}
        self.lines = self.rng.sample(range(2, 400), 300)
        self.other = {"add": self.word("add"), "tanh": self.word("tanh"),
                      "max": self.words["sum"].replace("addf", "maximumf").replace("add", "max")
                      .replace("+", "T.max").replace("R.sum", "R.max"),
                      "expm1": LESS_ONE.get(self.stage, "math.expm1")}  # fmt: skip
        for _ in range(self.rng.randint(1, most)):
            kind = self.rng.choice(KINDS)
            kind(self, self.rng.choice([None, *range(len(self.rows))]))

    def word(self, name: str) -> str:
        """A word of this stage that no softmax needs."""
        parts = {
            "StableHLO": "stablehlo.{}",
            "HLO, optimized": "{}",
            "Relax": "R.{}",
            "TIR": "T.{}",
        }
        if name == "add" and self.stage == "TIR":
            return "+"
        mlir = {"add": "arith.addf", "tanh": "math.tanh"}
        return parts[self.stage].format(name) if self.stage in parts else mlir[name]

    def add(self, op: str, *reads: int | None, **more: Any) -> int:
        self.rows.append({"line": self.lines.pop(), "op": op, "reads": [*reads], **more})
        return len(self.rows) - 1

    def exp(self, x: int | None) -> int:
        return self.add(self.words["exp"], x)

    def sum(self, e: int | None) -> int:
        return self.add(self.words["sum"], e)

    def divide(self, a: int | None, b: int | None) -> int:
        return self.add(self.words["divide"], a, b)

    def times(self, a: int | None, b: int | None) -> int:
        pair = [a, b] if self.rng.random() < 0.5 else [b, a]
        return self.add(self.words["multiply"], *pair)

    def constant(self, value: float) -> int:
        return self.add("constant", value=value)

    def softmax(self, result: int, *parts: int) -> None:
        self.due[self.rows[result]["line"]] = [self.rows[one]["line"] for one in parts]


def _divided(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    s = w.sum(e)
    for _ in range(w.rng.choice([1, 1, 2])):
        w.softmax(w.divide(e, s), e, s)


def _summed_twice(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    first, second = w.sum(e), w.sum(e)
    w.softmax(w.divide(e, first), e, first)
    w.exp(x)
    w.softmax(w.divide(e, second), e, second)


def _product(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    if w.rng.random() < 0.5:
        one, s = w.constant(1.0), w.sum(e)
    else:
        s, one = w.sum(e), w.constant(1.0)
    w.softmax(w.times(e, w.divide(one, s)), e, s)


def _called(w: Writer, x: int | None) -> None:
    if w.words["softmax"]:
        w.softmax(w.add(w.words["softmax"], x))


def _other_sum(w: Writer, x: int | None) -> None:
    e, other = w.exp(x), w.exp(w.add(w.other["tanh"], x))
    w.divide(e, w.sum(other))
    w.times(other, w.divide(w.constant(1.0), w.sum(e)))


def _other_reduction(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    w.divide(e, w.add(w.other["max"], e))
    w.divide(e, w.sum(x))
    w.times(e, w.divide(w.constant(1.0), w.add(w.other["max"], e)))


def _no_reduction(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    w.divide(e, w.add(w.other["add"], e, e))
    w.divide(e, w.add(w.other["add"], e))
    w.divide(e, None)
    w.divide(None, w.sum(e))
    w.times(e, None)


def _no_exponential(w: Writer, x: int | None) -> None:
    t = w.add(w.other["tanh"], x)
    s = w.sum(t)
    w.divide(t, s)
    w.times(t, w.divide(w.constant(1.0), s))


def _less_one(w: Writer, x: int | None) -> None:
    """Not exp, but called nearly the same: the exponential minus one. TVM has none."""
    e = w.add(w.other["expm1"], x)
    w.divide(e, w.sum(e))


def _shifted(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    s = w.sum(e)
    w.divide(e, w.add(w.other["add"], s, w.constant(1.0)))
    w.add(w.other["add"], e, s)


def _doubled(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    s = w.sum(e)
    w.times(e, w.divide(w.constant(w.rng.choice([2.0, 0.0, 0.5, -1.0, 1.5])), s))
    w.times(e, w.divide(w.add(w.other["tanh"], x), s))
    w.times(e, w.divide(None, s))


def _upside_down(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    s = w.sum(e)
    w.divide(s, e)
    w.times(e, w.divide(s, w.constant(1.0)))
    w.times(e, s)
    w.divide(e, w.divide(w.constant(1.0), s))


KINDS: list[Callable[[Writer, int | None], None]] = [
    _divided, _summed_twice, _product, _called, _less_one, _other_sum, _other_reduction,
    _no_reduction, _no_exponential, _shifted, _doubled, _upside_down,
]  # fmt: skip
