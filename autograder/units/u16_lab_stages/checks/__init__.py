"""Visible checks of the lab of unit 16. Here: softmaxes in rows.

`Writer` writes rows in the words of a stage and knows where its softmaxes are, so no check looks
for one. Next room: log.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from course_lib.peers.align.rows import Row, rows
from lessons.u16_lab_stages.dumps import DUMPS, WORDS

FIND = "Find every softmax in a stage of any of the four compilers"
FORM = "for each softmax, the line of its result, and the lines of its exponential and of its sum"
DIVIDED = (
    "A softmax is a division of e by s, where e is an exponential and s is the sum along an "
    "axis of this same e"
)
PRODUCT = "It may also be a product, in either order, of e and r, where r is 1 divided by s"
RESULT = "then its result is the product"
CALLED = "An operation that is itself called softmax has no parts"
ALL = [FIND, FORM, DIVIDED, PRODUCT, RESULT, CALLED]

background("u16_lab_stages.found", "as `rows` gives them", because="what the argument is")
background("u16_lab_stages.found", "The table above has the words", because="where to look")
background("u16_lab_stages.found", "Along which axis a sum runs is not asked here ... unit 16",
           because="what is not asked")  # fmt: skip


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
                      .replace("+", "T.max").replace("R.sum", "R.max")}  # fmt: skip
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


def _shifted(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    s = w.sum(e)
    w.divide(e, w.add(w.other["add"], s, w.constant(1.0)))
    w.add(w.other["add"], e, s)


def _doubled(w: Writer, x: int | None) -> None:
    e = w.exp(x)
    s = w.sum(e)
    w.times(e, w.divide(w.constant(w.rng.choice([2.0, 0.0, 0.5, -1.0])), s))
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
    _divided, _product, _called, _other_sum, _other_reduction, _no_reduction, _no_exponential,
    _shifted, _doubled, _upside_down,
]  # fmt: skip
# In the recorded texts: lines of results, of exponentials and of sums.
DUE = {
    "StableHLO": {16: [11, 13], 23: [18, 20]}, "linalg": {44: [26, 33], 74: [56, 63]},
    "Flow": {12: [], 43: [16, 38]}, "Relax": {6: [], 10: [8, 9]},
    "TIR": {49: [34, 42], 11: [61, 73]}, "TTIR": {27: [20, 23], 39: [29, 35]},
    "TTGIR": {28: [21, 24], 40: [30, 36]},
}  # fmt: skip


def as_due(got: Any, due: Mapping[int, list[int]], shown: str) -> None:
    """Wrong unless these are the softmaxes."""
    try:
        plain = {int(k): [int(line) for line in parts] for k, parts in got.items()}
    except (AttributeError, TypeError, ValueError):
        raise Wrong("The answer must be a dict from a line to a list of lines.", program=shown,
                    got=returned(got), spec=FORM) from None  # fmt: skip
    if more := sorted(set(plain) - set(due)):
        raise Wrong(f"Line {more[0]} is the result of no softmax.", program=shown, got=str(plain),
                    expected=str(dict(due)), spec=DIVIDED)  # fmt: skip
    if less := sorted(set(due) - set(plain)):
        raise Wrong(f"The softmax with its result in line {less[0]} must be found.", program=shown,
                    got=str(plain), expected=str(dict(due)), spec=FIND)  # fmt: skip
    if plain != due:
        raise Wrong("The lines of the parts are not right.", program=shown, got=str(plain),
                    expected=str(dict(due)), spec=FORM)  # fmt: skip


def shown(some: list[Row]) -> str:
    return "\n".join(f"{k:>3}  {row}" for k, row in enumerate(some))


@st.composite
def writers(draw: st.DrawFn, most: int = 3) -> Writer:
    return Writer(draw(st.integers(0, 1 << 30)), most)


@checks("u16_lab_stages.found", given=writers(), examples=150, what="random stages", spec=ALL)
def softmaxes_and_what_only_looks_like_one(found, writer):
    """Rows with softmaxes in both forms, and with what differs in one thing."""
    as_due(found([dict(row) for row in writer.rows]), writer.due,
           f"in the words of {writer.stage}:\n{shown(writer.rows)}")  # fmt: skip


@checks("u16_lab_stages.found", spec=[FIND, FORM])
def those_of_the_recorded_texts(found):
    """The two programs of the page, stage by stage."""
    for stage, due in DUE.items():
        for program, right in (("both", due), ("neither", {})):
            as_due(found(rows(DUMPS[program][stage])), right, f"`{program}` in {stage}")
    return f"{2 * len(DUE)} texts"
