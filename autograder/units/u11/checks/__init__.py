"""Visible checks of unit 11. Here: what a program moves, and one that a careless pass breaks.

What needs xDSL is imported where it is used. Next room: operations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number
from autograder.check.shown import returned
from course_lib.accelerator.chip import PRESETS

# ── bytes ──

BYTES = "How many bytes does a product in tiles move between DRAM and the chip?"
TYPES = "x is int8[m, k], w is int8[k, n], and the sums y are int32[m, n]"
RAGGED = "a tile of y has tm rows and tn columns; the last ones may be smaller"
OUTER = '"rows": all tiles of the first rows, then the next rows; "columns": the other way round'
EXACT = "the bytes of all loads and stores, exactly"
EACH = "For each tile of y, the program loads its rows of x and its columns of w"
WHOLE = "both in their whole depth k"
SLOTS = "There is one slot for x, one for w, and one for the sums"
LEFT = "A load of what is already in its slot is left out"

CASES = [  # what it is about, (m, k, n, tm, tn, outer), and the bytes as the compiler counts them
    (TYPES, (4, 2, 4, 4, 4, "rows"), 80),
    (LEFT, (8, 4, 4, 4, 4, "rows"), 176),
    (LEFT, (4, 4, 8, 4, 4, "columns"), 176),
    (OUTER, (8, 4, 12, 4, 4, "rows"), 512),
    (OUTER, (8, 4, 12, 4, 4, "columns"), 528),
    (EACH, (12, 5, 8, 4, 4, "rows"), 564),
    (EACH, (8, 5, 12, 4, 4, "columns"), 564),
    (RAGGED, (10, 4, 7, 4, 4, "rows"), 404),
    (RAGGED, (10, 4, 7, 4, 4, "columns"), 388),
    (LEFT, (3, 9, 2, 4, 4, "rows"), 69),
    (WHOLE, (9, 20, 9, 3, 2, "rows"), 1_044),
    (EXACT, (9, 10**8 + 1, 9, 3, 2, "rows"), 3_600_000_360),  # more than 32 bits hold
]


@checks("u11.moved", spec=[BYTES, TYPES, RAGGED, OUTER, EXACT, EACH, WHOLE, SLOTS, LEFT])
def as_the_compiler_counts(moved):
    """Products for which the compiler of the library counted the bytes of its program."""
    for spec, case, wanted in CASES:
        right_bytes(moved, case, wanted, spec)
    return f"{len(CASES)} products"


def right_bytes(moved: Any, case: tuple[Any, ...], wanted: int, spec: str) -> None:
    called = f"moved{case}"
    got = a_number(moved(*case), unit="bytes")
    if got != wanted:
        raise Wrong(f"The program of this product moves {wanted:,} bytes, but your answer says "
                    f"{got:,.0f}.", program=called, got=f"{got:,.0f}", expected=f"{wanted:,}",
                    spec=spec)  # fmt: skip


# ── a hazard ──

BROKEN = "A program that `careless` breaks"
FORM = "the text of a module for the teaching chip, with one function without loops"
VALID = "The program is valid"
READS = "reads nothing from the chip that was not written there before"
OTHER = "an array in DRAM ends up with different contents than without it"
MOST = "At most 12 operations move or compute something"

background("u11.hazard", "After `careless`, its operations are still valid",
           because="`careless` moves loads and changes none, so a valid program stays valid",
           )  # fmt: skip


@checks("u11.hazard", spec=[BROKEN, FORM, VALID, READS, OTHER, MOST])
def careless_changes_an_array(hazard):
    """The program computes one thing before `careless`, and another after it."""
    text = hazard()
    if not isinstance(text, str):
        raise Wrong("The function must return a text.", got=returned(text), spec=FORM)
    wrong = partial(Wrong, program=text)
    module = _valid(text, wrong)
    from course_lib.mlir.npu.machine import chip_of
    from lessons.u11.chip import brief
    from lessons.u11.dialect import careless, parsed, steps
    from lessons.u11.meaning import contents, tiles_read

    if chip_of(module) != PRESETS["teaching"]:
        raise wrong("The module must be for the teaching chip.", spec=FORM,
                    got=str(chip_of(module)).splitlines()[0],
                    expected='module attributes {npu.chip = {preset = "teaching"}}')  # fmt: skip
    if (count := len(steps(module))) > 12:
        raise wrong("At most 12 operations may move or compute something, but this program has "
                    f"{count}.", spec=MOST)  # fmt: skip
    try:
        after = careless(text)
        before, other = contents(text), contents(after)
        reads = [tiles_read(module, garbage) for garbage in (-86, 99)]
    except ValueError as error:
        raise wrong(f"The program cannot be run: {error}".rstrip(".") + ".", spec=FORM) from None
    if not all(map(np.array_equal, *reads)):
        raise wrong("An operation reads from the chip what was not written there before.",
                    spec=READS)  # fmt: skip
    if all(map(np.array_equal, before, other)):
        one, two = ([op.name for op in steps(each)] for each in (module, parsed(after)))
        moved = "moves no load" if "npu.dma_load" in one and one == two else "is harmless"
        raise wrong(f"All arrays end up with the same contents: `careless` {moved} here.",
                    got=f"// after careless\n{brief(after)}", spec=OTHER)  # fmt: skip


def _valid(text: str, wrong: Callable[..., Wrong]) -> Any:
    from course_lib.mlir.npu.module import functions
    from lessons.u11.dialect import parsed

    try:
        module = parsed(text)
        count = len(functions(module))
    except ValueError as error:
        types = " (An operation ends with its types.)" if "Expected ':'" in str(error) else ""
        raise wrong(f"The program is not valid: {error}".rstrip(".") + f".{types}",
                    spec=VALID) from None  # fmt: skip
    if count != 1:
        raise wrong(f"The module must have one function, but has {count}.", spec=FORM)
    return module
