"""Visible checks of the lab of unit 7: each text is compiled, called with small matrices, and what
it touched is counted. Here are the values and the textbook's order. Next room: counts.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from autograder.check.cpp import apart
from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from course_lib.bridges.gxx import CppError
from lessons.u07_lab_matmul.counting import (
    COUNT_FLAGS,
    OWN,
    Case,
    Touched,
    source,
    touched,
)

CACHES = (4096, 16384)
# One element, single rows and columns, K = 0, a tile and one more, several blocks of each.
SIZES = [(1, 1, 1), (1, 1, 0), (1, 17, 5), (7, 1, 3), (6, 16, 4), (2, 3, 0), (13, 15, 17),
         (70, 33, 9), (5, 90, 71)]  # fmt: skip
OTHER_CACHES = [(33, 18, 40, 4096, 8192), (40, 20, 70, 5000, 10_001)]
LONGEST = 50_000  # characters of a text
MOST = 2.0  # accesses for each multiply-add, and for each number
DEFINES = "The text defines"
SAME = "All that was said of sizes, caches and registers for `tiled` holds"
REGISTERS = {"tiled": "The registers hold 128 numbers, and an array of your own has a constant "
             "size of at most 128", "packed": SAME}  # fmt: skip

for name in ("naive", "tiled", "packed"):
    background(f"u07_lab_matmul.{name}", "void matmul(", because="the line that g++ looks for")


def run(milestone: str, answer: Any, sizes: Iterable[int], most: float = MOST) -> Touched:
    """What a text does with one product; Wrong if it cannot be run, or touches what is not there,
    or if the product is wrong."""
    case = Case(*sizes)
    text = answer()
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Wrong(f"The function must return the C++ as one string of at most {LONGEST:,} "
                    "characters.", got=returned(text), spec=DEFINES)  # fmt: skip
    if re.search(r"^\s*#\s*include", text, re.MULTILINE):
        raise Wrong("The text must include nothing: `std::min` and `std::max` are there, and no "
                    "other function is needed.", spec=DEFINES)  # fmt: skip
    try:
        call = apart(source(text, milestone), "counted", COUNT_FLAGS)
        seen = touched(call, case, most)
    except CppError as error:
        first, _, rest = str(error).partition("\n")
        if not rest:
            raise Wrong(f"{first}.", program=shown(case)) from None
        problem = "g++ does not accept the text."
        spec = DEFINES
        if "undefined reference to `matmul(" in rest:
            problem, rest = "The text defines no `matmul` with these parameters.", ""
        elif "exceeds maximum object size" in rest and milestone in REGISTERS:
            problem, spec = f"An array has more than {OWN // 4} numbers.", REGISTERS[milestone]
        elif "-Werror=vla" in rest:
            problem, spec = "An array has no constant size.", REGISTERS.get(milestone, DEFINES)
        raise Wrong(problem, got=rest, spec=spec) from None
    _inside(seen)
    _right(seen, "`out` or `room`" if milestone == "packed" else "`out`")
    return seen


def shown(case: Case) -> str:
    caches = f", L1 = {case.first:,} and L2 = {case.second:,}" * (case[3:] != CACHES)
    return f"{case.m} × {case.n} × {case.k} (M × N × K){caches}"


def _inside(seen: Touched) -> None:
    if seen.outside:
        name, index, size = seen.outside
        raise Wrong(f"`{name}[{index}]` is outside: `{name}` has {size:,} elements.",
                    program=shown(seen.case))  # fmt: skip
    if seen.count > len(seen.trace.addresses):
        work = seen.case.m * seen.case.n * seen.case.k
        raise Wrong(f"The loops touch the matrices more than {len(seen.trace.addresses):,} times, "
                    f"for {work:,} multiply-adds.", program=shown(seen.case))  # fmt: skip


def _right(seen: Touched, before: str) -> None:
    wrong = seen.result != seen.right  # exact in any order
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value, right = seen.result[row, column], seen.right[row, column]
        says = "was not written" if np.isnan(value) else f"is {value:g}"
        if np.isnan(value) and (row * seen.case.n + column) in seen.of("out", writes=True):
            says = f"is not a number: it comes from what {before} held before"
        raise Wrong(f"{wrong.sum():,} of {wrong.size:,} elements are wrong. The first is "
                    f"out[{row}, {column}], which must be {right:g} and {says}.",
                    program=shown(seen.case))  # fmt: skip


PRODUCT = ["which makes `out` the product of `x` (M × K) and `w` (K × N)",
           "M and N are at least 1", "K may be 0, and then `out` is all zeros",
           "What `out` held before must not matter",
           "The product of two matrices as a textbook writes it"]  # fmt: skip


@checks("u07_lab_matmul.naive", spec=[PRODUCT[0], *PRODUCT[1:], DEFINES])
def naive_is_the_product(naive):
    """Nine sizes, from one element on, two of them with K = 0."""
    return multiplies("naive", naive)


@checks("u07_lab_matmul.tiled", spec=["The function is right for all sizes that `naive` takes",
                                      "The same product in tiles", DEFINES, "L1 and L2 are "
                                      "the sizes of the two caches in bytes",
                                      "L1 is at least 4,096, and L2 is at least twice L1",
                                      REGISTERS["tiled"]])  # fmt: skip
def tiled_is_the_product(tiled):
    """The same nine sizes, few of them a multiple of any tile, and two for other caches."""
    return multiplies("tiled", tiled, SIZES + OTHER_CACHES)


@checks("u07_lab_matmul.packed", spec=[SAME, DEFINES, "It holds no numbers at first",
                                       "`room` is memory for the copies"])  # fmt: skip
def packed_is_the_product(packed):
    """The same sizes and caches, in a room that holds no numbers."""
    return multiplies("packed", packed, SIZES + OTHER_CACHES)


def multiplies(milestone: str, answer: Any, sizes: Iterable[tuple[int, ...]] = SIZES) -> str:
    tried = [run(milestone, answer, (*size, *CACHES)[:5], most=40.0) for size in sizes]
    return f"{len(tried)} sizes"


ORDER = "The elements of `out` are computed one after the other, row by row"
ONCE = "each element of `out` is written once and never read"
READS = "Each multiply-add reads one number of `x` and one of `w`"


@checks("u07_lab_matmul.naive", spec=[ORDER, ONCE, READS])
def naive_has_the_order_of_a_textbook(naive):
    """What is read and written for 9 × 20 × 7."""
    textbook(run("naive", naive, (9, 20, 7, *CACHES), 4.0))


def textbook(seen: Touched) -> None:
    """One element of out after the other, and two reads for each multiply-add."""
    where, work = shown(seen.case), seen.case.m * seen.case.n * seen.case.k
    if reads := len(seen.of("out", writes=False)):
        raise Wrong(f"`out` is read {reads:,} times, and must not be.", program=where, spec=ONCE)
    written = seen.of("out", writes=True)
    if len(written) != seen.result.size:
        raise Wrong(f"`out` is written {len(written):,} times and has {seen.result.size:,} "
                    "elements.", program=where, spec=ONCE)  # fmt: skip
    if not np.array_equal(written, np.arange(seen.result.size)):
        first = int(np.flatnonzero(written != np.arange(seen.result.size))[0])
        raise Wrong("The elements of `out` must be written in the order of the rows.",
                    program=where, got=f"access {first} is to out[{written[first]}]",
                    expected=f"out[{first}]", spec=ORDER)  # fmt: skip
    for name in ("x", "w"):
        if (reads := len(seen.of(name))) != work:
            raise Wrong(f"`{name}` is read {reads:,} times for {work:,} multiply-adds.",
                        program=where, spec=READS)  # fmt: skip
    if (np.diff(np.flatnonzero(seen.writes), prepend=-1) != 2 * seen.case.k + 1).any():
        raise Wrong(f"Before each write to `out`, there must be the {2 * seen.case.k} reads of its "
                    "sum.", program=where, spec=ORDER)  # fmt: skip
