"""Visible checks of unit 18: what a fair measurement must withstand. Next room: as_measured.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, background, checks, shows
from autograder.check.shown import returned
from autograder.units.u18.checks.as_measured import (
    COLD,
    NONE_OUT,
    ONE_RUN,
    RETURNED,
    TURN,
    counted,
    in_order,
)
from lessons.u18.machines import TROUBLES, Machine, drawn

FAIR = "Measure engines so that the ratios of their times can be trusted"
TIMER = "timer(n) runs it n times in a row, n >= 1, and returns the mean time of a run"
SECONDS = "how long everything may take together; up to a tenth more is allowed"
ROUNDS = "for each engine, the seconds of one run in each round: 15 rounds or more, equally many"
COARSE = "The clock's steps are at most a 10,000th of `seconds`"
SIZES = "Between 1,000 and 2,000,000 runs of an engine take as long as `seconds`"
SPEED = "The machine's speed may drift by a third, or jump"
OTHERS = "Another program may disturb up to an eighth of the time, and pauses may stop everything"
CLOCK = "After timer(n), n times as many seconds have passed as it returned"
WITHIN = "The median of the rounds' ratios between the first engine and any other"
SAYS = {"cold": COLD, "coarse clock": COARSE, "slower and slower": SPEED, "clock rate": SPEED,
        "neighbour": OTHERS, "pauses": OTHERS}  # fmt: skip
MOST, NEAR, FEWEST = 1.1, 0.04, 15


def measured(fair_rounds: Any, machine: Machine, what: str) -> np.ndarray:
    """The rounds of an answer, an engine a row; Wrong if they are not what was asked for."""
    call = f"fair_rounds(timers, {machine.seconds:g}) on a machine with: {what}"
    with shows(call):
        times = fair_rounds(machine.timers(), machine.seconds)
    if machine.now > MOST * machine.seconds:
        raise Wrong("The measurement takes too long.", program=call, spec=SECONDS,
                    got=f"{machine.now:.3g} seconds in {len(machine.runs)} calls of timers",
                    expected=f"at most {MOST * machine.seconds:.3g} seconds")  # fmt: skip
    if not isinstance(times, (list, tuple, np.ndarray)) or len(times) != len(machine.costs):
        raise Wrong("The answer must be a list for each engine.", program=call,
                    got=returned(times), spec=ROUNDS)  # fmt: skip
    if any(not isinstance(row, (list, tuple, np.ndarray)) for row in times):
        raise Wrong("The rounds of an engine must be a list.", program=call, got=returned(times),
                    spec=ROUNDS)  # fmt: skip
    counts = sorted({len(row) for row in times})
    if len(counts) > 1 or counts[0] < FEWEST:
        raise Wrong("There must be 15 rounds or more, equally many for all engines.", program=call,
                    got=f"numbers of rounds: {', '.join(map(str, counts))}",
                    spec=ROUNDS)  # fmt: skip
    for row in times:
        for one in row:
            if not isinstance(one, Real) or not 0 < float(one) < math.inf:
                coarse = isinstance(one, Real) and one == 0
                problem = ("A round took no time by the clock: the runs in it are too few."
                           if coarse else "Each round must be a positive number.")  # fmt: skip
                raise Wrong(problem, program=call, got=returned(one),
                            spec=COARSE if coarse else ROUNDS)  # fmt: skip
    rounds = np.array(times, float)
    counted(rounds, machine, call)
    return rounds


def judged(fair_rounds: Any, machines: Sequence[Machine], what: str, spec: str) -> float:
    """How far off the worst ratio is, but for one machine of six; Wrong if it is too far."""
    tried = sorted((off_by(fair_rounds, one, what) for one in machines), key=lambda each: each[0])
    error, engine, got, machine = tried[-2]
    if error > NEAR:
        raise Wrong(
            f"On a machine with this trouble, a ratio is {100 * error:.1f} % off.",
            spec=spec,
            program=f"fair_rounds(timers, {machine.seconds:g}) on a machine with: {what}",
            got=f"median of the ratios of engine 0 and engine {engine}: {got:.4f}; timers were "
            f"called {len(machine.runs)} times, in the order {in_order(machine)}",
            expected=f"{machine.ratio(engine):.4f}, within 4 %",
        )
    return error


def off_by(fair_rounds: Any, machine: Machine, what: str) -> tuple[float, int, float, Machine]:
    """The error of the worst ratio, of which engine it is, and the ratio; Wrong if the rounds are
    no rounds."""
    times = measured(fair_rounds, machine, what)
    ratios = {k: float(np.median(times[0] / row)) for k, row in enumerate(times) if k}
    engine = max(ratios, key=lambda k: abs(ratios[k] / machine.ratio(k) - 1))
    return abs(ratios[engine] / machine.ratio(engine) - 1), engine, ratios[engine], machine


def kinds(seed: int, each: int = 6) -> list[tuple[list[Machine], str, str]]:
    """Machines without trouble, with one trouble each, and with all: some machines, what they have,
    and which words of the text say so."""
    rng = np.random.default_rng(seed)
    one = [([trouble], words, SAYS[trouble]) for trouble, words in TROUBLES.items()]
    found = [([], "no trouble", SIZES), *one, ([*TROUBLES], "all of these troubles", WITHIN)]
    return [([drawn(rng, troubles, 2 + (n % 2)) for n in range(each)], words, spec)
            for troubles, words, spec in found]  # fmt: skip


@checks("measure.fair_rounds", spec=[FAIR, SECONDS, ROUNDS, ONE_RUN, TURN, RETURNED, NONE_OUT,
                                     CLOCK, COARSE, SIZES, COLD, SPEED, OTHERS,
                                     WITHIN])  # fmt: skip
def the_ratios_are_right(fair_rounds):
    """Machines without trouble, with each of six troubles, and with all of them."""
    errors = [judged(fair_rounds, *some) for some in kinds(1801)]
    return f"48 machines; ratios within {100 * max(errors):.1f} % on 40 of them, at least"


background("measure.fair_rounds", TIMER, because="how the machines are made")
