"""Logs of TVM's tuners on one layer, and the schedules that AutoTVM drew at random, with times.

    LOGS["Ansor"]      ->  its log as text, a trial a line
    SECONDS["Ansor"]   ->  how long the whole search took
    AGAIN["Ansor"]     ->  milliseconds of its best schedule, in turns and in a row
    LAYER, LEARNED     ->  Layers: .schedules[0] == {"i": [4, 8, 4], ...}, .seconds[0] == 0.0031
    rank_correlation(numbers, seconds), regret(numbers, seconds, 8)  ->  how good an order is
    judged(model, LEARNED, within=2)  ->  both, on halves that the model has not seen

The logs are those that the tuners wrote, but for MetaSchedule's: of each trace, the list of its
instructions is left out. The script that recorded them is in `tvm.txt`, too. Next room: shown.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from course_lib.recorded import recorded

BY_TVM = recorded(__file__, "tvm.txt")
TUNERS = ("AutoTVM, random", "AutoTVM, learned", "Ansor", "MetaSchedule")
LOGS: dict[str, str] = {tuner: BY_TVM[tuner] for tuner in TUNERS}
SECONDS: dict[str, float] = BY_TVM.data("seconds")
AGAIN: dict[str, list[float]] = BY_TVM.data("again")


@dataclass(frozen=True)
class Layer:
    """Schedules of one matrix product, and the least seconds of ten runs of each."""

    schedules: Sequence[dict[str, Any]]
    seconds: Sequence[float]

    def part(self, places: Sequence[int]) -> Layer:
        return Layer([self.schedules[p] for p in places], [self.seconds[p] for p in places])

    def fast(self, within: float) -> Layer:
        """Those that take at most so many times as long as the fastest."""
        most = within * min(self.seconds)
        return self.part([p for p, seconds in enumerate(self.seconds) if seconds <= most])

    def halves(self, seed: int) -> tuple[Layer, Layer]:
        """Two halves, drawn at random."""
        places = np.random.default_rng(seed).permutation(len(self.seconds)).tolist()
        middle = len(places) // 2
        return self.part(places[:middle]), self.part(places[middle:])


def layer(log: str) -> Layer:
    """What AutoTVM measured with our template; failed trials are left out."""
    schedules, seconds = [], []
    for row in map(json.loads, filter(str.strip, log.splitlines())):
        times, error, *_ = row["result"]
        if error == 0:
            schedules.append(_schedule(row["config"]["entity"], row["input"][2]))
            seconds.append(min(times))
    return Layer(schedules, seconds)


def _schedule(entity: Sequence[Any], sizes: Sequence[int]) -> dict[str, Any]:
    """AutoTVM writes -1 for the outermost part: the rest of the loop."""
    knobs = {name: value for name, _, value in entity}
    m, k, n = sizes
    parts: dict[str, Any] = {}
    for name, size in (("i", m), ("j", n), ("r", k)):
        _, *inner = knobs[f"tile_{name}"]
        parts[name] = [size // math.prod(inner), *inner]
    return {**parts, "unroll": bool(knobs["unroll"])}


LAYER, LEARNED = (layer(LOGS[tuner]) for tuner in TUNERS[:2])  # drawn at random, and searched


# ── how good is an order? ──


def ranks(numbers: Sequence[float]) -> np.ndarray:
    """The place of each number in the sorted list; equal ones share the mean of their places."""
    values = np.asarray(numbers, float)
    below = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    return below + (equal - 1) / 2


def rank_correlation(numbers: Sequence[float], seconds: Sequence[float]) -> float:
    """Spearman's: 1 for the same order, 0 for none, -1 for the opposite one."""
    a, b = (r - r.mean() for r in (ranks(numbers), ranks(seconds)))
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size else 0.0


def regret(numbers: Sequence[float], seconds: Sequence[float], count: int) -> float:
    """By what share the best of the first `count` by these numbers is slower than the best of all:
    what you lose if you measure only those."""
    first = np.argsort(np.asarray(numbers, float), kind="stable")[:count]
    return min(seconds[place] for place in first) / min(seconds) - 1


def judged(
    model: Callable[..., Sequence[float]], layer: Layer, within: float = math.inf
) -> tuple[float, float]:
    """Rank correlation and regret of eight, the means over ten splits: fitted to one half, and
    tried on those of the other half that take at most `within` times as long as its fastest."""
    found = []
    for seed in range(900, 910):
        known, others = layer.halves(seed)
        others = others.fast(within)
        numbers = model(known.schedules, known.seconds, others.schedules)
        found.append((rank_correlation(numbers, others.seconds),
                      regret(numbers, others.seconds, 8)))  # fmt: skip
    correlations, regrets = zip(*found, strict=True)
    return mean(correlations), mean(regrets)
