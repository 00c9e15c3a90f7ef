"""The outline of each kind of node: shape says what a thing is.

input        a pill                 contraction  a hexagon
constant     a tab with a point     reduction    wide at the top, narrow below
elementwise  a rounded box          movement     a slanted box
composite    a box with side bars   control      a double box

Next room: `picture.py`.
"""

from __future__ import annotations

from course_lib.draw.base.svg import points, tag

SLANTED = {"contraction": 10.0, "reduction": 12.0, "movement": 10.0, "composite": 6.0}


def slant(shape: str) -> float:
    """How much wider than its words a shape is, on each side."""
    return SLANTED.get(shape, 0.0)


def outline(shape: str, x: float, y: float, width: float, height: float, klass: str) -> list[str]:
    """The elements that draw a shape around its middle."""
    left, right, top, low = x - width / 2, x + width / 2, y - height / 2, y + height / 2
    s = slant(shape)
    if shape == "constant":
        tip = min(5.0, width / 4)
        corners = [left, top, right - tip, top, right, y, right - tip, low, left, low]
    elif shape == "contraction":
        corners = [left + s, top, right - s, top, right, y, right - s, low, left + s, low, left, y]
    elif shape == "reduction":
        corners = [left, top, right, top, right - s, low, left + s, low]
    elif shape == "movement":
        corners = [left + s, top, right, top, right - s, low, left, low]
    else:
        corners = []
    if corners:
        return [tag("polygon", points=points(*corners), klass=klass)]
    round_by = {"input": height / 2, "source": height / 2, "elementwise": 3.0}.get(shape, 0.0)
    box = tag("rect", x=left, y=top, width=width, height=height, rx=round_by, klass=klass)
    if shape == "composite":
        bars = f"M{points(left + s, top)}V{points(low)}M{points(right - s, top)}V{points(low)}"
        return [box, tag("path", d=bars, klass="cl-edge")]
    if shape == "control":
        inner = tag("rect", x=left + 3, y=top + 3, width=width - 6, height=height - 6, klass=klass)
        return [box, inner]
    return [box]
