"""Where an element of an image lies in memory, in each layout; the cache lines a window reads.

    addresses((1, 2, 3, 4), "nhwc", [(0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1)])
        [0, 1, 0, 0]:  n 0·24 + h 0·8 + w 0·2 + c 1·1 = element 1, byte 4
    cache_lines((1, 32, 14, 14), at=(4, 4))
        nchw: 88 lines of 64 B, nhwc: 18, nchw16c: 18

Every figure is computed from the layout (`ir/ops/layout.py`), element by element. Next room:
`figure.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from course_lib.draw.base.picture import Picture, framed
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.svg import MONO_WIDTH, drawing, label, tag
from course_lib.draw.base.units import digits
from course_lib.ir.ops.layout import IMAGE, Layout

LINE = 64  # bytes, of nearly every processor today
MARGIN, COLUMN, ROW, CELL, SMALL = 14.0, 72.0, 18.0, 20.0, 9.0
ACROSS = 56  # cache lines in a row of the picture
MOST = 1024  # elements that are drawn one by one

Index = tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """A shape (n, c, h, w) in a layout: one stride, in elements, for each place."""

    layout: Layout
    names: tuple[str, ...]
    strides: tuple[int, ...]
    size: int

    @staticmethod
    def of(shape: Sequence[int], layout: str) -> Placed:
        if len(shape) != len(IMAGE) or min(shape) < 1:
            raise ValueError(f"an image has the shape (n, c, h, w), all above zero; got {shape}")
        made = Layout.of(layout)
        if set(made.axes) != set(IMAGE):
            raise ValueError(f"{layout!r} is no layout of images: its axes are n, c, h and w")
        sizes = dict(zip(IMAGE, shape, strict=True))
        lengths = [int(d) for d in made.shape(sizes, layout)]  # type: ignore[arg-type]
        strides = tuple(prod(lengths[k + 1 :]) for k in range(len(lengths)))
        return Placed(made, tuple(_name(made, p) for p in made.places), strides, prod(lengths))

    def parts(self, index: Index) -> tuple[int, ...]:
        """The index of an element (n, c, h, w) at each place of the layout."""
        at = dict(zip(IMAGE, index, strict=True))
        blocks = [self.layout.block(axis) for axis, _ in self.layout.places]
        return tuple(
            at[axis] % block if inside else at[axis] // block
            for (axis, inside), block in zip(self.layout.places, blocks, strict=True)
        )

    def element(self, index: Index) -> int:
        return sum(i * s for i, s in zip(self.parts(index), self.strides, strict=True))


def _name(layout: Layout, place: tuple[str, bool]) -> str:
    axis, inside = place
    block = layout.block(axis)
    return axis if block == 1 else f"{axis} mod {block}" if inside else f"{axis} div {block}"


def addresses(
    shape: Sequence[int], layout: str, indices: Sequence[Index], itemsize: int = 4
) -> Picture:
    """Walk through elements (n, c, h, w): index, strides, address. A row of memory is a line."""
    placed = Placed.of(shape, layout)
    if placed.size > MOST:
        raise ValueError(f"{placed.size} elements are too many to draw ({MOST} at most)")
    for index in indices:
        if len(index) != len(IMAGE) or not all(
            0 <= i < d for i, d in zip(index, shape, strict=True)
        ):
            raise ValueError(f"{list(index)} is not in an image of the shape {list(shape)}")
    states: list[tuple[str, str | Picture]] = [
        (str(list(index)), _address(placed, indices[: k + 1], itemsize))
        for k, index in enumerate(indices)
    ]
    return stepper(states, f"An image {list(shape)} in {layout}, element by element")


def _address(placed: Placed, walked: Sequence[Index], itemsize: int) -> Picture:
    index, element = walked[-1], placed.element(walked[-1])
    parts = placed.parts(index)
    products = [i * s for i, s in zip(parts, placed.strides, strict=True)]
    byte = element * itemsize
    title = f"{placed.layout} {list(index)}"
    result = f"element {element}, byte {byte}: byte {byte % LINE} of cache line {byte // LINE}"
    content = [label(MARGIN, 24, title, "cl-h"), label(MARGIN, 42, result, "cl-c cl-m")]
    table = {
        "": placed.names,
        "index": parts,
        "× stride": placed.strides,
        "= elements": products,
    }
    for row, (name, cells) in enumerate(table.items()):
        y = 66 + row * ROW
        content.append(label(MARGIN, y, name, "cl-l cl-m"))
        content += [
            label(MARGIN + 70 + (k + 1) * COLUMN, y, cell, f"cl-e{' cl-b' * (row == 3)}")
            for k, cell in enumerate(cells)
        ]
    total = f"sum {element}"
    content.append(label(MARGIN + 70 + (len(parts) + 1) * COLUMN, 66 + 3 * ROW, total, "cl-e cl-b"))
    order = {placed.element(one): k for k, one in enumerate(walked)}
    content += _memory(placed.size, order, element, LINE // itemsize, 66 + 4 * ROW + 8)
    lines = -(-placed.size * itemsize // LINE)
    across = max(
        MARGIN + 52 + LINE // itemsize * CELL,
        MARGIN + 70 + (len(parts) + 1) * COLUMN,
        MARGIN + len(result) * 12 * 0.61,
    )
    size = across + MARGIN, 66 + 4 * ROW + 8 + lines * CELL + MARGIN
    terms = zip(placed.names, parts, placed.strides, strict=True)
    words = " + ".join(f"{name} {i}·{s}" for name, i, s in terms)
    text = f"{title}: {words} = {result}"
    return framed(title, drawing(title, f"{words} = {result}", *size, content), text)


def _memory(size: int, order: dict[int, int], now: int, across: int, top: float) -> list[str]:
    """A row of squares for each cache line; the elements so far carry their turn."""
    content = []
    for line in range(-(-size // across)):
        y = top + line * CELL
        content.append(label(MARGIN + 44, y + 13.5, f"line {line}", "cl-s cl-m cl-e"))
        for k in range(min(across, size - line * across)):
            at, x = line * across + k, MARGIN + 52 + k * CELL
            klass = "cl-marked" if at == now else "cl-n cl-heat2" if at in order else "cl-n"
            content.append(tag("rect", x=x, y=y, width=CELL, height=CELL, klass=klass))
            if at in order:
                content.append(label(x + CELL / 2, y + 13.5, order[at], "cl-s cl-mid"))
    return content


def lines_read(
    shape: Sequence[int],
    layout: str,
    at: tuple[int, int],
    window: tuple[int, int] = (3, 3),
    itemsize: int = 4,
) -> set[int]:
    """The cache lines that a window over all channels reads, its first pixel being `at` (h, w)."""
    placed, (_, c, h, w) = Placed.of(shape, layout), shape
    rows, columns = range(at[0], at[0] + window[0]), range(at[1], at[1] + window[1])
    if not (rows and columns and rows[0] >= 0 <= columns[0] and rows[-1] < h and columns[-1] < w):
        raise ValueError(f"a window of {window} at {at} is not inside an image of {h}×{w} pixels")
    elements = (placed.element((0, ch, y, x)) for ch, y, x in product(range(c), rows, columns))
    return {element * itemsize // LINE for element in elements}


def cache_lines(
    shape: Sequence[int],
    at: tuple[int, int],
    window: tuple[int, int] = (3, 3),
    layouts: Iterable[str] = ("nchw", "nhwc", "nchw16c"),
    itemsize: int = 4,
) -> Picture:
    """An image's memory, a small square for each cache line; those that the window reads marked."""
    needed = prod(window) * shape[1] * itemsize
    total = -(-prod(shape) * itemsize // LINE)
    found = {layout: lines_read(shape, layout, at, window, itemsize) for layout in layouts}
    title = f"The cache lines that a {window[0]}×{window[1]} window reads"
    summary = (
        f"image {list(shape)}, all {shape[1]} channels at row {at[0]}, column {at[1]}: "
        f"{needed:,} B; a square is a line of {LINE} B"
    )
    content = [label(MARGIN, 24, title, "cl-h"), label(MARGIN, 42, summary, "cl-c cl-m")]
    y, texts = 70.0, [f"{title}\n{summary}"]
    for layout, lines in found.items():
        share = digits(100 * needed / (len(lines) * LINE))
        words = f"{layout}: {len(lines)} of {total} lines, {share} % of their bytes are needed"
        content += [label(MARGIN, y, words), *_line_squares(total, lines, y + 8)]
        texts.append(f"  {words}")
        y += 8 + -(-total // ACROSS) * SMALL + 26
    across = max(min(total, ACROSS) * SMALL, len(summary) * 12 * 0.61, len(words) * 11 * MONO_WIDTH)
    svg = drawing(title, summary, across + 2 * MARGIN, y - 10, content)
    return framed(title, svg, "\n".join(texts))


def _line_squares(total: int, touched: Collection[int], top: float) -> list[str]:
    return [
        tag(
            "rect",
            x=MARGIN + line % ACROSS * SMALL,
            y=top + line // ACROSS * SMALL,
            width=SMALL - 1,
            height=SMALL - 1,
            klass="cl-dot" if line in touched else "cl-region",
        )
        for line in range(total)
    ]
