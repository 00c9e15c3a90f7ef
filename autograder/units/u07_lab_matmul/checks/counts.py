"""Visible checks of the lab of unit 7 for what moves: tiled and packed, at three levels.

The bound is twice what any order of the loops needs. Next room:
../hidden.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.units.u07_lab_matmul.checks import CACHES, REGISTERS, run, shown
from course_lib.exercises import baselines
from lessons.u07_lab_matmul.counting import Touched, allowed, jumps, moved

# N and K are odd multiples of 16: no two rows of a tile begin in the same set.
KIND = [(48, 112, 80), (96, 112, 144)]
# Rows that are 8 and 16 lines apart begin in the same few sets.
UNKIND = [(48, 128, 64), (48, 256, 48)]
OFTEN = 0.02  # reads of the copies that are somewhere else

LEAST = (
    "Each may get twice the least, which is 2·M·N·K/√S numbers where it holds S, and in addition "
    "each number of the three matrices once"
)
TWICE = "Each level may get twice the least, and in addition each number of the three matrices"
COPIED = "Each number of `x` and of `w` is read once, to be copied"
FRONT = (
    "of 100 reads of `room`, at most two do not lie right after the latest read of one of the walks"
)
INTO = {"registers": "into the registers", "cache 1": "into the first cache",
        "cache 2": "into the second cache"}  # fmt: skip


@checks("u07_lab_matmul.tiled", spec=[
    LEAST, "What moves into the registers, into the first cache and into the second one is counted",
    REGISTERS["tiled"],
    "An access brings one number into a register, and a miss brings 16 into a cache",
    "This is counted with caches of 4,096 and 16,384 bytes, of 8 ways each, where N and K are odd "
    "multiples of 16"])  # fmt: skip
def tiled_moves_little(tiled):
    """Two products."""
    return counted("tiled", tiled, KIND)


@checks(
    "u07_lab_matmul.packed",
    spec=[COPIED, FRONT, "The multiply-adds read the copies from front to back, in two walks",
          "The tiled product with its operands copied into the order of use",
          "as many numbers as `x` and `w` would have with 32 more rows of `x` and 32 more columns"],
)  # fmt: skip
def packed_reads_its_copies(packed):
    """What a product of 70 × 96 × 72 reads, and in which order."""
    front_to_back(run("packed", packed, (70, 96, 72, *CACHES)))


def front_to_back(seen: Touched) -> None:
    """Each operand is read once; the copies are read in the order in which they lie."""
    where = shown(seen.case)
    for name, size in (("x", seen.case.m * seen.case.k), ("w", seen.case.k * seen.case.n)):
        if (reads := len(seen.of(name))) != size:
            raise Wrong(f"`{name}` is read or written {reads:,} times and has {size:,} numbers.",
                        program=where, spec=COPIED)  # fmt: skip
    if (part := jumps(seen)) > OFTEN:
        raise Wrong(f"{100 * part:.1f} of 100 reads of `room` do not continue either of the two "
                    "walks.", program=where, spec=FRONT)  # fmt: skip


@checks(
    "u07_lab_matmul.packed",
    spec=[TWICE, "This is counted with the same caches, where N is an even multiple of 16, and K "
          "is a multiple of 16"],
)  # fmt: skip
def packed_moves_little_at_any_width(packed):
    """Two products whose rows begin in the same few sets."""
    return counted("packed", packed, UNKIND)


def counted(milestone: str, answer: Any, products: Sequence[tuple[int, int, int]]) -> str:
    """Each level gets no more than is allowed. Returns the largest part of that in words."""
    parts: dict[str, float] = {}
    for sizes in products:
        seen = run(milestone, answer, (*sizes, *CACHES))
        for level, part in little(seen, copied=milestone == "packed").items():
            parts[level] = max(parts.get(level, 0.0), part)
    told = ", ".join(f"{part:.0%} {INTO[level]}" for level, part in parts.items())
    return f"at most {told} of what may move".replace("%", " %")


def little(seen: Touched, copied: bool) -> dict[str, float]:
    """For each level, the part of what may move into it that does; Wrong if it is more than all."""
    limit, parts = allowed(seen.case, copied), {}
    with baselines("cost.cache.missed"):
        levels = moved(seen)
    for level, by_name in levels.items():
        if (count := sum(by_name.values())) > limit[level]:
            each = ", ".join(f"{name} {number:,}" for name, number in by_name.items() if number)
            raise Wrong(f"{count:,} numbers move {INTO[level]}; at most {limit[level]:,} may.",
                        program=str(seen.case), got=each,
                        spec=TWICE if copied else LEAST)  # fmt: skip
        parts[level] = count / limit[level]
    return parts
