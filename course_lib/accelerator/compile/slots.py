"""Which slot of an SRAM each step of a layer finds its operand in, and what has to be loaded.

    slots([7, 8, 7, 9], 2)   ->   (0, load), (1, load), (0, kept), (1, load)

An SRAM is cut into slots of equal size (`tiles.footprint`). With one slot, a load has to wait until
the work on what stands there is done. With two, the next operand comes in during this step's work:
that is double buffering. What is wanted again and still there is not loaded again. Next room:
`emit.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

from course_lib.exercises import exercise

Placed = list[tuple[int, bool]]


def one_slot(wanted: list[int], count: int) -> Placed:
    """Everything in slot 0, however many there are; what stood there before stays if it is wanted
    again at once."""
    return [(0, k == 0 or wanted[k - 1] != piece) for k, piece in enumerate(wanted)]


@exercise("chip.slots", unit=13, points=3, baseline=one_slot)
def slots(wanted: list[int], count: int) -> list[tuple[int, bool]]:
    """The slot in which each step finds its piece of data, and whether that must be loaded.

    wanted   for each step, the number (from 0) of the piece of data that it works on
    count    how many slots there are, at least 1; each holds one piece, and all are empty at first

    Return a pair (slot, load) for each step, in order. Slots are numbered from 0. If a slot holds
    the piece, the pair names that slot, and `load` is False. Otherwise `load` is True, and the
    piece replaces what was in the slot that the pair names.

    If there are two or more slots, a load never goes to the slot of the step before it. In all,
    there are no more loads than if each load took an empty slot or, if none is left, replaced the
    piece whose latest use is longest ago.

    >>> slots([7, 8, 7, 9, 8], 2)
    [(0, True), (1, True), (0, False), (1, True), (0, True)]
    """
    held: dict[int, int] = {}  # piece -> slot; what was wanted last is last
    placed = []
    for piece in wanted:
        load = piece not in held
        if not load:
            at = held.pop(piece)
        elif len(held) < count:
            at = len(held)
        else:
            at = held.pop(next(iter(held)))
        held[piece] = at
        placed.append((at, load))
    return placed


def placed(keys: Iterable[Hashable], count: int) -> Placed:
    """`slots` for pieces with any names."""
    numbers: dict[Hashable, int] = {}
    return slots([numbers.setdefault(key, len(numbers)) for key in keys], count)


def may_run_ahead(places: Sequence[tuple[int, bool]]) -> bool:
    """Does no load overwrite what the step in front of it works on?"""
    return not any(load and at == before for (before, _), (at, load) in pairwise(places))
