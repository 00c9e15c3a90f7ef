"""Time × address, or time × lane: who is where, from when to when.

    timeline([Span("x", 0, 2, low=0, high=4096), Span("y", 1, 3, low=4096, high=8192)],
             title="memory plan", bound=8192)                       # a plan of addresses
    timeline([Span("load", 0, 4, lane="DMA"), Span("tile 0", 4, 9, lane="PE array")],
             title="pipeline", time="clock cycle")                   # lanes by name

The same grammar serves memory plans, pipelines and schedules: a box is something that lasts; where
it stands says what it occupies. In a plan whose times are whole numbers, a time is a step: each
number stands under its step, and a box from 0 to 3 covers the steps 0, 1 and 2.
Next room: `cells.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_lib.arguments import takes
from course_lib.draw.base.legend import legend_row
from course_lib.draw.base.picture import Picture, framed
from course_lib.draw.base.style import HEAT_STEPS
from course_lib.draw.base.svg import (
    MONO_WIDTH,
    SANS_WIDTH,
    drawing,
    escape,
    label,
    points,
    shorten,
    tag,
)
from course_lib.draw.base.units import binary, binary_unit, digits

WIDTH, PLAN_HEIGHT, LANE_HEIGHT, MARGIN = 560.0, 260.0, 30.0, 14.0
HEAD = 74.0  # room for the title, px
NAME = 10.0  # font size inside a box, px
TICK = 9.5  # font size below the axis, px


@dataclass(frozen=True)
class Span:
    """Something that lasts from `start` to `end` (not included).

    It occupies the bytes from `low` to `high` (not included), or the lane of that name. `state` is
    "", "added", "removed", "marked" or "stall" (nothing happens); `heat` goes from 0 to 1. `short`
    stands in a box that is too narrow for the name.
    """

    name: str
    start: float
    end: float
    low: int = 0
    high: int = 0
    lane: str = ""
    state: str = ""
    heat: float | None = None
    tip: str = ""
    short: str = ""


@takes
def timeline(
    spans: Sequence[Span],
    title: str,
    time: str = "schedule step",
    bound: int | None = None,
    bound_name: str = "lower bound",
    busy: bool = True,
) -> Picture:
    """Draw spans over time. `bound`, in bytes, is a line that no plan can go below; `busy` says
    under the title of lanes how much of the time each is in use."""
    if not spans:
        raise ValueError(f"{title}: there is nothing to draw; give at least one Span")
    wrong = next((s for s in spans if s.end < s.start or s.high < s.low), None)
    if wrong:
        raise ValueError(f"{title}: {wrong.name} ends before it starts: {wrong}")
    if any(s.lane for s in spans):
        return _lanes(spans, title, time, busy)
    return _plan(spans, title, time, bound, bound_name)


@dataclass(frozen=True)
class _Axes:
    """Where a time and an address stand in the picture of a plan, in px; `top` in bytes."""

    first: float
    last: float
    top: int
    left: float = MARGIN + 52
    head: float = HEAD

    @property
    def foot(self) -> float:
        return self.head + PLAN_HEIGHT

    def across(self, time: float) -> float:
        return self.left + (time - self.first) / ((self.last - self.first) or 1) * WIDTH

    def up(self, address: float) -> float:
        return self.foot - address / (self.top or 1) * PLAN_HEIGHT


def _plan(
    spans: Sequence[Span], title: str, time: str, bound: int | None, bound_name: str
) -> Picture:
    peak = max(s.high for s in spans)
    first, last = min(s.start for s in spans), max(s.end for s in spans)
    axes, in_steps = _Axes(first, last, max(peak, bound or 0)), _in_steps(spans)
    content = _addresses(axes) + _times(axes, time, in_steps)
    line = None if bound is None else axes.up(bound)
    for s in spans:
        x, y = axes.across(s.start), axes.up(s.high)
        size = binary(s.high - s.low)
        tip = f"{s.name}: {size}, {_during(s, time, in_steps)}\n{s.tip}"
        content.append(_box(s, x, y, axes.across(s.end) - x, axes.up(s.low) - y, tip, size, line))
    summary, beside = f"peak {binary(peak)}", MARGIN
    if bound is not None:
        content += _bound(axes, bound, bound_name)
        beside += max(len(bound_name), 8) * 10.5 * SANS_WIDTH
        side = "above" if peak > bound else "below"
        over = f"{digits(100 * abs(peak / bound - 1))} % {side} it" if bound else ""
        summary += f", {bound_name} {binary(bound)}"
        summary += f", the plan is {over}" if over and peak != bound else ""
    size = (axes.left + WIDTH + beside, axes.foot + 42)
    return _finish(title, summary, content, spans, size, axes.left, time)


def _addresses(axes: _Axes) -> list[str]:
    """The axis of addresses, its grid and its name."""
    factor, unit = binary_unit(axes.top)
    content = []
    for value in ticks(0, axes.top / factor, 6):
        y = axes.up(value * factor)
        content.append(tag("path", d=f"M{points(axes.left, y)}h{points(WIDTH)}", klass="cl-grid"))
        content.append(label(axes.left - 8, y + 3.5, digits(value), "cl-s cl-m cl-e"))
    x, y = MARGIN + 11, axes.head + PLAN_HEIGHT / 2
    turned, name = f"rotate(-90 {points(x, y)})", escape(f"address ({unit})")
    content.append(tag("text", name, x=x, y=y, klass="cl-l cl-m cl-mid", transform=turned))
    return content


def _times(axes: _Axes, time: str, in_steps: bool) -> list[str]:
    """The axis of times; the number of a step stands under its middle."""
    if not in_steps:
        return _time_axis(ticks(axes.first, axes.last, 14), axes.across, axes.foot, time, axes.left)
    most = min(14, max(1, int(axes.last - axes.first)))  # no half steps
    steps = [t for t in ticks(axes.first, axes.last, most) if t < axes.last]
    return _time_axis(steps, lambda t: axes.across(t + 0.5), axes.foot, time, axes.left)


def _bound(axes: _Axes, bound: int, name: str) -> list[str]:
    """A dashed line that no plan can go below, with its name beside it."""
    y, x = axes.up(bound), axes.left + WIDTH + 8
    line = f"M{points(axes.left, y)}h{points(WIDTH)}"
    return [
        tag("path", d=line, klass="cl-bound", stroke_dasharray="6 4"),
        label(x, y - 2, name, "cl-l"),
        label(x, y + 11, binary(bound), "cl-l"),
    ]


def _in_steps(spans: Sequence[Span]) -> bool:
    """Is it a plan (of addresses, not lanes) whose times are numbers of steps?"""
    times = [t for s in spans for t in (s.start, s.end)]
    return not any(s.lane for s in spans) and all(float(t).is_integer() for t in times)


def _during(span: Span, time: str, in_steps: bool) -> str:
    """When, in words: `step 3`, `steps 0 to 2`; of a time that is measured, `time 0 to 3`."""
    if not in_steps:
        return f"{time} {digits(span.start)} to {digits(span.end)}"
    if span.end - span.start <= 1:
        return f"{time} {digits(span.start)}"
    return f"{time}s {digits(span.start)} to {digits(span.end - 1)}"


def _lanes(spans: Sequence[Span], title: str, time: str, with_shares: bool) -> Picture:
    names = list(dict.fromkeys(s.lane for s in spans))
    shown = [shorten(n, 28) for n in names]
    left = MARGIN + max(len(n) for n in shown) * 11 * SANS_WIDTH + 14
    head = HEAD
    low_end = head + LANE_HEIGHT * len(names)
    first, last = min(s.start for s in spans), max(s.end for s in spans)

    def across(t: float) -> float:
        return left + (t - first) / ((last - first) or 1) * WIDTH

    at = ticks(first, last, 14)
    words = across(at[-1]) + len(digits(at[-1])) * TICK * MONO_WIDTH / 2  # may end behind the axis
    content = _time_axis(at, across, low_end, time, left)
    for k, name in enumerate(shown):
        y = head + k * LANE_HEIGHT
        content.append(label(left - 10, y + LANE_HEIGHT / 2 + 4, name, "cl-l cl-e"))
        line = f"M{points(left, y + LANE_HEIGHT)}h{points(WIDTH)}"
        content.append(tag("path", d=line, klass="cl-grid"))
    busy = dict.fromkeys(names, 0.0)
    for s in spans:
        x, y = across(s.start), head + names.index(s.lane) * LANE_HEIGHT + 4
        busy[s.lane] += 0 if s.state == "stall" else s.end - s.start
        tip = f"{s.name}: {time} {digits(s.start)} to {digits(s.end)}\n{s.tip}"
        content.append(_box(s, x, y, across(s.end) - x, LANE_HEIGHT - 8, tip))
    share = {n: 100 * t / ((last - first) or 1) for n, t in busy.items()}
    shares = ", ".join(f"{n} {digits(p)} %" for n, p in share.items())
    summary = f"busy: {shares}" if with_shares else ""
    size = (max(left + WIDTH + MARGIN, words + 2), low_end + 42)
    return _finish(title, summary, content, spans, size, left, time)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most about `most` of them."""
    if high <= low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _time_axis(
    at: Sequence[float], across: Callable[[float], float], y: float, time: str, left: float
) -> list[str]:
    content = [tag("path", d=f"M{points(left, y)}h{points(WIDTH)}", klass="cl-axis")]
    for value in at:
        x = across(value)
        content.append(tag("path", d=f"M{points(x, y)}v4", klass="cl-axis"))
        content.append(label(x, y + 15, digits(value), "cl-s cl-m cl-mid"))
    content.append(label(left + WIDTH / 2, y + 30, time, "cl-l cl-m cl-mid"))
    return content


def _box(
    span: Span,
    x: float,
    y: float,
    width: float,
    height: float,
    tip: str,
    size: str = "",
    line: float | None = None,  # the height of the bound, which crosses no words
) -> str:
    klass = {"": "cl-n", "stall": "cl-stall"}.get(span.state, f"cl-{span.state}")
    if span.heat is not None and not span.state:
        klass += f" cl-heat{min(int(span.heat * HEAT_STEPS), HEAT_STEPS - 1)}"
    width, height = max(width, 1.0), max(height, 1.0)
    parts = [
        tag("title", escape(tip.strip())),
        tag("rect", x=x, y=y, width=width, height=height, klass=klass),
    ]
    name = _written(span, width)
    if height >= 13 and name:
        top, free = _beside(line, y, height)
        two = size and free >= 28 and width - 8 >= len(size) * NAME * MONO_WIDTH
        middle = top + free / 2 + (-2.5 if two else 3.5)
        parts.append(label(x + width / 2, middle, name, "cl-p cl-mid"))
        if two:
            parts.append(label(x + width / 2, middle + 12, size, "cl-s cl-m cl-mid"))
    return tag("g", *parts, klass="cl-hot" if span.heat is not None else None)


def _written(span: Span, width: float) -> str:
    """What stands in a box of that width: its name, or as much of it as says something."""
    room = int((width - 8) / (NAME * MONO_WIDTH))
    if len(span.name) <= room:
        return span.name
    if span.short:
        return span.short if len(span.short) * NAME * MONO_WIDTH + 2 <= width else ""
    return shorten(span.name, room) if room >= 6 else ""


def _beside(line: float | None, y: float, height: float) -> tuple[float, float]:
    """The part of a box for its words, as top and height: the larger one beside a line in it."""
    if line is None or not y < line < y + height or max(line - y, y + height - line) < 13:
        return y, height
    if abs(line - (y + height / 2)) > 16:  # it passes the words in the middle
        return y, height
    return (y, line - y) if line - y >= y + height - line else (line, y + height - line)


def _finish(
    title: str,
    summary: str,
    content: list[str],
    spans: Sequence[Span],
    size: tuple[float, float],
    left: float,
    time: str,
) -> Picture:
    states, (width, height) = {s.state for s in spans} - {""}, size
    head = [label(MARGIN, 24, title, "cl-h"), label(MARGIN, 42, summary, "cl-c cl-m")]
    if states:
        signs, more = legend_row(left, height, WIDTH, states)
        content, height = [*content, *signs], height + more
    svg = drawing(title, summary, width, height, [*head, *content])
    return framed(title, svg, _text(title, summary, spans, time))


def _text(title: str, summary: str, spans: Sequence[Span], time: str) -> str:
    wide, in_steps = max(len(s.name) for s in spans), _in_steps(spans)
    lines = [title, summary]
    for s in spans:
        where = s.lane or f"{s.low:>12,} to {s.high:>12,} B"
        lines.append(f"  {s.name:<{wide}}  {_during(s, time, in_steps)}  {where}  {s.state}")
    return "\n".join(line.rstrip() for line in lines)
