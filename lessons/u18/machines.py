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

import numpy as np

from course_lib.measure.turns import Timer

STEPS = 4000  # moments at which the speed of a machine may change
TROUBLES = {
    "cold": "an engine's first runs are slower",
    "coarse clock": "the clock moves in steps",
    "slower and slower": "the machine gets slower, or faster, all the time",
    "clock rate": "the speed of the machine jumps",
    "neighbour": "another program runs now and then",
    "pauses": "now and then everything stops for a moment",
}


@dataclass
class Machine:
    """A few engines on a machine with troubles of its own; its time begins at 0.

    costs     true seconds of a run of each engine, warm and undisturbed
    seconds   for how long somebody wants to measure
    slow      how many times as long everything takes, at `STEPS` moments of twice that time
    cold      for so long an engine's first runs take `chill` times as long
    tick      the steps of the clock
    pauses    when everything stops, and for how long
    jitter    how far two runs of one engine lie apart, as a fraction of their time
    """

    costs: tuple[float, ...]
    seconds: float
    slow: np.ndarray = field(default_factory=lambda: np.ones(STEPS))
    cold: float = 0.0
    chill: float = 1.0
    tick: float = 1e-9
    pauses: tuple[np.ndarray, float] = (np.empty(0), 0.0)
    jitter: float = 0.0
    seed: int = 0
    now: float = field(init=False, default=0.0)
    runs: list[tuple[int, int, float, float]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._cold = [self.cold] * len(self.costs)
        self._moments = np.linspace(0, 2 * self.seconds, STEPS + 1)
        self._done = np.concatenate([[0.0], np.cumsum(np.diff(self._moments) / self.slow)])

    def timers(self) -> list[Timer]:
        """For each engine: so many runs, timed together -> seconds of one, by the clock."""
        return [partial(self.timed, engine) for engine in range(len(self.costs))]

    def timed(self, engine: int, number: int) -> float:
        """Seconds of one of so many runs of that engine, by the clock."""
        begin = self.clock()
        self.run(engine, number)
        return (self.clock() - begin) / int(number)

    def run(self, engine: int, number: int = 1) -> None:
        """Run that engine so many times."""
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise ValueError(f"a timer runs its engine a whole number of times, got {number!r}")
        begin = self.now
        work = int(number) * self.costs[engine] * self._noise(int(number))
        chilled = min(self._cold[engine], work * self.chill)
        self._cold[engine] -= chilled
        self.now = self._after(begin, work + chilled * (1 - 1 / self.chill))
        self.runs.append((engine, int(number), begin, self.now))

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
    made.cold, made.chill = made.seconds * rng.uniform(0.006, 0.012), rng.uniform(1.5, 8)


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
