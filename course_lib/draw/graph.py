"""Pictures of graphs: one alone, or before and after a pass.

    graph(g)                                 # shapes say what each node is
    graph(g, marked=["%3"])                  # a node to look at
    graph(g, heat="flops")                   # colours say where the work is
    graph(resnet, collapse=1)                # one box per module
    before_after(g, cse(g), title="cse")     # colours say what changed

Next room: `scene.py`, which decides what is drawn, and `layout.py`, which decides where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from course_lib.draw.compare import changes
from course_lib.draw.layout import Layout, Size, layered
from course_lib.draw.legend import legend_row, legend_width
from course_lib.draw.picture import Picture, framed
from course_lib.draw.scene import MEASURES, Item, Region, Scene, flatten, scene
from course_lib.draw.shapes import outline, slant
from course_lib.draw.style import HEAT_STEPS
from course_lib.draw.svg import MONO_WIDTH, SANS_WIDTH, drawing, escape, label, points, tag
from course_lib.ir.graph import Graph, Node
from course_lib.ir.text import print_graph, value_names

TITLE, DETAIL = 12.0, 9.5  # font sizes, px
MARGIN, GAP, RIM = 14.0, 36.0, 8.0
TAB_HEIGHT, TAB_GAP = 15.0, 3.0
GLYPHS = {"added": "+", "removed": "−", "marked": "◆"}


def graph(
    graph: Graph,
    marked: Iterable[Node | str] = (),
    groups: Mapping[str, Iterable[Node]] | None = None,
    title: str = "",
    heat: str = "",
    collapse: int | None = None,
) -> Picture:
    """Draw a graph from top to bottom.

    marked    nodes, or their printed names, to point at
    groups    name -> nodes, drawn as regions (fused nodes are regions without being asked)
    heat      "flops" or "traffic": colour the nodes by their share of it
    collapse  draw the ops of one module as one box; modules are named by that many parts of
              their path (1: `layer1`, 2: `layer1.0`)
    """
    if heat and heat not in MEASURES:
        raise ValueError(f"heat is one of {', '.join(MEASURES)}; got {heat!r}")
    states = dict.fromkeys(_find(graph, marked), "marked")
    seen = scene(graph, states, groups or {}, heat, collapse)
    title = title or f"graph @{graph.name}"
    summary = f"{_count(len(graph.ops), 'op')}, {_count(len(graph.constants), 'constant')}"
    return _picture(title, summary, [("", seen)], heat, print_graph(graph))


def before_after(
    before: Graph, after: Graph, title: str = "", collapse: int | None = None
) -> Picture:
    """Two graphs side by side; what only the first has is removed, what only the second, added."""
    gone, new = changes(before, after)
    left = scene(before, dict.fromkeys(gone, "removed"), {}, collapse=collapse)
    right = scene(after, dict.fromkeys(new, "added"), {}, collapse=collapse)
    summary = (
        f"{_count(len(before.nodes), 'node')} → {_count(len(after.nodes), 'node')}: "
        f"{len(gone)} removed, {len(new)} added"
    )
    text = f"before:\n{print_graph(before)}\nafter:\n{print_graph(after)}"
    panels = [("before", left), ("after", right)]
    return _picture(title or "before and after", summary, panels, "", f"{summary}\n\n{text}")


def _find(graph: Graph, marked: Iterable[Node | str]) -> list[Node]:
    """Nodes by themselves or by the name that the printed text gives them."""
    names: dict[str, Node] = {}
    for values in flatten(graph)[0]:
        names.setdefault(values.name, values.node)
    names.update({name: node for node, name in value_names(graph).items()})
    found = []
    for one in marked:
        if isinstance(one, str) and one.removeprefix("%") not in names:
            raise ValueError(f"there is no {one!r} to mark in graph @{graph.name}")
        found.append(names[one.removeprefix("%")] if isinstance(one, str) else one)
    return found


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _picture(
    title: str, summary: str, panels: list[tuple[str, Scene]], heat: str, text: str
) -> Picture:
    content = [label(MARGIN, 24, title, "cl-h"), label(MARGIN, 42, summary, "cl-c cl-m")]
    scenes = [s for _, s in panels]
    shapes = {i.shape for s in scenes for i in s.items} - {"output"}
    shapes |= {"constant" for s in scenes for i in s.items if i.tabs}
    shapes |= {"region" for s in scenes if s.regions}
    states = {i.state for s in scenes for i in s.items} | {
        t.state for s in scenes for i in s.items for t in i.tabs
    }
    states |= {r.state for s in scenes for r in s.regions}
    laid = [_lay(s) for s in scenes]
    left, height = MARGIN, 0.0
    body = []
    width = max(
        sum(la.width for la in laid) + GAP * (len(laid) - 1),
        len(title) * 14 * SANS_WIDTH,
        len(summary) * 12 * SANS_WIDTH,
        min(legend_width(shapes, states, heat), 560.0),
    )
    legend, legend_height = legend_row(MARGIN, 56, width, shapes, states, heat)
    top = 56 + legend_height + 14
    for (name, seen), layout in zip(panels, laid, strict=True):
        if name:
            body.append(label(left, top + 4, name, "cl-h"))
        place = f"translate({points(left, top + (18 if name else 2))})"
        body.append(tag("g", *_draw(seen, layout), transform=place))
        left += layout.width + GAP
        height = max(height, layout.height)
    total = top + (18 if len(panels) > 1 else 2) + height + MARGIN
    svg = drawing(title, summary, width + 2 * MARGIN, total, [*content, *legend, *body])
    return framed(title, svg, text)


# ── one scene ──


def _body_width(item: Item) -> float:
    words = [len(item.title) * TITLE, *(len(d) * DETAIL for d in item.details)]
    inner = max(words) * MONO_WIDTH + 22
    if item.shape == "output":
        return inner - 14
    return max(inner, 64.0) + 2 * slant(item.shape)


def _height(item: Item) -> float:
    if item.shape == "output":
        return 16.0
    lines = 22.0 + 12.0 * len(item.details)
    return max(lines, len(item.tabs) * (TAB_HEIGHT + TAB_GAP) - TAB_GAP)


def _tab_width(item: Item) -> float:
    return max((len(t.text) for t in item.tabs), default=0) * DETAIL * MONO_WIDTH + 14


def _lay(seen: Scene) -> Layout:
    """Positions, with room around each box for the tabs on its left and the rims of regions."""
    rims, labels = [0.0] * len(seen.items), [0.0] * len(seen.items)
    for region in seen.regions:
        labels[region.members[0]] = _label_width(region)
        for k in region.members:
            rims[k] += RIM
    sizes = []
    for item, rim, words in zip(seen.items, rims, labels, strict=True):
        half = _body_width(item) / 2
        tabs = _tab_width(item) + 8 if item.tabs else 0.0
        sizes.append(Size(half + tabs + rim, half + rim + words, _height(item), rim))
    return layered(sizes, seen.edges)


def _label_width(region: Region) -> float:
    return len(region.label) * DETAIL * MONO_WIDTH + 10


def _draw(seen: Scene, layout: Layout) -> list[str]:
    paths = [_smooth(line) for line in layout.lines]
    content = []
    for region in seen.regions:
        content += _region(region, seen, layout)
    content += [tag("path", d=d, klass="cl-edge") for d in paths]
    content += [_tip_of(line[-1]) for line in layout.lines]
    content += [_box(item, x, y) for item, (x, y) in zip(seen.items, layout.at, strict=True)]
    return content


def _smooth(line: list[tuple[float, float]]) -> str:
    """Leaves and arrives vertically; straight through the ranks between."""
    (x, y), *rest = line
    path = [f"M{points(x, y)}"]
    for k, (to_x, to_y) in enumerate(rest):
        if x == to_x or k % 2:
            path.append(f"L{points(to_x, to_y)}")
        else:
            bend = (y + to_y) / 2
            path.append(f"C{points(x, bend, to_x, bend, to_x, to_y)}")
        x, y = to_x, to_y
    return "".join(path)


def _tip_of(point: tuple[float, float]) -> str:
    x, y = point
    return tag("path", d=f"M{points(x, y)}l-3.2 -6h6.4z", klass="cl-tip")


def _box(item: Item, x: float, y: float) -> str:
    width, height = _body_width(item), _height(item)
    if item.shape == "output":
        return label(x, y + 4, item.title, "cl-mid cl-m")
    klass = f"cl-{item.state}" if item.state else "cl-n"
    hot = item.heat is not None and not item.state
    if hot:
        klass += f" cl-heat{min(int((item.heat or 0) * HEAT_STEPS), HEAT_STEPS - 1)}"
    parts = [tag("title", escape(item.tip)), *_tabs(item, x, y)]
    parts += outline(item.shape, x, y, width, height, klass)
    line = y - 6 * len(item.details) + 4
    parts.append(label(x, line, item.title, "cl-mid cl-b"))
    for detail in item.details:
        line += 12.5
        parts.append(label(x, line, detail, "cl-mid cl-s cl-m"))
    if item.state:
        parts.append(
            label(
                x + width / 2 - slant(item.shape) - 10,
                y - height / 2 + 12,
                GLYPHS[item.state],
                f"cl-t-{item.state}",
            )
        )
    return tag("g", *parts, klass="cl-hot" if hot else None)


def _tabs(item: Item, x: float, y: float) -> list[str]:
    """Constants, stacked on the left; their lines end under the box, whatever its shape."""
    right = x - _body_width(item) / 2 - 6
    top = y - (len(item.tabs) * (TAB_HEIGHT + TAB_GAP) - TAB_GAP) / 2
    content = []
    for k, tab in enumerate(item.tabs):
        width = len(tab.text) * DETAIL * MONO_WIDTH + 14
        middle = top + k * (TAB_HEIGHT + TAB_GAP) + TAB_HEIGHT / 2
        shape = outline(
            "constant",
            right - width / 2,
            middle,
            width,
            TAB_HEIGHT,
            f"cl-{tab.state}" if tab.state else "cl-n",
        )
        line = tag("path", d=f"M{points(right, middle)}h{points(8 + slant(item.shape))}")
        words = label(right - width / 2 - 1, middle + 3.3, tab.text, "cl-mid cl-s")
        content.append(tag("g", tag("title", escape(tab.tip)), line, *shape, words))
    return [tag("g", *content, klass="cl-tabs")] if content else []


def _region(region: Region, seen: Scene, layout: Layout) -> list[str]:
    """A rounded box around the members if nothing else is in it, else a band along their lines."""
    boxes = [_around(seen.items[k], layout.at[k]) for k in region.members]
    a, b, c, d = boxes[0]
    boxes[0] = (a, b, c + _label_width(region), d)
    x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
    x1, y1 = max(b[2] for b in boxes), max(b[3] for b in boxes)
    others = [
        _around(seen.items[k], layout.at[k], 0.0)
        for k in range(len(seen.items))
        if k not in region.members
    ]
    inside = set(region.members)
    crossing = [
        line
        for (a, b), line in zip(seen.edges, layout.lines, strict=True)
        if a not in inside and b not in inside and any(x0 < x < x1 and y0 < y < y1 for x, y in line)
    ]
    clear = not crossing and not any(
        a < x1 and x0 < c and b < y1 and y0 < d for a, b, c, d in others
    )
    bodies = [(x0, y0, x1, y1)] if clear else boxes
    bands = (
        []
        if clear
        else [
            _smooth(line)
            for (a, b), line in zip(seen.edges, layout.lines, strict=True)
            if a in inside and b in inside
        ]
    )
    state = region.state
    rim = f"cl-rim{' cl-r-' + state if state else ''}"
    content = []
    for klass, grow in ((rim, 1.0), ("cl-region", 0.0)):
        content += [
            tag(
                "rect",
                x=a - grow,
                y=b - grow,
                width=c - a + 2 * grow,
                height=d - b + 2 * grow,
                rx=10,
                klass=klass,
            )
            for a, b, c, d in bodies
        ]
        content += [
            tag("path", d=d, klass=f"{klass} cl-st", stroke_width=30 + 2 * grow) for d in bands
        ]
    head = region.members[0]
    x, y = layout.at[head]
    right, top = x + _body_width(seen.items[head]) / 2, y - _height(seen.items[head]) / 2
    content.append(label(right + 7, top + 8, region.label, "cl-s cl-m"))
    return content


def _around(item: Item, at: tuple[float, float], rim: float = RIM):
    half, height = _body_width(item) / 2 + rim, _height(item) / 2 + rim
    tabs = _tab_width(item) + 8 if item.tabs else 0.0
    return at[0] - half - tabs, at[1] - height, at[0] + half, at[1] + height
