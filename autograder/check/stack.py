"""Memory that is a stack: what an allocator must give when it is asked for these bytes.

    asked = questions(2048)[0]            24, then 1 << 20, then 8, then BACK, ...
    fault(2048, asked, [0, NULL, 32, ...])     None, or the first answer that is wrong

Each piece lies at a multiple of 16; BACK takes the last one back. Next room: traces.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

BACK, NULL = -1, -(1 << 63)  # a question, and the answer that there is none
STEP = 16  # bytes


class Fault(NamedTuple):
    """What is wrong, what was asked up to there, what was given, and whether only what was taken
    back makes the piece fit."""

    words: str
    asked: str
    got: str
    taken_back: bool


def questions(whole: int) -> list[list[int]]:
    """Pieces one upon the other, taken back, and more than is free of so many bytes."""
    half = whole // 2
    return [
        [24, 1 << 20, 8, BACK, 8, BACK, BACK, whole, BACK, whole, 1],
        [16, 100, 40, BACK, BACK, 200, BACK, 7, whole, BACK, BACK, whole],
        [whole - 16, 8, 1, BACK, 16, 16, BACK, BACK, whole + 1, half, half, 8],
    ]


def fault(whole: int, size: int, asked: Sequence[int], at: Sequence[int]) -> Fault | None:
    """The first answer that is wrong; `at` has an offset for each question, and `size` bytes are
    really there."""
    live: list[tuple[int, int]] = []
    for k, (nbytes, place) in enumerate(zip(asked, at, strict=True)):
        if nbytes == BACK:
            live.pop()
            continue
        fits = nbytes <= whole - sum((n + STEP - 1) // STEP * STEP for _, n in live)
        if words := _wrong(fits, nbytes, place, live, size):
            said = ("the last one back" if n == BACK else f"{n:,}" for n in asked[: k + 1])
            got = "NULL" if place == NULL else f"{place}, beside {live}"
            return Fault(words, ", ".join(said), got, fits and BACK in asked[:k])
        live += [(place, nbytes)] if fits else []
    return None


def _wrong(fits: bool, nbytes: int, place: int, live: list[tuple[int, int]], size: int) -> str:
    if fits == (place == NULL):
        rest = "are free, so they must be given" if fits else "are not free: it must be NULL"
        return f"So many bytes {rest}."
    apart = all(place >= p + n or place + nbytes <= p for p, n in live)
    if fits and (place < 0 or place % STEP or place + nbytes > size or not apart):
        return "Each piece must lie in `workspace` at a multiple of 16, apart from those in use."
    return ""
