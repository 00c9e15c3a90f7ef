"""Pictures of a program on the small processor: who is where, and when.

    cycles(built)         each instruction from its start until its result is ready
    registers(lives, found)   which value is in which register, from which instruction to which

Next room: `course_lib/llvm/processors.py`, the same for real processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.timeline import Span, timeline
from course_lib.machine.build import Built, measure
from course_lib.machine.lives import Live

KINDS = {"ld": "load", "bc": "load", "st": "store"}


def cycles(built: Built, title: str, most: int = 40) -> Picture:
    """The first instructions of a program over its cycles, loads and stores marked.

    A box is as long as its instruction's latency. It stands in the first lane that is empty, so
    there are as many lanes as results are on their way at once.
    """
    run = measure(built)
    spans, busy = [], []
    for instr, start in list(zip(built.code, run.starts, strict=True))[:most]:
        end = start + instr.row.latency
        lane = next((k for k, until in enumerate(busy) if until <= start), len(busy))
        busy[lane : lane + 1] = [end]
        state = "marked" if instr.op in KINDS else ""
        spans.append(Span(instr.op, start, end, lane=f"{lane + 1}", state=state, tip=str(instr)))
    return timeline(spans, title, time="cycle", busy=False)


def registers(lives: Sequence[Live], register_of: Mapping[str, int], title: str) -> Picture:
    """Lives as boxes, in the lane of their register; those without one are in lanes of their own,
    marked."""
    spans = []
    for live in sorted(lives, key=lambda one: (register_of.get(one.name, 99), one.start)):
        kept = live.name in register_of
        lane = f"f{register_of[live.name]}" if kept else f"memory: {live.name}"
        state = "" if kept else "marked"
        spans.append(Span(live.name, live.start, live.end, lane=lane, state=state))
    return timeline(spans, title, time="instruction", busy=False)
