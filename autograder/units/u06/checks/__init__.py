"""Visible checks of unit 6, Code generation.

Here are those of the number, the evidence and the inverse. The three pieces of the compiler are
checked in cover.py, registers.py and order.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from autograder.check.answer import Answer
from autograder.check.framework import Wrong, checks, ours
from autograder.units.u06.checks.cover import listed
from course_lib import exercises
from course_lib.ir.loops.parse import parse_kernel
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, BEFORE, build, measure
from course_lib.machine.core import Core

# registers: (rows, vectors) of a best tile, so that no check has to look for one
TILES = {3: (1, 1), 4: (2, 1), 5: (3, 1), 8: (2, 2), 11: (4, 2), 12: (4, 2), 16: (4, 3),
         24: (4, 4), 32: (5, 5), 40: (5, 6), 64: (8, 7), 100: (10, 9), 160: (12, 12),
         256: (16, 15), 600: (25, 23)}  # fmt: skip
FIT = ("keeps that many running sums in registers", "For each k, the program loads the vectors of "
       "b and keeps them in registers, too", "one register for a number of a in all lanes",
       "both at least 1", "how many vector registers there are in all")  # fmt: skip
MOST = ("does the most multiply-adds for each load", "Whole numbers, exactly",
        "So every k costs rows + vectors loads",
        "any of them will do")  # fmt: skip


def fitting(tile: Any, registers: int) -> Fraction:
    """Multiply-adds for each load of the answer's tile; Wrong if it does not fit."""
    got = listed(tile(registers))
    whole = isinstance(got, list) and len(got) == 2 and all(
        hasattr(n, "__index__") and not isinstance(n, bool) and n >= 1 for n in got)  # fmt: skip
    if not whole:
        raise Wrong("The answer must be two whole numbers, each at least 1.", got=repr(got)[:200],
                    spec="(rows, vectors), both at least 1")  # fmt: skip
    rows, vectors = map(int, got)
    needed = rows * vectors + vectors + 1
    if needed > registers:
        forgotten = 0 if rows * vectors > registers else 1 if needed > registers + 1 else 2
        raise Wrong(f"The tile must fit into {registers} registers; {rows} × {vectors} needs "
                    f"{needed}.", got=repr(got), spec=FIT[forgotten])  # fmt: skip
    return Fraction(rows * vectors, rows + vectors)


@checks("u06.tile", spec=[*FIT, *MOST])
def the_best_tile_fits(tile):
    """The tile fits, and no other that fits does more for each load."""
    for registers, best in TILES.items():
        got = fitting(tile, registers)
        if got < fitting(lambda _, best=best: best, registers):
            raise Wrong(f"With {registers} registers, the tile must do the most multiply-adds for "
                        "each load; another one that fits does more.",
                        got=f"{tile(registers)}: {float(got):.2f}", spec=MOST[0])  # fmt: skip
    return f"{len(TILES)} sizes of register files"


LISTED = {"u06.gpu": ("point", "sum", "bytes", "apart", "own"), "u06.waits": ("flying", "sums")}
ASKED = {
    "point": "the 64-bit register that holds the number of the thread among all threads",
    "sum": "the register that carries the running sum",
    "bytes": "how many bytes one thread loads from global memory in one iteration",
    "apart": "how many bytes lie between the addresses in %rd19 of two neighbouring threads",
    "own": "how many lines of the listing load from or store to memory of one thread alone",
    "flying": "how many of the loop's loads may still be under way",
    "sums": "how many running sums one thread keeps",
}
KEYS = "return a dict with these keys"


def as_listed(exercise: str, got: Any) -> str:
    """Wrong unless the dict of an answer says what the listing says."""
    keys = LISTED[exercise]
    if not isinstance(got, Mapping) or set(got) != set(keys):
        raise Wrong(f"The answer must be a dict with the keys {', '.join(keys)}.",
                    got=repr(got)[:300], spec=KEYS)  # fmt: skip
    known = ours(exercise)
    right = [key for key in keys if plain(got[key]) == plain(known[key])]
    for key in keys:
        if key not in right:
            are = "is" if len(right) == 1 else "are"
            raise Wrong(f'The listing says something else for "{key}"; {len(right)} of the '
                        f"{len(keys)} {are} right.", got=f"{key}: {got[key]!r:.60}",
                        spec=ASKED[key])  # fmt: skip
    return f"{len(keys)} facts"


@checks("u06.gpu", spec=[*list(ASKED.values())[:5], KEYS, "Registers are texts"])
def the_listing_says_so(gpu):
    """Five facts about NVIDIA's listing."""
    return as_listed("u06.gpu", gpu())


@checks("u06.waits", spec=[*list(ASKED.values())[5:], KEYS, "Both are whole numbers"])
def the_other_listing_says_so(waits):
    """Two facts about AMD's listing."""
    return as_listed("u06.waits", waits())


def plain(value: object) -> str:
    """A register with its %, a whole number without a point."""
    text = str(value).strip().lower()
    return text.removesuffix(".0") if not text.startswith("r") else f"%{text}"


EARLY = ("takes more cycles if it is scheduled before the registers are chosen than if it is "
         "scheduled after", "The core has 8 registers")  # fmt: skip
SMALL = ("The kernel has at most 100 values", "the kernel writes `out` and nothing else",
         "Write a kernel, as loop text", "All values are f32")  # fmt: skip


@checks("u06.too_early", spec=[*EARLY, *SMALL])
def scheduling_first_is_slower(too_early):
    """More cycles if scheduled before the registers are chosen than if scheduled after."""
    text = too_early()
    if not isinstance(text, str):
        raise Wrong("The answer must be the text of a kernel.", got=repr(text)[:200], spec=SMALL[2])
    try:
        kernel = parse_kernel(text)
        block = block_of(kernel)
    except ValueError as error:
        first = str(error).partition("\n")[0]
        which = 3 if first.endswith(" f32") else 0 if "more than" in first else 2
        raise Wrong(f"The core must be able to run the kernel: {error}", program=text[:2000],
                    spec=SMALL[which]) from None  # fmt: skip
    if len(block.values) > 100:
        raise Wrong(f"The kernel must have at most 100 values; it has {len(block.values)}.",
                    program=text, spec=SMALL[0])  # fmt: skip
    written = sorted({buffer for (buffer, _), _ in block.stores})
    if written != ["out"]:
        names = " and ".join(written) or "nothing"
        raise Wrong(f"The kernel must write only `out`; it writes {names}.", program=text,
                    spec=SMALL[1])  # fmt: skip
    with exercises.using(Answer.of(too_early).plugs):
        runs = {way: measure(build(kernel, Core(registers=8), (way,))) for way in (BEFORE, AFTER)}
    before, after = runs[BEFORE], runs[AFTER]
    if before.cycles <= after.cycles:
        raise Wrong(
            f"The kernel must take more cycles if it is scheduled before than after; it takes "
            f"{before.cycles} ({before.spills} loads and stores of spilled values) and "
            f"{after.cycles} ({after.spills}).",
            program=text,
            spec=EARLY[0],
        )
    return f"{before.cycles} cycles scheduled before, {after.cycles} after"
