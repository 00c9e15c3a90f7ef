"""Software pipelining: a loop whose iterations overlap (Rau and Glaeser, 1981; Lam, 1988).

    offsets(BODY, 4)                  # [0, 5, 10, 19]: when each starts in its own iteration
    program(BODY, 4, 8)               # eight iterations, one every 4 cycles, as instructions

With an interval of 4 cycles, no two instructions of an iteration may start at times that are equal
modulo 4: in the steady state they belong to different iterations and share those cycles. Next room:
experiments.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.draw.plots.timeline import Span, timeline
from course_lib.machine.core import Core, Instr
from course_lib.machine.depends import needs_of
from course_lib.machine.show import KINDS
from course_lib.machine.simulate import Run, run

# One iteration of `out[i] = 0.5 * x[i] + y[i]`, for the first vector.
BODY = (
    Instr("ld", "x", (), ("x", 0)),
    Instr("muli", "half", ("x",), None, 0.5),
    Instr("addm", "sum", ("half",), ("y", 0)),
    Instr("st", "", ("sum",), ("out", 0)),
)


def offsets(body: Sequence[Instr], interval: int) -> list[int]:
    """When each instruction starts in its iteration, if an iteration begins every `interval` cycles
    and one instruction starts in a cycle. No iteration may read what another one makes."""
    if interval < len(body):
        raise ValueError(f"{len(body)} instructions do not start in {interval} cycles")
    starts: list[int] = []
    for wait in needs_of(body):
        cycle = max((starts[m] + cycles for m, cycles in wait.items()), default=0)
        while cycle % interval in {start % interval for start in starts}:
            cycle += 1
        starts.append(cycle)
    return starts


def copies(body: Sequence[Instr], interval: int) -> dict[str, int]:
    """How many registers each value needs: as many as of its iterations are alive together."""
    starts = offsets(body, interval)
    made = {instr.into: start for instr, start in zip(body, starts, strict=True) if instr.into}
    last = {name: start for instr, start in zip(body, starts, strict=True) for name in instr.reads}
    return {name: max(1, -(-(last[name] - start) // interval)) for name, start in made.items()}


def program(body: Sequence[Instr], interval: int, count: int) -> list[Instr]:
    """The first `count` iterations as the processor runs them, each on the next vector."""
    starts, needed = offsets(body, interval), copies(body, interval)
    first = dict(zip(needed, np.cumsum([0, *needed.values()]).tolist(), strict=False))

    def register(name: str, k: int) -> str:
        return f"f{first[name] + k % needed[name]}" if name else ""

    placed = [(start + interval * k, k, instr)
              for k in range(count) for instr, start in zip(body, starts, strict=True)]  # fmt: skip
    return [replace(instr, into=register(instr.into, k),
                    reads=tuple(register(name, k) for name in instr.reads),
                    at=instr.at and (instr.at[0], instr.at[1] + 8 * k))
            for _, k, instr in sorted(placed, key=lambda one: one[0])]  # fmt: skip


def measured(interval: int, count: int) -> tuple[Run, np.ndarray]:
    """What `count` iterations cost, and what they computed of x = 0, 1, 2 ... and y = 1."""
    x = np.arange(8 * count, dtype=np.float32)
    arrays = {"x": x, "y": np.ones_like(x), "out": np.zeros_like(x)}
    return run(program(BODY, interval, count), Core(), arrays), arrays["out"]


def intervals_table(*intervals: int, count: int = 100) -> Picture:
    """Cycles and registers of a loop of `count` iterations, for several intervals."""
    rows = [[interval, measured(interval, count)[0].cycles, sum(copies(BODY, interval).values())]
            for interval in intervals]  # fmt: skip
    header = ["interval (cycles)", f"{count} iterations (cycles)", "registers"]
    return table(rows, header, exact=header)


def overlapped(interval: int, count: int = 6) -> Picture:
    """The iterations over the cycles, each in a lane of its own; loads and stores marked."""
    spans = [
        Span(instr.op, start + interval * k, start + interval * k + instr.row.latency,
             lane=f"iteration {k}", state="marked" if instr.op in KINDS else "", tip=str(instr))
        for k in range(count) for instr, start in zip(BODY, offsets(BODY, interval), strict=True)
    ]  # fmt: skip
    return timeline(spans, f"an iteration every {interval} cycles", time="cycle", busy=False)
