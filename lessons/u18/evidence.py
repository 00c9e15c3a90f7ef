"""Eight logs, each with the claim that somebody drew from it. The machines are simulated.

    print(shown())          the eight of them, with what was measured

So what is true is known, and the numbers are the same everywhere. Next room: bench.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, median

import numpy as np

from lessons.u18.machines import STEPS, Machine

FAULTS = {
    "none": "the log supports the claim",
    "cold": "runs are counted that are slow only because they come first",
    "order": "the machine changed between one engine's runs and the other's",
    "clock": "the clock's steps are too large for what is measured",
    "rounds": "the rounds are too few, or too far apart, to tell",
    "work": "the two did not do the same work under the same conditions",
    "mean": "taking the other engine as the base of the ratios reverses the claim",
}


@dataclass(frozen=True)
class Log:
    """What was measured, and what is claimed."""

    lines: Sequence[str]
    claim: str


@cache
def logs() -> dict[int, Log]:
    """The eight logs, by number."""
    makers = (_spread, _cold, _slower, _drift, _threads, _clock, _means, _few)
    return {number: make() for number, make in enumerate(makers, 1)}


def shown() -> str:
    """All logs as text, with their claims."""
    parts = []
    for number, log in logs().items():
        parts += [
            f"Log {number}",
            *(f"    {line}" for line in log.lines),
            f"  Claim: {log.claim}",
            "",
        ]
    return "\n".join(parts).rstrip()


def _pair(a: float, b: float, seed: int, **troubles: object) -> Machine:
    return Machine((a, b), 1.0, seed=seed, **troubles)  # type: ignore[arg-type]


def _ms(times: Sequence[float], digits: int = 2) -> str:
    return " ".join(f"{1e3 * t:.{digits}f}" for t in times)


def _turns(machine: Machine, rounds: int, number: int = 5) -> list[list[float]]:
    both = [[machine.timed(engine, number) for engine in (0, 1)] for _ in range(rounds)]
    return [[*times] for times in zip(*both, strict=True)]


def _in_turns(first: Sequence[float], second: Sequence[float]) -> list[str]:
    ratios = " ".join(f"{a / b:.2f}" for a, b in zip(first, second, strict=True))
    return [f"{len(first)} rounds, A and B in turns, warm; ms of a run, the mean of 5 runs",
            f"A: {_ms(first)}", f"B: {_ms(second)}", f"A / B: {ratios}"]  # fmt: skip


def _spread() -> Log:
    """A machine that gets half as slow again: the times wander, the ratios do not."""
    slow = 1 + 0.5 * np.linspace(0, 2, STEPS)
    a, b = _turns(_pair(4.0e-3, 3.7e-3, 11, slow=slow, jitter=0.02), 12)
    return Log(_in_turns(a, b), "B is at least 1.05 times as fast as A.")


def _cold() -> Log:
    machine = _pair(9.9e-3, 9.1e-3, 3, cold=(0.1, 0.1), chill=(6.0, 6.0), jitter=0.01)
    machine.run(1, 40)
    a, b = ([machine.timed(engine, 1) for _ in range(10)] for engine in (0, 1))
    lines = ["10 runs of each, in the order in which they ran; ms", f"A: {_ms(a)}", f"B: {_ms(b)}",
             f"mean of A {1e3 * mean(a):.1f}, mean of B {1e3 * mean(b):.1f}"]  # fmt: skip
    return Log(lines, f"A call of B takes {100 * (1 - mean(b) / mean(a)):.0f} % less time.")


def _slower() -> Log:
    """A is measured, then B, then A again; the machine gets slower."""
    slow = 1 + 3.0 * np.linspace(0, 2, STEPS)
    machine = _pair(10.0e-3, 9.7e-3, 5, slow=slow, jitter=0.01)
    a, b, again = ([machine.timed(engine, 1) for _ in range(9)] for engine in (0, 1, 0))
    lines = ["9 runs of A, then 9 of B, then 9 of A again; warm; ms", f"A: {_ms(a)}",
             f"B: {_ms(b)}", f"A: {_ms(again)}"]  # fmt: skip
    times = f"{median(b) / median(a):.2f} times as fast"
    return Log(lines, f"A is {times} as B, by the medians of the first two lines.")


def _drift() -> Log:
    """Ratios that lie far apart, and all on one side."""
    rng = np.random.default_rng(8)
    b = 2.0e-3 * np.exp(0.05 * rng.standard_normal(10))
    a = b * (1.04 + rng.exponential(0.15, 10))
    return Log(_in_turns(a.tolist(), b.tolist()), "B is faster than A.")


def _threads() -> Log:
    a, b = _turns(_pair(2.6e-3, 6.6e-3, 7, jitter=0.01), 8)
    lines = [
        "A: version 2.1, 4 threads, float32",
        "B: version 0.9, 1 thread, float32",
        *_in_turns(a, b),
    ]
    return Log(
        lines,
        f"A's compiler generates code that is {median(b) / median(a):.1f} times as fast as B's.",
    )


def _clock() -> Log:
    machine = _pair(0.61e-3, 0.52e-3, 4, tick=1e-3, jitter=0.02)
    a, b = ([machine.timed(engine, 1) for _ in range(14)] for engine in (0, 1))
    lines = ["14 runs of each, warm; ms", f"A: {_ms(a)}", f"B: {_ms(b)}"]
    return Log(lines, f"B is {median(a) / median(b):.1f} times as fast as A, by the medians.")


def _means() -> Log:
    times = {"model 1": (8.0, 4.0), "model 2": (3.0, 6.0), "model 3": (5.0, 5.0)}
    lines = ["medians of 40 rounds in turns, warm; ms; each interval is within 1 % of it"]
    lines += [f"{name}: A {a:.2f}, B {b:.2f}, A / B {a / b:.2f}" for name, (a, b) in times.items()]
    average = mean(a / b for a, b in times.values())
    return Log(lines, f"Over the three models, B is {average:.2f} times as fast as A on average.")


def _few() -> Log:
    rng = np.random.default_rng(2)
    b = 5.0e-3 * np.exp(0.04 * rng.standard_normal(7))
    a = b * np.array([1.13, 0.97, 1.06, 1.09, 0.95, 1.12, 1.04])
    return Log(_in_turns(a.tolist(), b.tolist()), "B is faster than A, by 6 % in the middle round.")
