"""The legend: the same signs in every picture of the course.

    legend()        # all of them, on one card

Next room: `draw/graphs/graph.py`, which shows under each picture only the signs that it uses.
"""

from __future__ import annotations

from collections.abc import Collection

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.shapes import outline
from course_lib.draw.base.style import HEAT_STEPS
from course_lib.draw.base.svg import SANS_WIDTH, label, tag

SHAPES = {
    "input": "input",
    "constant": "constant",
    "source": "generated",
    "elementwise": "elementwise",
    "contraction": "contraction",
    "reduction": "reduction",
    "movement": "movement",
    "composite": "composite",
    "control": "control",
    "region": "one kernel or group",
}
STATES = {
    "removed": "− removed",
    "added": "+ added",
    "marked": "◆ look here",
    "stall": "waiting",
    "unused": "no output needs it",
}
SIGNS = {**SHAPES, **STATES}
FONT, SWATCH, HEIGHT, SPACE, ROW = 10.5, 34.0, 13.0, 16.0, 20.0


def legend() -> Picture:
    """Every sign with its meaning."""
    content, height = legend_row(MARGIN, 60, 560, SIGNS, "FLOP")
    words = "Shape says what a thing is; colour says what changed or how hot it is."
    text = "\n".join([words, *(f"  {s}" for s in SIGNS.values())])
    return sketch("How to read the pictures", words, content, 574, height + 60, text)


def legend_width(signs: Collection[str], unit: str) -> float:
    """The width of the legend on one line."""
    return sum(width for *_, width in _entries(signs, unit))


def legend_row(
    x: float, y: float, width: float, signs: Collection[str], unit: str = ""
) -> tuple[list[str], float]:
    """The signs in use, from (x, y), in lines of at most `width`; and the height they take.

    unit   of what is shown as heat; "" without heat
    """
    content, at, line = [], x, 0
    for sign, words, wide in _entries(signs, unit):
        if at > x and at + wide - SPACE > x + width:
            at, line = x, line + 1
        middle = y + line * ROW + HEIGHT / 2
        content += _swatch(sign, at, middle)
        content.append(label(at + SWATCH + 6, middle + 3.5, words, "cl-l cl-m"))
        at += wide
    return content, (line + 1) * ROW


def _entries(signs: Collection[str], unit: str) -> list[tuple[str, str, float]]:
    """The sign, its words, and how wide both are."""
    words = {sign: SIGNS[sign] for sign in SIGNS if sign in signs}
    words |= {"heat": f"{unit}, 0 to 100 % of the hottest"} if unit else {}
    return [(s, w, len(w) * FONT * SANS_WIDTH + SPACE + 6 + SWATCH) for s, w in words.items()]


def _swatch(sign: str, x: float, y: float) -> list[str]:
    box = {"y": y - HEIGHT / 2, "height": HEIGHT}
    if sign == "region":
        rim = {"stroke": "currentColor", "stroke_opacity": 0.5}
        return [tag("rect", x=x, width=SWATCH, rx=4, klass="cl-region", **box, **rim)]
    if sign == "heat":
        steps = [(f"cl-n cl-heat{k}", k * SWATCH / HEAT_STEPS) for k in range(HEAT_STEPS)]
        wide = SWATCH / HEAT_STEPS
        return [tag("rect", x=x + at, width=wide, klass=klass, **box) for klass, at in steps]
    shape, klass = ("elementwise", f"cl-{sign}") if sign in STATES else (sign, "cl-n")
    return outline(shape, x + SWATCH / 2, y, SWATCH, HEIGHT, klass)
