"""A run as lanes: what each engine of the chip did, when, and whom it waited for.

    write_trace(trace_of(run), "trace.json")            # `course_lib/trace/chrome.py`

    lane "execute"   [matmul acts=0 ...][wait=load][matmul ...]     args: origin, text, MACs

A span for each instruction and each wait, an arrow for each token from the giver to the taker, and
two curves: MACs in a clock, and bytes in a clock on the port. A clock is shown as 1 / ghz
nanoseconds. Next room: `gantt.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from course_lib.accelerator.core.simulate import Run
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import INSTRUCTIONS
from course_lib.accelerator.trace.counters import dram_of, macs_of
from course_lib.trace.chrome import Arrow, Curve, Span, Trace, rate

LANES = ("load", "execute: weights", "execute", "store")


def lane_of(name: str) -> str:
    """The lane of an instruction: `preload` has its own, because it runs beside a product."""
    return "execute: weights" if name == "preload" else INSTRUCTIONS[name].engine


def trace_of(run: Run) -> Trace:
    """The run in clocks, as a viewer shows it."""
    return Trace(
        f"{run.chip.name} chip",
        LANES,
        [*_instructions(run), *_waits(run)],
        list(_arrows(run)),
        _curves(run),
        per_microsecond=1000 * run.chip.ghz,
        about={
            "chip": str(run.chip),
            "clocks": run.total,
            "clock": f"{1 / run.chip.ghz:g} ns",
        },
    )


def _instructions(run: Run) -> Iterator[Span]:
    for n, i in enumerate(run.program[:-1]):
        start, end = run.times.start[n], run.times.busy_end[n]
        about: dict[str, Any] = {"instruction": n, "text": str(i), "origin": ", ".join(i.origin)}
        about |= {"clock": start, "clocks": end - start, "done": run.times.done[n]}
        about |= {"macs": macs} if (macs := macs_of(i)) else {}
        about |= {"dram bytes": moved} if (moved := dram_of(i, run.chip)) else {}
        yield Span(i.name, lane_of(i.name), start, end - start, i.engine, about)


def _waits(run: Run) -> Iterator[Span]:
    for gap in run.times.gaps:
        clocks = gap.end - gap.start
        about = {"instruction": gap.instruction, "clocks": clocks}
        yield Span(gap.cause, ENGINES[gap.engine], gap.start, clocks, "wait", about)


def _arrows(run: Run) -> Iterator[Arrow]:
    """From the last clock in the span of the giver (the token comes when the giver is `done`) to
    the first of the taker."""
    lanes, start = [lane_of(i.name) for i in run.program], run.times.start
    for taker, givers in enumerate(run.times.givers):
        for giver in givers:
            last = max(start[giver], run.times.busy_end[giver] - 1)
            ends = (lanes[giver], last), (lanes[taker], start[taker])
            yield Arrow("token", f"{giver}-{taker}", *ends)


def _curves(run: Run) -> list[Curve]:
    spans = list(zip(run.times.start, run.times.busy_end, run.program[:-1], strict=False))
    return [
        rate("MACs in a clock", ((start, end, macs_of(i)) for start, end, i in spans)),
        rate(
            "DRAM bytes in a clock", ((start, end, dram_of(i, run.chip)) for start, end, i in spans)
        ),
    ]
