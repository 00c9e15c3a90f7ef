"""Pictures of graphs: one alone, or before and after a pass.

    graph(g)                                 # shapes say what each node is
    graph(g, marked=["%3"])                  # a node to look at
    graph(g, heat={n: flops(n) for n in g.ops})  # colours say where the work is
    before_after(g, cse(g), title="cse")     # colours say what changed
    before_after(g, fuse(g), edge_bytes=True)    # and which bytes are no longer read from memory

Next room: `scene.py`, which decides what is drawn; then `layout.py`, which decides where, and
`boxes.py`, which draws it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from course_lib.arguments import takes
from course_lib.draw.base.legend import legend_row, legend_width
from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import label, points, tag
from course_lib.draw.base.units import scaled
from course_lib.draw.graphs.boxes import draw_scene, lay_out
from course_lib.draw.graphs.compare import changes
from course_lib.draw.graphs.flatten import flatten
from course_lib.draw.graphs.lines import node_lines
from course_lib.draw.graphs.scene import Scene, crossings, scene
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node

GAP = 36.0
SIGNS = {"removed": "−", "added": "+", "marked": "◆"}


@takes
def graph(
    graph: Graph,
    marked: Iterable[Node | str] = (),
    groups: Mapping[str, Iterable[Node]] | None = None,
    title: str = "",
    heat: Mapping[Node, float] | None = None,
    unit: str = "FLOP",
) -> Picture:
    """Draw a graph from top to bottom.

    marked    nodes, or their printed names, to point at
    groups    name -> nodes, drawn as regions (fused nodes are regions without being asked)
    heat      node -> how much it costs, in `unit`: colours say how near it is to the hottest one
    """
    states = dict.fromkeys(_find(graph, marked), "marked")
    seen = scene(graph, states, groups or {}, heat, unit)
    title = title or f"graph @{graph.name}"
    summary = f"{_count(len(graph.ops), 'op')}, {_count(len(graph.constants), 'constant')}"
    text = f"{title}: {summary}\n{_mark_lines(graph, states)}"
    return _picture(title, summary, [("", seen)], text, unit if heat else "")


@takes
def before_after(before: Graph, after: Graph, title: str = "", edge_bytes: bool = False) -> Picture:
    """Two graphs side by side; what only the first has is removed, what only the second, added.

    edge_bytes  write at each line between kernels how many bytes are read along it, and mark those
                that no kernel of `after` reads from memory any more
    """
    changed = changes(before, after)
    gone, new = changed.gone, changed.new
    kept = _kept_inside(before, after, changed.was) if edge_bytes else {}
    left, right = (
        scene(g, states, {}, edge_bytes=edges if edge_bytes else None)
        for g, states, edges in (
            (
                before,
                dict.fromkeys(gone | changed.dissolved, "removed"),
                dict.fromkeys(kept, "removed"),
            ),
            (after, dict.fromkeys(new | changed.formed, "added"), {}),
        )
    )
    parts = [f"{len(gone)} removed"] * bool(gone) + [f"{len(new)} added"] * bool(new)
    for groups, what in ((changed.dissolved, "dissolved"), (changed.formed, "formed")):
        parts += [f"{_count(len(groups), 'group')} {what}"] * bool(groups)
    sizes = f"{_count(len(before.nodes), 'node')} → {_count(len(after.nodes), 'node')}"
    summary = f"{sizes}: {', '.join(parts) or 'nothing changed'}"
    if kept:
        lines = _count(len(kept), "line")
        summary += f"; {scaled(sum(kept.values()), 'B')} on {lines} are no longer read from memory"
    title = title or "before and after"
    text = (
        f"{title}: {summary}\n\nbefore\n{_mark_lines(before, dict.fromkeys(gone, 'removed'))}"
        f"\nafter\n{_mark_lines(after, dict.fromkeys(new, 'added'))}"
    )
    if kept:
        names = {v.node: v.name for v in flatten(before)[0]}
        reads = [f"  %{names[a]} by %{names[b]}: {scaled(n, 'B')}" for (a, b), n in kept.items()]
        text += "\n".join(["\nno longer read from memory", *sorted(reads)])
    return _picture(title, summary, [("before", left), ("after", right)], text)


def _kept_inside(
    before: Graph, after: Graph, was: Mapping[Node, Node]
) -> dict[tuple[Node, Node], int]:
    """What a node reads from memory before, and inside its kernel after: read, reader, bytes."""
    old = {(a.node, b.node) for a, b in crossings(flatten(before)[0])}
    values = flatten(after)[0]
    outside = {(a.node, b.node) for a, b in crossings(values)}
    inside = {(a.node, b.node) for b in values for a in b.operands} - outside
    pairs = {(was[a], was[b]) for a, b in inside if a in was and b in was}
    return {(a, b): a.type.nbytes for a, b in pairs & old if a.type.is_static}


def _find(graph: Graph, marked: Iterable[Node | str]) -> list[Node]:
    """Nodes by themselves or by the name that the printed text gives them."""
    names: dict[str, Node] = {}
    for value in flatten(graph)[0]:
        names.setdefault(value.name, value.node)
    names.update({name: node for node, name in value_names(graph).items()})
    nodes = []
    for mark in marked:
        if isinstance(mark, str) and mark.removeprefix("%") not in names:
            raise ValueError(f"there is no {mark!r} to mark in graph @{graph.name}")
        nodes.append(names[mark.removeprefix("%")] if isinstance(mark, str) else mark)
    return nodes


def _mark_lines(graph: Graph, states: Mapping[Node, str]) -> str:
    """The printed graph, with a sign in front of each line that the picture colours."""
    signs: dict[Hashable, str] = {n: SIGNS[state] for n, state in states.items()}
    return "".join(f"{signs.get(what, ' ')} {line}\n" for line, what in node_lines(graph))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _picture(
    title: str, summary: str, panels: list[tuple[str, Scene]], text: str, unit: str = ""
) -> Picture:
    """The legend on top; below it, the scenes side by side. `unit` is that of their heat."""
    signs = set().union(*(_signs(s) for _, s in panels))
    laid = [lay_out(s) for _, s in panels]
    width = max(
        sum(la.width for la in laid) + GAP * (len(laid) - 1), min(legend_width(signs, unit), 560.0)
    )
    content, high = legend_row(MARGIN, 56, width, signs, unit)
    left, top, low = MARGIN, 56 + high + 14, 0.0
    for (name, seen), layout in zip(panels, laid, strict=True):
        if name:
            content.append(label(left, top + 4, name, "cl-h"))
        start = top + (18 if name else 2)
        place = f"translate({points(left, start)})"
        content.append(tag("g", *draw_scene(seen, layout), transform=place))
        left += layout.width + GAP
        low = max(low, start + layout.height)
    return sketch(title, summary, content, MARGIN + width, low, text)


def _signs(scene: Scene) -> set[str]:
    """The shapes and the states that a legend must explain."""
    tabs = [t for i in scene.items for t in i.tabs]
    shapes = {i.shape for i in scene.items} - {"output"}
    shapes |= {"constant"} if tabs else set()
    shapes |= {"region"} if scene.regions else set()
    parts = (*scene.items, *tabs, *scene.regions, *scene.notes.values())
    return shapes | {part.state for part in parts} - {""}
