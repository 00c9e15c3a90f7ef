"""Register allocation in one walk along the program.

    a  0..9        two registers:   a 0
    b  1..3                         b 1
    c  2..4                         c: none is free, and a is needed longest: a goes to memory

Source: Poletto and Sarkar, "Linear Scan Register Allocation", TOPLAS 1999. Next room: `spill.py`,
which turns what has no register into loads and stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.exercises import exercise
from course_lib.machine.lives import Live

SHORT = 3  # instructions: the longest life that the baseline keeps in a register


def short_lives(lives: Sequence[Live], registers: int) -> dict[str, int]:
    """The baseline: what lives longer than three instructions is kept in memory.

    This is nearly what a compiler does without optimization: it loads the operands of each
    statement, computes, and stores the result. The others take the registers in turn: a life of at
    most as many instructions as there are registers has ended when its register comes again.
    """
    longest = min(SHORT, registers)
    short = [live for live in lives if live.end - live.start <= longest]
    return {live.name: live.start % registers for live in short}


@exercise("machine.linear_scan", unit=6, points=4, baseline=short_lives)
def linear_scan(lives: Sequence[Live], registers: int) -> dict[str, int]:
    """Assign registers to values so that as few values as possible are spilled.

    lives      each with a `name`, a `start` and an `end`, in any order; no two start together, and
               `end` is larger than `start`
    registers  how many there are, at least 1; they are numbered from 0
    returns    {name: number of its register}; a value that is not in it is spilled

    Two values whose lives meet have different registers. A life that starts at the instruction
    where another one ends may take over its register: an instruction reads before it writes. A
    value keeps its register all its life.

    Walk through the lives in the order of their starts. At each start, the registers of those that
    have ended are free again. If none is free, of the new life and those with registers, the one
    that ends last is spilled. Then no allocation has fewer spills.

    >>> linear_scan([Live("a", 0, 9), Live("b", 1, 3), Live("c", 2, 4)], 2)
    {'b': 1, 'c': 0}
    """
    free, active, register_of = list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            free.append(register_of[old.name])
        if free:
            register_of[live.name] = free.pop(0)
            active.append(live)
            continue
        last = max(active, key=lambda one: one.end)
        if last.end > live.end:
            active.remove(last)
            register_of[live.name] = register_of.pop(last.name)
            active.append(live)
    return register_of
