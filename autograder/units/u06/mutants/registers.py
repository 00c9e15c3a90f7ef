"""Answers to machine.linear_scan, wrong and right. Next room: order.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants


def _first_fit(key):
    """No rule for spills: a life takes the first register whose lives it does not meet."""

    def linear_scan(lives, registers):
        held, register_of = [[] for _ in range(registers)], {}
        for live in sorted(lives, key=key):
            for register, others in enumerate(held):
                if live.name not in register_of and not any(live.meets(other) for other in others):
                    others.append(live)
                    register_of[live.name] = register
        return register_of

    return linear_scan


SPILL, LAST = "if last.end > live.end", "max(active, key=lambda one: one.end)"
mutants(
    "machine.linear_scan",
    the_newcomer_is_spilled=(SPILL, "if False"),
    the_one_that_ends_first_is_spilled=("max(active", "min(active", SPILL, "if True"),
    the_newcomer_is_never_spilled=(SPILL, "if True"),
    the_shortest_lives_first=_first_fit(lambda one: one.end - one.start),
    a_register_for_each_that_fits_somewhere=_first_fit(
        lambda one: (one.end - one.start, -one.start)
    ),
    what_was_spilled_stays_active=(
        "free.append(register_of[old.name])",
        "free += [register_of[old.name]] if old.name in register_of else []",
        SPILL, f"{SPILL} and last.name in register_of",
        "active.remove(last)", "pass",
    ),
    both_alive_at_the_end=("one.end <= live.start", "one.end < live.start"),
    freed_one_too_early=("one.end <= live.start", "one.end <= live.start + 1"),
    never_freed=("one.end <= live.start", "False"),
    in_the_order_given=("sorted(lives, key=lambda one: one.start)", "lives"),
    in_the_order_of_their_names=("one: one.start", "one: one.name"),
    in_the_order_of_their_ends=("one: one.start", "one: one.end"),
    spills_are_named=("return register_of",
                      "return {a.name: register_of.get(a.name, -1) for a in lives}"),
    the_longest_is_spilled=(LAST, "max(active, key=lambda one: one.end - one.start)"),
    the_latest_start_is_spilled=(LAST, "max(active, key=lambda one: one.start)"),
    numbered_from_one=("range(registers)", "range(1, registers + 1)"),
    sixteen_registers_at_most=("range(registers)", "range(min(registers, 16))"),
    a_thousand_instructions_at_most=("(lives,", "([one for one in lives if one.end < 1000],"),
)  # fmt: skip
alternatives("machine.linear_scan", the_highest_number_first=("free.pop(0)", "free.pop()"))


@alternative("machine.linear_scan")
def by_counting_what_is_alive(lives, registers):
    """First which values to spill, then a register for each of the others."""
    kept = []
    for live in sorted(lives, key=lambda value: value.start):
        kept.append(live)
        alive = [value for value in kept if value.end > live.start]
        if len(alive) > registers:
            kept.remove(max(alive, key=lambda value: value.end))
    register_of = {}
    for live in kept:
        taken = {register_of[o.name] for o in kept if o.name in register_of and o.end > live.start}
        register_of[live.name] = next(r for r in range(registers) if r not in taken)
    return register_of


@alternative("machine.linear_scan")
def shortest_ends_first(lives, registers):
    """As one chooses rooms: by their ends, each into the register that was left last."""
    until = [-1] * registers
    register_of = {}
    for live in sorted(lives, key=lambda one: (one.end, -one.start)):
        fitting = [r for r in range(registers) if until[r] <= live.start]
        if fitting:
            register = max(fitting, key=lambda r: until[r])
            register_of[live.name], until[register] = register, live.end
    return register_of


SCAN = "machine.linear_scan"
WHICH = "which of the free registers is taken does not matter"
equivalent(SCAN, "for old in", "reversed(", because=WHICH)
equivalent(SCAN, "free.append(", "free.insert(0,", because=WHICH)
equivalent(SCAN, "free.pop(0)", "free.pop(-1)", because=WHICH)
equivalent(
    SCAN,
    "register_of[live.name] =",
    "register_of.setdefault(live.name,",
    because="it is not in register_of",
)
equivalent(SCAN, "active.append(live)", "active.insert(0, live)", because="its order is not used "
           "but to choose between lives that end together")  # fmt: skip
equivalent(SCAN, "last.end > live.end", "last.end >= live.end", because="either may be spilled")
