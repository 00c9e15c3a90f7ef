"""Iterations as points, what must stay in order as arrows, and blocks as numbered squares.

    lattice(5, 8, STENCIL, "A row, smoothed in place")
    lattice(5, 8, STENCIL, "In blocks", block=(5, 4))      # arrows that then lead backwards: marked
    lattice(5, 8, STENCIL, "Skewed", skew=1, block=(5, 4))

Time runs to the right, the index i downwards. Next room: chains.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot

from course_lib.draw.base.picture import Picture, sketch
from course_lib.draw.base.svg import label, points, tag

Point = tuple[int, int]
STENCIL: list[Point] = [(0, 1), (1, 0), (1, -1)]  # those of the row are sums of these
APART, DOT, LEFT, TOP = 46.0, 6.0, 74.0, 92.0


def lattice(
    steps: int,
    cells: int,
    distances: Sequence[Point],
    title: str,
    skew: int = 0,
    block: Point | None = None,
    names: tuple[str, str] = ("t", "i"),
    of: str = "iterations",
    first: int = 1,
) -> Picture:
    """A domain of t in 0..steps and i in first..first + cells, with an arrow for each dependence.

    names  of the two loops; `of` is what the circles stand for
    skew   iteration i is drawn at i + skew * t, as it is numbered then
    block  iterations of t and of i in a block; blocks run column after column. Arrows that lead
           into an earlier block are marked
    """
    domain = [(t, i) for t in range(steps) for i in range(1, cells + 1)]  # drawn from 1 on
    arrows = [((t, i), (t + dt, i + di)) for t, i in domain for dt, di in distances
              if (t + dt, i + di) in domain]  # fmt: skip
    number = {p: _block(p, skew, block) for p in domain}
    back = [a for a in arrows if block and number[a[1]] < number[a[0]]]
    order = {b: k + 1 for k, b in enumerate(sorted(set(number.values())))}
    high = cells + skew * (steps - 1)
    content = [label(LEFT + t * APART, TOP - 26, f"{names[0]}={t}", "cl-mid cl-m")
               for t in range(steps)]  # fmt: skip
    for i in range(1, high + 1):
        name = f"{names[1]}={i - 1 + first}"
        content.append(label(LEFT - 30, _at((0, i), 0)[1] + 4, name, "cl-e cl-m cl-s"))
    if block:
        content += _squares(domain, skew, order, number)
    content += [part for a in arrows for part in _arrow(*a, skew, a in back)]
    for point in domain:
        x, y = _at(point, skew)
        content.append(tag("circle", cx=x, cy=y, r=DOT, klass="cl-n"))
    count = f"{len(domain)} {of}, {len(arrows)} arrows"
    summary = f"{count}, {len(back)} of them backwards" if block else count
    right, low = LEFT + steps * APART, TOP + high * APART * 0.75
    ends = [[(t, i + skew * t - 1 + first) for t, i in arrow] for arrow in arrows]
    arrows_text = "; ".join(f"{p} -> {q}{' backwards' * (arrow in back)}"
                            for (p, q), arrow in zip(ends, arrows, strict=True))  # fmt: skip
    return sketch(title, summary, content, right, low, f"{title}: {summary}\n{arrows_text}")


def _at(point: Point, skew: int) -> tuple[float, float]:
    t, i = point
    return LEFT + t * APART, TOP + (i + skew * t - 1) * APART * 0.75


def _block(point: Point, skew: int, block: Point | None) -> Point:
    """(block of t, block of i): a column of blocks is finished before the next one begins."""
    if block is None:
        return 0, 0
    t, i = point
    return t // block[0], (i + skew * t - 1) // block[1]


def _squares(domain: Sequence[Point], skew: int, order: dict, number: dict) -> Iterator[str]:
    """A square behind each iteration, shaded in every other block, and the number of the block."""
    first: set[Point] = set()
    for point in domain:
        (x, y), which, half = _at(point, skew), number[point], APART * 0.375
        if sum(which) % 2 == 0:
            yield tag("rect", x=x - APART / 2, y=y - half, width=APART, height=2 * half,
                      klass="cl-region")  # fmt: skip
        if which not in first:
            first.add(which)
            yield label(x - APART / 2 + 4, y - 6, order[which], "cl-s cl-b")


def _arrow(start: Point, end: Point, skew: int, back: bool) -> Iterator[str]:
    (x, y), (u, v) = _at(start, skew), _at(end, skew)
    long = hypot(u - x, v - y)
    dx, dy = (u - x) / long, (v - y) / long
    x, y, u, v = x + dx * DOT, y + dy * DOT, u - dx * DOT, v - dy * DOT
    line = f"M{points(x, y)} L{points(u - 4 * dx, v - 4 * dy)}"
    yield tag("path", d=line, klass="cl-marked" if back else "cl-edge")
    tip = [(u, v), *((u - 7 * dx + s * 3.5 * dy, v - 7 * dy - s * 3.5 * dx) for s in (1, -1))]
    corners = " L".join(points(*corner) for corner in tip)
    yield tag("path", d=f"M{corners} Z", klass="cl-rim-marked" if back else "cl-tip")
