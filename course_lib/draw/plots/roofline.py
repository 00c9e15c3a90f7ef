"""The roofline: how fast a kernel can be, given how much it computes for each byte it moves.

    roofline([Dot("matmul", intensity=42.0, rate=61e9)], peak_flops=118e9, bandwidth=20e9)

Under the slanted part the memory is the limit, under the flat part the arithmetic; they meet at
the ridge, peak / bandwidth. Source: Williams, Waterman and Patterson, "Roofline: an insightful
visual performance model for multicore architectures", CACM 2009. Next room: `draw/base/stepper.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.draw.base.legend import legend_row
from course_lib.draw.base.picture import Picture, framed
from course_lib.draw.base.svg import SANS_WIDTH, drawing, escape, label, points, shorten, tag
from course_lib.draw.base.ticks import log_ticks
from course_lib.draw.base.units import digits, scaled

WIDTH, HEIGHT, LEFT, TOP, FONT = 620.0, 340.0, 66.0, 66.0, 10.5
Box = tuple[float, float, float, float]  # left, top, right, low
Point = tuple[float, float]


@dataclass(frozen=True)
class Dot:
    """A measured kernel: FLOP per byte of traffic, and FLOP/s achieved."""

    name: str
    intensity: float
    rate: float
    state: str = ""
    tip: str = ""


def roofline(
    dots: Sequence[Dot], peak_flops: float, bandwidth: float, title: str = "Roofline"
) -> Picture:
    """`peak_flops` in FLOP/s, `bandwidth` in byte/s; the axes are in FLOP/byte and GFLOP/s."""
    values = [peak_flops, bandwidth, *(v for d in dots for v in (d.intensity, d.rate))]
    if not all(math.isfinite(v) and v > 0 for v in values):
        raise ValueError(f"{title}: every figure must be above zero, got {values}")
    ridge = peak_flops / bandwidth
    widths = [ridge / 4, ridge * 4, *(d.intensity for d in dots)]
    left, right = min(widths) / 1.6, max(widths) * 1.6
    low = min([left * 1.6 * bandwidth, *(d.rate for d in dots)]) / 1.6
    high = max([peak_flops, *(d.rate for d in dots)]) * 2

    def across(intensity: float) -> float:
        return LEFT + WIDTH * math.log(intensity / left) / math.log(right / left)

    def up(rate: float) -> float:
        return TOP + HEIGHT * (1 - math.log(rate / low) / math.log(high / low))

    start = max(left, low / bandwidth)
    corner = (across(ridge), up(peak_flops))
    foot, end = (across(start), up(start * bandwidth)), (across(right), up(peak_flops))
    xs = [(across(v), digits(v)) for v in log_ticks(left, right)]
    ys = [(up(v * 1e9), digits(v)) for v in log_ticks(low / 1e9, high / 1e9)]
    content = _axes(xs, ys)
    roof = f"M{points(*foot)}L{points(*corner)}L{points(*end)}"
    content.append(tag("path", d=roof, klass="cl-axis", stroke_width=2))
    drop = f"M{points(*corner)}V{points(TOP + HEIGHT)}"
    content.append(tag("path", d=drop, klass="cl-edge", stroke_dasharray="3 4"))
    taken: list[Box] = []
    places = [(across(d.intensity), up(d.rate)) for d in dots]
    names = (f"memory {scaled(bandwidth, 'B/s')}", f"peak {scaled(peak_flops, 'FLOP/s')}")
    ridge_name = f"ridge {digits(ridge)} FLOP/byte"
    content += _roof_words(foot, corner, end, names, ridge_name, places, taken)
    taken += [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    walls = [(foot, corner), (corner, end)]
    for dot, (x, y) in zip(dots, places, strict=True):
        content += _named_dot(dot, x, y, taken, walls, min(peak_flops, bandwidth * dot.intensity))
    summary = f"{names[1]}, {names[0]}, ridge at {digits(ridge)} FLOP/byte"
    head = [label(14, 24, title, "cl-h"), label(14, 42, summary, "cl-c cl-m")]
    total = TOP + HEIGHT + 46
    states = {d.state for d in dots} - {""}
    if states:
        signs, more = legend_row(LEFT, total, WIDTH, (), states)
        content, total = [*content, *signs], total + more
    svg = drawing(title, summary, LEFT + WIDTH + 22, total, [*head, *content])
    return framed(title, svg, _text(title, summary, dots, peak_flops, bandwidth))


def _axes(xs: Sequence[tuple[float, str]], ys: Sequence[tuple[float, str]]) -> list[str]:
    low = TOP + HEIGHT
    frame = f"M{points(LEFT, TOP)}V{points(low)}H{points(LEFT + WIDTH)}"
    content = [tag("path", d=frame, klass="cl-axis")]
    for x, words in xs:
        content.append(tag("path", d=f"M{points(x, TOP)}V{points(low)}", klass="cl-grid"))
        content.append(label(x, low + 15, words, "cl-s cl-m cl-mid"))
    for y, words in ys:
        content.append(tag("path", d=f"M{points(LEFT, y)}h{points(WIDTH)}", klass="cl-grid"))
        content.append(label(LEFT - 8, y + 3.5, words, "cl-s cl-m cl-e"))
    name = "operational intensity (FLOP/byte)"
    content.append(label(LEFT + WIDTH / 2, low + 33, name, "cl-l cl-m cl-mid"))
    middle = TOP + HEIGHT / 2
    content.append(
        tag(
            "text",
            "performance (GFLOP/s)",
            x=26,
            y=middle,
            klass="cl-l cl-m cl-mid",
            transform=f"rotate(-90 {points(26, middle)})",
        )
    )
    return content


def _roof_words(
    foot: Point,
    corner: Point,
    end: Point,
    names: tuple[str, str],
    ridge: str,
    dots: Sequence[Point],
    taken: list[Box],
) -> list[str]:
    """What the two parts of the roof and the ridge are called; their places become `taken`."""
    slope, flat = names
    height = FONT + 3

    def along(t: float) -> Point:
        return foot[0] + (corner[0] - foot[0]) * t, foot[1] + (corner[1] - foot[1]) * t

    def room_at(place: Point) -> float:
        return min((math.dist(place, dot) for dot in dots), default=0.0)

    x, y = along(max((0.5, 0.4, 0.6, 0.3, 0.7), key=lambda t: min(room_at(along(t)), 90.0)))
    wide = len(flat) * FONT * SANS_WIDTH
    places = [(at + wide / 2, end[1]) for at in (end[0] - wide, corner[0] + 8)]
    flat_from = max(places, key=lambda p: min(room_at(p), wide))[0] - wide / 2
    angle = math.atan2(corner[1] - foot[1], corner[0] - foot[0])
    turned = f"rotate({math.degrees(angle):.1f} {points(x, y)})"
    content = [
        tag("text", escape(slope), x=x, y=y - 7, klass="cl-l cl-mid", transform=turned),
        label(flat_from, end[1] - 8, flat, "cl-l"),
        label(corner[0] + 6, TOP + HEIGHT - 8, ridge, "cl-l cl-m"),
    ]
    half = len(slope) * FONT * SANS_WIDTH / 2
    for k in range(-4, 5):  # the slanted words, as a row of small boxes
        at = (x + half * k / 4 * math.cos(angle), y + half * k / 4 * math.sin(angle))
        taken.append((at[0] - 14, at[1] - 20, at[0] + 6, at[1]))
    taken.append((flat_from, end[1] - 19, flat_from + wide, end[1] - 1))
    low = TOP + HEIGHT - 6
    taken.append((corner[0], low - height, corner[0] + len(ridge) * FONT * SANS_WIDTH, low))
    return content


def _named_dot(
    dot: Dot,
    x: float,
    y: float,
    taken: list[Box],
    walls: Sequence[tuple[Point, Point]],
    limit: float,
) -> list[str]:
    """The dot, and its name at the nearest place where it hides nothing."""
    name = shorten(dot.name, 32)
    box, distance = _free_place(x, y, len(name) * FONT * SANS_WIDTH, taken, walls)
    taken.append(box)
    share = digits(100 * dot.rate / limit)
    tip = (
        f"{dot.name}: {digits(dot.intensity)} FLOP/byte, {scaled(dot.rate, 'FLOP/s')}, "
        f"{share} % of the roof\n{dot.tip}"
    ).strip()
    klass = f"cl-{dot.state}" if dot.state else "cl-dot"
    parts = [tag("title", escape(tip)), tag("circle", cx=x, cy=y, r=5, klass=klass)]
    parts.append(label(box[0], box[3] - 3, name, "cl-l cl-halo"))
    if distance > 8:
        to_x = min(max(x, box[0]), box[2])
        to_y = box[1] if box[1] > y else box[3]
        line = tag("path", d=f"M{points(x, y)}L{points(to_x, to_y)}", klass="cl-edge")
        parts.insert(1, line)
    return [tag("g", *parts)]


def _free_place(
    x: float, y: float, width: float, taken: Sequence[Box], walls: Sequence[tuple[Point, Point]]
) -> tuple[Box, float]:
    height = FONT + 3
    fallback: tuple[Box, float] | None = None
    for distance in (8.0, 14.0, 22.0, 32.0, 44.0, 60.0, 80.0):
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            left = x + dx * distance - (width if dx < 0 else width / 2 if dx == 0 else 0)
            top = y + dy * distance - (height if dy < 0 else height / 2 if dy == 0 else 0)
            box = (left, top, left + width, top + height)
            fallback = fallback or (box, distance)
            inside = left > LEFT and box[2] < LEFT + WIDTH and TOP < top < TOP + HEIGHT - height
            hidden = any(_overlap(box, t) for t in taken)
            if inside and not hidden and not any(_crosses(box, *wall) for wall in walls):
                return box, distance
    assert fallback is not None
    return fallback


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _crosses(box: Box, start: Point, end: Point) -> bool:
    steps = 64
    return any(
        box[0] - 2 < start[0] + (end[0] - start[0]) * k / steps < box[2] + 2
        and box[1] - 2 < start[1] + (end[1] - start[1]) * k / steps < box[3] + 2
        for k in range(steps + 1)
    )


def _text(
    title: str, summary: str, dots: Sequence[Dot], peak_flops: float, bandwidth: float
) -> str:
    lines = [title, summary]
    for d in dots:
        limit = min(peak_flops, bandwidth * d.intensity)
        side = "memory" if d.intensity < peak_flops / bandwidth else "arithmetic"
        lines.append(
            f"  {d.name}: {digits(d.intensity)} FLOP/byte, {scaled(d.rate, 'FLOP/s')}, "
            f"{digits(100 * d.rate / limit)} % of the roof; limit: {side}"
        )
    return "\n".join(lines)
