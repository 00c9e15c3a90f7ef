"""Pictures and counts of ONNX files for the notebook.

    lines_of(model)  ->  [("conv2d", "Conv", ["x", "conv1.weight", "conv2d_bias"]), ...]

Next room: captures.py.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.draw.base.legend import legend_row
from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import tag
from course_lib.draw.graphs.boxes import draw_scene, lay_out
from course_lib.draw.graphs.scene import Item, Scene
from course_lib.peers.onnxruntime import session

Line = tuple[str, str, Sequence[str]]
SHAPES = {"Conv": "contraction", "Shape": "movement", "Expand": "movement", "Constant": "constant"}


def lines_of(model: Any) -> list[Line]:
    """(result, operation, operands) for each node of an ONNX file."""
    return [(node.output[0], node.op_type, list(node.input)) for node in model.graph.node]


def ends_of(model: Any) -> tuple[list[str], list[str]]:
    """The names of the inputs, without the weights, and of the outputs."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value.name for value in model.graph.input if value.name not in weights]
    return inputs, [value.name for value in model.graph.output]


def listed(program: Sequence[Line]) -> str:
    """The lines as text."""
    return "\n".join(f"{r} = {op}({', '.join(operands)})" for r, op, operands in program)


def drawn(lines: Sequence[Line], reasons: Mapping[str, str], title: str) -> Picture:
    """Lines of an ONNX file as a picture; what has a reason is marked as removed."""
    place = {x: k for k, x in enumerate(dict.fromkeys(["x", *(r for r, _, _ in lines)]))}
    items = [Item("input", "x")]
    for result, operation, _ in lines:
        why = reasons.get(result, "")
        shape, state = SHAPES.get(operation, "elementwise"), "removed" if why else ""
        items.append(Item(shape, operation, (why,) if why else (), state=state))
    edges = [(place[o], place[r]) for r, _, operands in lines for o in operands if o in place]
    seen = Scene(items, edges, [])
    layout = lay_out(seen)
    wide = max(layout.width, 480.0)
    signs, high = legend_row(MARGIN, 56, wide, {"removed", *(i.shape for i in items)})
    there = f"translate({MARGIN},{72 + high})"
    body = [*signs, tag("g", *draw_scene(seen, layout), transform=there)]
    text = "\n".join(f"{' −'[r in reasons]} {r} = {o}({', '.join(p)})" for r, o, p in lines)
    words = f"{len(reasons.keys() & place.keys())} of {len(lines)} lines need not run"
    low = layout.height + high + 72
    return sketch(title, words, body, MARGIN + wide, low, f"{title}: {words}\n{text}\n")


def runtime_leaves(model: Any) -> Counter[str]:
    """The operations that onnxruntime keeps after its *basic* optimizations of this file."""
    import onnx
    import onnxruntime as ort

    basic = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "basic.onnx")
        session(
            model.SerializeToString(), graph_optimization_level=basic, optimized_model_filepath=file
        )
        left = onnx.load(file)
    return Counter(node.op_type for node in left.graph.node)


def steps_of(function: Callable[..., Any], *arguments: Any) -> int:
    """How many lines of Python run in a call: the same number on every machine."""
    count = 0

    def on_line(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    before = sys.gettrace()
    sys.settrace(on_line)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count
