"""A trace as Chrome trace events: open the file in ui.perfetto.dev or chrome://tracing.

    spans = [Span("load", "dma", 0, 8), Span("product", "array", 8, 30, about={"macs": 4096})]
    write_trace(Trace("a chip", ("dma", "array"), spans), "trace.json")

A lane has a span for each thing that it did, one after another or inside one another; an arrow
leads from one lane to another; a curve has a value that holds until the next one. Times are in any
unit, of which `per_microsecond` make a microsecond. Format: "Trace Event Format" (Google, 2016),
JSON object form. Next room: `course_lib/accelerator/trace/lanes.py`, a chip's trace.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.files import write

PROCESS = 1
Event = dict[str, Any]
Point = tuple[str, float]  # a lane, and when


@dataclass(frozen=True)
class Span:
    """Something that a lane did, from `start` on, for so long. A viewer shows `about` when it is
    clicked, and may filter by `kind`."""

    name: str
    lane: str
    start: float
    length: float
    kind: str = "work"
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Arrow:
    """From one span to another: a viewer wants both ends to lie inside of one. `key` is its own."""

    name: str
    key: str
    giver: Point
    taker: Point


@dataclass(frozen=True)
class Curve:
    """A value over time: each (when, value) holds until the next one."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Trace:
    """What happened in these lanes, which stand in this order from above."""

    name: str
    lanes: Sequence[str]
    spans: Sequence[Span]
    arrows: Sequence[Arrow] = ()
    curves: Sequence[Curve] = ()
    per_microsecond: float = 1.0
    about: Mapping[str, Any] = field(default_factory=dict)


def rate(name: str, amounts: Iterable[tuple[float, float, float]]) -> Curve:
    """How much is done in a unit of time, if each (start, end, amount) is done evenly."""
    changes: dict[float, float] = {}
    for start, end, amount in amounts:
        if amount and end > start:
            changes[start] = changes.get(start, 0) + amount / (end - start)
            changes[end] = changes.get(end, 0) - amount / (end - start)
    points, level = [], 0.0
    for when, change in sorted(changes.items()):
        level += change
        points.append((when, round(level, 6)))
    return Curve(name, points)


def chrome_trace(trace: Trace) -> dict[str, Any]:
    """The trace as plain data, ready for JSON. ValueError for a lane that it does not have, or a
    span that ends before it begins."""
    events = [_event("M", "process_name", args={"name": trace.name})]
    for number, lane in enumerate(trace.lanes):
        events.append(_event("M", "thread_name", number, args={"name": lane}))
        events.append(_event("M", "thread_sort_index", number, args={"sort_index": number}))
    for event in sorted([*_spans(trace), *_arrows(trace), *_curves(trace)], key=lambda e: e["ts"]):
        event["ts"] /= trace.per_microsecond
        if "dur" in event:
            event["dur"] /= trace.per_microsecond
        events.append(event)
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": dict(trace.about)}


def write_trace(trace: Trace, path: str | os.PathLike[str]) -> Path:
    """Write the trace as JSON; never leaves half a file."""
    return write(path, json.dumps(chrome_trace(trace)))


def _event(kind: str, name: str, lane: int = 0, **more: Any) -> Event:
    return {"ph": kind, "name": name, "pid": PROCESS, "tid": lane, **more}


def _spans(trace: Trace) -> Iterator[Event]:
    for one in trace.spans:
        if one.length < 0:
            raise ValueError(f"a span takes no less than nothing: {one}")
        lane, about = _number(trace, one.lane), dict(one.about)
        yield _event("X", one.name, lane, cat=one.kind, ts=one.start, dur=one.length, args=about)


def _arrows(trace: Trace) -> Iterator[Event]:
    for one in trace.arrows:
        for kind, (lane, when), more in (("s", one.giver, {}), ("f", one.taker, {"bp": "e"})):
            number = _number(trace, lane)
            yield _event(kind, one.name, number, ts=when, cat=one.name, id=one.key, **more)


def _curves(trace: Trace) -> Iterator[Event]:
    for curve in trace.curves:
        for when, value in curve.points:
            yield _event("C", curve.name, ts=when, args={"value": value})


def _number(trace: Trace, lane: str) -> int:
    if lane not in trace.lanes:
        raise ValueError(f"{trace.name} has no lane {lane!r}; it has {', '.join(trace.lanes)}")
    return trace.lanes.index(lane)
