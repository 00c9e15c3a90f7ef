"""Visible checks of unit 11 about an operation: its verifier, its instruction.

Next room: programs.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong, background, checks
from autograder.check.properties import raises
from autograder.units.u11.checks.programs import as_text, memref, module, normal, said
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


GOOD = [
    greatest_of(acts("8x4"), acts("2x4"), 4),
    greatest_of(acts("15x3"), acts("1x3"), 15),
    greatest_of(acts("6x1"), acts("6x1"), 1),
    greatest_of(acts("12x40"), acts("4x40"), 3),
    module({"x": memref("4x4", "i8", "dram")}),
]
BAD = [
    (greatest_of(("8x4", "i8", "weights"), acts("2x4"), 4), ACTS, "`x` is in weights"),
    (greatest_of(acts("8x4"), ("2x4", "i32", "accs"), 4), ACTS, "`out` is in accs"),
    (greatest_of(("8x4", "i8", "dram"), ("2x4", "i8", "dram"), 4), ACTS, "both are in dram"),
    (greatest_of(acts("8x4"), ("2x4", "i8", "dram"), 4), ACTS, "`out` is in dram"),
    (greatest_of(acts("16x4"), acts("1x4"), 16), RANGE, "16 rows do not fit into four bits"),
    (greatest_of(acts("0x4"), acts("2x4"), 0), RANGE, "0 rows have no greatest number"),
    (greatest_of(acts("9x4"), acts("2x4"), 4), LEFT, "a row of `x` is left over"),
    (greatest_of(acts("8x4"), acts("3x4"), 4), EACH, "8 rows of `x` make 2 rows, not 3"),
    (greatest_of(acts("8x4"), acts("2x3"), 4), COLUMN, "a column of `x` is missing in `out`"),
    (greatest_of(acts("2x4"), acts("8x4"), 4), EACH, "`out` has more rows than `x`"),
    (greatest_of(acts("8x4"), acts("2x4"), 2), EACH, "with 2 rows each, `x` makes 4 rows"),
    (greatest_of(acts("2x8x4"), acts("2x2x4"), 4), ACTS, "the operands are not matrices"),
    (greatest_of(acts("8"), acts("2"), 4), ACTS, "the operands are not matrices"),
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
    """One program for each rule that can be broken."""
    for text, spec, words in BAD:
        refused(greatest, text, spec, words)
    return f"{len(BAD)} wrong programs"


def refused(greatest: Any, text: str, spec: str, words: str) -> None:
    """The answer's verifier raises a VerifyException, and nothing else ends it."""
    problem = f"{words[0].upper()}{words[1:]}, so the operation must be refused."
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
        raise Wrong(f"{words[0].upper()}{words[1:]}, so the verifier must raise a "
                    "VerifyException. Yours ended in another error.",
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
        raise Wrong(f"The chip cannot run this line as an instruction: {error}".rstrip(".") + ".",
                    program=called, got=line[:500], spec=FORM) from None  # fmt: skip
    if not np.array_equal(held, before):
        first = int(np.flatnonzero(held != before)[0])
        raise Wrong(f"Byte {first} of acts is {held[first]} afterwards, but must be "
                    f"{before[first]}.", program=called, got=line, spec=MADE)  # fmt: skip
