"""Lines, points and distributions; each axis names its unit.

    lines({"ours": [(64, 0.9), (128, 1.4)]}, "rows (count)", "time (ms)", "Time by size")
    scatter({"kernels": [(6.1, 60.0)]}, "FLOP/byte (ratio)", "rate (GFLOP/s)", "Every kernel")
    histogram({"one thread": milliseconds}, "time (ms)", "200 runs")

A series is told apart by its hue, its line and its mark, and its name stands above. All three
return a `Plot`, whose `.axes` takes whatever else matplotlib can draw. Next room:
`draw/base/stepper.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import cycle

import numpy as np

from course_lib.arguments import takes
from course_lib.draw.base.units import digits
from course_lib.draw.plots.figure import SERIES, Plot, chart, plain, sheet

Points = Sequence[tuple[float, float]]
BINS = 1000  # narrower ones cannot be told apart
COLUMNS = 4  # names in a row above the axes


@takes
def lines(series: Mapping[str, Points], x: str, y: str, title: str, log: str = "") -> Plot:
    """A line for each series of (x, y), in the order of x. `log` is "", "x", "y" or "xy"."""
    ordered = {name: sorted(points) for name, points in series.items()}
    return _points(ordered, x, y, title, log, joined=True)


@takes
def scatter(series: Mapping[str, Points], x: str, y: str, title: str, log: str = "") -> Plot:
    """A mark for each (x, y) of each series. `log` is "", "x", "y" or "xy"."""
    return _points(series, x, y, title, log, joined=False)


@takes
def histogram(values: Mapping[str, Iterable[float]], x: str, title: str, bins: int = 24) -> Plot:
    """How often each value of a series was seen, in `bins` steps of one width for all series."""
    arrays = {name: np.asarray(list(v), float) for name, v in values.items()}
    _check_finite(title, arrays.values())
    if not 1 <= bins <= BINS:
        raise ValueError(f"{title}: the number of bins is 1 to {BINS:,}, got {bins:,}")
    _, edges = np.histogram(np.concatenate(list(arrays.values())), bins)
    rows = [
        f"  {name}: {len(v)} values, least {digits(v.min())}, "
        f"median {digits(float(np.median(v)))}, most {digits(v.max())}"
        for name, v in arrays.items()
    ]
    text = "\n".join([title, f"{x}, in steps of {digits(edges[1] - edges[0])}", *rows])
    plot = chart(title, x, "values in a step (count)", "", text)
    with sheet():
        for (name, v), look in zip(arrays.items(), cycle(SERIES), strict=False):
            counts, _ = np.histogram(v, edges)
            line = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 2}
            plot.axes.stairs(counts, edges, fill=True, alpha=0.2, color=look["color"])
            plot.axes.stairs(counts, edges, label=_named(name), **line)
        _names(plot, len(arrays))
    return plot


def _points(
    series: Mapping[str, Points], x: str, y: str, title: str, log: str, joined: bool
) -> Plot:
    _check_finite(title, [np.asarray(points, float) for points in series.values()])
    for k, name in enumerate(("x", "y")):
        if name in log and min(p[k] for points in series.values() for p in points) <= 0:
            raise ValueError(f"{title}: a logarithmic {name} axis needs values above zero")
    rows = [
        f"  {name}: {', '.join(f'({digits(a)}, {digits(b)})' for a, b in points)}"
        for name, points in series.items()
    ]
    plot = chart(title, x, y, "", "\n".join([title, f"{y} against {x}", *rows]), log)
    with sheet():
        for name, points in series.items():
            (line,) = plot.axes.plot(*zip(*points, strict=True), label=_named(name))
            line.set_linestyle(line.get_linestyle() if joined else "")
        _names(plot, len(series))
    return plot


def _named(series: str) -> str:
    return f" {plain(series, 24)}"  # what starts with an underscore, matplotlib leaves out


def _names(plot: Plot, count: int) -> None:
    """The names of the series, each with its sign, between the title and the axes."""
    rows = -(-count // COLUMNS)
    plot.axes.set_title(plain(plot.title), pad=10 + 17 * rows)
    place = {"loc": "lower left", "bbox_to_anchor": (-0.01, 1.0), "borderaxespad": 0.2}
    plot.axes.legend(ncols=COLUMNS, handlelength=2.6, columnspacing=1.6, fontsize=11, **place)


def _check_finite(title: str, arrays: Collection[np.ndarray]) -> None:
    if not arrays or not all(array.size for array in arrays):
        raise ValueError(f"{title}: there is nothing to draw; give every series a value")
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(f"{title}: every value must be a finite number")
