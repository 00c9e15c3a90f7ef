"""What every search does alike: prices, budget, duplicates, the best so far. A search adds a plan.

    search = Search(problem, Budget(priced=100), predict)

    def plan():
        for move in moves(problem, search.root.kernel):
            search.extend(search.root, move)            # a candidate, or None: nothing new

    search.run(plan)                                    # ends at the budget, and at Ctrl-C
    search.record("one decision").best

The default schedule is candidate 0, and the first to be priced and measured: so the best of a
search is never worse, by whatever counted. Next room: `beam.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.script import Schedule, Script
from course_lib.schedule.search.moves import Move, finish, moves
from course_lib.schedule.search.problem import (
    Budget,
    Candidate,
    Decision,
    Measure,
    Price,
    Problem,
    Record,
    best_of,
    nameless,
)

Progress = Callable[[int, Candidate], object]  # how many candidates there are, the best so far


BATCH = 8  # candidates that are measured in turns


class Spent(Exception):
    """There is no budget left."""


@dataclass(frozen=True)
class State:
    """A candidate that may go on: its decisions, and the kernel as they left it, not finished."""

    decisions: tuple[Decision, ...]
    kernel: Kernel
    number: int | None = None  # of the candidate; None for the root, which decided nothing

    def __len__(self) -> int:
        return len(self.decisions)


class Search:
    """`candidates` grows; nothing is ever taken out of it.

    price    the cost model; None: only the clock counts
    measure  the clock; None: only the cost model counts. With both, the model proposes, and what
             was measured decides
    """

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        price: Price | None = None,
        measure: Measure | None = None,
        progress: Progress | None = None,
    ) -> None:
        if price is None and measure is None:
            raise ValueError("a search needs a price, a measure, or both")
        self.problem, self.budget, self.price, self.measure = problem, budget, price, measure
        self.progress = progress
        self.candidates: list[Candidate] = []
        self.rounds: list[tuple[int, ...]] = []
        self.root = State((), problem.kernel)
        self.refused = self.duplicates = self.priced = self.measured = 0
        self.stopped = "complete"
        self._seen: dict[str, int] = {}
        self._tried: set[tuple[Decision, ...]] = set()
        self._kernels: dict[tuple[Decision, ...], Kernel] = {(): problem.kernel}
        self._offered = False  # has a move led to the default?
        self._start, self._clocked = time.perf_counter(), 0.0  # seconds of measuring

    # ── budget ──

    def run(self, plan: Callable[[], None]) -> None:
        """Price the default, then search as `plan` says. Where that is interrupted, or the budget
        is spent, the search ends with what it has; it has the default schedule at least."""
        try:
            self._default()
            plan()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        except Spent as spent:
            self.stopped = f"budget: {spent}"
            self._look_back()
        if not self.candidates:
            self._default(asked=False)

    def _look_back(self) -> None:
        """Where pricing had to stop, the cheapest by the model may not have been measured yet."""
        racing = [c.number for c in self.candidates if not c.dropped]
        if self.measure:
            try:
                self._measured_best(sorted(racing, key=self._cheapest)[:BATCH])
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            except Spent:
                return

    def _cheapest(self, number: int) -> tuple[float, int]:
        return self.candidates[number].predicted or 0.0, number

    def _spend(self, kind: str, count: int, most: int) -> None:
        """Where there is something to measure, that has half of the seconds."""
        took, all_of = self.seconds, self.budget.seconds
        if kind != "measured" and self.measure:
            took = 2 * (took - self._clocked)
        if took > all_of or self.seconds > all_of:
            raise Spent(f"{all_of:g} seconds")
        if count >= most:
            raise Spent(f"{most} {kind}")

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    # ── candidates ──

    def _default(self, asked: bool = True) -> None:
        """Candidate 0, whatever the budget is. It has one decision: a tile like any other."""
        problem = self.problem
        decision, kernel = next(moves(problem, problem.kernel)).decide(problem.kernel)
        self.default = State((decision,), kernel, 0)
        self.candidates = [self._candidate((decision,), kernel, None)]
        self._seen = {nameless(self._kernel(0)): 0}
        if asked:
            self._predict(0)
            if self.measure:
                self._time([])

    def extend(self, state: State, move: Move) -> State | None:
        """The state after one more decision, as a new candidate; None if the move is refused or
        leads to a kernel that was there before."""
        try:
            decision, kernel = move.decide(state.kernel)
        except ValueError:
            self.refused += 1
            return None
        return self.add((*state.decisions, decision), kernel, state.number)

    def add(
        self, decisions: tuple[Decision, ...], kernel: Kernel, parent: int | None
    ) -> State | None:
        """A candidate of these decisions, which left the kernel like this. None if there is one
        with the same kernel already; the default, which is there from the start, comes once."""
        self._spend("priced", self.priced, self.budget.priced)
        self._spend("duplicates", self.duplicates, 2 * self.budget.priced)
        if decisions in self._tried:
            self.duplicates += 1
            return None
        self._tried.add(decisions)
        self._kernels[decisions] = kernel
        candidate = self._candidate(decisions, kernel, parent)
        assert candidate.kernel
        same = self._seen.setdefault(nameless(candidate.kernel), candidate.number)
        if same == 0 and not self._offered:
            self._offered = True
            return self.default
        if same != candidate.number:
            why = f"the same kernel as candidate {same}"
            self.candidates.append(replace(candidate, kernel=None, dropped=why))
            self.duplicates += 1
            return None
        self.candidates.append(candidate)
        self._predict(candidate.number)
        return State(decisions, kernel, candidate.number)

    def _candidate(
        self, decisions: tuple[Decision, ...], kernel: Kernel, parent: int | None
    ) -> Candidate:
        script = finish(kernel, decisions)
        steps = (step for decision in decisions for step in decision.steps)
        schedule = Schedule((*steps, *script.steps))
        return Candidate(len(self.candidates), parent, decisions, schedule, script.kernel)

    def _kernel(self, number: int) -> Kernel:
        kernel = self.candidates[number].kernel
        assert kernel, "a dropped candidate is never asked for"
        return kernel

    def _predict(self, number: int) -> None:
        self.priced += 1
        if self.price:
            seconds = self.price(self._kernel(number), self.problem.machine).seconds
            self.candidates[number] = replace(self.candidates[number], predicted=seconds)
        self._say()

    def after(self, decisions: tuple[Decision, ...]) -> Kernel:
        """The kernel as these decisions leave it. ValueError if one is refused."""
        if decisions not in self._kernels:
            script = Script(self.after(decisions[:-1]))
            script.do(*decisions[-1].steps)
            self._kernels[decisions] = script.kernel
        return self._kernels[decisions]

    # ── the best ──

    def best(self, states: Sequence[State], count: int) -> list[State]:
        """The best few of some candidates. With a measure, the cheapest by the model, at most twice
        as many as are wanted, are measured; without a model all of them are."""
        numbers = {state.number: state for state in states if state.number is not None}
        order = sorted(numbers, key=self._cheapest)
        if self.measure:
            order = self._measured_best(order[: 2 * count] if self.price else order)
        self.rounds.append(tuple(order[:count]))
        return [numbers[number] for number in order[:count]]

    def _rank(self, number: int) -> tuple[float, int]:
        seconds = self.candidates[number].seconds
        return (float("inf") if seconds is None else seconds, number)

    def _measured_best(self, order: Sequence[int]) -> list[int]:
        """Measure those that nobody has measured, as far as the budget allows. Then all that were
        measured, the fastest first."""
        candidates = self.candidates
        new = [n for n in order if candidates[n].measured is None and not candidates[n].dropped]
        while new:
            self._spend("measured", self.measured, self.budget.measured)
            batch = min(BATCH, self.budget.measured - self.measured, self._in_time())
            self._time(new[:batch])
            new = new[batch:]
        return sorted((n for n in order if candidates[n].measured is not None), key=self._rank)

    def _in_time(self) -> int:
        """How many can be measured until the seconds are over, as long as they took until now; at
        least one."""
        left, each = self.budget.seconds - self.seconds, self._clocked / max(self.measured, 1)
        return int(min(max(left / max(each, 1e-9), 1), BATCH))

    def _time(self, numbers: Sequence[int]) -> None:
        """Measure some candidates in turns with the default. What counts is how long each takes
        relative to it, for the machine may be busier now than it was at first."""
        assert self.measure
        default = self.candidates[0]
        asked = list(numbers) if default.dropped else [0, *(n for n in numbers if n)]
        start = time.perf_counter()
        timings = self.measure([self._kernel(n) for n in asked], self.problem.machine)
        self._clocked += time.perf_counter() - start
        self.measured += len(asked) - (default.measured is not None and asked[0] == 0)
        now = timings[0].seconds if asked[0] == 0 else None
        scale = default.measured / now if default.measured and now else 1.0
        for number, timing in zip(asked, timings, strict=True):
            if number or default.measured is None:
                took = None if timing.seconds is None else timing.seconds * scale
                changed = replace(self.candidates[number], measured=took, dropped=timing.why)
                self.candidates[number] = changed
        self._say()

    def record(self, method: str, **options: Any) -> Record:
        """What was done so far."""
        return Record(
            self.problem,
            method,
            options,
            tuple(self.candidates),
            tuple(self.rounds),
            self.refused,
            self.stopped,
            self.seconds,
        )

    def _say(self) -> None:
        if self.progress:
            self.progress(len(self.candidates), best_of(self.candidates))
