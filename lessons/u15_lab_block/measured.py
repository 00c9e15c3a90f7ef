"""Eager and compiled in turns: each round is a comparison of its own.

    measure("gelu")          Measured: .eager and .compiled, milliseconds of a call in each round
    measured_table({...})    ratios: the lowest, the middle and the highest round
    MEASURED["block"]        recorded

The first call compiles, for which Inductor needs g++ and some seconds. The whole of `torch.compile`
is measured, so attention is one call of a library here. `python -m course_lib record
u15_lab_block/times` records it again. Next room: shown.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from shutil import which
from statistics import median
from typing import Any

from course_lib.draw.plots.table import table
from course_lib.measure.turns import for_seconds
from course_lib.recorded import recorded
from lessons.dynamo import quiet
from lessons.u15_lab_block.text import SHAPES, program

ROUNDS, SECONDS = 15, 2.0
BY_TORCH = recorded(__file__, "times.txt")


@dataclass(frozen=True)
class Measured:
    """Milliseconds of a call, round after round."""

    eager: list[float]
    compiled: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast the compiled one is, in each round; sorted."""
        return sorted(a / b for a, b in zip(self.eager, self.compiled, strict=True))

    @property
    def won(self) -> int:
        """In how many rounds the compiled one is faster."""
        return sum(ratio > 1 for ratio in self.ratios)


def measure(name: str, threads: int = 1) -> Measured | None:
    """Both versions of "gelu" or "block", warm and in turns, with so many threads. None where there
    is no g++."""
    if which("g++") is None:
        return None
    import torch

    (function, x), before = program(name), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with quiet(), torch.no_grad():
            compiled = torch.compile(function)
            times = for_seconds([lambda: function(x), lambda: compiled(x)], SECONDS, ROUNDS)
    finally:
        torch.set_num_threads(before)
    return Measured(*([round(1e3 * seconds, 4) for seconds in one] for one in times))


MEASURED = {name: Measured(*rounds) for name, rounds in BY_TORCH.data("rounds").items()}


def measured_table(runs: Mapping[str, Measured | None], title: str = "") -> Any:
    """A row for each program; None stands for one that could not be compiled here."""
    rows: list[list[Any]] = []
    for name, run in runs.items():
        shape = f"{name}, f32{[*SHAPES[name]]}"
        if run is None:
            rows.append([f"{shape}: there is no g++ here", *[None] * 6])
            continue
        ratios = run.ratios
        rows.append([shape, median(run.eager), median(run.compiled), ratios[0], median(ratios),
                     ratios[-1], f"{run.won} of {len(ratios)}"])  # fmt: skip
    heads = ["program", "eager (ms)", "compiled (ms)", "times as fast: lowest round",
             "the middle one", "the highest", "rounds in which compiled is faster"]  # fmt: skip
    return table(rows, heads, title)
