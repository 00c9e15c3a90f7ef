"""The control flow of a function: a box for each block, an arrow for each way between two.

    flow([["entry", "runs 1"], ["loop", "runs 8"], ["done", "runs 1"]],
         [(0, 1), (1, 1), (1, 2)], "@f", ways={(1, 1): "7"})

Ways down stand between the boxes, ways back at their right, those of inner loops nearer, each in a
lane of its own. Next room: `dot.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import MONO_WIDTH, label, points, tag
from course_lib.draw.graphs.boxes import path_of
from course_lib.draw.graphs.layout import Layout, Size, layered

LINE, PAD, LANE, TOP = 14.0, 8.0, 14.0, 62.0  # px
SMALL = 9.5  # font size beside a way


def flow(
    blocks: Sequence[Sequence[str]],
    edges: Sequence[tuple[int, int]],
    title: str,
    summary: str = "",
    marked: Collection[int] = (),
    ways: Mapping[tuple[int, int], str] | None = None,
) -> Picture:
    """Draw blocks, each some lines of words, in an order in which only ways back lead upwards.
    `ways` has words for some edges."""
    words_of = ways or {}
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
    for line, edge in zip(plan.lines, down, strict=True):
        content.append(tag("path", d=path_of(line, plan), klass="cl-edge"))
        x, y = line[-1]
        content.append(tag("path", d=f"M{points(x, y)}l-3.2-6h6.4z", klass="cl-tip"))
        content += _beside(words_of.get(edge, ""), x, y - 10)
    right = MARGIN + plan.width
    for a, b in (edge for edge in back if edge[0] == edge[1]):  # beside its own box there is room
        lane, words = plan.at[a][0] + sizes[a].right + LANE, words_of.get((a, b), "")
        content += _way_back((a, b), lane, plan, sizes, words)
        right = max(right, lane + _width(words))
    for edge in (edge for edge in back if edge[0] != edge[1]):
        content += _way_back(edge, right + LANE, plan, sizes, words_of.get(edge, ""))
        right += LANE + _width(words_of.get(edge, ""))
    for k, block in enumerate(blocks):
        content += _box(block, *plan.at[k], sizes[k], "cl-marked" if k in marked else "cl-n")
    text = _text(blocks, edges, title, words_of)
    return sketch(title, summary, content, right + LANE, TOP + plan.height, text)


def _size(block: Sequence[str]) -> Size:
    half = max(len(line) for line in block) * 11 * MONO_WIDTH / 2 + PAD
    return Size(half, half, len(block) * LINE + PAD)


def _width(words: str) -> float:
    return len(words) * SMALL * MONO_WIDTH + 4 if words else 0.0


def _beside(words: str, x: float, y: float) -> list[str]:
    """Words at the right of a line."""
    return [label(x + 4, y, words, "cl-s cl-m")] if words else []


def _way_back(
    edge: tuple[int, int], lane: float, plan: Layout, sizes: Sequence[Size], words: str
) -> list[str]:
    """Out at the right of one box, up along a lane of its own, and in at the right of another."""
    (x0, y0), (x1, y1) = plan.at[edge[0]], plan.at[edge[1]]
    start, end = x0 + sizes[edge[0]].right, x1 + sizes[edge[1]].right
    low, high = y0 + LINE / 2, y1 - LINE / 2
    way = f"M{points(start, low)}H{points(lane)}V{points(high)}H{points(end)}"
    tip = tag("path", d=f"M{points(end, high)}l6-3.2v6.4z", klass="cl-tip")
    line = tag("path", d=way, klass="cl-edge")
    return [line, tip, *_beside(words, lane, (low + high) / 2 + 3)]


def _box(block: Sequence[str], x: float, y: float, size: Size, klass: str) -> list[str]:
    left, top = x - size.left, y - size.height / 2
    width = size.left + size.right
    box = tag("rect", x=left, y=top, width=width, height=size.height, rx=3, klass=klass)
    first = top + PAD / 2 + LINE - 3
    return [box] + [
        label(x, first + k * LINE, line, "cl-mid" + (" cl-b" if k == 0 else " cl-m"))
        for k, line in enumerate(block)
    ]


def _text(
    blocks: Sequence[Sequence[str]],
    edges: Sequence[tuple[int, int]],
    title: str,
    words_of: Mapping[tuple[int, int], str],
) -> str:
    lines = [title]
    for k, block in enumerate(blocks):
        ends = [(blocks[b][0], words_of.get((a, b), "")) for a, b in edges if a == k]
        ways = ", ".join(f"{name} ({words})" if words else name for name, words in ends)
        lines.append(
            f"{': '.join([block[0], ', '.join(block[1:])])}" + (f" -> {ways}" if ways else "")
        )
    return "\n".join(lines)
