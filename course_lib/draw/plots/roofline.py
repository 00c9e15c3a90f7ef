"""The roofline: how fast a kernel can be, given how much it computes for each byte it moves.

    roofline([Dot("matmul", intensity=42.0, rate=61e9)], peak_flops=118e9, bandwidth=20e9)
    roofline([Dot("conv, relu fused", 6.1, 60e9, before=(2.9, 31e9))], 118e9, 20e9)     # an arrow

Under the slanted part the memory is the limit, under the flat part the arithmetic; they meet at
the ridge, peak / bandwidth. Where integers are computed, the unit is "op" and not "FLOP". Source:
Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", CACM 2009. Next room: `charts.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_lib.arguments import takes
from course_lib.draw.base.legend import STATES
from course_lib.draw.base.units import digits, scaled
from course_lib.draw.plots.figure import COLOUR, Plot, chart, plain, sheet
from course_lib.draw.plots.labels import named_points
from course_lib.draw.plots.redraw import TIP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

GIGA = 1e9


@dataclass(frozen=True)
class Dot:
    """A kernel: operations per byte of traffic, and operations a second achieved; both `before`, if
    it moved."""

    name: str
    intensity: float
    rate: float
    state: str = ""
    tip: str = ""
    before: tuple[float, float] | None = None


@takes
def roofline(
    dots: Sequence[Dot],
    peak_flops: float,
    bandwidth: float,
    title: str = "Roofline",
    unit: str = "FLOP",
) -> Plot:
    """`peak_flops` in FLOP/s, `bandwidth` in byte/s; the axes are in FLOP/byte and GFLOP/s. `unit`
    stands in place of FLOP."""
    places = [p for d in dots for p in ((d.intensity, d.rate), *([d.before] if d.before else []))]
    values = [peak_flops, bandwidth, *(v for place in places for v in place)]
    if not all(math.isfinite(v) and v > 0 for v in values):
        raise ValueError(f"{title}: every figure must be above zero, got {values}")
    ridge = peak_flops / bandwidth
    widths = [ridge / 4, ridge * 4, *(x for x, _ in places)]
    left, right = min(widths) / 1.6, max(widths) * 1.6
    low = min([left * 1.6 * bandwidth, *(y for _, y in places)]) / 1.6
    high = max([peak_flops, *(y for _, y in places)]) * 2
    summary = (
        f"peak {scaled(peak_flops, f'{unit}/s')}, memory {scaled(bandwidth, 'B/s')}, "
        f"ridge at {digits(ridge)} {unit}/byte"
    )
    signs = [STATES[s] for s in STATES if s in {d.state for d in dots}]
    text = _text(title, summary, dots, peak_flops, bandwidth, unit)
    x, y = f"operational intensity ({unit}/byte)", f"performance (G{unit}/s)"
    plot = chart(title, x, y, "; ".join([summary, *signs]), text, log="xy")
    plot.axes.set(xlim=(left, right), ylim=(low / GIGA, high / GIGA))
    with sheet():
        walls = _roof(plot.axes, peak_flops / GIGA, bandwidth / GIGA)
        for dot in dots:
            walls += _draw(plot.axes, dot, min(peak_flops, bandwidth * dot.intensity), unit)
        names = [(_name(d), d.intensity, d.rate / GIGA) for d in dots]
        starts = [(d.before[0], d.before[1] / GIGA) for d in dots if d.before]
        named_points(plot.axes, names, walls, starts)
    return plot


def _roof(axes: Axes, peak: float, bandwidth: float) -> list[Path]:
    """Draw the roof; and what no name may cross, in pixels: the roof, and the words along it."""
    from matplotlib.path import Path

    (left, right), (low, _) = axes.get_xlim(), axes.get_ylim()
    ridge, start = peak / bandwidth, max(left, low / bandwidth)
    corners = [(start, start * bandwidth), (ridge, peak), (right, peak)]
    axes.plot(*zip(*corners, strict=True), color=COLOUR["text"], ls="-", marker="", lw=2)
    axes.plot([ridge, ridge], [low, peak], color=COLOUR["line"], ls=":", marker="", lw=1.2)
    axes.figure.canvas.figure.draw_without_rendering()  # only now the slope has its angle
    roof = axes.transData.transform(corners)
    (x0, y0), (x1, y1) = roof[:2]
    words = axes.annotate(
        f"memory: {digits(bandwidth)} GB/s",
        corners[0],
        xytext=(0.3 * (x1 - x0) - 6, 0.3 * (y1 - y0) + 6),
        textcoords="offset points",
        rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)),
        rotation_mode="anchor",
        color=COLOUR["muted"],
        fontsize=11,
    )
    words.set_in_layout(False)
    return [Path(roof), *(Path(roof[:2] + shift) for shift in ((-6, 6), (-12, 12)))]


def _draw(axes: Axes, dot: Dot, limit: float, unit: str) -> list[Path]:
    """The dot, what it says when it is pointed at, and the arrow from where it was (returned)."""
    from matplotlib.path import Path

    share = digits(100 * dot.rate / limit)
    tip = (
        f"{dot.name}: {digits(dot.intensity)} {unit}/byte, {scaled(dot.rate, f'{unit}/s')}, "
        f"{share} % of the roof. {dot.tip}"
    )
    at = dot.intensity, dot.rate / GIGA
    face, edge = (dot.state, f"{dot.state}-text") if dot.state in COLOUR else ("focus", "page")
    (mark,) = axes.plot(*at, "o", ms=10, mfc=COLOUR[face], mec=COLOUR[edge], mew=1.5, zorder=3)
    mark.set_gid(TIP + plain(tip, 400))
    if not dot.before:
        return []
    was = dot.before[0], dot.before[1] / GIGA
    axes.plot(*was, "o", ms=9, mfc=COLOUR["page"], mec=COLOUR["focus"], mew=1.5, zorder=3)
    look = {"arrowstyle": "-|>", "color": COLOUR["focus"], "shrinkA": 6, "shrinkB": 7}
    axes.annotate("", at, was, arrowprops=look).set_in_layout(False)
    return [Path(axes.transData.transform([was, at]))]


def _name(dot: Dot) -> str:
    sign = STATES.get(dot.state, "")[:1]
    return plain(f"{sign} {dot.name}" if dot.state in COLOUR else dot.name, 34)


def _text(
    title: str, summary: str, dots: Sequence[Dot], peak: float, bandwidth: float, unit: str
) -> str:
    lines, rate = [title, summary], f"{unit}/s"
    for d in dots:
        limit = min(peak, bandwidth * d.intensity)
        side = "memory" if d.intensity < peak / bandwidth else "arithmetic"
        was = ""
        if d.before:
            was = f" (before: {digits(d.before[0])} {unit}/byte, {scaled(d.before[1], rate)})"
        lines.append(
            f"  {d.name}: {digits(d.intensity)} {unit}/byte, {scaled(d.rate, rate)}, "
            f"{digits(100 * d.rate / limit)} % of the roof; limit: {side}{was}"
        )
    return "\n".join(lines)
