"""Graphviz: the layout of whole models, and a graph in its language for other programs.

    digraph f {
        n0 [label="%x\\nf32[4]" shape=ellipse]
        n1 [label="relu\\n%0 f32[4]" shape=box]
        n0 -> n1
    }

`dot_layout` asks `dot` where boxes stand; what is drawn there is ours. Where `dot` or its Python
package is missing, or `dot` takes too long, it answers None and `layout.py` does the work.
`dot -Tpdf f.dot` turns what `dot_source` writes into a page of paper. Next room:
`draw/plots/timeline.py`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from course_lib.draw.graphs.flatten import flatten
from course_lib.draw.graphs.layout import RANK_GAP, SIDE_GAP, Layout, Size, side_by_side
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row

if TYPE_CHECKING:
    from graphviz import Digraph

SECONDS = 5.0  # that `dot` may take
INCH = 72.0  # px

SHAPES = {
    "source": "ellipse",
    "elementwise": "box",
    "contraction": "hexagon",
    "reduction": "invtrapezium",
    "movement": "parallelogram",
    "composite": "box3d",
    "control": "doubleoctagon",
}


def dot_layout(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> Layout | None:
    """What `layered` answers, with curved lines, worked out by `dot`; None where it cannot.

    For graphs without regions: `dot` keeps them together too, but bends the long way for it.
    """
    try:
        source = _boxes(sizes, edges).source
        command = ["dot", "-Tplain"]
        ran = subprocess.run(
            command, input=source, capture_output=True, text=True, timeout=SECONDS, check=True
        )
    except (ImportError, OSError, subprocess.SubprocessError):
        return None
    rows = [line.split() for line in ran.stdout.splitlines()]
    width, height = (float(v) * INCH for v in rows[0][2:4])
    at = [(0.0, 0.0)] * len(sizes)
    lines: dict[tuple[int, int], list[list[tuple[float, float]]]] = {}
    for kind, *words in rows:
        if kind == "node":
            k, (x, y) = int(words[0]), next(_places(words[1:3], height))
            at[k] = (x + (sizes[k].left - sizes[k].right) / 2, y)
        elif kind == "edge":
            tail, head, count = map(int, words[:3])
            _, *middle, _ = _places(words[3 : 3 + 2 * count], height)
            start, end = at[tail][1] + sizes[tail].height / 2, at[head][1] - sizes[head].height / 2
            line = [(at[tail][0], start), *middle, (at[head][0], end)]
            lines.setdefault((tail, head), []).append(line)
    for (_, head), alike in lines.items():
        _spread(alike, sizes[head])
    return Layout(width, height, at, [lines[edge].pop() for edge in edges], curved=True)


def _spread(lines: list[list[tuple[float, float]]], size: Size) -> None:
    """Lines between the same two boxes arrive side by side, so that each has a tip of its own."""
    lines.sort(key=lambda line: sum(x for x, _ in line))
    for line, aside in zip(lines, side_by_side(len(lines), size), strict=True):
        line[-2:] = [(x + aside, y) for x, y in line[-2:]]


def _boxes(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> Digraph:
    """A table for each box, whose cell `b` has the box's axis in its middle."""
    from graphviz import Digraph  # an optional package

    gaps = {"ranksep": str(RANK_GAP / INCH), "nodesep": str(SIDE_GAP / INCH)}
    drawing = Digraph(
        graph_attr=gaps, node_attr={"shape": "plain"}, edge_attr={"arrowhead": "none"}
    )
    for k, size in enumerate(sizes):
        half = min(size.left, size.right)
        cells = [(size.left - half, ""), (2 * half, ' PORT="b"'), (size.right - half, "")]
        row = "".join(
            f'<TD{port} FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{size.height:.0f}"></TD>'
            for width, port in cells
            if width >= 1
        )
        table = f'<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0"><TR>{row}</TR>'
        drawing.node(str(k), f"<{table}</TABLE>>")
    spine = _longest_way(len(sizes), edges)
    for tail, head in edges:
        weight = "100" if (tail, head) in spine else "1"  # a heavy line is straight
        drawing.edge(f"{tail}:b:s", f"{head}:b:n", weight=weight)
    return drawing


def _longest_way(count: int, edges: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """The lines on one longest way through the graph."""
    length, source = [0] * count, list(range(count))
    for tail, head in sorted(edges, key=lambda edge: edge[1]):
        if length[head] < length[tail] + 1:
            length[head], source[head] = length[tail] + 1, tail
    box, way = length.index(max(length)), set()
    while source[box] != box:
        way.add((source[box], box))
        box = source[box]
    return way


def _places(words: Sequence[str], height: float) -> Iterator[tuple[float, float]]:
    """Inches from the lower left corner, as pixels from the upper left one."""
    values = [float(word) * INCH for word in words]
    return ((x, height - y) for x, y in zip(values[::2], values[1::2], strict=True))


def dot_source(graph: Graph) -> str:
    """The graph as Graphviz source. Fused nodes become clusters."""
    from graphviz import Digraph, escape  # an optional package

    values, outputs = flatten(graph)
    index = {value: f"n{k}" for k, value in enumerate(values)}
    drawing = Digraph(graph.name, node_attr={"fontname": "monospace"})
    clusters: dict[Node, list[str]] = {}
    for value, name in index.items():
        node = value.node
        words = f"{escape(node.op)}\\n%{escape(value.name)} {escape(str(node.type))}"
        drawing.node(
            name, words, shape="cds" if node.op == "constant" else SHAPES[op_row(node.op).kind]
        )
        for fused in value.regions:
            clusters.setdefault(fused, []).append(name)
    for k, names in enumerate(clusters.values()):
        with drawing.subgraph(name=f"cluster_{k}") as cluster:
            for name in names:
                cluster.node(name)
    for value, name in index.items():
        drawing.edges((index[operand], name) for operand in value.operands)
    for k, value in enumerate(outputs):
        drawing.node(f"out{k}", f"output {k}", shape="plaintext")
        drawing.edge(index[value], f"out{k}")
    return drawing.source
