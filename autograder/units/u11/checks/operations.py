"""Visible checks of unit 11 about an operation: its verifier, its instruction.

Next room: programs.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong, background, checks
from autograder.check.modules import as_text, normal
from autograder.check.properties import raises
from autograder.check.shown import returned
from autograder.units.u11.checks.programs import memref, module
from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.isa.state import State
from course_lib.accelerator.isa.store import Vmax
from course_lib.accelerator.isa.text import assemble

GIVE = "Give the dialect an operation for the instruction `vmax`, with a verifier"
MAY = "a program that may contain `npu.max`"
CLASS = "checked(text, MaxOp), where MaxOp is a class of yours"
WRITTEN = "In `npu.max %x into %out {rows = 4 : i64} : T into U`, T and U are the types of %x"
EACH = "Each row of `out` holds the greatest numbers of 4 rows of `x`"
COLUMN = "column by column"
ACTS = "Both are matrices in `acts`"
LEFT = "No row of `x` is left over"
RANGE = "`rows` is a number from 1 to 15, because the instruction has four bits for it"
REFUSED = "Raise VerifyException for an operation that breaks one of these rules"

KINDS = {"acts": "i8", "weights": "i8", "dram": "i8", "accs": "i32", "params": "i32"}
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """An `npu.max`: sizes and memories of x and out, and its `rows`."""

    x: Sizes
    out: Sizes
    rows: int
    spaces: tuple[str, ...] = ("acts", "acts")

    def text(self) -> str:
        """A function with this operation between two tiles that it is given."""
        a, b = (
            memref("x".join(map(str, sizes)), KINDS[space], space)
            for sizes, space in zip((self.x, self.out), self.spaces, strict=True)
        )
        line = f"npu.max %x into %out {{rows = {self.rows} : i64}} : {a} into {b}"
        return module({"x": a, "out": b}, line)


Change = Callable[[Asked], dict[str, Any]]
Fault = tuple[str, str, Change]  # the sentence, what is wrong, what is different then


def _rows(rows: int) -> Change:
    """Other `rows`, for which x has the right size, if there is one."""
    return lambda one: {"x": (one.out[0] * max(rows, 0), *one.x[1:]), "rows": rows}


def _more(name: str, *more: int) -> Change:
    return lambda one: {name: tuple(map(sum, zip(getattr(one, name), more, strict=True)))}


def _elsewhere(which: Sequence[bool], space: str) -> Change:
    return lambda one: {
        "spaces": tuple(space if w else s for w, s in zip(which, one.spaces, strict=True))
    }


def _ranks(which: Sequence[bool], change: Callable[[Sizes], Sizes]) -> Change:
    return lambda one: {
        name: change(getattr(one, name)) for name, w in zip(("x", "out"), which, strict=True) if w
    }


SIDES = [("`x` is", "`x` has", (True, False)), ("`out` is", "`out` has", (False, True)),
         ("both `x` and `out` are", "both `x` and `out` have", (True, True))]  # fmt: skip
RANKS: list[tuple[str, Callable[[Sizes], Sizes]]] = [
    ("three sizes", lambda sizes: (2, *sizes)), ("one size", lambda sizes: sizes[:1])]  # fmt: skip
FAULTS: list[list[Fault]] = [
    [(RANGE, f"`rows` is {rows}", _rows(rows)) for rows in (-1, 0, 16, 17, 31)],
    [
        (LEFT, "a row of `x` is left over", _more("x", 1, 0)),
        (LEFT, "a row of `x` is missing", _more("x", -1, 0)),
        (EACH, "`out` has a row too many", _more("out", 1, 0)),
        (EACH, "`out` has a row too few", _more("out", -1, 0)),
        (EACH, "`x` and `out` are exchanged", lambda one: {"x": one.out, "out": one.x}),
        (COLUMN, "a column of `x` is missing in `out`", _more("out", 0, -1)),
        (COLUMN, "`out` has a column too many", _more("out", 0, 1)),
    ],
    [(ACTS, f"{who} in {space}", _elsewhere(which, space))
     for who, _, which in SIDES for space in KINDS if space != "acts"],
    [(ACTS, f"{who} {words}", _ranks(which, change))
     for _, who, which in SIDES for words, change in RANKS],
]  # fmt: skip


def asked(rng: np.random.Generator) -> Asked:
    """One that keeps to all rules."""
    rows, results, columns = (int(rng.integers(2, most)) for most in (16, 7, 10))
    return Asked((rows * results, columns), (results, columns), rows)


def wrong_ones(
    rng: np.random.Generator, pairs: int, alone: bool = True
) -> Iterator[tuple[str, str, str]]:
    """Text, sentence, words: each fault alone, and so many times two kinds of faults at once."""
    for fault in (fault for kind in FAULTS for fault in kind if alone):
        yield _with(asked(rng), fault)
    for _ in range(pairs):
        two = [FAULTS[int(k)] for k in sorted(rng.choice(len(FAULTS), 2, replace=False))]
        yield _with(asked(rng), *(faults[int(rng.integers(len(faults)))] for faults in two))


def _with(one: Asked, *faults: Fault) -> tuple[str, str, str]:
    for _, _, change in faults:
        one = replace(one, **change(one))
    spec, words, _ = faults[0]
    return one.text(), spec, words


GOOD = [Asked(x, out, rows).text() for x, out, rows in (
    ((8, 4), (2, 4), 4), ((15, 3), (1, 3), 15), ((6, 1), (6, 1), 1), ((12, 40), (4, 40), 3),
    ((1, 1), (1, 1), 1))]  # fmt: skip
GOOD.append(module({"x": memref("4x4", "i8", "dram")}))


@checks("u11.greatest", spec=[GIVE, MAY, CLASS, WRITTEN, EACH, RANGE])
def right_programs_are_printed(greatest):
    """Programs that keep to the rules are read, verified, and printed as they were."""
    for text in GOOD:
        printed(greatest, text)
    return f"{len(GOOD)} right programs"


def printed(greatest: Any, text: str) -> None:
    """The answer gives the program back."""
    got = as_text(greatest(text), text)
    if normal(got) != normal(text):
        raise Wrong("The program must be printed as it was.", program=text, got=got, expected=text,
                    spec=WRITTEN)  # fmt: skip


@checks("u11.greatest", spec=[ACTS, RANGE, LEFT, EACH, COLUMN, REFUSED])
def wrong_programs_are_refused(greatest):
    """Programs that break one rule or two, each in several ways."""
    wrong = [*wrong_ones(np.random.default_rng(0), pairs=6)]
    for text, spec, words in wrong:
        refused(greatest, text, spec, words)
    return f"{len(wrong)} wrong programs"


def refused(greatest: Any, text: str, spec: str, words: str) -> None:
    """The answer's verifier raises a VerifyException, and nothing else ends it."""
    ended: list[str] = []

    def call() -> Any:
        try:
            return greatest(text)
        except Crashed as error:
            ended.append(error.error)
            raise

    raises(ValueError, call, f"Here {words}, so the operation must be refused.", program=text,
           spec=spec, called="VerifyException")  # fmt: skip
    if "this is wrong:" in ended[0]:  # what `verify` says about any other exception
        raise Wrong(f"Here {words}, so the verifier must raise a VerifyException. Yours ended in "
                    "another error.", program=text, got=ended[0], expected="VerifyException",
                    spec=spec)  # fmt: skip


# ── its instruction ──

LINE = "The instruction for an `npu.max`, as a line of assembly"
BEGIN = "where x and out begin, in bytes of `acts`"
MATRIX = "x is a matrix of m rows and n columns of int8, without gaps"
MADE = "how many rows of x make one row of `out`; m is a multiple of it"
FORM = '"vmax src=.. acts=.. h=.. w=.. bytes=.. step=.. line=.. kh=.. kw=.. kline=.."'
LIMITS = "Neither kh nor kw may be above 15"

for words in (
    "The instruction sees an image ... `bytes` channels",
    "The result has h × w pixels ... of kh × kw pixels",
    "The window of pixel ... bytes further, and the next pixel of a row is `bytes` further",
):
    background("u11.vmax", words, because="what the instruction does")

CASES = [(0, 256, 8, 4, 4), (256, 0, 8, 3, 2), (12, 512, 12, 5, 3), (0, 600, 15, 6, 15),
         (0, 768, 5, 7, 1), (100, 900, 2, 30, 2)]  # fmt: skip


@checks("u11.vmax", spec=[LINE, BEGIN, MATRIX, MADE, FORM, LIMITS])
def the_chip_finds_the_greatest(vmax):
    """The instruction runs on the chip, and numpy compares."""
    for case in CASES:
        right_vmax(vmax, case, PRESETS["teaching"])
    return f"{len(CASES)} matrices"


def right_vmax(vmax: Any, case: tuple[int, int, int, int, int], chip: Chip) -> None:
    src, at, m, n, rows = case
    line = vmax(*case)
    wrong = partial(Wrong, program=f"vmax{case}", got=line[:500] if isinstance(line, str) else line)
    if not isinstance(line, str):
        raise wrong("The function must return a text.", got=returned(line), spec=FORM)
    x = np.random.default_rng(m * n).integers(-128, 128, (m, n), np.int8)
    state = State(chip, np.zeros(4, np.int8))
    held = state.memories["acts"]
    held[...] = 77
    held[src : src + m * n] = x.ravel()
    right, end = held.copy(), at + m // rows * n
    right[at:end] = x.reshape(m // rows, rows, n).max(1).ravel()
    try:
        (instruction,) = assemble(line[:500])
        if not isinstance(instruction, Vmax):
            raise ValueError(f"this is {instruction.name}, not vmax")
        sizes = (getattr(instruction, name) for name in ("h", "w", "kh", "kw", "bytes"))
        if math.prod(sizes) > 1_000_000:  # steps of 0 make any size possible
            raise ValueError("its windows have more than 1,000,000 bytes")
        instruction.run(state)
    except (ValueError, IndexError) as error:
        limits = LIMITS if re.search(r"vmax: k[hw] is", str(error)) else FORM
        raise wrong(f"The chip cannot run this line as an instruction: {error}".rstrip(".") + ".",
                    spec=limits) from None  # fmt: skip
    for first in np.flatnonzero(held != right)[:1]:
        inside = at <= first < end
        where = "which lies in `out`" if inside else "which lies outside `out`"
        raise wrong(f"Byte {first} of acts, {where}, is {held[first]} afterwards, but must be "
                    f"{right[first]}.", spec=LINE if inside else BEGIN)  # fmt: skip
