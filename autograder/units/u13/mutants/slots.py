"""Answers to chip.slots, wrong and right."""

from __future__ import annotations

from collections import OrderedDict

from autograder.check.framework import alternative, equivalent, mutant


@mutant("chip.slots")
def two_in_turns(wanted, count):
    """Even steps here, odd steps there, and everything is loaded."""
    return [(k % min(count, 2), True) for k in range(len(wanted))]


@mutant("chip.slots")
def round_and_round(wanted, count):
    """First in, first out: also what was wanted just now."""
    held, placed, loads = {}, [], 0
    for piece in wanted:
        load = piece not in held.values()
        if load:
            held[loads % count] = piece
            loads += 1
        at = next(slot for slot, there in held.items() if there == piece)
        placed.append((at, load))
    return placed


@mutant("chip.slots")
def by_its_number(wanted, count):
    """As a direct-mapped cache does."""
    held, placed = {}, []
    for piece in wanted:
        at = piece % count
        placed.append((at, held.get(at) != piece))
        held[at] = piece
    return placed


@mutant("chip.slots")
def replaces_what_was_wanted_last(wanted, count):
    held, placed = {}, []
    for piece in wanted:
        load = piece not in held
        if not load:
            at = held.pop(piece)
        else:
            at = len(held) if len(held) < count else held.pop(list(held)[-1])
        held[piece] = at
        placed.append((at, load))
    return placed


@mutant("chip.slots")
def a_hit_does_not_count_as_wanted(wanted, count):
    """First in, first out, in a dict."""
    held, placed = {}, []
    for piece in wanted:
        load = piece not in held
        if load:
            held[piece] = len(held) if len(held) < count else held.pop(next(iter(held)))
        placed.append((held[piece], load))
    return placed


@mutant("chip.slots")
def the_least_often_wanted(wanted, count):
    """What was wanted often long ago never goes."""
    held, often, placed, before = {}, {}, [], None
    for piece in wanted:
        often[piece] = often.get(piece, 0) + 1
        load = piece not in held.values()
        if load:
            at = len(held)
            if at == count:
                others = [slot for slot in held if slot != before or count == 1]
                at = min(others, key=lambda slot: often[held[slot]])
        else:
            at = next(slot for slot, there in held.items() if there == piece)
        held[at] = piece
        placed.append((at, load))
        before = at
    return placed


@mutant("chip.slots")
def nothing_stays(wanted, count):
    """The slot in turns, and kept only if it was wanted by the step in front."""
    placed, at = [], 0
    for k, piece in enumerate(wanted):
        load = k == 0 or wanted[k - 1] != piece
        at = (at + load) % count if k else 0
        placed.append((at, load))
    return placed


@mutant("chip.slots")
def says_whether_it_is_there(wanted, count):
    """`load` the wrong way round."""
    return [(at, not load) for at, load in least_recently(wanted, count)]


@mutant("chip.slots")
def forgets_who_stood_there(wanted, count):
    """A piece that was replaced is still believed to be there."""
    known, placed, loads = {}, [], 0
    for piece in wanted:
        load = piece not in known
        if load:
            known[piece] = loads % count
            loads += 1
        placed.append((known[piece], load))
    return placed


@mutant("chip.slots")
def slots_from_one(wanted, count):
    return [(at + 1, load) for at, load in least_recently(wanted, count)]


@mutant("chip.slots")
def the_one_slot_that_we_had(wanted, count):
    return [(0, k == 0 or wanted[k - 1] != piece) for k, piece in enumerate(wanted)]


@mutant("chip.slots")
def the_next_one_is_loaded_now(wanted, count):
    """Answers for the step behind."""
    found = least_recently(wanted, count)
    return [*found[1:], *found[:1]]


@alternative("chip.slots")
def least_recently(wanted, count):
    """An ordered dict, as caches do it."""
    held, placed = OrderedDict(), []
    for piece in wanted:
        load = piece not in held
        if load and len(held) == count:
            at = held.popitem(last=False)[1]
        else:
            at = held.get(piece, len(held))
        held[piece] = at
        held.move_to_end(piece)
        placed.append((at, load))
    return placed


@alternative("chip.slots")
def by_clocks(wanted, count):
    """When each slot was wanted last; the last slot is filled first."""
    pieces, when, placed = [None] * count, [-1] * count, []
    for clock, piece in enumerate(wanted):
        load = piece not in pieces
        if load:
            at = min(range(count), key=lambda slot: (when[slot], -slot))
        else:
            at = pieces.index(piece)
        pieces[at], when[at] = piece, clock
        placed.append((at, load))
    return tuple(placed)


@alternative("chip.slots")
def who_knows_the_future(wanted, count):
    """Replaces what is wanted again last (Belady, 1966), but not what is in use."""
    held, placed, before = {}, [], None
    for k, piece in enumerate(wanted):
        load = piece not in held.values()
        if load:
            free = [slot for slot in range(count) if slot not in held]
            others = [slot for slot in held if slot != before or count == 1]

            def again(slot, k=k):
                rest = wanted[k:]
                return rest.index(held[slot]) if held[slot] in rest else len(rest)

            at = free[0] if free else max(others, key=again)
        else:
            at = next(slot for slot, there in held.items() if there == piece)
        held[at] = piece
        placed.append([at, load])
        before = at
    return placed


equivalent("chip.slots", "held[piece] = at", "held.setdefault(piece, at)",
           because="the piece was taken out before, or was never there")  # fmt: skip
