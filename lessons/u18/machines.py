"""Simulated machines that disturb a measurement, and whose true costs are known.

    machine = drawn(np.random.default_rng(1), ["cold", "neighbour"])
    first, second = machine.timers()
    first(100)              ->   0.000213     seconds of one run, as its clock says, of 100 together
    machine.costs           ->   (0.0002, 0.00016)                what it costs without any trouble

No real clock is asked, so every machine says the same on every computer. Next room: experiments.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import NamedTuple

import numpy as np

from course_lib.measure.turns import Timer

STEPS = 4000  # moments at which the speed of a machine may change
BEYOND = 100  # times the seconds that there are: nobody means to measure for so long
TROUBLES = {
    "cold": "an engine's first runs are slower",
    "coarse clock": "the clock moves in steps",
    "slower and slower": "the machine gets slower, or faster, all the time",
    "clock rate": "the speed of the machine jumps",
    "neighbour": "another program runs now and then",
    "pauses": "now and then everything stops for a moment",
}


class Call(NamedTuple):
    """What a timer was asked, and what it returned. `cold`: not all of it was warm."""

    engine: int
    number: int
    seconds: float  # of one run, by the clock
    cold: bool


@dataclass
class Machine:
    """A few engines on a machine with troubles of its own; its time begins at 0.

    costs     true seconds of a run of each engine, warm and undisturbed
    seconds   for how long somebody wants to measure
    slow      how many times as long everything takes, at `STEPS` moments of twice that time
    cold      for each engine, until it has run for so long, it takes `chill` times as long
    tick      the steps of the clock
    pauses    when everything stops, and for how long
    jitter    how far two runs of one engine lie apart, as a fraction of their time
    calls     of its timers, in order; `runs` has what was run, the engine, how often, from when
    """

    costs: tuple[float, ...]
    seconds: float
    slow: np.ndarray = field(default_factory=lambda: np.ones(STEPS))
    cold: tuple[float, ...] = ()
    chill: tuple[float, ...] = ()
    tick: float = 1e-9
    pauses: tuple[np.ndarray, float] = (np.empty(0), 0.0)
    jitter: float = 0.0
    seed: int = 0
    now: float = field(init=False, default=0.0)
    runs: list[tuple[int, int, float, float]] = field(init=False, default_factory=list)
    calls: list[Call] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._cold = [*(self.cold or [0.0] * len(self.costs))]
        self._chill = self.chill or [1.0] * len(self.costs)
        self._moments = np.linspace(0, 2 * self.seconds, STEPS + 1)
        self._done = np.concatenate([[0.0], np.cumsum(np.diff(self._moments) / self.slow)])

    def timers(self) -> list[Timer]:
        """For each engine: so many runs, timed together -> seconds of one, by the clock."""
        return [partial(self.timed, engine) for engine in range(len(self.costs))]

    def timed(self, engine: int, number: int) -> float:
        """Seconds of one of so many runs of that engine, by the clock."""
        begin, cold = self.clock(), self._cold[engine] > 0
        self.run(engine, number)
        took = (self.clock() - begin) / int(number)
        self.calls.append(Call(engine, int(number), took, cold))
        return took

    def run(self, engine: int, number: int = 1) -> None:
        """Run that engine so many times."""
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise ValueError(f"a timer runs its engine a whole number of times, got {number!r}")
        if self.now + number * self.costs[engine] > BEYOND * self.seconds:
            raise ValueError(
                f"{number:,} runs more take far longer than the {self.seconds:g} seconds that "
                "there are: after timer(n), n times as many seconds have passed as it returned"
            )
        begin = self.now
        work = int(number) * self.costs[engine] * self._noise(int(number))
        self.now = self._after(begin, work + self._chilled(engine, begin, work))
        self.runs.append((engine, int(number), begin, self.now))

    def _chilled(self, engine: int, begin: float, work: float) -> float:
        """How much longer so much work is, because it is done by an engine that is still cold."""
        left, chill = self._cold[engine], self._chill[engine]
        if left <= 0:
            return 0.0
        end = self._after(begin, work * chill)
        self._cold[engine] = left - (end - begin)
        if end <= begin + left:
            return work * (chill - 1)
        moments, length = self.pauses
        stopped = length * int(np.diff(np.searchsorted(moments, [begin, begin + left]))[0])
        until = begin + max(0.0, left - stopped)
        return (self._progress(until) - self._progress(begin)) * (1 - 1 / chill)

    def clock(self) -> float:
        """What the machine's clock says now."""
        return math.floor(self.now / self.tick) * self.tick

    def ratio(self, engine: int) -> float:
        """How many times as fast as the first engine that one truly is."""
        return self.costs[0] / self.costs[engine]

    def _noise(self, number: int) -> float:
        """Some of it differs from run to run, and some lasts as long as the runs do."""
        spread = self.jitter * math.hypot(1 / math.sqrt(number), 0.3)
        return math.exp(spread * self._rng.standard_normal())

    def _after(self, begin: float, work: float) -> float:
        """When so much work is done that begins at that moment."""
        end = self._moment(self._progress(begin) + work)
        moments, length = self.pauses
        return end + length * int(np.diff(np.searchsorted(moments, [begin, end]))[0])

    def _progress(self, moment: float) -> float:
        beyond = max(0.0, moment - self._moments[-1])
        return float(np.interp(moment, self._moments, self._done)) + beyond / self.slow[-1]

    def _moment(self, progress: float) -> float:
        beyond = max(0.0, progress - self._done[-1])
        return float(np.interp(progress, self._done, self._moments)) + beyond * self.slow[-1]


def drawn(
    rng: np.random.Generator, troubles: Iterable[str] = TROUBLES, engines: int = 2,
    milliseconds: float = 0.0,
) -> Machine:  # fmt: skip
    """A machine with these troubles, everything else about it drawn. `milliseconds`: about so many
    for a run, and eight seconds of time; 0: drawn, too."""
    seconds = 8.0 if milliseconds else float(rng.choice([0.5, 1.0, 2.0, 8.0]))
    cost = milliseconds / 1e3 or seconds * 10 ** rng.uniform(-5.6, -3.7)
    wide = 0.35 if milliseconds else 1.5
    costs = [cost * math.exp(rng.uniform(-wide, wide)) for _ in range(engines)]
    made = Machine(
        tuple(costs), seconds, jitter=rng.uniform(0.005, 0.02), seed=int(rng.integers(1 << 30))
    )
    for trouble in troubles:
        _TROUBLE[trouble](rng, made)
    made.__post_init__()
    return made


def _cold(rng: np.random.Generator, made: Machine) -> None:
    count = len(made.costs)
    made.cold = tuple((made.seconds * rng.uniform(0.012, 0.0195, count)).tolist())
    made.chill = tuple(rng.uniform(1.5, 8, count).tolist())


def _coarse(rng: np.random.Generator, made: Machine) -> None:
    made.tick = made.seconds * rng.uniform(0.5e-4, 1e-4)


def _drift(rng: np.random.Generator, made: Machine) -> None:
    end = rng.uniform(0.25, 0.35) * rng.choice([-1, 1])  # within `seconds`, half of the moments
    made.slow = made.slow * (1 + end * np.minimum(np.linspace(0, 2, STEPS), 1.2))


def _rate(rng: np.random.Generator, made: Machine) -> None:
    level = np.ones(STEPS)
    for start in sorted(rng.integers(0, STEPS // 2, int(rng.integers(1, 5)))):
        level[start:] = rng.choice([0.8, 1.0, 1.25])
    made.slow = made.slow * level


def _neighbour(rng: np.random.Generator, made: Machine) -> None:
    made.slow = made.slow.copy()
    busy = rng.uniform(1.5, 3)
    moment = int(rng.integers(0, 100))
    while moment < STEPS:
        length = int(rng.integers(4, 40))  # a 500th of `seconds` to a 50th
        made.slow[moment : moment + length] *= busy
        moment += length + int(length * rng.uniform(8, 20))


def _pauses(rng: np.random.Generator, made: Machine) -> None:
    apart = rng.uniform(0.04, 0.12, 60) * made.seconds
    made.pauses = np.cumsum(apart), made.seconds * rng.uniform(0.002, 0.01)


_TROUBLE = {"cold": _cold, "coarse clock": _coarse, "slower and slower": _drift,
            "clock rate": _rate, "neighbour": _neighbour, "pauses": _pauses}  # fmt: skip


def medians(times: Sequence[Sequence[float]]) -> list[float]:
    """The middle one of each engine's rounds."""
    return [float(np.median(rounds)) for rounds in times]
