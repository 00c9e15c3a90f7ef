"""Pictures of a run: who works when, and how near the array is to what it could do.

    gantt(run, first=0, last=2000)      # lanes of load, execute and store; dashed: waits, and why;
                                        # a box has its instruction's number, as in the text
    part_roofline(run)                  # a dot for each part of the model

Next room: `waterfall.py`.
"""

from __future__ import annotations

from course_lib.accelerator.core.simulate import Run
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.trace.counters import by_origin
from course_lib.accelerator.trace.lanes import LANES, lane_of
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.figure import Plot
from course_lib.draw.plots.roofline import Dot, roofline
from course_lib.draw.plots.timeline import Span, timeline

MOST = 400  # boxes in a picture


def gantt(run: Run, first: int = 0, last: int | None = None, title: str = "") -> Picture:
    """The engines from clock `first` to `last` (not included; the end if None), as many boxes as
    can be seen. ValueError if the clocks hold nothing of the run."""
    end = run.total if last is None else min(last, run.total)
    if not 0 <= first < end:
        raise ValueError(f"clocks {first} to {last} hold nothing of a run of {run.total} clocks")
    spans = [*_work(run, first, end), *_waits(run, first, end)]
    spans.sort(key=lambda span: span.start)
    if len(spans) > MOST:
        end = int(spans[MOST].start)
        spans = [*_work(run, first, end), *_waits(run, first, end)]
    spans.sort(key=lambda span: LANES.index(span.lane))
    shown = "" if (first, end) == (0, run.total) else f", clocks {first:,} to {end:,}"
    name = title or f"{run.total:,} clocks on {run.chip.name}"
    return timeline(spans, f"{name}{shown}", time="clock")


def part_roofline(run: Run, title: str = "Roofline of the chip, int8") -> Plot:
    """A dot for each part of the model that multiplies: int8 operations (two to a MAC) for each
    byte over the port, and operations in a second at the nominal clock. A part had as many clocks
    as the array for it, or the port, whichever had more: what was loaded behind another part's
    back is not free."""
    hertz = run.chip.ghz * 1e9
    dots = [
        Dot(p.origin[0] if p.origin else "program", 2 * p.macs / p.dram,
            2 * p.macs * hertz / max(p.clocks, p.dram / run.chip.dma_bytes))
        for p in by_origin(run) if p.macs and p.dram and p.clocks
    ]  # fmt: skip
    peak, bandwidth = 2 * run.chip.macs * hertz, run.chip.dma_bytes * hertz
    return roofline(dots, peak, bandwidth, title, unit="op")


def _work(run: Run, first: int, end: int) -> list[Span]:
    spans = []
    for n, i in enumerate(run.program[:-1]):
        a, b = max(first, run.times.start[n]), min(end, run.times.busy_end[n])
        if a < b:
            tip = f"{i}\n{', '.join(i.origin)}"
            name = f"{i.name} {n}"
            spans.append(Span(name, a, b, lane=lane_of(i.name), tip=tip, short=str(n)))
    return spans


def _waits(run: Run, first: int, end: int) -> list[Span]:
    spans = []
    for gap in run.times.gaps:
        a, b = max(first, gap.start), min(end, gap.end)
        if a < b:
            waits = (
                f"before instruction {gap.instruction}" if gap.instruction >= 0 else "at the end"
            )
            lane, short = ENGINES[gap.engine], gap.cause.removeprefix("wait=")
            spans.append(Span(gap.cause, a, b, lane=lane, state="stall", tip=waits, short=short))
    return spans
