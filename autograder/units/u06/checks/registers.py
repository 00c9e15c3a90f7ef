"""Visible checks of machine.linear_scan: no register twice, and as few spills as can be.

`sound` judges an answer, here and in the hidden checks. Next room: order.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib.machine.lives import Live, pressure
from lessons.u06.programs import random_lives

SEEDS = st.integers(0, 9999)
SIZES = st.one_of(st.integers(1, 12), st.sampled_from([16, 17, 32, 40]))

REGISTERS = ("Two values whose lives meet have different registers", "numbered from 0",
             "{name: number of its register}", "A value keeps its register all its life",
             "in any order; no two start", "at least 1; they are numbered")  # fmt: skip
FEWEST = ("so that as few values as possible are spilled", "If none is free, of the new life "
          "and those with registers, the one that ends last is spilled",
          "no allocation has fewer spills", "Walk through the lives in the order of their starts",
          "the registers of those that have ended are free again",
          "a value that is not in it is spilled")  # fmt: skip
SHARE = "A life that starts at the instruction where another one ends may take over its register"

# Lives, registers, and the fewest values that can be spilled.
SPILLS: list[tuple[list[Live], int, int]] = [
    ([], 4, 0),
    ([Live("a", 0, 9), Live("b", 1, 3), Live("c", 2, 4), Live("d", 3, 5)], 2, 1),
    ([Live("a", 0, 2), Live("b", 1, 3), Live("c", 2, 4), Live("d", 3, 5)], 2, 0),
    ([Live("a", 0, 4), Live("b", 1, 9), Live("c", 2, 9), Live("d", 4, 9)], 2, 2),
    ([Live(f"v{k}", k, 20 - k) for k in range(8)], 3, 5),
    ([Live("a", 0, 99), *(Live(f"b{k}", 2 * k + 1, 2 * k + 3) for k in range(9))], 1, 1),
    ([Live("late", 7, 8), Live("a", 0, 6), Live("b", 1, 5), Live("c", 2, 3)], 2, 1),
    ([Live("a", 0, 3), Live("b", 1, 5), Live("c", 3, 5)], 1, 1),
    ([Live("a", 0, 4), Live("b", 3, 5), Live("c", 4, 6)], 1, 1),
    ([Live("a", 1, 6), Live("b", 2, 5), Live("c", 3, 4), Live("d", 4, 6)], 1, 2),
    ([Live("a", 0, 6), Live("b", 2, 8), Live("c", 3, 7), Live("d", 6, 9), Live("e", 7, 9)], 2, 1),
    ([Live(f"v{k}", 7000 - k, 7041 + k) for k in range(40)], 33, 7),
    ([Live("a", 10**6, 10**6 + 9), Live("b", 3, 10**9), Live("c", 10**6 + 9, 10**7)], 1, 1),
]


def sound(linear_scan: Any, lives: list[Live], registers: int) -> int:
    """How many values the answer spills; Wrong if two living ones share a register."""
    assigned = linear_scan(lives, registers)
    text = told(lives, registers)
    if not isinstance(assigned, Mapping):
        answer = returned(assigned)
        raise Wrong("The answer must be a dict.", program=text, got=answer, spec=REGISTERS[2])
    known = {live.name: live for live in lives}
    for name, register in assigned.items():
        whole = hasattr(register, "__index__") and not isinstance(register, bool)
        if name not in known or not whole or not 0 <= register < registers:
            raise Wrong(f"{name} must be one of the values, and its register a whole number from 0 "
                        f"to {registers - 1}, not {register!r}.", program=text,
                        got=repr(assigned)[:300],
                        spec=REGISTERS[1])  # fmt: skip
    kept = [live for live in lives if live.name in assigned]
    for k, a in enumerate(kept):
        for b in kept[k + 1 :]:
            if a.meets(b) and assigned[a.name] == assigned[b.name]:
                raise Wrong(
                    f"{a.name} and {b.name} are both alive at instruction {max(a.start, b.start)} "
                    f"and must not both be in register {assigned[a.name]}.",
                    program=told([a, b], registers),
                    got=f"{a.name} and {b.name} in register {assigned[a.name]}",
                    spec=REGISTERS[0],
                )
    return len(lives) - len(kept)


def told(lives: Sequence[Live], registers: int) -> str:
    rows = [f"{live.name:<6} {live.start} .. {live.end}" for live in lives[:16]]
    more = [f"and {len(lives) - 16} more"] if len(lives) > 16 else []
    return "\n".join([f"{registers} register{'s'[: registers - 1]}", *rows, *more])


@checks("machine.linear_scan", spec=[*REGISTERS, *FEWEST, SHARE, "an instruction reads before it"])
def as_few_as_possible_are_spilled(linear_scan):
    """Lives for which the fewest spills are known."""
    for lives, registers, fewest in SPILLS:
        spilled = sound(linear_scan, lives, registers)
        if spilled > fewest:
            raise Wrong(
                f"At most {fewest} of the {len(lives)} values may be spilled, not {spilled}.",
                program=told(lives, registers),
                got=repr(dict(linear_scan(lives, registers))),
                spec=FEWEST[0] if fewest else SHARE,
            )
    return f"{len(SPILLS)} sets of lives"


@checks("machine.linear_scan", given=st.tuples(SEEDS, SIZES), examples=60,
        what="random lives", spec=[*REGISTERS, FEWEST[0]])  # fmt: skip
def living_values_have_registers_of_their_own(linear_scan, example):
    """No two living values share a register, and nothing is spilled without need."""
    seed, registers = example
    lives = random_lives(seed)
    if sound(linear_scan, lives, registers) and pressure(lives) <= registers:
        raise Wrong(
            f"Never more than {pressure(lives)} values are alive together, so with {registers} "
            "registers no value may be spilled.",
            program=told(lives, registers),
            spec=FEWEST[0],
        )
