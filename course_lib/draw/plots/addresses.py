"""Where an element of an image lies in memory, in each layout; and which cache lines are read.

    addresses((1, 2, 3, 4), "nhwc", [(0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1)])
        [0, 1, 0, 0]:  n 0·24 + h 0·8 + w 0·2 + c 1·1 = element 1, byte 4
    cache_lines({"ours": [0, 1, 5]}, count=8, needed=100, title="What a loop reads")
        ours: 3 of 8 lines, 52.1 % of their bytes are needed

An element lies where `rearranged` (`ir/ops/layout.py`) puts it. Next room: `figure.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

import numpy as np

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.svg import MONO_WIDTH, label, squares
from course_lib.draw.base.units import digits
from course_lib.draw.plots.table import table
from course_lib.ir.ops.layout import IMAGE, Layout, rearranged

LINE = 64  # bytes, of nearly every processor today
CELL, SMALL = 20.0, 9.0  # px
ACROSS = 56  # cache lines in a row of the picture
MOST = 1024  # elements that are drawn one by one

Index = tuple[int, ...]


def addresses(
    shape: Sequence[int], layout: str, indices: Sequence[Index], itemsize: int = 4
) -> Picture:
    """Walk through elements (n, c, h, w): index, strides, address. A row of memory is a line."""
    if len(shape) != len(IMAGE) or not 0 < prod(shape) <= MOST:
        raise ValueError(f"an image has the shape (n, c, h, w), {MOST} elements at most: {shape}")
    if set(Layout.of(layout).axes) != set(IMAGE):
        raise ValueError(f"{layout!r} is no layout of images: its axes are n, c, h and w")
    number = np.arange(prod(shape)).reshape(tuple(shape))
    memory = rearranged(number, "nchw", layout)
    places, walked = [], []
    for index in indices:
        if len(index) != number.ndim or not all(
            0 <= i < d for i, d in zip(index, shape, strict=True)
        ):
            raise ValueError(f"{list(index)} is not in an image of the shape {list(shape)}")
        walked.append([int(part) for part in np.argwhere(memory == number[index])[0]])
        places.append((f"{list(index)}", _step(layout, index, memory.shape, walked, itemsize)))
    return stepper(places, f"An image {list(shape)} in {layout}, element by element")


def _step(
    layout: str, index: Index, sizes: Sequence[int], walked: list[list[int]], itemsize: int
) -> Picture:
    """The address of the last element that was walked to, as a sum and as a place in memory."""
    strides = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    sums = [[i * s for i, s in zip(parts, strides, strict=True)] for parts in walked]
    elements = [sum(products) for products in sums]
    byte, names = elements[-1] * itemsize, _names(Layout.of(layout))
    terms = [f"{n} {i}·{s}" for n, i, s in zip(names, walked[-1], strides, strict=True)]
    title = f"{layout} {list(index)}"
    result = f"element {elements[-1]}, byte {byte}: byte {byte % LINE} of cache line {byte // LINE}"
    rows = [
        ["index", *walked[-1], None],
        ["× stride", *strides, None],
        ["= elements", *sums[-1], elements[-1]],
    ]
    look = {element: ("cl-n cl-heat2", k) for k, element in enumerate(elements[:-1])}
    look[elements[-1]] = ("cl-marked", len(elements) - 1)
    every = [look.get(element, ("cl-n", "")) for element in range(prod(sizes))]
    across = LINE // itemsize
    lines = [every[k : k + across] for k in range(0, len(every), across)]
    left = MARGIN + 52
    content = squares(left, 56, CELL, lines)
    content += [
        label(left - 8, 69.5 + k * CELL, f"line {k}", "cl-s cl-m cl-e") for k in range(len(lines))
    ]
    words = f"a row is a cache line of {LINE} B"
    right, low = left + len(lines[0]) * CELL, 56 + len(lines) * CELL
    text = f"{title}: {' + '.join(terms)} = {result}"
    drawn = sketch(result, words, content, right, low, text)
    return Picture(title, table(rows, ["", *names, "sum"], title).html + drawn.html, text)


def _names(layout: Layout) -> list[str]:
    """What the places of a layout count: `h`; of an axis in blocks, `c div 16` and `c mod 16`."""
    blocks = [(axis, inside, layout.block(axis)) for axis, inside in layout.places]
    return [
        axis if block == 1 else f"{axis} {'mod' if inside else 'div'} {block}"
        for axis, inside, block in blocks
    ]


def cache_lines(
    read: Mapping[str, Collection[int]], count: int, needed: int, title: str
) -> Picture:
    """Memory as `count` small squares, one for each cache line; those that are read are marked.

    read    name -> the lines that are read, by their numbers
    needed  bytes of them that are needed
    """
    content, y, texts = [], 66.0, []
    for name, lines in read.items():
        share = digits(100 * needed / (len(lines) * LINE))
        texts.append(f"{name}: {len(lines)} of {count} lines, {share} % of their bytes are needed")
        every = [("cl-dot" if k in lines else "cl-region", "") for k in range(count)]
        rows = [every[k : k + ACROSS] for k in range(0, count, ACROSS)]
        content += [label(MARGIN, y, texts[-1]), *squares(MARGIN, y + 8, SMALL, rows, gap=1)]
        y += 8 + len(rows) * SMALL + 26
    summary = f"{needed:,} B are needed; a square is a line of {LINE} B"
    wide = max(min(count, ACROSS) * SMALL, *(len(words) * 11 * MONO_WIDTH for words in texts))
    text = "\n  ".join([f"{title}: {summary}", *texts])
    return sketch(title, summary, content, MARGIN + wide, y - 26, text)
