"""Are rounds what timers returned, in turns and warm? Next room: intervals.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autograder.check.framework import Wrong
from lessons.u18.machines import Call, Machine

TURN = "In a round, every timer is called, once or more often, before the next round begins"
RETURNED = "An engine's seconds in a round are what its timer returned then, or the mean of that"
NONE_OUT = "From the first round that counts on, no round is left out"
COLD = "At first, until it has run for up to a 50th of `seconds`, an engine is slow"
ONE_RUN = "the seconds of one run in each round"
EXACTLY = 1e-6  # of a number, in which nothing is added up that would round it by more
WHAT = {f"{words} times as much": factor for words, factor in
        (("a thousand", 1e3), ("a million", 1e6), ("a billion", 1e9))}  # fmt: skip


def counted(times: np.ndarray, machine: Machine, call: str) -> None:
    """Wrong if the rounds of an answer, an engine a row, are not what its timers returned."""
    every = [*machine.calls]
    if not every:
        raise Wrong("No timer was called.", program=call, spec=RETURNED)
    tries = [_Slices(some, times) for some in (every, _long(every))]
    if any(one.rounds(warm=True) == times.shape[1] for one in tries):
        return
    found = max(one.rounds(warm=False) for one in tries)
    if found == times.shape[1]:
        cold = [one.engine for one in every if one.cold]
        raise Wrong("A round contains runs of an engine that was still cold.", program=call,
                    got=f"{machine.seconds / 50:.3g} s is a 50th of the time; timer calls that "
                    f"were cold: {', '.join(f'{cold.count(e)} of engine {e}' for e in set(cold))}; "
                    f"calls in order: {in_order(machine)}", spec=COLD)  # fmt: skip
    got = " and ".join(f"{value:.6g} (engine {e})" for e, value in enumerate(times[:, found]))
    _its_unit(times[:, found], every, call)
    made_up = [e for e, value in enumerate(times[:, found]) if not _returned(value, e, every)]
    raise Wrong(
        "A round holds a number that its timer did not return then."
        if made_up
        else "These are no rounds in which every engine had its turn, one after the other.",
        program=call,
        got=f"round {found + 1} of {times.shape[1]}: {got}; calls in order: {in_order(machine)}",
        spec=RETURNED if made_up else NONE_OUT if _in_turns(times, every) else TURN,
    )


class _Slices:
    """Calls in order, cut into rounds: each engine's mean in a slice is what its round says."""

    def __init__(self, calls: Sequence[Call], times: np.ndarray) -> None:
        self.times, self.count = times, len(calls)
        self.most = 200 + 10 * len(calls) // times.shape[1]  # calls in a round
        engines, numbers, seconds, cold = (np.array(column) for column in zip(*calls, strict=True))
        own = np.arange(len(times))[:, None] == engines
        # until each call, and for each engine: calls, their seconds, runs, and seconds of all runs
        columns = [own, own * seconds, own * numbers, own * seconds * numbers]
        self.sums = np.stack([_until(column) for column in columns])
        self.cold = _until(cold)

    def rounds(self, warm: bool) -> int:
        """How many of the rounds can be found, one directly after the other."""
        begins = set(range(self.count))
        for number in range(self.times.shape[1]):
            begins = {end for begin in begins for end in self._ends(begin, number, warm)}
            if not begins:
                return number
        return self.times.shape[1]

    def _ends(self, begin: int, number: int, warm: bool) -> list[int]:
        """Where round `number` may end that begins there."""
        after = slice(begin + 1, begin + 1 + self.most)
        calls, seconds, runs, total = self.sums[:, :, after] - self.sums[:, :, begin, None]
        value = self.times[:, number, None]
        fits = (calls > 0) & (_same(seconds, value * calls) | _same(total, value * runs))
        fine = fits.all(axis=0)
        if warm:
            fine &= self.cold[after] == self.cold[begin]
        return (begin + 1 + np.flatnonzero(fine)).tolist()


def _until(column: np.ndarray) -> np.ndarray:
    sums = np.cumsum(column, axis=-1, dtype=float)
    return np.concatenate([np.zeros((*sums.shape[:-1], 1)), sums], axis=-1)


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(a - b) <= EXACTLY * b


def _long(calls: Sequence[Call]) -> list[Call]:
    """Without those of which one precedes each batch, so that it is warm."""
    numbers: dict[int, list[int]] = {}
    for one in calls:
        numbers.setdefault(one.engine, []).append(one.number)
    least = {engine: np.quantile(some, 0.75) / 4 for engine, some in numbers.items()}
    return [one for one in calls if one.number >= least[one.engine]]


def _returned(value: float, engine: int, calls: Sequence[Call]) -> bool:
    return any(math.isclose(value, one.seconds, rel_tol=EXACTLY)
               for one in calls if one.engine == engine)  # fmt: skip


def _in_turns(times: np.ndarray, calls: Sequence[Call]) -> bool:
    """Were they measured in the order in which they stand?"""
    for engine, row in enumerate(times):
        own = iter([one.seconds for one in calls if one.engine == engine])
        if not all(any(math.isclose(x, one, rel_tol=EXACTLY) for one in own) for x in row):
            return False
    changes = sum(a.engine != b.engine for a, b in pairwise(calls))
    return changes > times.size // 2


def _its_unit(values: np.ndarray, calls: Sequence[Call], call: str) -> None:
    """Wrong if a value is that of all runs together, or not in seconds."""
    for engine, value in enumerate(values):
        for one in calls:
            if one.engine != engine or one.seconds == 0:
                continue
            factors = {"the seconds of all runs": one.number, "divided twice": 1 / one.number}
            for words, factor in (factors | WHAT).items():
                if factor != 1 and math.isclose(value, factor * one.seconds, rel_tol=EXACTLY):
                    raise Wrong("A round must hold the seconds of one run.", program=call,
                                got=f"{value:.3g}: {words}; timer({one.number}) returned "
                                f"{one.seconds:.3g}", spec=ONE_RUN)  # fmt: skip


def in_order(machine: Machine) -> str:
    """Which engines ran how often, at the beginning and at the end."""
    runs: list[Any] = [f"{engine} × {number}" for engine, number, *_ in machine.runs]
    return ", ".join(runs if len(runs) < 13 else [*runs[:6], "...", *runs[-6:]])
