"""Tables and pictures of the lab of unit 9, made with the student's own functions.

Next room: autograder/units/u09_lab_tuners/exercises.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.charts import lines
from course_lib.draw.plots.figure import Plot
from course_lib.draw.plots.table import table
from lessons.u09_lab_tuners.beams import Run
from lessons.u09_lab_tuners.logs import AGAIN, LAYER, LEARNED, SECONDS, judged

Trials = Sequence[tuple[int, float]]


def beams_table(runs: Mapping[int, Sequence[Run | None]]) -> Picture:
    """The median run of each width; None stands for one without tinygrad or clang."""
    rows: list[list[Any]] = []
    for width, tried in runs.items():
        if not (some := [run for run in tried if run]):
            rows.append([f"BEAM={width}", "tinygrad or clang is missing here", *[None] * 4])
            continue
        kernels, milliseconds, candidates, seconds = _middle(some)
        ends = [f"{m(run.milliseconds for run in some):.2f}" for m in (min, max)]
        spread = " to ".join(ends) if len(some) > 1 else "one measurement"
        rows.append([f"BEAM={width}", kernels, milliseconds, spread, candidates, seconds])
    heads = ["tinygrad 0.14.0", "kernels", "one run (ms)", "fastest to slowest (ms)",
             "candidates compiled", "compiling and searching (s)"]  # fmt: skip
    return table(rows, heads)


def _middle(runs: Sequence[Run]) -> tuple[int, float, int, float]:
    return (runs[0].kernels, median(run.milliseconds for run in runs),
            round(median(run.candidates for run in runs)),
            median(run.seconds for run in runs))  # fmt: skip


def curves_plot(best: Mapping[str, Sequence[float]]) -> Plot:
    """Each tuner's best schedule so far, in seconds, after each of its trials."""
    series = {
        tuner.removeprefix("AutoTVM, "): [
            (n, 1e3 * s) for n, s in enumerate(line, 1) if math.isfinite(s)
        ]
        for tuner, line in best.items()
    }
    plot = lines({tuner: corners(line) for tuner, line in series.items()}, "trial (count)",
                 "best so far (ms)", "f32[128, 784] · f32[784, 512]", log="y")  # fmt: skip
    least = min(line[-1][1] for line in series.values())
    plot.axes.set_ylim(0.9 * least, 4 * least)  # the first trials can be a thousand times as slow
    legend = plot.axes.get_legend()
    for line in (*plot.axes.get_lines(), *(legend.get_lines() if legend else ())):
        line.set_marker("")
    return plot


def corners(line: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The points at which a line of steps turns, and its ends."""
    steps = [k for k in range(1, len(line)) if line[k][1] != line[k - 1][1]]
    return [line[k] for k in sorted({0, len(line) - 1, *steps, *(k - 1 for k in steps)})]


def tuners_table(
    logs: Mapping[str, Trials],
    needed: Callable[[Mapping[str, Trials], float], Mapping[str, int | None]],
    shares: Sequence[float] = (1.0, 0.25, 0.1),
) -> Picture:
    """For each tuner, the trials that it needed, what it had after 64, and what the search took."""
    counts = [needed(logs, share) for share in shares]
    rows = []
    for tuner, trials in logs.items():
        times = [seconds for _, seconds in trials]
        failed = sum(math.isinf(s) for s in times)
        row: list[Any] = [tuner, len(times), failed, median(1e3 * s for s in times if s < math.inf)]
        row += [count[tuner] for count in counts]
        rows.append([*row, 1e3 * min(times[:64]), 1e3 * min(times), SECONDS[tuner]])
    heads = ["tuner", "trials", "failed", "median (ms)", *(f"to within {s:.0%}" for s in shares),
             "best of 64 (ms)", "best (ms)", "processor time (s)"]  # fmt: skip
    return table(rows, heads)


def again_table(logs: Mapping[str, Trials]) -> Picture:
    """The best schedule of each log, measured again in two ways."""
    rows: list[list[Any]] = []
    for tuner, trials in logs.items():
        least = 1e3 * min(seconds for _, seconds in trials)
        rows.append([tuner, least, *reversed(AGAIN[tuner])])
    heads = ["tuner", "in its log (ms)", "again, ten in a row (ms)", "again, in turns (ms)"]
    return table(rows, heads, best=dict.fromkeys(heads[2:], "least"))


def models_table(
    predicted: Callable[..., Sequence[float]], features: Callable[[Any], Mapping[str, float]]
) -> Picture:
    """How well the student's model, and single features, sort other schedules."""
    rng = np.random.default_rng(9)
    models: dict[str, Callable[..., Sequence[float]]] = {
        f"{name} alone": lambda known, seconds, asked, name=name, sign=sign: [
            sign * features(one)[name] for one in asked
        ]
        for name, sign in (("lanes", -1), ("sums", -1), ("block", -1), ("traffic", 1))
    }
    models |= {"chance": lambda known, seconds, asked: rng.random(len(asked)).tolist(),
               "your model": predicted}  # fmt: skip
    rows = []
    for words, model in models.items():
        wide, good = judged(model, LAYER), judged(model, LEARNED, within=2)
        rows.append([words, wide[0], 100 * wide[1], good[0], 100 * good[1]])
    heads = [f"{of}: {what}" for of in ("drawn at random", "good ones")
             for what in ("rank correlation", "regret of 8 (%)")]  # fmt: skip
    return table(rows, ["order by", *heads])
