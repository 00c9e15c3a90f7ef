"""The control flow of a function: a box for each block, an arrow for each way between two.

    flow([["entry", "runs 1"], ["loop", "runs 8"], ["done", "runs 1"]],
         [(0, 1), (1, 1), (1, 2)], "@f")

Ways down stand between the boxes, ways back at their right, those of inner loops nearer. Next room:
`dot.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import MONO_WIDTH, label, points, tag
from course_lib.draw.graphs.boxes import path_of
from course_lib.draw.graphs.layout import Layout, Size, layered

LINE, PAD, LANE, TOP = 14.0, 8.0, 14.0, 62.0  # px


def flow(
    blocks: Sequence[Sequence[str]],
    edges: Sequence[tuple[int, int]],
    title: str,
    summary: str = "",
    marked: Collection[int] = (),
) -> Picture:
    """Draw blocks, each some lines of words, in an order in which only ways back lead upwards."""
    sizes = [_size(block) for block in blocks]
    down = [(a, b) for a, b in edges if a < b]
    back = sorted(((a, b) for a, b in edges if a >= b), key=lambda e: e[0] - e[1])
    plan = layered(sizes, down)
    plan = Layout(
        plan.width,
        plan.height,
        [(x + MARGIN, y + TOP) for x, y in plan.at],
        [[(x + MARGIN, y + TOP) for x, y in line] for line in plan.lines],
    )
    content = []
    for line in plan.lines:
        content.append(tag("path", d=path_of(line, plan), klass="cl-edge"))
        x, y = line[-1]
        content.append(tag("path", d=f"M{points(x, y)}l-3.2-6h6.4z", klass="cl-tip"))
    around = [edge for edge in back if edge[0] != edge[1]]
    for k, edge in enumerate(around):
        content += _way_back(edge, MARGIN + plan.width + LANE * (k + 1), plan, sizes)
    for a, b in sorted(set(back) - set(around)):  # beside its own box there is room
        content += _way_back((a, b), plan.at[a][0] + sizes[a].right + LANE, plan, sizes)
    for k, block in enumerate(blocks):
        content += _box(block, *plan.at[k], sizes[k], "cl-marked" if k in marked else "cl-n")
    right = MARGIN + plan.width + LANE * (len(around) + 1)
    return sketch(title, summary, content, right, TOP + plan.height, _text(blocks, edges, title))


def _size(block: Sequence[str]) -> Size:
    half = max(len(line) for line in block) * 11 * MONO_WIDTH / 2 + PAD
    return Size(half, half, len(block) * LINE + PAD)


def _way_back(edge: tuple[int, int], lane: float, plan: Layout, sizes: Sequence[Size]) -> list[str]:
    """Out at the right of one box, up along a lane of its own, and in at the right of another."""
    (x0, y0), (x1, y1) = plan.at[edge[0]], plan.at[edge[1]]
    start, end = x0 + sizes[edge[0]].right, x1 + sizes[edge[1]].right
    low, high = y0 + LINE / 2, y1 - LINE / 2
    way = f"M{points(start, low)}H{points(lane)}V{points(high)}H{points(end)}"
    tip = tag("path", d=f"M{points(end, high)}l6-3.2v6.4z", klass="cl-tip")
    return [tag("path", d=way, klass="cl-edge"), tip]


def _box(block: Sequence[str], x: float, y: float, size: Size, klass: str) -> list[str]:
    left, top = x - size.left, y - size.height / 2
    width = size.left + size.right
    box = tag("rect", x=left, y=top, width=width, height=size.height, rx=3, klass=klass)
    first = top + PAD / 2 + LINE - 3
    return [box] + [
        label(x, first + k * LINE, line, "cl-mid" + (" cl-b" if k == 0 else " cl-m"))
        for k, line in enumerate(block)
    ]


def _text(blocks: Sequence[Sequence[str]], edges: Sequence[tuple[int, int]], title: str) -> str:
    lines = [title]
    for k, block in enumerate(blocks):
        ways = ", ".join(blocks[b][0] for a, b in edges if a == k)
        lines.append(
            f"{': '.join([block[0], ', '.join(block[1:])])}" + (f" -> {ways}" if ways else "")
        )
    return "\n".join(lines)
