"""Hidden checks of unit 6: other seeds, larger programs, other sizes of register files."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from autograder.check.framework import Score, Wrong, harder, hidden
from autograder.units.u06.checks import as_listed, fitting
from autograder.units.u06.checks.cover import covers, listed, same_again
from autograder.units.u06.checks.order import ratio, worth
from autograder.units.u06.checks.registers import SIZES, sound, told
from course_lib.exercises import slot
from course_lib.machine.cover import shown
from lessons.u06.programs import (
    layered_needs,
    random_lives,
    random_needs,
    random_patterns,
    random_tree,
)

SEED = 60_913
LARGE = st.integers(10_000, 1 << 30)

harder("machine.cover", "it_is_a_cover", seed=SEED, given=LARGE, examples=60)
harder("machine.list_schedule", "every_wait_is_kept", seed=SEED + 1, given=LARGE, examples=60)
harder("machine.linear_scan", "living_values_have_registers_of_their_own", seed=SEED + 2,
       given=st.tuples(LARGE, SIZES), examples=100)  # fmt: skip


@hidden("machine.cover", seed=SEED)
def other_trees_cost_the_least(cover, rng):
    """The least cost, for trees and prices that were drawn for this run."""
    best = slot("machine.cover").reference
    for seed in rng.integers(1 << 30, size=80).tolist():
        tree, patterns = random_tree(seed, 16), random_patterns(seed + 1)
        cost, least = covers(cover, tree, patterns), covers(best, tree, patterns)
        if cost > least:
            same_again(cover, tree, patterns, listed(cover(tree, patterns)))
            prices = ", ".join(f"{name} {price}" for name, (_, price) in patterns.items())
            raise Wrong(f"The cover must be the cheapest. It costs {cost}; the least is {least}, "
                        f"at {prices}.",
                        program=shown(tree),
                        got=", ".join(listed(cover(tree, patterns))))  # fmt: skip
    return "80 trees with other prices"


@hidden("machine.linear_scan", seed=SEED)
def other_lives_are_spilled_least(linear_scan, rng):
    """As few spills as possible, for lives that were drawn for this run."""
    best = slot("machine.linear_scan").reference
    for k, seed in enumerate(rng.integers(1 << 30, size=60).tolist()):
        lives = [dataclasses.replace(live, name=f"t{live.name}") for live in random_lives(seed, 60)]
        registers = (*range(1, 10), 17)[k % 10]
        spilled, fewest = (sound(f, lives, registers) for f in (linear_scan, best))
        if spilled > fewest:
            raise Wrong(f"At most {fewest} of {len(lives)} values may be spilled, not {spilled}.",
                        program=told(lives, registers))  # fmt: skip
    return "60 sets of lives"


@hidden("machine.list_schedule", seed=SEED)
def other_programs_take_few_cycles(list_schedule, rng):
    """The cycles are near the bound, for programs that were drawn for this run."""
    seeds = rng.integers(1 << 30, size=30).tolist()
    programs = [(random_needs(seed, 80), 1 + k % 4) for k, seed in enumerate(seeds[:27])]
    programs += [(layered_needs(seed), 1) for seed in seeds[27:]]
    mean, fraction = worth([ratio(list_schedule, *one) - 0.02 for one in programs])
    return Score(fraction, f"cycles / bound: {mean + 0.02:.3f} on average over 30 other programs")


@hidden("u06.tile", seed=SEED)
def other_register_files(tile, rng):
    """The best tile for sizes that were drawn for this run, and for the smallest."""
    best = slot("u06.tile").reference
    sizes = [*range(3, 50), *rng.integers(50, 130, size=12).tolist(), 200]
    for registers in sizes:
        got, most = fitting(tile, registers), fitting(best, registers)
        if got < most:
            raise Wrong(f"With {registers} registers, the tile must do {float(most):.2f} "
                        "multiply-adds for each load.",
                        got=f"{tile(registers)}: {float(got):.2f}")  # fmt: skip
    return f"{len(sizes)} sizes of register files"


@hidden("u06.gpu", seed=SEED)
def the_listing_said_so(gpu):
    """Five facts about NVIDIA's listing."""
    return as_listed("u06.gpu", gpu())


@hidden("u06.waits", seed=SEED)
def the_other_listing_said_so(waits):
    """Two facts about AMD's listing."""
    return as_listed("u06.waits", waits())
