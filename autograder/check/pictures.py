"""Pictures for a verdict, made when the verdict is made, from graphs and never from printed text.

    pictures(error)   ->   (("program", "<svg ..."), ("got", "<svg ..."))

A graph may come from a student's process. What is drawn is therefore small: few nodes, few lines
between them, and little text. Larger graphs are shown as text, which says the same.

Next room: feedback.py, which puts a picture above its text.
"""

from __future__ import annotations

from typing import Any

from autograder.check.received import MAX_PICTURE
from course_lib.draw.graphs.graph import graph
from course_lib.ir.graph.graph import Graph, print_graph, value_names

MAX_NODES, MAX_LINES = 60, 200
MAX_TEXT = 8_000  # characters of the printed graph


def pictures(problem: Any) -> tuple[tuple[str, str], ...]:
    """Of the graphs among `program`, `got` and `expected`, by that name."""
    parts = {name: getattr(problem, name, None) for name in ("program", "got", "expected")}
    on = "got" if parts["got"] is not None else "program"
    marks = getattr(problem, "marked", ())
    drawn = {n: picture(value, marks if n == on else ()) for n, value in parts.items()}
    return tuple((name, svg) for name, svg in drawn.items() if svg)


def picture(value: Any, marked: tuple[str, ...] = ()) -> str:
    """A graph as SVG; "" if it is none, or too large to be looked at."""
    if not isinstance(value, Graph) or not _is_small(value):
        return ""
    try:
        names = set(value_names(value).values())
        svg = graph(value, marked=[name for name in marked if name in names]).svg
    except Exception:  # what an answer returned may be too odd to draw
        return ""
    return svg if len(svg) <= MAX_PICTURE else ""


def _is_small(value: Graph) -> bool:
    nodes = lines = 0
    stack = [value]
    while stack:
        for node in stack.pop().nodes:
            nodes, lines = nodes + 1, lines + len(node.inputs)
            if nodes > MAX_NODES or lines > MAX_LINES:
                return False
            stack += [inner for inner in node.attrs.values() if isinstance(inner, Graph)]
    return len(print_graph(value)) <= MAX_TEXT
