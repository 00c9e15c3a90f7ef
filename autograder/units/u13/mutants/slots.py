"""Answers to chip.slots, wrong and right."""

from __future__ import annotations

from collections import OrderedDict

from autograder.check.framework import alternative, alternatives, equivalent, mutants

_OLDEST = "next(iter(held))"
_PLACES = """elif len(held) < count:
            at = len(held)
        else:
            at = held.pop(next(iter(held)))"""


def _at_most(slots):
    """The edit after which no more slots are used, however many there are."""
    return "placed = []", f"placed, count = ([], min(count, {slots}))"


mutants(
    "chip.slots",
    # Even steps here, odd steps there, and everything is loaded.
    two_in_turns=lambda wanted, count: [(k % min(count, 2), True) for k in range(len(wanted))],
    # The slot whose turn it is: also what was wanted just now.
    round_and_round=(f"at = held.pop({_OLDEST})", "at = len(placed) % count\n"
                     "            held = {there: s for there, s in held.items() if s != at}"),
    # First in, first out.
    a_hit_does_not_count_as_wanted=("held.pop(piece)", "held[piece]"),
    # As a direct-mapped cache does.
    by_its_number=lambda wanted, count: [
        (piece % count, [p for p in wanted[:k] if p % count == piece % count][-1:] != [piece])
        for k, piece in enumerate(wanted)],
    replaces_what_was_wanted_last=(_OLDEST, "list(held)[-1]"),
    # What was wanted often long ago never goes.
    the_least_often_wanted=(
        _OLDEST, "min(list(held)[:-1] or held, key=wanted[:len(placed)].count)"),
    # The slot in turns, and kept only if it was wanted by the step in front.
    nothing_stays=(_PLACES, "else:\n            at = (sum(held.values()) + bool(held)) % count\n"
                   "            held = {}"),
    # A piece that was replaced is still believed to be there.
    forgets_who_stood_there=(_PLACES, "else:\n            at = len(held) % count"),
    # `load` the wrong way round.
    says_whether_it_is_there=("(at, load)", "(at, not load)"),
    slots_from_one=("(at, load)", "(at + 1, load)"),
    the_one_slot_that_we_had=lambda wanted, count: [
        (0, k == 0 or wanted[k - 1] != piece) for k, piece in enumerate(wanted)],
    # Answers for the step behind.
    the_next_one_is_loaded_now=("return placed", "return placed[1:] + placed[:1]"),
    # Chips have few slots, it thinks.
    twelve_at_most=_at_most(12),
    sixty_four_at_most=_at_most(64),
    a_thousand_at_most=_at_most(1000),
    # Looks back so far, and no farther.
    forgets_after_a_hundred_steps=(
        "load = piece not in held", "load = piece not in held or piece not in wanted["
        "max(0, len(placed) - 100):len(placed)]"),
)  # fmt: skip


@alternative("chip.slots")
def least_recently(wanted, count):
    """An ordered dict, as caches do it."""
    held, placed = OrderedDict(), []
    for piece in wanted:
        load = piece not in held
        full = load and len(held) == count
        held[piece] = at = held.popitem(last=False)[1] if full else held.get(piece, len(held))
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


# Replaces what is wanted again last (Belady, 1966), but not what is in use.
alternatives("chip.slots", who_knows_the_future=(
    _OLDEST, "max(list(held)[:-1] or held, key=lambda there: [*wanted[len(placed):], there]."
    "index(there))", "(at, load)", "[at, load]"))  # fmt: skip

equivalent("chip.slots", "held[piece] = at", "held.setdefault(piece, at)",
           because="the piece was taken out before, or was never there")  # fmt: skip
