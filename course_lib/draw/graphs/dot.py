"""A graph in the language of Graphviz, for its layout programs and editors.

    digraph "f" {
      n0 [label="%x\\nf32[4]", shape=ellipse];
      n1 [label="relu\\n%0 f32[4]", shape=box];
      n0 -> n1;
    }

Our own pictures do not need it: they look the same where Graphviz is missing, as in a browser.
`dot -Tpdf f.dot` turns this text into a page of paper. Next room:
`draw/base/ticks.py`.
"""

from __future__ import annotations

from course_lib.draw.graphs.flatten import flatten
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row

SHAPES = {
    "source": "ellipse",
    "elementwise": "box",
    "contraction": "hexagon",
    "reduction": "invtrapezium",
    "movement": "parallelogram",
    "composite": "box3d",
    "control": "doubleoctagon",
}


def dot_source(graph: Graph) -> str:
    """The graph as Graphviz source. Fused nodes become clusters."""
    values, outputs = flatten(graph)
    index = {value: f"n{k}" for k, value in enumerate(values)}
    lines = [f"digraph {_quoted(graph.name)} {{", '  node [fontname="monospace"];']
    clusters: dict[Node, list[str]] = {}
    for value, name in index.items():
        node = value.node
        words = f"{node.op}\n%{value.name} {node.type}"
        shape = "cds" if node.op == "constant" else SHAPES[op_row(node.op).kind]
        lines.append(f"  {name} [label={_quoted(words)}, shape={shape}];")
        for fused in value.regions:
            clusters.setdefault(fused, []).append(name)
    for k, names in enumerate(clusters.values()):
        lines.append(f"  subgraph cluster_{k} {{ {'; '.join(names)}; }}")
    for value, name in index.items():
        lines += [f"  {index[operand]} -> {name};" for operand in value.operands]
    for k, value in enumerate(outputs):
        lines.append(f'  out{k} [label="output {k}", shape=plaintext];')
        lines.append(f"  {index[value]} -> out{k};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
