"""Dependence: which iterations of a loop must stay in order?

    for i in 0..9 { out[i + 1] = out[i] + x[i] }     flow: it reads what the one before wrote
    for i in 0..9 { out[i] = out[i + 1] + x[i] }     anti: it writes what the one before read
    for i in 0..9 { out[0] = x[i] }                  output: both write the same element
    for i in 0..9 { out[i] = out[i] + x[i] }         none: the iterations are independent

A dependence is *carried* by a loop if it leads from one of its iterations to a later one. Whether
there is one is a question about whole numbers with an exact answer (`polyhedra/`). Where it cannot
tell, because an index is data or because it gives up, it assumes a dependence. Next room:
`prefetch.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.polyhedra.dependences import Dependence, ordered, pairs
from course_lib.ir.loops.polyhedra.domains import statements_of


def carried(loop: Loop, around: Sequence[Loop] = ()) -> list[Dependence]:
    """The dependences that a loop carries, those of the first statements first, one for each kind
    and buffer.

    around  the loops around it; the variable of one that is not named may have any value

    Empty: its iterations may run in any order, or at the same time. What is local to an iteration
    carries nothing.
    """
    return [*_carried(loop, tuple(replace(outer, body=()) for outer in around))]


@lru_cache(maxsize=4096)  # each step of a schedule is verified, and leaves most loops as they are
def _carried(loop: Loop, around: tuple[Loop, ...]) -> tuple[Dependence, ...]:
    by_buffer: dict[tuple[str, str], Dependence] = {}
    for pair in pairs([*statements_of((loop,))], around):
        if (pair.kind, pair.buffer) in by_buffer or pair.source.private.get(pair.buffer):
            continue
        for dependence in ordered(pair, loop.var):
            by_buffer[pair.kind, pair.buffer] = dependence
    return tuple(by_buffer.values())
