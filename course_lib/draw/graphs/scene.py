"""From a graph to what is drawn of it: boxes with words, small tabs for constants, regions.

    x ─ conv ─ relu          a weight becomes a tab at its reader, not a box with a long line;
        └w                   the ops inside a `fused` node become boxes in one region

Next room: `flatten.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from course_lib.draw.base.svg import shorten
from course_lib.draw.base.units import binary, digits, scaled
from course_lib.draw.graphs.flatten import Value, flatten
from course_lib.draw.graphs.heat import MEASURES, amounts
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
    items: list[Item]
    edges: list[tuple[int, int]]
    regions: list[Region]
    notes: Mapping[tuple[int, int], Note] = field(default_factory=dict)  # of some edges


def scene(
    graph: Graph,
    states: Mapping[Node, str],
    groups: Mapping[str, Iterable[Node]],
    heat: str = "",
    collapse: int | None = None,
    edge_bytes: Mapping[tuple[Node, Node], str] | None = None,
) -> Scene:
    """What is drawn of a graph. `states` may hold nodes at the top or inside fused nodes.

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
    items, where = [], {}
    buckets = _buckets(boxes, collapse)
    for bucket in buckets:
        where.update(dict.fromkeys(bucket, len(items)))
        alone = len(bucket) == 1
        items.append(
            _op(bucket[0], states, tabs) if alone else _module(bucket, states, tabs, collapse)
        )
    if heat:
        amount = amounts(values, outputs, heat)
        sums = [sum(amount[v] for v in bucket) for bucket in buckets]
        hottest = max(sums, default=0) or 1
        items = [_heated(i, n, heat, hottest) for i, n in zip(items, sums, strict=True)]
    edges = {(where[o], where[v]) for v in boxes for o in v.operands if o in where}
    edges = {(a, b) for a, b in edges if a != b}  # within one module
    for k, value in enumerate(outputs):
        edges.add((where[value], len(items)))
        items.append(Item("output", "output" if len(outputs) == 1 else f"output {k}"))
    regions = _regions(values, where, states, groups)
    notes = {} if edge_bytes is None else _bytes_of_edges(boxes, outputs, where, edge_bytes)
    return Scene(items, sorted(edges), regions, {e: n for e, n in notes.items() if e in edges})


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
    sums: dict[tuple[int, int], int] = {}
    state: dict[tuple[int, int], str] = {}
    for read, reader in crossings(boxes):
        if read.node.type.is_static and read in where:
            edge = where[read], where[reader]
            sums[edge] = sums.get(edge, 0) + read.node.type.nbytes
            state[edge] = states.get((read.node, reader.node), state.get(edge, ""))
    last = max(where.values(), default=-1) + 1
    for k, value in enumerate(outputs):
        if value.node.type.is_static and value in where:
            sums[where[value], last + k] = value.node.type.nbytes
    return {edge: Note(binary(size), state.get(edge, "")) for edge, size in sums.items()}


def _needed(outputs: list[Value]) -> set[Value]:
    found: set[Value] = set()
    stack = list(outputs)
    while stack:
        value = stack.pop()
        if value not in found:
            found.add(value)
            stack.extend(value.operands)
    return found


def _op(value: Value, states: Mapping[Node, str], tabs: Collection[Value]) -> Item:
    node = value.node
    shape = node.op if node.op in ("input", "constant") else op_row(node.op).kind
    name = f"%{shorten(value.name, 24 if node.op == 'input' else 16)}"
    type_ = shorten(str(node.type), 30)
    constants = _tabs([o for o in value.operands if o in tabs], states)
    title, detail = (name, type_) if node.op == "input" else (node.op, f"{name} {type_}")
    return Item(shape, title, (detail,), tip(value), states.get(node, ""), None, constants)


def _module(
    bucket: list[Value],
    states: Mapping[Node, str],
    tabs: Collection[Value],
    depth: int | None,
) -> Item:
    """The ops of one module. It counts as changed if one of them did."""
    name = _path(bucket[0].node, depth)
    constants = {o for v in bucket for o in v.operands if o in tabs}
    changed = {states.get(v.node, "") for v in (*bucket, *constants)} - {"", "unused"}
    details = (f"{len(bucket)} ops, {len(constants)} constants", str(bucket[-1].node.type))
    words = f"{name}: {', '.join(v.node.op for v in bucket)}"
    return Item("composite", shorten(name, 28), details, words, min(changed, default=""))


def _heated(item: Item, amount: int, heat: str, hottest: int) -> Item:
    if item.shape in ("input", "constant", "source"):
        return item
    words = MEASURES[heat](amount)
    return replace(item, details=(*item.details, words), heat=amount / hottest)


def tip(value: Value) -> str:
    """What pointing at a box tells: everything known about the node."""
    node = value.node
    row = op_row(node.op)
    lines = [f"%{value.name} = {node.op} : {node.type}"]
    attrs = {k: v for k, v in node.attrs.items() if k != "value" and v != row.attrs[k].default}
    lines += [f"{k} = {shorten(str(v), 60)}" for k, v in attrs.items()]
    if node.op == "constant" and node.value.size == 1:
        lines.append(f"value = {digits(float(node.value.reshape(-1)[0]))}")
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


def _path(node: Node, depth: int | None) -> str:
    return ".".join(node.origin[0].split(".")[:depth]) if node.origin else ""


def _buckets(boxes: list[Value], depth: int | None) -> list[list[Value]]:
    """Boxes drawn as one because they come from one module; in an order that can be computed.

    A module that is used twice, with something else in between, cannot be one box: its ops stay.
    """
    if depth is None:
        return [[v] for v in boxes]
    apart: set[str] = set()
    while True:
        key = {v: _path(v.node, depth) for v in boxes}
        key = {v: v if not name or name in apart else name for v, name in key.items()}
        buckets: dict[object, list[Value]] = {}
        for v in boxes:
            buckets.setdefault(key[v], []).append(v)
        order, stuck = _topological(buckets, key)
        if not stuck:
            return order
        apart |= {k for k in stuck if isinstance(k, str)}


def _topological(
    buckets: dict[object, list[Value]], key: Mapping[Value, object]
) -> tuple[list[list[Value]], list[object]]:
    needs = {
        k: {key[o] for v in bucket for o in v.operands if o in key} - {k}
        for k, bucket in buckets.items()
    }
    order: list[list[Value]] = []
    waiting = list(buckets)
    done: set[object] = set()
    while ready := [k for k in waiting if needs[k] <= done]:
        order += [buckets[k] for k in ready]
        done.update(ready)
        waiting = [k for k in waiting if k not in done]
    return order, waiting


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
