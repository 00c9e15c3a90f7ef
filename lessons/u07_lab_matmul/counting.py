"""A product in C++ that a student writes as a whole function: what it computes and moves.

    call = apart(source(text), "counted", COUNT_FLAGS)
    seen = touched(call, Case(48, 112, 80, 4096, 16384))
    seen.result, moved(seen)             # the numbers, and how many moved between the levels

The text is compiled around an array type that records each access (matmul.cpp,
course_lib/bridges/accesses.py); two simulated caches then say what it moved. The caller decides
where it is compiled and run: the notebook here, the checks in a limited process. Next room:
timing.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from course_lib.bridges.accesses import HEADER, Accesses, accesses
from course_lib.bridges.gxx import CppError
from course_lib.cost.cache import Cache, misses_of
from course_lib.cost.trace import LINE

# What each milestone's `matmul` takes beside the matrices and their extents.
TAKES = {"naive": "", "tiled": ", long L1, long L2", "packed": ", long L1, long L2, Matrix room"}
FRAME = Path(__file__).with_name("matmul.cpp").read_text()
OWN = 512  # bytes of an array of the program's own: what 16 vector registers of 8 numbers hold
COUNT_FLAGS = ("-DCOUNT", "-O0", "-std=c++17", "-Wl,-z,defs", f"-Wlarger-than={OWN}",
               f"-Werror=larger-than={OWN}", "-Werror=vla", "-fsanitize=bounds",
               "-fsanitize-undefined-trap-on-error")  # fmt: skip
NAMES = ("x", "w", "out", "room")
LEVELS = ("registers", "cache 1", "cache 2")
REGISTERS, WAYS, MORE = OWN // 4, 8, 32


class Case(NamedTuple):
    """A product, and the bytes of the two caches that it is counted with; both have 8 ways."""

    m: int
    n: int
    k: int
    first: int
    second: int

    @property
    def once(self) -> int:
        """The numbers of the three matrices."""
        return self.m * self.k + self.k * self.n + self.m * self.n

    def __str__(self) -> str:
        return f"{self.m} × {self.n} × {self.k}, caches of {self.first:,} and {self.second:,} bytes"


@dataclass(frozen=True)
class Touched(Accesses):
    """What a call touched, what it left in `out`, and what is right."""

    case: Case
    result: np.ndarray
    right: np.ndarray


def source(text: str, milestone: str = "") -> str:
    """The program around a student's text, whose `matmul` says which milestone it is for."""
    milestone = milestone or milestone_of(text)
    takes = TAKES[milestone]
    gives = takes.replace("long ", "").replace("Matrix ", "")
    frame = FRAME.replace("\nRECORDED\n", f"\n{HEADER}\n")
    return frame.replace("K TAKES", f"K{takes}").replace("K GIVES", f"K{gives}").replace(
        "\nTEXT\n", f"\n{text}\n"
    )  # fmt: skip


def milestone_of(text: str) -> str:
    """The milestone whose parameters the text's `matmul` has."""
    for parameters in re.findall(r"\bvoid\s+matmul\s*\(([^()]*)\)", text):
        kinds = re.findall(r"(?:^|,)\s*(?:const\s+)?(\w+)", parameters)
        for name, more in TAKES.items():
            if kinds == ["Matrix"] * 3 + ["long"] * 3 + re.findall("long|Matrix", more):
                return name
    raise CppError("The text defines no matmul with the parameters of naive, tiled or packed.")


def room_for(case: Case) -> int:
    """The numbers in `room`: x and w, with `MORE` more rows and columns."""
    return ((case.m + MORE) + (case.n + MORE)) * case.k


def touched(call: Callable[..., Any], case: Case, most: float = 4.0, seed: int = 0) -> Touched:
    """One call with small multiples of 1/2, whose sums are exact in any order.

    most     accesses for each multiply-add, and as many for each number of the matrices, for which
             there is room
    """
    m, n, k = case[:3]
    rng = np.random.default_rng(seed)
    x, w = (rng.integers(-7, 8, size).astype(np.float32) / 2 for size in ((m, k), (k, n)))
    out, room = (np.full(size, np.nan, np.float32) for size in ((m, n), room_for(case)))
    arrays: dict[str, np.ndarray] = dict(zip(NAMES, (x, w, out, room), strict=True))
    seen = accesses(call, arrays, case, int(most * (m * n * k + case.once)))
    return Touched(**vars(seen), case=case, result=out, right=x @ w)


def moved(seen: Touched) -> dict[str, dict[str, int]]:
    """For each level, how many numbers of each matrix came into it: an access brings one into a
    register, and a miss brings a line of 16 into a cache."""
    caches = [Cache(size, WAYS) for size in seen.case[3:]]
    each = [{name: len(seen.of(name)) for name in NAMES}]
    for missed in misses_of(seen.trace, caches):
        each.append({name: LINE // 4 * missed[name] for name in NAMES})
    return dict(zip(LEVELS, each, strict=True))


def least(case: Case) -> dict[str, float]:
    """For each level, what any order of the loops moves into it, at the least: 2·m·n·k/√S, where S
    is how many numbers it holds (Smith, Lowery, Langou, van de Geijn, 2019; the leading term)."""
    holds = (REGISTERS, case.first // 4, case.second // 4)
    work = 2 * case.m * case.n * case.k
    return {level: work / math.sqrt(size) for level, size in zip(LEVELS, holds, strict=True)}


def allowed(case: Case, copied: bool = False) -> dict[str, int]:
    """Twice the least, and each number of the matrices once; twice, if they are copied first."""
    return {level: int(2 * few) + (2 if copied else 1) * case.once
            for level, few in least(case).items()}  # fmt: skip


def jumps(seen: Touched) -> float:
    """Of the reads of `room`, the part that goes on with neither of two walks: what does not lie
    right after the latest read of either begins a new walk in the place of the older one."""
    reads = seen.of("room", writes=False).tolist()
    older, latest, new = -1, -1, 0  # where the two walks are
    for place in reads:
        if place == latest + 1:
            latest = place
        else:
            new += place != older + 1
            older, latest = latest, place
    return new / max(len(reads), 1)
