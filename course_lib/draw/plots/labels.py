"""Names beside points, none over another, nor over a point, nor over a line.

    named_points(axes, [("conv", 42.0, 61.0), ("relu", 0.1, 2.0)])

Each name takes the nearest free place, and a thin line to its point if that is far. Where points
crowd, a name that would stand over another is left out: whoever draws says it where the point is
pointed at, too.
Next room: `roofline.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from course_lib.draw.plots.figure import COLOUR, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

DISTANCES = (8.0, 14.0, 22.0, 32.0, 44.0, 60.0, 80.0)  # px
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
POINT = 6.0  # half of the room that a point takes, px
ACROSS = {1: "left", 0: "center", -1: "right"}
UPWARD = {1: "bottom", 0: "center", -1: "top"}


def named_points(
    axes: Axes,
    points: Sequence[tuple[str, float, float]],
    walls: Sequence[Path] = (),
    also: Sequence[tuple[float, float]] = (),
) -> list[Annotation]:
    """Write a name beside each point (name, x, y).

    walls  lines that no name may cross, in pixels
    also   more points that no name may hide
    """
    from matplotlib.transforms import Bbox

    figure = axes.figure
    figure.canvas.figure.draw_without_rendering()  # now everything has its place
    places = axes.transData.transform([*((x, y) for _, x, y in points), *also])
    taken = [Bbox.from_extents(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in places]
    notes = []
    for name, x, y in points:
        note = axes.annotate(
            plain(name),
            (x, y),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=11,
            arrowprops={"arrowstyle": "-", "color": COLOUR["line"], "lw": 1, "shrinkB": 3},
        )
        note.set_in_layout(False)
        taken.append(_placed(note, axes, taken, walls))
        notes.append(note)
    return notes


def _placed(note: Annotation, axes: Axes, taken: Sequence[Bbox], walls: Sequence[Path]) -> Bbox:
    """Move a name to the nearest free place, or else to the first one, unless it would hide another
    name there."""
    assert note.arrow_patch is not None
    box, hidden = taken[0], True
    for distance, side in [*product(DISTANCES, SIDES), (DISTANCES[0], SIDES[0])]:
        note.xyann = (side[0] * distance, side[1] * distance)
        note.set(ha=ACROSS[side[0]], va=UPWARD[side[1]])
        note.arrow_patch.set_visible(distance > DISTANCES[1])
        box = _words(note)
        inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1
        inside = inside and axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
        hidden = any(box.overlaps(other) for other in taken)
        if inside and not hidden and not any(wall.intersects_bbox(box, False) for wall in walls):
            return box
    note.set_visible(not hidden)
    return taken[0] if hidden else box


def _words(note: Annotation) -> Bbox:
    """The room that the words take, without the line to the point."""
    from matplotlib.text import Text

    note.get_window_extent()  # works out where it stands now
    return Text.get_window_extent(note).padded(1.5)
