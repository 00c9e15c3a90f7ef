"""Tables and pictures of unit 18.

    opening()                        what two people find on one machine
    runs_plot(machine)               every run of a measurement, over the machine's time
    errors_table({"yours": fair})    how far off each way to measure is, trouble by trouble

Next room: wild.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from course_lib.draw.plots.charts import lines, scatter
from course_lib.draw.plots.figure import COLOUR
from course_lib.draw.plots.table import table
from course_lib.measure.duel import verdict
from course_lib.measure.interval import interval
from course_lib.peers.contest import contest
from course_lib.peers.model import model_of
from course_lib.peers.report import beside
from lessons.bill import bill_of
from lessons.u18.bench import FULL, MODELS, WIDE
from lessons.u18.experiments import KINDS, Interval, experiment, rate
from lessons.u18.machines import STEPS, TROUBLES, Machine, drawn
from lessons.u18.wild import by_timeit, by_torch

Ratio = Callable[[Machine], float]  # how many times as long the first engine takes as the second
OURS = 0.56, 4.3, 11.0  # what `bill` finds with our answers
BILLED = 30, "one side"
MOST = 5  # series that look different in a plot
TRUE = 1.08  # of the machine at the top


def opening() -> str:
    """The same two engines, measured in both orders while the machine gets slower."""
    found = []
    for order in ((1, 0), (0, 1)):
        machine = Machine((1e-3 * TRUE, 1e-3), 1.0, jitter=0.02, seed=1,
                          slow=1 + 0.89 * np.minimum(np.linspace(0, 2, STEPS), 0.7))  # fmt: skip
        times = {k: median(machine.timed(k, 10) for _ in range(20)) for k in order}
        found.append(times[0] / times[1])
    return (
        f"first B, then A, 200 runs of each:   B is {found[0]:.2f} times as fast as A\n"
        f"first A, then B, 200 runs of each:   B is {found[1]:.2f} times as fast as A"
    )


def runs_plot(machine: Machine, number: int = 500) -> Any:
    """So many single runs of the first engine, each at the moment at which it began."""
    times = []
    while len(times) < number:
        begin = machine.now
        times.append((1e3 * begin, 1e3 * machine.timed(0, 1)))
    plot = scatter({"a run, by the clock": times}, "time of the machine (ms)",
                   "time of a run (ms)", "One engine, run after run", log="y")  # fmt: skip
    true = 1e3 * machine.costs[0]
    plot.axes.lines[0].set_markersize(2.5)
    plot.axes.axhline(true, color=COLOUR["removed-text"], linestyle="--")
    where: dict[str, Any] = {"ha": "right", "va": "top", "textcoords": "offset points"}
    plot.axes.annotate(f"its true cost: {true:.2f} ms", (times[-1][0], true), (0, -5),
                       color=COLOUR["removed-text"], **where)  # fmt: skip
    return plot


# ── ways to measure ──


def single(machine: Machine) -> float:
    """One run of each."""
    first, second = (machine.timed(k, 1) for k in (0, 1))
    return first / second if second else math.nan


def blocks(machine: Machine) -> float:
    """The means of 20 batches of each, one engine after the other; each has 40 % of the time."""
    first, second = (
        sum(machine.timed(k, max(1, int(machine.seconds / 50 / cost))) for _ in range(20))
        for k, cost in enumerate(machine.costs)
    )
    return first / second if second else math.nan


def by(fair: Callable[..., Any]) -> Ratio:
    """The median of the rounds' ratios, of a function like `fair_rounds`."""

    def ratio(machine: Machine) -> float:
        first, second = fair(machine.timers(), machine.seconds)[:2]
        return (
            median(a / b for a, b in zip(first, second, strict=True) if b)
            if any(second)
            else math.nan
        )

    return ratio


def errors(ratio: Ratio, troubles: Sequence[str], machines: int = 12, ms: float = 0.0) -> float:
    """The error on machines with these troubles, in %: on five of six it is at most that large.
    `ms`: of a run."""
    rng = np.random.default_rng(18)
    made = [drawn(rng, troubles, milliseconds=ms) for _ in range(machines)]
    off = [abs(ratio(machine) / machine.ratio(1) - 1) for machine in made]
    return 100 * sorted(math.inf if math.isnan(one) else one for one in off)[-1 - machines // 6]


def errors_table(fair: Callable[..., Any], others: bool = False) -> Any:
    """The error of each way to measure, trouble by trouble; `others`: of tools, too."""
    ways: dict[str, Ratio] = {"one run of each": single, "A, then B": blocks}
    if others:
        ways |= {"timeit": by_timeit, "torch.utils.benchmark": by_torch}
    ways["your rounds"] = by(fair)
    machines = 6 if others else 12
    every = {**{name: [name] for name in TROUBLES}, "all of them": [*TROUBLES]}
    rows = [[name, *(_percent(errors(one, troubles, machines, 3.0 * others))
                     for one in ways.values())] for name, troubles in every.items()]  # fmt: skip
    return table(
        rows,
        ["trouble", *ways],
        f"Error of the ratio in %: at most this on {5 * machines // 6} of {machines} machines",
    )


def _percent(value: float) -> float | None:
    """None: the clock saw no time pass, so there is no ratio."""
    return None if math.isinf(value) else float(f"{value:.2g}")


# ── intervals ──


def of_the_mean(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """What is often written: the mean of the ratios, and two standard errors to both sides."""
    ratios = np.array(first) / np.array(second)
    half = 2 * ratios.std(ddof=1) / math.sqrt(len(ratios))
    return float(ratios.mean() - half), float(ratios.mean() + half)


def misses_table(yours: Interval) -> Any:
    """How often the true ratio lies outside, of 100 intervals."""
    rows = [[kind, words, count, *(round(100 * rate(one, count, kind), 1)
                                   for one in (of_the_mean, yours))]
            for kind, words in KINDS.items() for count in (7, 30)]  # fmt: skip
    heads = ["kind", "how far a round is off", "rounds", "mean ± 2 standard errors", "yours"]
    return table(
        rows, heads, "How many of 100 intervals miss the true ratio (at most 5 are promised)"
    )


def widths_plot(yours: Interval, number: int = 60) -> Any:
    """How wide intervals are, by the number of rounds."""
    counts = (6, 8, 12, 20, 35, 60, 100, 200)
    curves = {kind: [(float(count), wide) for count in counts
                     if 0 < (wide := width(yours, count, kind, number)) < math.inf]
              for kind in KINDS}  # fmt: skip
    if not all(curves.values()):
        return "Some kinds have no interval that is finite and wider than nothing."
    return lines(curves, "rounds (count)", "width of the interval (%)",
                 "What so many rounds can tell apart", log="xy")  # fmt: skip


def width(yours: Interval, count: int, kind: str, number: int = 60) -> float:
    """By how many % the interval's upper end lies above the lower one, in the median."""
    rng = np.random.default_rng(count)
    tried = [experiment(rng, count, kind) for _ in range(number)]
    pairs = [yours(one.first, one.second) for one in tried]
    if any(low <= 0 or high == math.inf for low, high in pairs):
        return math.inf
    return 100 * (math.exp(median(math.log(high / low) for low, high in pairs)) - 1)


# ── the recorded benchmark ──


def how() -> str:
    """How the benchmark was recorded, in a sentence."""
    rounds, few = (len(FULL.rounds(model, "course")) for model in (MODELS[0], WIDE))
    share = FULL.others
    beside = "" if share is None else f"; others had up to {share:.1%} of the processor's time"
    return f"{rounds} rounds, or {few} of every system, {FULL.recording.how}{beside}"


def times_table() -> Any:
    """Milliseconds of a run of each model in each system, as recorded."""
    systems = sorted({s for m in MODELS for s in FULL.data[m]}, key=_mean)
    rows = [[s, *(FULL.ms(m, s) if s in FULL.data[m] else None for m in MODELS)] for s in systems]
    return table(rows, ["system", *(f"{m} (ms)" for m in MODELS)], FULL.recording.words,
                 best={f"{m} (ms)": "least" for m in MODELS})  # fmt: skip


def _mean(system: str) -> tuple[int, float]:
    """For sorting: those that ran every model first, and of these the fastest."""
    there = [m for m in MODELS if system in FULL.data[m]]
    logs = [math.log(FULL.ratio(m, FULL.systems(m)[0], system)) for m in there]
    return len(MODELS) - len(there), float(np.mean(logs))


def model_table(model: str, base: str = "course") -> Any:
    """One model: time, how it compares with `base` and with the next faster system, and what the
    time does not say."""
    rows: list[list[Any]] = []
    above = ""
    for system in FULL.systems(model):
        low, high = interval(FULL.rounds(model, base), FULL.rounds(model, system))
        said = f"{low:.3f} to {high:.3f}" if system != base else ""
        told = _told(model, base, system) if system != base else ""
        beside = _told(model, above, system) if above else ""
        costs = FULL.compiling(model, system), round(FULL.megabytes(model, system))
        rows.append([system, FULL.ms(model, system), said, told, beside, *costs,
                     FULL.kernels(model, system)])  # fmt: skip
        above = system
    heads = ["system", "ms", f"{base} / system", f"than {base}", "than the row above",
             "compile (s)", "peak (MB)", "kernels"]  # fmt: skip
    return table(rows, heads, f"{model}: {FULL.recording.words}",
                 best={"ms": "least", "compile (s)": "least", "peak (MB)": "least"})  # fmt: skip


def _told(model: str, one: str, other: str) -> str:
    """Is the other one faster, slower, or can nobody tell?"""
    told = verdict(FULL.rounds(model, one), FULL.rounds(model, other))
    return {"yes": "faster", "no": "slower"}.get(told, told)


def told_apart(model: str) -> int:
    """Of the pairs of neighbours in the order of the medians, how many are told apart."""
    pairs = pairwise(FULL.systems(model))
    return sum(
        verdict(FULL.rounds(model, slow), FULL.rounds(model, fast)) == "yes" for fast, slow in pairs
    )


def itself(model: str) -> float:
    """By how many % the medians of the first and of the last half of the rounds differ: the system
    for which they differ most."""
    return 100 * max(_changes(model).values())


def _changes(model: str) -> dict[str, float]:
    """How much longer one half of a system's rounds took than the other, the largest first."""
    changes = {}
    for system in FULL.data[model]:
        rounds = FULL.rounds(model, system)
        half = len(rounds) // 2
        off = abs(math.log(median(rounds[-half:]) / median(rounds[:half])))
        changes[system] = math.exp(off) - 1
    return dict(sorted(changes.items(), key=lambda one: -one[1]))


def halves(model: str) -> str:
    """By how much the two halves of each system's rounds differ, the largest change first."""
    return ", ".join(f"{s} {100 * change:.2g} %" for s, change in _changes(model).items())


def rounds_plot(model: str) -> Any:
    """Every round of the five systems that changed most, beside its own median."""
    curves = {s: _beside_its_median(FULL.rounds(model, s)) for s in [*_changes(model)][:MOST]}
    return lines(curves, "round (number)", "time / its median (ratio)",
                 f"{model}, round after round: those that changed most")  # fmt: skip


def _beside_its_median(rounds: Sequence[float]) -> list[tuple[float, float]]:
    return [(float(n), seconds / median(rounds)) for n, seconds in enumerate(rounds, 1)]


def alike(model: str, apart: int = 3) -> str:
    """Of the systems whose numbers of kernels are at most so far apart, the largest group; and how
    far apart their times are."""
    kernels = {system: FULL.kernels(model, system) for system in FULL.systems(model)}
    groups = [[s for s in kernels if least <= kernels[s] <= least + apart]
              for least in kernels.values()]  # fmt: skip
    group = max(groups, key=len)
    counts = sorted(kernels[system] for system in group)
    slowest = FULL.ms(model, group[-1]) / FULL.ms(model, group[0])
    return (
        f"{len(group)} systems run it in {counts[0]} to {counts[-1]} kernels: {'; '.join(group)}.\n"
        f"The last of them takes {slowest:.2g} times as long as the first."
    )


def totals_plot(model: str, systems: Sequence[str]) -> Any:
    """Seconds of compiling and so many runs together, of at most five systems."""
    runs = [10**k for k in np.arange(0, 4.01, 0.25)]
    curves = {
        s: [(float(n), FULL.compiling(model, s) + float(n) * FULL.ms(model, s) / 1e3) for n in runs]
        for s in systems
        if s in FULL.data[model]
    }
    plot = lines(curves, "runs (count)", "compiling and running (s)",
                 f"{model}: which system has finished first?", log="xy")  # fmt: skip
    plot.axes.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
    return plot


def live_table(rounds: Mapping[str, list[float]], base: str) -> Any:
    """What was measured here: medians, and the verdict beside the first system's."""
    rows = []
    for name, times in rounds.items():
        low, high = interval(rounds[base], times)
        rows.append([name, 1e3 * median(times), "" if name == base else f"{low:.3f} to {high:.3f}",
                     "" if name == base else verdict(rounds[base], times)])  # fmt: skip
    return table(
        rows, ["system", "ms", f"{base} / system", "faster?"], "On this machine, one thread"
    )


def bench_table(model: str, systems: Sequence[str], rounds: int = 12, seconds: float = 1.0) -> Any:
    """What `python -m course_lib bench` finds and says, in each process for so many seconds."""
    found = contest(model_of(model), systems, (1,), rounds, seconds)
    base = found.base(1)
    rows = [
        [
            entry.system,
            1e3 * (entry.seconds or math.nan),
            beside(base, entry) if entry is not base else "",
        ]
        for entry in found.timed(1)
        if base
    ]
    named = base.system if base else ""
    return table(
        rows, ["system", "ms", f"beside {named}"], "On this machine, each in its own process"
    )


def bill(fair: Callable[..., Any], yours: Interval) -> Any:
    """What the two pieces changed: errors of ratios, and intervals that miss."""
    both: tuple[Interval, Interval] = (of_the_mean, yours)
    worst = [_percent(errors(one, [*TROUBLES])) for one in (blocks, by(fair))]
    missing = [round(100 * rate(one, *BILLED), 1) for one in both]
    wide = [_percent(width(one, *BILLED)) for one in both]
    count, kind = BILLED
    rows = [
        ["error of a ratio, all troubles, on 10 of 12 machines (%)", *worst, OURS[0]],
        [f"intervals of {count} rounds, {kind}, that miss (%)", *missing, OURS[1]],
        ["the upper end of such an interval above the lower one (%)", *wide, OURS[2]],
    ]
    return bill_of(rows, ["", "as it is often done", "yours", "ours"])
