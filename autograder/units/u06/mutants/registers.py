"""Answers to machine.linear_scan, wrong and right. Next room: order.py."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant


def _scan(lives, registers, over=lambda old, new: old.end <= new.start, key=None, take=0, swap=True,
          by=lambda live: live.start):  # fmt: skip
    free, active, found = list(range(registers)), [], {}
    for live in sorted(lives, key=by):
        for old in [one for one in active if over(one, live)]:
            active.remove(old)
            free.append(found[old.name])
        if free:
            found[live.name] = free.pop(take)
            active.append(live)
            continue
        last = max(active, key=key or (lambda one: one.end))
        if swap and last.end > live.end:
            active.remove(last)
            found[live.name] = found.pop(last.name)
            active.append(live)
    return found


@mutant("machine.linear_scan")
def the_newcomer_is_spilled(lives, registers):
    return _scan(lives, registers, swap=False)


@mutant("machine.linear_scan")
def the_one_that_ends_first_is_spilled(lives, registers):
    free, active, found = list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            free.append(found[old.name])
        if not free:
            first = min(active, key=lambda one: one.end)
            active.remove(first)
            free.append(found.pop(first.name))
        found[live.name] = free.pop(0)
        active.append(live)
    return found


@mutant("machine.linear_scan")
def the_newcomer_is_never_spilled(lives, registers):
    """Spills the one that ends last of those that have a register, also if the new one is later."""
    free, active, found = list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            free.append(found[old.name])
        if not free:
            last = max(active, key=lambda one: one.end)
            active.remove(last)
            free.append(found.pop(last.name))
        found[live.name] = free.pop(0)
        active.append(live)
    return found


@mutant("machine.linear_scan")
def the_shortest_lives_first(lives, registers):
    held, found = [[] for _ in range(registers)], {}
    for live in sorted(lives, key=lambda one: one.end - one.start):
        fitting = [r for r in range(registers) if not any(live.meets(o) for o in held[r])]
        if fitting:
            held[fitting[0]].append(live)
            found[live.name] = fitting[0]
    return found


@mutant("machine.linear_scan")
def what_was_spilled_stays_active(lives, registers):
    free, active, found = list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            if old.name in found:
                free.append(found[old.name])
        if free:
            found[live.name] = free.pop(0)
            active.append(live)
            continue
        last = max(active, key=lambda one: one.end)
        if last.end > live.end and last.name in found:
            found[live.name] = found.pop(last.name)
            active.append(live)
    return found


@mutant("machine.linear_scan")
def both_alive_at_the_end(lives, registers):
    return _scan(lives, registers, over=lambda old, new: old.end < new.start)


@mutant("machine.linear_scan")
def freed_one_too_early(lives, registers):
    return _scan(lives, registers, over=lambda old, new: old.end <= new.start + 1)


@mutant("machine.linear_scan")
def never_freed(lives, registers):
    return _scan(lives, registers, over=lambda old, new: False)


@mutant("machine.linear_scan")
def in_the_order_given(lives, registers):
    return _scan(lives, registers, by=lambda live: 0)


@mutant("machine.linear_scan")
def spills_are_named(lives, registers):
    found = _scan(lives, registers)
    return {live.name: found.get(live.name, -1) for live in lives}


@mutant("machine.linear_scan")
def the_longest_is_spilled(lives, registers):
    return _scan(lives, registers, key=lambda one: one.end - one.start)


@mutant("machine.linear_scan")
def numbered_from_one(lives, registers):
    return {name: register + 1 for name, register in _scan(lives, registers).items()}


@mutant("machine.linear_scan")
def sixteen_registers_at_most(lives, registers):
    return _scan(lives, min(registers, 16))


@mutant("machine.linear_scan")
def a_thousand_instructions_at_most(lives, registers):
    return _scan([live for live in lives if live.end < 1000], registers)


@mutant("machine.linear_scan")
def in_the_order_of_their_names(lives, registers):
    return _scan(lives, registers, by=lambda live: live.name)


@mutant("machine.linear_scan")
def in_the_order_of_their_ends(lives, registers):
    return _scan(lives, registers, by=lambda live: live.end)


@mutant("machine.linear_scan")
def the_latest_start_is_spilled(lives, registers):
    return _scan(lives, registers, key=lambda one: one.start)


@mutant("machine.linear_scan")
def a_register_for_each_that_fits_somewhere(lives, registers):
    """First fit without a spill rule: a life takes the first register whose lives it does not meet,
    in the order of their lengths, the longest last, among equals the later first."""
    held, found = [[] for _ in range(registers)], {}
    for live in sorted(lives, key=lambda one: (one.end - one.start, -one.start)):
        for register, others in enumerate(held):
            if not any(live.meets(other) for other in others):
                others.append(live)
                found[live.name] = register
                break
    return found


@alternative("machine.linear_scan")
def the_highest_number_first(lives, registers):
    return _scan(lives, registers, take=-1)


@alternative("machine.linear_scan")
def by_counting_what_is_alive(lives, registers):
    """First which values to spill, then a register for each of the others."""
    kept = []
    for live in sorted(lives, key=lambda one: one.start):
        kept.append(live)
        alive = [one for one in kept if one.end > live.start]
        if len(alive) > registers:
            kept.remove(max(alive, key=lambda one: one.end))
    found = {}
    for live in kept:
        taken = {found[o.name] for o in kept if o.name in found and o.end > live.start}
        found[live.name] = next(r for r in range(registers) if r not in taken)
    return found


@alternative("machine.linear_scan")
def shortest_ends_first(lives, registers):
    """As one chooses rooms: by their ends, each into the register that was left last."""
    until = [-1] * registers
    found = {}
    for live in sorted(lives, key=lambda one: (one.end, -one.start)):
        fitting = [r for r in range(registers) if until[r] <= live.start]
        if fitting:
            register = max(fitting, key=lambda r: until[r])
            found[live.name], until[register] = register, live.end
    return found


SCAN = "machine.linear_scan"
WHICH = "which of the free registers is taken does not matter"
equivalent(SCAN, "for old in", "reversed(", because=WHICH)
equivalent(SCAN, "free.append(", "free.insert(0,", because=WHICH)
equivalent(SCAN, "free.pop(0)", "free.pop(-1)", because=WHICH)
equivalent(SCAN, "found[live.name] =", "found.setdefault(live.name,", because="it is not in found")
equivalent(SCAN, "active.append(live)", "active.insert(0, live)", because="its order is not used "
           "but to choose between lives that end together")  # fmt: skip
equivalent(SCAN, "last.end > live.end", "last.end >= live.end", because="either may be spilled")
