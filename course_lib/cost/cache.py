"""A cache, simulated: which accesses of a program find their line there, and which do not.

    misses(kernel)        {"x": 3456, "w": 55296, "out": 576} for the first cache, and the second

Memory comes in lines. A line may be in one set only, that of its number modulo the number of sets,
and a set has a few places, its ways. When a line comes into a full set, the one that was asked for
longest ago goes (LRU). Writes count as reads do, a line that is written comes into the cache first,
and nobody fetches ahead: real caches differ in all three, and cachegrind counts as we do. Next
room: `footprint.py`, which estimates the same without a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.arguments import takes
from course_lib.cost.trace import Trace, trace
from course_lib.exercises import exercise
from course_lib.ir.loops.nest import Kernel


@dataclass(frozen=True)
class Cache:
    """A cache of `size` bytes in lines of `line` bytes, with `ways` places in a set.

    `Cache(512, 8)` has one set, so a line may be anywhere in it: it is fully associative.
    """

    size: int
    ways: int
    line: int = 64

    def __post_init__(self) -> None:
        if min(self.size, self.ways, self.line) < 1 or self.size % (self.ways * self.line):
            raise ValueError(f"{self}: the size must be a multiple of ways x line")

    @property
    def sets(self) -> int:
        return self.size // (self.ways * self.line)


EMPTY = -1  # no line

# A sixteenth of the bytes of common ones; lines do not shrink with them, so columns fare worse.
SMALL = (Cache(2 << 10, 4), Cache(16 << 10, 8))


def set_by_set(lines: Sequence[int], sets: int, ways: int) -> list[int]:
    """`missed`, with a look at every access for every set.

    The places of a set are a row of registers. Whoever asks for a line puts it into the first one.
    What that held goes on to the second, unless it was the line itself, and so on; so the register
    that has the line is where the row stops moving. In this way one register serves all accesses
    that got so far at once.
    """
    asked = np.asarray(lines, np.int64)
    of, gone = asked % sets, [np.empty(0, int)]
    for number in range(sets):
        rest = np.flatnonzero(of == number)  # accesses that no register had so far
        put = asked[rest]  # what each of them puts into the next register
        for _ in range(ways):
            held = np.roll(put, 1)
            held[:1] = EMPTY
            not_there = held != asked[rest]
            rest, put = rest[not_there], held[not_there]
        gone.append(rest)
    return asked[np.sort(np.concatenate(gone))].tolist()


@exercise("cost.cache.missed", unit=7, points=3, baseline=set_by_set)
def missed(lines: Sequence[int], sets: int, ways: int) -> list[int]:
    """The lines that are not in the cache when they are asked for, in the order of the misses.

    lines    line numbers, at least 0, in the order in which a program asks for them
    sets     line number n may be in set n % sets only
    ways     how many lines a set can hold
    returns  the lines that missed, with repetitions

    The cache is empty at first. A line that misses comes into its set. If the set is full, the
    line in it that was asked for longest ago leaves first. A hit counts as asking for the line,
    too. Each access must take a number of steps that does not grow with `sets` or with the number
    of accesses before it.

    >>> missed([0, 2, 0, 4, 0, 2], 2, 2)
    [0, 2, 4, 2]
    """
    held: dict[int, list[int]] = {}
    fetched = []
    for line in lines:
        here = held.setdefault(line % sets, [])
        if line in here:
            here.remove(line)
        else:
            fetched.append(line)
            if len(here) == ways:
                del here[0]
        here.append(line)
    return fetched


@takes
def misses(kernel: Kernel, caches: Sequence[Cache] = SMALL) -> list[dict[str, int]]:
    """For each cache, how often each buffer of a kernel misses it. The second one is asked for what
    the first one misses, and so on; all have lines of one size."""
    return misses_of(trace(kernel), caches)


@takes
def misses_of(touched: Trace, caches: Sequence[Cache] = SMALL) -> list[dict[str, int]]:
    """`misses` for the accesses of a program."""
    if not caches:
        return []
    if len({cache.line for cache in caches}) > 1:
        raise ValueError("all caches must have lines of one size")
    per_cache, lines = [], touched.addresses // caches[0].line
    for cache in caches:
        asked = without_repeats(lines, cache.sets).tolist()
        lines = np.asarray(list(missed(asked, cache.sets, cache.ways)), np.int64)
        per_cache.append(_by_buffer(lines * cache.line, touched))
    return per_cache


def without_repeats(lines: np.ndarray, sets: int) -> np.ndarray:
    """The accesses without those that ask for the line that was the last one in its set.

    They hit in every cache with so many sets and change nothing in it; most accesses are such.
    """
    by_set = np.argsort((lines % sets).astype(np.uint16 if sets < 1 << 16 else int), kind="stable")
    ordered = lines[by_set]
    new = np.ones(len(lines), bool)
    new[by_set[1:]] = ordered[1:] != ordered[:-1]
    return lines[new]


def _by_buffer(addresses: np.ndarray, touched: Trace) -> dict[str, int]:
    """How many of the addresses each buffer has."""
    starts = np.array([place.start for place in touched.places.values()])
    owners = np.searchsorted(starts, addresses, side="right") - 1
    counts = np.bincount(owners, minlength=len(starts))
    return dict(zip(touched.places, counts.tolist(), strict=True))
