"""Drawing a scene: boxes with words, lines between them, regions underneath.

    lay_out(scene)               how large everything is, and so where it stands
    draw_scene(scene, layout)    the elements of the drawing

Sizes are in pixels; the words are monospaced, so their width is known without a browser. Next room:
`compare.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_lib.draw.base.shapes import outline, slant
from course_lib.draw.base.style import HEAT_STEPS
from course_lib.draw.base.svg import MONO_WIDTH, escape, label, points, tag
from course_lib.draw.graphs.dot import dot_layout
from course_lib.draw.graphs.layout import Layout, Size, layered
from course_lib.draw.graphs.scene import Item, Note, Region, Scene

TITLE, DETAIL = 11.5, 9.5  # font sizes
LINE, RIM = 12.5, 8.0
TAB_HEIGHT, TAB_GAP = 15.0, 3.0
WHOLE_MODEL = 60  # boxes, from which on Graphviz lays them out
BAND = 30.0  # of a region that cannot be one box
GLYPHS = {"added": "+", "removed": "−", "marked": "◆"}

Box = tuple[float, float, float, float]  # left, top, right, low


def lay_out(scene: Scene) -> Layout:
    """Places, with room for the tabs at the left of a box and for the rims of its regions."""
    halves = [_width(item) / 2 for item in scene.items]
    sizes = [
        Size(half + _tabs_width(item), half, _height(item))
        for item, half in zip(scene.items, halves, strict=True)
    ]
    for region, rim in zip(scene.regions, _rims(scene.regions), strict=True):
        inner = [(a, b) for a, b in scene.edges if a in region.members and b in region.members]
        below_another, above_another = {b for _, b in inner}, {a for a, _ in inner}
        for k in region.members:
            size = sizes[k]
            words = _label_width(region) if k == region.members[0] else 0.0
            sizes[k] = replace(
                size,
                left=max(size.left, halves[k] + _tabs_width(scene.items[k]) + rim),
                right=max(size.right, halves[k] + words + rim),
                above=size.above if k in below_another else max(size.above, rim),
                below=size.below if k in above_another else max(size.below, rim),
            )
    if len(sizes) >= WHOLE_MODEL and not scene.regions and (laid := dot_layout(sizes, scene.edges)):
        return laid
    return _with_room_beside(scene, layered(sizes, scene.edges))


def _with_room_beside(scene: Scene, layout: Layout) -> Layout:
    """Wider if words beside a line reach out at the right; moved if a band does at the left."""
    inside = [
        line
        for pair, line in zip(scene.edges, layout.lines, strict=True)
        if any(set(pair) <= set(region.members) for region in scene.regions)
    ]
    room = max((BAND / 2 - x for line in inside for x, _ in line), default=0.0)
    notes = zip(scene.edges, layout.lines, strict=True)
    ends = [
        max(x for x, _ in line) + _note_width(scene.notes[e])
        for e, line in notes
        if e in scene.notes
    ]
    layout = replace(layout, width=max([layout.width, *ends]))
    if room <= 0:
        return layout
    at = [(x + room, y) for x, y in layout.at]
    lines = [[(x + room, y) for x, y in line] for line in layout.lines]
    return replace(layout, width=layout.width + room, at=at, lines=lines)


def draw_scene(scene: Scene, layout: Layout) -> list[str]:
    """Regions, then lines, then boxes on top."""
    content = []
    larger_first = sorted(
        zip(scene.regions, _rims(scene.regions), strict=True), key=lambda pair: -pair[1]
    )
    for region, rim in larger_first:
        content += _region(region, rim, scene, layout)
    for line in layout.lines:
        x, y = line[-1]
        content.append(tag("path", d=path_of(line, layout), klass="cl-edge"))
        content.append(tag("path", d=f"M{points(x, y)}l-3.2-6h6.4z", klass="cl-tip"))
    content += [_note(edge, note, scene, layout) for edge, note in scene.notes.items()]
    content += [_box(item, x, y) for item, (x, y) in zip(scene.items, layout.at, strict=True)]
    return content


def path_of(line: Sequence[tuple[float, float]], layout: Layout) -> str:
    """As layout means its points; without curves, straight through ranks and bent between them."""
    if layout.curved:
        start, *rest = line
        return f"M{points(*start)}C{points(*(v for place in rest for v in place))}"
    (x, y), *rest = line
    path = [f"M{points(x, y)}"]
    for k, (to_x, to_y) in enumerate(rest):
        through_a_rank = k % 2 == 1
        if x == to_x or through_a_rank:
            path.append(f"L{points(to_x, to_y)}")
        else:
            bend = (y + to_y) / 2
            path.append(f"C{points(x, bend, to_x, bend, to_x, to_y)}")
        x, y = to_x, to_y
    return "".join(path)


def _note(edge: tuple[int, int], note: Note, scene: Scene, layout: Layout) -> str:
    """Words beside a line: halfway along a short one, at the first rank that a long one crosses."""
    words = f"{GLYPHS[note.state]} {note.text}" if note.state else note.text
    look = f"cl-s cl-t-{note.state}" if note.state else "cl-s cl-m"
    line, wide = layout.lines[scene.edges.index(edge)], _note_width(note)
    (x, y), (to_x, to_y) = line[:2] if len(line) == 2 or layout.curved else line[1:3]
    x, y = (x + to_x) / 2, (y + to_y) / 2 + 3
    boxes = [_around(item, at, 2.0) for item, at in zip(scene.items, layout.at, strict=True)]
    hidden = any(a < x + wide and x < c and b < y and y - 8 < d for a, b, c, d in boxes)
    forks = sum(tail == edge[0] for tail, _ in scene.edges) > 1 and len(line) == 2
    if hidden or forks or (len(line) == 2 and line[-1][0] < layout.at[edge[1]][0] - 1):
        return label(x - 6, y, words, f"{look} cl-e")
    return label(x + 6, y, words, look)


def _note_width(note: Note) -> float:
    return (len(note.text) + 2 * bool(note.state)) * DETAIL * MONO_WIDTH + 8


# ── boxes ──


def _width(item: Item) -> float:
    words = [len(item.title) * TITLE, *(len(d) * DETAIL for d in item.details)]
    wide = max(words) * MONO_WIDTH
    if item.shape == "output":
        return wide + 8
    margin = 36 if item.state in GLYPHS else 24  # room for the sign, on both sides of the words
    return max(wide + margin, 64.0) + 2 * slant(item.shape)


def _height(item: Item) -> float:
    if item.shape == "output":
        return 16.0
    return max(22.0 + LINE * len(item.details), len(item.tabs) * (TAB_HEIGHT + TAB_GAP) - TAB_GAP)


def _tab_width(text: str) -> float:
    return len(text) * DETAIL * MONO_WIDTH + 14


def _tabs_width(item: Item) -> float:
    """With the gap between tabs and box; 0 without tabs."""
    return max((_tab_width(t.text) + 8 for t in item.tabs), default=0.0)


def _box(item: Item, x: float, y: float) -> str:
    if item.shape == "output":
        return label(x, y + 4, item.title, "cl-mid cl-m")
    width, height = _width(item), _height(item)
    look = f"cl-{item.state}" if item.state else "cl-n"
    hot = item.heat is not None and not item.state
    if item.heat is not None and hot:
        look += f" cl-heat{min(int(item.heat * HEAT_STEPS), HEAT_STEPS - 1)}"
    parts = [tag("title", escape(item.tip)), *_tabs(item, x, y)]
    parts += outline(item.shape, x, y, width, height, look)
    line = y - LINE / 2 * len(item.details) + 4
    parts.append(label(x, line, item.title, "cl-mid cl-b"))
    for k, detail in enumerate(item.details, 1):
        parts.append(label(x, line + k * LINE, detail, "cl-mid cl-s cl-m"))
    if item.state in GLYPHS:
        right = x + width / 2 - (2.0 if item.shape == "constant" else slant(item.shape)) - 11
        parts.append(label(right, y - height / 2 + 12, GLYPHS[item.state], f"cl-t-{item.state}"))
    return tag("g", *parts, klass="cl-hot" if hot else None)


def _tabs(item: Item, x: float, y: float) -> list[str]:
    """Constants, stacked at the left; their lines end under the box, whatever its shape."""
    right = x - _width(item) / 2 - 6
    middle = y - (len(item.tabs) - 1) * (TAB_HEIGHT + TAB_GAP) / 2
    content = []
    for tab in item.tabs:
        width, look = _tab_width(tab.text), f"cl-{tab.state}" if tab.state else "cl-n"
        line = tag("path", d=f"M{points(right, middle)}h{points(8 + slant(item.shape))}")
        shape = outline("constant", right - width / 2, middle, width, TAB_HEIGHT, look)
        words = label(right - width / 2 - 1, middle + 3.3, tab.text, "cl-mid cl-s")
        content.append(tag("g", tag("title", escape(tab.tip)), line, *shape, words))
        middle += TAB_HEIGHT + TAB_GAP
    return [tag("g", *content, klass="cl-tabs")] if content else []


# ── regions ──


def _rims(regions: Sequence[Region]) -> list[float]:
    """How far each region reaches beyond its boxes: further than the regions inside it."""
    members = [set(r.members) for r in regions]
    level = [1] * len(regions)
    for a in sorted(range(len(regions)), key=lambda k: len(members[k])):
        inner = [level[b] for b in range(len(regions)) if b != a and members[b] < members[a]]
        level[a] = max(inner, default=0) + 1
    return [RIM * depth for depth in level]


def _label_width(region: Region) -> float:
    return (len(region.label) + 2) * DETAIL * MONO_WIDTH + 8


def _region(region: Region, rim: float, scene: Scene, layout: Layout) -> list[str]:
    """A rounded box around the members if nothing else is in it, else bands along their lines."""
    boxes = [_around(scene.items[k], layout.at[k], rim) for k in region.members]
    left, top, right, low = boxes[0]
    boxes[0] = (left, top, right + _label_width(region), low)
    hull = (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )
    bands: list[str] = []
    if _is_clear(hull, region, scene, layout):
        boxes = [hull]
    else:
        ends = zip(scene.edges, layout.lines, strict=True)
        bands = [path_of(line, layout) for pair, line in ends if set(pair) <= set(region.members)]
    content = []
    edge = f"cl-rim cl-rim-{region.state}" if region.state else "cl-rim"
    for look, grow in ((edge, 2.0 if region.state else 1.0), ("cl-region", 0.0)):
        content += [_rounded(box, grow, look) for box in boxes]
        content += [
            tag("path", d=band, klass=f"{look} cl-band", stroke_width=BAND + 2 * grow)
            for band in bands
        ]
    item, (x, y) = scene.items[region.members[0]], layout.at[region.members[0]]
    words = f"{GLYPHS[region.state]} {region.label}" if region.state else region.label
    content.append(label(x + _width(item) / 2 + 7, y - _height(item) / 2 + 8, words, "cl-s"))
    return content


def _around(item: Item, at: tuple[float, float], rim: float) -> Box:
    x, y = at
    half, height = _width(item) / 2 + rim, _height(item) / 2 + rim
    return x - half - _tabs_width(item), y - height, x + half, y + height


def _is_clear(hull: Box, region: Region, scene: Scene, layout: Layout) -> bool:
    """No other box reaches into the hull, and no line of others passes through."""
    left, top, right, low = hull
    for k, item in enumerate(scene.items):
        a, b, c, d = _around(item, layout.at[k], 0.0)
        if k not in region.members and a < right and left < c and b < low and top < d:
            return False
    for (source, target), line in zip(scene.edges, layout.lines, strict=True):
        outside = source not in region.members and target not in region.members
        if outside and any(left < x < right and top < y < low for x, y in line):
            return False
    return True


def _rounded(box: Box, grow: float, look: str) -> str:
    left, top, right, low = box
    return tag(
        "rect",
        x=left - grow,
        y=top - grow,
        width=right - left + 2 * grow,
        height=low - top + 2 * grow,
        rx=10,
        klass=look,
    )
