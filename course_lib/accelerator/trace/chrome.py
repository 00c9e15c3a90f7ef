"""A run as Chrome trace events: open the file in ui.perfetto.dev or chrome://tracing.

    write_trace(run, "trace.json")

    lane "execute"   [matmul acts=0 ...][wait=load][matmul ...]     args: origin, text, MACs

A slice for each instruction and each wait, an arrow for each token from the giver to the taker, and
two curves: MACs in a clock, and bytes in a clock on the port. A clock is shown as 1 / ghz
nanoseconds. Format: "Trace Event Format" (Google, 2016), JSON object form. Next room: `gantt.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from course_lib.accelerator.core.simulate import Run
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import INSTRUCTIONS
from course_lib.accelerator.trace.counters import dram_of, macs_of
from course_lib.files import write

LANES = ("load", "execute: weights", "execute", "store")
PROCESS = 1
Event = dict[str, Any]


def lane_of(name: str) -> str:
    """The lane of an instruction: `preload` has its own, because it runs beside a product."""
    return "execute: weights" if name == "preload" else INSTRUCTIONS[name].engine


def chrome_trace(run: Run) -> dict[str, Any]:
    """The trace as plain data, ready for JSON."""
    events = [_event("M", "process_name", args={"name": f"{run.chip.name} chip"})]
    for number, lane in enumerate(LANES):
        events.append(_event("M", "thread_name", number, args={"name": lane}))
        events.append(_event("M", "thread_sort_index", number, args={"sort_index": number}))
    timed = [*_instructions(run), *_waits(run), *_arrows(run), *_curves(run)]
    for event in sorted(timed, key=lambda e: e["ts"]):
        event["ts"] /= 1000 * run.chip.ghz  # microseconds
        if "dur" in event:
            event["dur"] /= 1000 * run.chip.ghz
        events.append(event)
    about = {"chip": str(run.chip), "clocks": run.total, "clock": f"{1 / run.chip.ghz:g} ns"}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}


def write_trace(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the trace as JSON; never leaves half a file."""
    return write(path, json.dumps(chrome_trace(run)))


def _event(kind: str, name: str, lane: int = 0, **more: Any) -> Event:
    return {"ph": kind, "name": name, "pid": PROCESS, "tid": lane, **more}


def _instructions(run: Run) -> list[Event]:
    found = []
    for n, i in enumerate(run.program[:-1]):
        start, end = run.times.start[n], run.times.busy_end[n]
        args: Event = {"instruction": n, "text": str(i), "origin": ", ".join(i.origin)}
        args |= {"clock": start, "clocks": end - start, "done": run.times.done[n]}
        args |= {"macs": macs} if (macs := macs_of(i)) else {}
        args |= {"dram bytes": moved} if (moved := dram_of(i, run.chip)) else {}
        lane = LANES.index(lane_of(i.name))
        found.append(_event("X", i.name, lane, cat=i.engine, ts=start, dur=end - start, args=args))
    return found


def _waits(run: Run) -> list[Event]:
    found = []
    for gap in run.times.gaps:
        lane, clocks = LANES.index(ENGINES[gap.engine]), gap.end - gap.start
        args = {"instruction": gap.instruction, "clocks": clocks}
        found.append(_event("X", gap.cause, lane, cat="wait", ts=gap.start, dur=clocks, args=args))
    return found


def _arrows(run: Run) -> list[Event]:
    """From the last clock in the slice of the giver (a viewer wants them inside one; the token
    comes when the giver is `done`) to the first of the taker."""
    found, start = [], run.times.start
    for taker, givers in enumerate(run.times.givers):
        for giver in givers:
            link: Event = {"cat": "token", "id": f"{giver}-{taker}"}
            last = max(start[giver], run.times.busy_end[giver] - 1)
            ends = (("s", giver, last, {}), ("f", taker, start[taker], {"bp": "e"}))
            for kind, n, clock, more in ends:
                lane = LANES.index(lane_of(run.program[n].name))
                found.append(_event(kind, "token", lane, ts=clock, **link, **more))
    return found


def _curves(run: Run) -> list[Event]:
    """MACs and bytes in a clock: a value holds until the next one."""
    changes: dict[str, dict[int, float]] = {"MACs in a clock": {}, "DRAM bytes in a clock": {}}
    for n, i in enumerate(run.program[:-1]):
        start, end = run.times.start[n], run.times.busy_end[n]
        amounts = zip(changes.values(), (macs_of(i), dram_of(i, run.chip)), strict=True)
        for curve, amount in amounts:
            if amount and end > start:
                curve[start] = curve.get(start, 0) + amount / (end - start)
                curve[end] = curve.get(end, 0) - amount / (end - start)
    found = []
    for name, curve in changes.items():
        level = 0.0
        for clock, change in sorted(curve.items()):
            level += change
            found.append(_event("C", name, ts=clock, args={"value": round(level, 6)}))
    return found
