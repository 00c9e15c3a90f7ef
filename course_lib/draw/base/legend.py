"""The legend: the same signs in every picture of the course.

    legend()        # all of them, on one card

Next room: `draw/graphs/graph.py`, which shows under each picture only the signs that it uses.
"""

from __future__ import annotations

from collections.abc import Collection

from course_lib.draw.base.picture import Picture, framed
from course_lib.draw.base.shapes import outline
from course_lib.draw.base.style import HEAT_STEPS
from course_lib.draw.base.svg import SANS_WIDTH, drawing, label, tag

SHAPES = {
    "input": "input",
    "constant": "constant",
    "source": "generated",
    "elementwise": "elementwise",
    "contraction": "contraction",
    "reduction": "reduction",
    "movement": "movement",
    "composite": "composite or module",
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
HEATS = {
    "flops": "FLOP, 0 to 100 % of the hottest",
    "traffic": "bytes moved, 0 to 100 % of the hottest",
}
FONT, SWATCH, HEIGHT, SPACE, ROW = 10.5, 34.0, 13.0, 16.0, 20.0

Entry = tuple[str, str, float]  # sign, words, width


def legend() -> Picture:
    """Every sign with its meaning."""
    content, height = legend_row(14, 40, 560, set(SHAPES), set(STATES), "flops")
    title = "How to read the pictures"
    words = "Shape says what a thing is; colour says what changed or how hot it is."
    svg = drawing(title, words, 590, height + 56, [label(14, 24, title, "cl-h"), *content])
    signs = [*SHAPES.values(), *STATES.values()]
    return framed(title, svg, f"{words}\n" + "\n".join(f"  {s}" for s in signs))


def legend_width(shapes: Collection[str], states: Collection[str], heat: str) -> float:
    """The width of the legend on one line."""
    return sum(width for *_, width in _entries(shapes, states, heat))


def legend_row(
    x: float,
    y: float,
    width: float,
    shapes: Collection[str],
    states: Collection[str],
    heat: str = "",
) -> tuple[list[str], float]:
    """The signs in use, from (x, y), in lines of at most `width`; and the height they take."""
    content, at, line = [], x, 0
    for sign, words, wide in _entries(shapes, states, heat):
        if at > x and at + wide - SPACE > x + width:
            at, line = x, line + 1
        middle = y + line * ROW + HEIGHT / 2
        content += _swatch(sign, at, middle)
        reach = SWATCH * (1.5 if sign in HEATS else 1)
        content.append(label(at + reach + 6, middle + 3.5, words, "cl-l cl-m"))
        at += wide
    return content, (line + 1) * ROW


def _entries(shapes: Collection[str], states: Collection[str], heat: str) -> list[Entry]:
    signs = [s for s in SHAPES if s in shapes] + [s for s in STATES if s in states]
    signs += [heat] if heat else []
    words = {**SHAPES, **STATES, **HEATS}
    return [
        (
            s,
            words[s],
            len(words[s]) * FONT * SANS_WIDTH + SPACE + 6 + SWATCH * (1.5 if s in HEATS else 1),
        )
        for s in signs
    ]


def _swatch(sign: str, x: float, y: float) -> list[str]:
    if sign in HEATS:
        step = 1.5 * SWATCH / HEAT_STEPS
        return [
            tag(
                "rect",
                x=x + k * step,
                y=y - HEIGHT / 2,
                width=step,
                height=HEIGHT,
                klass=f"cl-n cl-heat{k}",
            )
            for k in range(HEAT_STEPS)
        ]
    middle = x + SWATCH / 2
    if sign == "region":
        return [
            tag(
                "rect",
                x=x,
                y=y - HEIGHT / 2,
                width=SWATCH,
                height=HEIGHT,
                rx=4,
                klass="cl-region",
                stroke="currentColor",
                stroke_opacity=0.5,
            )
        ]
    shape, klass = ("elementwise", f"cl-{sign}") if sign in STATES else (sign, "cl-n")
    return outline(shape, middle, y, SWATCH, HEIGHT, klass)
