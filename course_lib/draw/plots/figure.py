"""matplotlib in the course's style: one style sheet, and a figure that is a picture of ours.

    plot = chart("Cache misses", "rows (count)", "time (ms)")
    plot.axes.plot([1, 2, 4], [3.0, 1.9, 1.4])     # everything that matplotlib can do
    plot                                           # the last line of a cell draws it

`lines`, `scatter`, `histogram`, `bars` and `roofline` return such a `Plot` too: what you change on
its `.axes` or `.figure` shows the next time it is drawn. matplotlib is imported when the first plot
is made and not before, for that takes half a second. Next room: `redraw.py`.
"""

from __future__ import annotations

import logging
import re
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

from course_lib.draw.base.picture import Picture, framed
from course_lib.draw.base.style import PALETTE
from course_lib.draw.base.svg import shorten
from course_lib.draw.base.units import digits
from course_lib.draw.plots.redraw import as_svg
from course_lib.packages import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 560.0, 340.0  # px
COLOUR = {name: light for name, (light, _) in PALETTE.items()}

# Series differ by hue, by their line and by their mark: any one of the three is enough.
SERIES = [
    {"color": COLOUR[hue], "linestyle": dash, "marker": mark}
    for hue, dash, mark in (
        ("focus", "-", "o"),
        ("removed-text", "--", "s"),
        ("added-text", "-.", "^"),
        ("marked-text", ":", "D"),
        ("muted", (0, (6, 2, 1, 2, 1, 2)), "v"),
    )
]

SHEET: dict[str, Any] = {
    "figure.figsize": (WIDTH / 72, HEIGHT / 72),
    "figure.dpi": 72,  # a point is a pixel, as in SVG
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": COLOUR["line"],
    "axes.labelcolor": COLOUR["muted"],
    "axes.titlecolor": COLOUR["text"],
    "axes.titlelocation": "left",
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.labelsize": 12,
    "axes.labelpad": 6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.03,
    "grid.color": COLOUR["faint"],
    "grid.linewidth": 1.0,
    "xtick.color": COLOUR["muted"],
    "ytick.color": COLOUR["muted"],
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.0,
    "legend.frameon": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same room for words everywhere
    "font.size": 12,
    "text.color": COLOUR["text"],
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.fonttype": "none",  # words stay words
    "svg.hashsalt": "course_lib",  # the same plot is the same text
}


class Plot(Picture):
    """A picture that is drawn from `figure` each time it is looked at; `axes` is its first one."""

    def __init__(self, title: str, summary: str, text: str, figure: Figure) -> None:
        self.title, self.summary, self.text, self.figure = title, summary, text, figure

    @property
    def axes(self) -> Axes:
        return self.figure.axes[0]

    @property
    def svg(self) -> str:  # type: ignore[override]
        with sheet():
            return as_svg(self.figure, self.title, self.summary)

    @property
    def html(self) -> str:  # type: ignore[override]
        return framed(self.title, self.svg, self.text, klass="cl-plot").html


def sheet() -> AbstractContextManager[None]:
    """Our style sheet and nothing of the reader's own, while in the `with` block."""
    _import_quietly()
    from matplotlib import style  # heavy

    return style.context(["default", SHEET])


@cache
def _import_quietly() -> None:
    """The first import looks for fonts, and would log where it may and may not keep their list."""
    need("matplotlib")
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        import matplotlib.figure  # noqa: F401  heavy
    finally:
        log.setLevel(level)


def chart(
    title: str,
    x: str,
    y: str,
    summary: str = "",
    text: str = "",
    log: str = "",
    height: float = HEIGHT,
) -> Plot:
    """Empty axes in our style; `log` is "", "x", "y" or "xy".

    `x` and `y` name their units in parentheses; where `y` is "" (names stand there), `x` is one.
    """
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f'{title}: log is "", "x", "y" or "xy", got {log!r}')
    with sheet():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH / 72, height / 72))
        axes = figure.subplots()
        axes.set_prop_cycle(**{k: [s[k] for s in SERIES] for k in SERIES[0]})
        axes.set(xlabel=with_unit(x) if y else plain(x, 40), ylabel=with_unit(y) if y else "")
        axes.set_title(plain(title), pad=26 if summary else 10)
        axes.annotate(
            plain(summary, 90),
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 9),
            textcoords="offset points",
            color=COLOUR["muted"],
        ).set_in_layout(False)
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if name in log:
                _logarithmic(axes, name)
            axis.set_major_formatter(lambda value, _: digits(value))
    return Plot(title, summary, text or title, figure)


def with_unit(words: str) -> str:
    """The name of an axis; an error if it does not end in a unit."""
    if not re.search(r"\(.+\)$", words.strip()):
        raise ValueError(
            f"{words!r} names no unit: write it in parentheses, as in 'time (ms)', "
            "and '(count)' for a plain number"
        )
    return plain(words, 40)


def plain(words: object, limit: int = 66) -> str:
    """On one line, not too long for it, and without what no font and no SVG can show."""
    return shorten(
        " ".join("".join(c if c.isprintable() else " " for c in str(words)).split()), limit
    )


def _logarithmic(axes: Axes, name: str) -> None:
    """Powers of ten; 2 and 5 between them as well where the powers are few."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set(**{f"{name}scale": "log"})
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_minor_locator(NullLocator())
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
