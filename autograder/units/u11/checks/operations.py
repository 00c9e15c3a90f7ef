"""Visible checks of unit 11 about an operation: its verifier, its instruction.

Next room: programs.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong, background, checks
from autograder.check.modules import as_text, normal, said
from autograder.check.properties import raises
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
REFUSED = "VerifyException for an operation that breaks one of these rules"

Type = tuple[str, str, str]  # sizes, elements, memory


def greatest_of(x: Type, out: Type, rows: int) -> str:
    """A function with an `npu.max` between two tiles that it is given."""
    a, b = (memref(*type) for type in (x, out))
    return module({"x": a, "out": b},
                  f"npu.max %x into %out {{rows = {rows} : i64}} : {a} into {b}")  # fmt: skip


def acts(sizes: str) -> Type:
    return sizes, "i8", "acts"


@dataclass
class Asked:
    """An `npu.max` that is being written: sizes and memories of x and out, and its `rows`."""

    sizes: dict[str, list[int]]
    rows: int
    spaces: dict[str, str]

    def text(self) -> str:
        x, out = (
            ("x".join(map(str, sizes)), KINDS[self.spaces[name]], self.spaces[name])
            for name, sizes in self.sizes.items()
        )
        return greatest_of(x, out, self.rows)


KINDS = {"acts": "i8", "weights": "i8", "dram": "i8", "accs": "i32", "params": "i32"}
SIDES = {"`x`": ["x"], "`out`": ["out"], "both `x` and `out`": ["x", "out"]}
Fault = tuple[str, str, Callable[[Asked], object]]  # the sentence, what is wrong, what makes it so


def _is(which: list[str]) -> str:
    return "are" if len(which) > 1 else "is"


def _has(which: list[str]) -> str:
    return "have" if len(which) > 1 else "has"


def _elsewhere(which: list[str], space: str) -> Callable[[Asked], object]:
    return lambda one: one.spaces.update(dict.fromkeys(which, space))


def _ranks(which: list[str], change: Callable[[list[int]], list[int]]) -> Callable[[Asked], object]:
    return lambda one: one.sizes.update({name: change(one.sizes[name]) for name in which})


def _many(rows: int) -> Callable[[Asked], object]:
    """Other `rows`, for which x has the right size, if there is one."""

    def change(one: Asked) -> None:
        one.sizes["x"][0] = one.sizes["x"][0] // one.rows * max(rows, 0)
        one.rows = rows

    return change


def _add(name: str, dimension: int, more: int) -> Callable[[Asked], object]:
    def change(one: Asked) -> None:
        one.sizes[name][dimension] += more

    return change


def _turned(one: Asked) -> None:
    one.sizes = dict(zip(one.sizes, list(one.sizes.values())[::-1], strict=True))


FAULTS: dict[str, list[Fault]] = {
    "range": [(RANGE, f"`rows` is {rows}", _many(rows)) for rows in (-1, 0, 16, 17, 31)],
    "sizes": [
        (LEFT, "a row of `x` is left over", _add("x", 0, 1)),
        (LEFT, "a row of `x` is missing", _add("x", 0, -1)),
        (EACH, "`out` has a row too many", _add("out", 0, 1)),
        (EACH, "`out` has a row too few", _add("out", 0, -1)),
        (EACH, "`x` and `out` are exchanged", _turned),
        (COLUMN, "a column of `x` is missing in `out`", _add("out", 1, -1)),
        (COLUMN, "`out` has a column too many", _add("out", 1, 1)),
    ],
    "memories": [(ACTS, f"{who} {_is(which)} in {space}", _elsewhere(which, space))
                 for who, which in SIDES.items() for space in KINDS if space != "acts"],
    "ranks": [(ACTS, f"{who} {_has(which)} {words}", _ranks(which, change))
              for who, which in SIDES.items()
              for words, change in (("three sizes", lambda sizes: [2, *sizes]),
                                    ("one size", lambda sizes: sizes[:1]))],
}  # fmt: skip


def asked(rng: np.random.Generator) -> Asked:
    """One that keeps to all rules."""
    rows, made, columns = (int(rng.integers(2, most)) for most in (16, 7, 10))
    return Asked({"x": [rows * made, columns], "out": [made, columns]}, rows,
                 dict.fromkeys(("x", "out"), "acts"))  # fmt: skip


def wrong_ones(
    rng: np.random.Generator, pairs: int, alone: bool = True
) -> Iterator[tuple[str, str, str]]:
    """Text, sentence, words: each fault alone, and so many times two kinds of faults at once."""
    for fault in (one for kind in FAULTS.values() for one in kind if alone):
        yield _with(asked(rng), fault)
    for _ in range(pairs):
        one, two = sorted(int(k) for k in rng.choice(len(FAULTS), 2, replace=False))
        both = [[*FAULTS.values()][kind] for kind in (one, two)]
        yield _with(asked(rng), *(faults[int(rng.integers(len(faults)))] for faults in both))


def _with(one: Asked, *faults: Fault) -> tuple[str, str, str]:
    for _, _, change in faults:
        change(one)
    spec, words, _ = faults[0]
    return one.text(), spec, words


GOOD = [
    greatest_of(acts("8x4"), acts("2x4"), 4),
    greatest_of(acts("15x3"), acts("1x3"), 15),
    greatest_of(acts("6x1"), acts("6x1"), 1),
    greatest_of(acts("12x40"), acts("4x40"), 3),
    greatest_of(acts("1x1"), acts("1x1"), 1),
    module({"x": memref("4x4", "i8", "dram")}),
]


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
    problem = f"Here {words}, so the operation must be refused."
    said: list[str] = []

    def call() -> Any:
        try:
            return greatest(text)
        except Crashed as error:
            said.append(error.error)
            raise

    raises(ValueError, call, problem, program=text, spec=spec, called="VerifyException")
    got = said[0]
    if "this is wrong:" in got:  # what `verify` says about any other exception
        raise Wrong(f"Here {words}, so the verifier must raise a VerifyException. Yours ended in "
                    "another error.",
                    program=text, got=got, expected="VerifyException", spec=spec)  # fmt: skip


# ── its instruction ──

LINE = "The instruction for an `npu.max`, as a line of assembly"
BEGIN = "where x and out begin, in bytes of `acts`"
MATRIX = "x is a matrix of m rows and n columns of int8, without gaps"
MADE = "how many rows of x make one row of `out`; m is a multiple of it"
FORM = '"vmax src=.. acts=.. h=.. w=.. bytes=.. step=.. line=.. kh=.. kw=.. kline=.."'
LIMITS = "Neither kh nor kw may be above 15"

DOES = (
    "The instruction sees an image ... `bytes` channels",
    "The result has h × w pixels ... of kh × kw pixels",
    "The window of pixel ... bytes further, and the next pixel of a row is `bytes` further",
)
for words in DOES:
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
    called = f"vmax{case}"
    line = vmax(*case)
    if not isinstance(line, str):
        raise Wrong("The function must return a text.", program=called, got=said(line), spec=FORM)
    x = np.random.default_rng(m * n).integers(-128, 128, (m, n), np.int8)
    state = State(chip, np.zeros(4, np.int8))
    held = state.memories["acts"]
    held[...] = 77
    held[src : src + m * n] = x.ravel()
    before = held.copy()
    wanted = x.reshape(m // rows, rows, n).max(1)
    before[at : at + wanted.size] = wanted.ravel()
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
        raise Wrong(f"The chip cannot run this line as an instruction: {error}".rstrip(".") + ".",
                    program=called, got=line[:500], spec=limits) from None  # fmt: skip
    if not np.array_equal(held, before):
        first = int(np.flatnonzero(held != before)[0])
        inside = at <= first < at + wanted.size
        where = "which is of `out`" if inside else "which is none of `out`"
        raise Wrong(f"Byte {first} of acts, {where}, is {held[first]} afterwards, but must be "
                    f"{before[first]}.", program=called, got=line,
                    spec=LINE if inside else BEGIN)  # fmt: skip
