"""Where the clocks went: the same program on chips on which one thing after another costs nothing.

    print(waterfall(run))    ->   all that must be        3,600
                                  ragged tiles          +   400     rows and columns without work
                                  drain                 +    62
                                  ...
                                  DMA                   + 1,100     total 5,400

First DMA becomes infinitely fast, then the output pipeline, banks, fetching, loading weights and
the drain; what is left are pixels that stream through the array, some of them through cells that
are not used, or that multiply by what no layer asks for: the zeros beside the diagonal of depthwise
weights, the ones of a mean. Each line is what that step took away, so the lines sum to the total.
Two things that happen at the same time hide each other: the step that goes first takes nothing
away, the one that goes later takes all. And a faster chip can be slower by chance (Graham's
anomalies, 1966), so a line may be below zero. Next room: `course_lib/accelerator/compile`.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.accelerator.core.simulate import Run, times
from course_lib.accelerator.trace.counters import counters
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.timeline import Span, timeline

STEPS = {
    "dma": "DMA",
    "output": "output pipeline",
    "banks": "banks",
    "fetch": "fetching",
    "weights": "loading weights",
    "drain": "drain",
}
IDEAL, EXTRA, RAGGED = "all that must be", "not asked for", "ragged tiles"


@dataclass(frozen=True)
class Waterfall:
    """Clocks by what they were lost to, the ideal first. They sum to the total of the run."""

    lost: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.lost.values())

    def __str__(self) -> str:
        return "\n".join(
            f"{name:<18}{clocks:>14,}{clocks / max(1, self.total):>8.1%}"
            for name, clocks in [*self.lost.items(), ("total", self.total)]
        )

    def picture(self, title: str = "Where the clocks went") -> Picture:
        """A bar for each line, which begins where the one above ends."""
        spans, at = [], 0
        for name, clocks in self.lost.items():
            low, high = sorted((at, at + clocks))
            share = f"{clocks / max(1, self.total):.1%}"
            heat = None if name == IDEAL else (high - low) / max(1, self.total)
            spans.append(Span(share, low, high, lane=f"{name}: {clocks:,}", heat=heat))
            at += clocks
        return timeline(spans, title, time="clock", busy=False)


def waterfall(run: Run) -> Waterfall:
    """Replay the program of a run, each time with one cost less."""
    left, free, lost = run.total, [], {}
    for step, name in STEPS.items():
        free.append(step)
        faster = times(run.program, run.chip, free).total
        lost[name] = left - faster
        left = faster
    counted = counters(run)
    ideal, array = (-(-macs // run.chip.macs) for macs in (counted.macs, counted.issued))
    extra = {EXTRA: array - ideal} if array > ideal else {}
    return Waterfall({IDEAL: ideal, **extra, RAGGED: left - array, **dict(reversed(lost.items()))})
