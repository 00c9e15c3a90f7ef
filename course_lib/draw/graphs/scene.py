"""From a graph to what is drawn of it: boxes with words, small tabs for constants, regions.

    x ─ conv ─ relu          a weight becomes a tab at its reader, not a box with a long line;
        └w                   the ops inside a `fused` node become boxes in one region

Next room: `flatten.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from course_lib.draw.base.svg import shorten
from course_lib.draw.base.units import binary, scaled
from course_lib.draw.graphs.flatten import Value, flatten
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import flops, traffic
from course_lib.ir.registry import op as op_row

MAX_TABS = 3


@dataclass(frozen=True)
class Tab:
    """A constant, small, at its reader."""

    text: str
    tip: str
    state: str = ""


@dataclass(frozen=True)
class Item:
    """A box. `shape` is the op's kind; `state` what changed; `heat` its share of the hottest."""

    shape: str
    title: str
    details: tuple[str, ...] = ()
    tip: str = ""
    state: str = ""
    heat: float | None = None
    tabs: tuple[Tab, ...] = ()


@dataclass(frozen=True)
class Region:
    label: str
    members: tuple[int, ...]
    state: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Note:
    """Words at a line."""

    text: str
    state: str = ""


@dataclass(frozen=True)
class Scene:
    """Boxes and lines; a box that reads another twice has two lines from it."""

    items: list[Item]
    edges: list[tuple[int, int]]
    regions: list[Region]
    notes: Mapping[tuple[int, int], Note] = field(default_factory=dict)  # of some edges


def scene(
    graph: Graph,
    states: Mapping[Node, str],
    groups: Mapping[str, Iterable[Node]],
    heat: Mapping[Node, float] | None = None,
    unit: str = "FLOP",
    edge_bytes: Mapping[tuple[Node, Node], str] | None = None,
) -> Scene:
    """What is drawn of a graph. `states` and `heat` may hold nodes inside fused nodes, too.

    A node that no output needs is "unused", unless `states` says something else about it. With
    `edge_bytes`, lines between kernels say how many bytes are read along them; it gives the states
    of some, by the node that is read and its reader.
    """
    values, outputs = flatten(graph)
    read = {o for v in values for o in v.operands}
    tabs = {v for v in values if v.node.op == "constant" and v in read and v not in outputs}
    boxes = [v for v in values if v not in tabs]
    needed = _needed(outputs)
    states = {**{v.node: "unused" for v in boxes if v not in needed}, **states}
    where = {v: k for k, v in enumerate(boxes)}
    items = [_item(v, states, tabs) for v in boxes]
    if heat:
        hottest = max(heat.values()) or 1
        for v, k in where.items():
            if v.node in heat:
                words = (*items[k].details, scaled(heat[v.node], unit))
                items[k] = replace(items[k], details=words, heat=heat[v.node] / hottest)
    edges = [(where[o], where[v]) for v in boxes for o in v.operands if o in where]
    for k, value in enumerate(outputs):
        edges.append((where[value], len(items)))
        items.append(Item("output", "output" if len(outputs) == 1 else f"output {k}"))
    regions = _regions(values, where, states, groups)
    notes = {} if edge_bytes is None else _bytes_of_edges(boxes, outputs, where, edge_bytes)
    return Scene(items, sorted(edges), regions, notes)


def crossings(values: Iterable[Value]) -> Iterator[tuple[Value, Value]]:
    """Each value that one kernel leaves in memory for another, with each of its readers."""
    for reader in values:
        for read in dict.fromkeys(reader.operands):
            together = read.regions[:1] == reader.regions[:1] != ()
            if read.node.op != "constant" and not together:
                yield read, reader


def _bytes_of_edges(
    boxes: list[Value],
    outputs: list[Value],
    where: Mapping[Value, int],
    states: Mapping[tuple[Node, Node], str],
) -> dict[tuple[int, int], Note]:
    ends = [(a, where[b], states.get((a.node, b.node), "")) for a, b in crossings(boxes)]
    ends += [(value, len(where) + k, "") for k, value in enumerate(outputs)]
    return {
        (where[value], reader): Note(scaled(value.node.type.nbytes, "B"), state)
        for value, reader, state in ends
        if value.node.type.is_static
    }


def _needed(outputs: list[Value]) -> set[Value]:
    needed: set[Value] = set()
    stack = list(outputs)
    while stack:
        value = stack.pop()
        if value not in needed:
            needed.add(value)
            stack.extend(value.operands)
    return needed


def _item(value: Value, states: Mapping[Node, str], tabs: Collection[Value]) -> Item:
    node = value.node
    shape = node.op if node.op in ("input", "constant") else op_row(node.op).kind
    name = f"%{shorten(value.name, 24 if node.op == 'input' else 16)}"
    type_ = shorten(str(node.type), 30)
    constants = _tabs([o for o in value.operands if o in tabs], states)
    title, detail = (name, type_) if node.op == "input" else (node.op, f"{name} {type_}")
    return Item(shape, title, (detail,), tip(value), states.get(node, ""), None, constants)


def tip(value: Value) -> str:
    """What pointing at a box tells: everything known about the node."""
    node = value.node
    row = op_row(node.op)
    lines = [f"%{value.name} = {node.op} : {node.type}"]
    attrs = {k: v for k, v in node.attrs.items() if k != "value" and v != row.attrs[k].default}
    lines += [f"{k} = {shorten(str(v), 60)}" for k, v in attrs.items()]
    if node.op == "constant" and node.value.size == 1:
        lines.append(f"value = {node.value.reshape(-1)[0]!s}")  # exactly: -0.0 is not 0.0
    if node.origin:
        lines.append(f"from {shorten(', '.join(node.origin), 120)}")
    if row.kind != "source" and node.type.is_static and all(i.type.is_static for i in node.inputs):
        lines.append(f"{scaled(flops(node), 'FLOP')}; {binary(traffic(node))} if it ran alone")
    return "\n".join(lines)


def _tabs(constants: list[Value], states: Mapping[Node, str]) -> tuple[Tab, ...]:
    shown = constants if len(constants) <= MAX_TABS else constants[: MAX_TABS - 1]
    tabs = [Tab(_tab_text(c), tip(c), states.get(c.node, "")) for c in shown]
    rest = constants[len(shown) :]
    if rest:
        state = next((states[c.node] for c in rest if states.get(c.node)), "")
        tabs.append(Tab(f"+ {len(rest)} more", "\n".join(tip(c) for c in rest), state))
    return tuple(tabs)


def _tab_text(constant: Value) -> str:
    node = constant.node
    if node.value.ndim == 0:
        return shorten(str(node.value[()]), 12)
    return shorten(str(node.type), 20)


def _regions(
    values: list[Value],
    where: Mapping[Value, int],
    states: Mapping[Node, str],
    groups: Mapping[str, Iterable[Node]],
) -> list[Region]:
    inside: dict[Node, list[int]] = {}
    for v in values:
        for fused in v.regions:
            inside.setdefault(fused, []).extend([where[v]] if v in where else [])
    regions = [
        Region(f"fused: {node.attrs['kind']}", tuple(dict.fromkeys(ks)), states.get(node, ""))
        for node, ks in inside.items()
        if ks
    ]
    place: dict[Node, list[int]] = {}
    for v, k in where.items():
        place.setdefault(v.node, []).append(k)
    for name, nodes in groups.items():
        members = sorted({k for n in nodes for k in place.get(n, [])})
        if members:
            regions.append(Region(shorten(str(name), 40), tuple(members)))
    return regions
