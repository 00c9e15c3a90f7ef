"""Programs with one fault each, and the four tools that are asked about them.

    refusals(verify)  ->  a table: which fault does which tool refuse?, and what they say

Next room: machine.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from textwrap import shorten
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.build import neg, relu
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import parse_type
from lessons.u01.pictures import session

X = inp("x", "f32[2,4]")
A = replace(relu(X), name="a")
Y = replace(neg(A), name="y")


def refusals() -> tuple[Picture, str]:
    """Who refuses which program, as a table, and the words with which they do."""
    rows, words = [], []
    for fault, (model, nodes) in _faults().items():
        said = {name: _verdict(look, model) for name, look in _tools().items()}
        said["verify"] = _verdict(verify, Graph("g", (X,), nodes, (nodes[-1],)))
        rows.append([fault, *(answer for answer, _ in said.values())])
        heard = [f"    {tool}: {shorten(text, 112)}\n" for tool, (_, text) in said.items() if text]
        words.append(f"{fault}\n" + "".join(heard))
    return table(rows, ["the fault", *_tools(), "verify"]), "\n".join(words[1:])


def _verdict(look: Callable[[Any], Any], program: Any) -> tuple[str, str]:
    try:
        look(program)
    except Exception as error:  # each tool has its own
        return "refuses", " ".join(str(error).split())
    return "accepts", ""


def _tools() -> dict[str, Callable[[Any], Any]]:
    from onnx import checker, shape_inference

    def strict(model: Any) -> Any:
        return shape_inference.infer_shapes(model, check_type=True, strict_mode=True)

    return {"onnx.checker": checker.check_model, "shape inference, strict": strict,
            "onnxruntime": session}  # fmt: skip


def _file(*nodes: Any, a: Any = None, out: tuple[int, ...] = (2, 4)) -> Any:
    from onnx import TensorProto, helper

    def value(name: str, shape: tuple[int, ...]) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    declared = [value("a", a)] if a else []
    ends = [value("x", (2, 4))], [value("y", out)]
    graph = helper.make_graph(nodes, "g", *ends, value_info=declared)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def _faults() -> dict[str, tuple[Any, tuple[Node, ...]]]:
    """The same fault as an ONNX file and as a list of our nodes."""
    from onnx.helper import make_node as n

    to_a, to_y = n("Relu", ["x"], ["a"]), n("Neg", ["a"], ["y"])
    wide = replace(A, type=parse_type("f32[4,2]"))
    pair, unknown = replace(A, name="y", inputs=(X, X)), replace(A, name="y", op="relux")
    square = replace(A, name="y", op="matmul", inputs=(X, X), type=parse_type("f32[2,2]"))
    return {
        "nothing": (_file(to_a, to_y), (X, A, Y)),
        "read before it is defined": (_file(to_y, to_a), (X, Y, A)),
        "defined nowhere": (_file(to_y), (X, Y)),
        "defined twice": (_file(to_a, n("Neg", ["x"], ["a"]), to_y), (X, A, A, Y)),
        "an operand too many": (_file(n("Relu", ["x", "x"], ["y"])), (X, pair)),
        "unknown operation": (_file(n("Relux", ["x"], ["y"])), (X, unknown)),
        "inner sizes differ": (_file(n("MatMul", ["x", "x"], ["y"]), out=(2, 2)), (X, square)),
        "wrong type declared": (_file(to_a, to_y, a=(4, 2)), (X, wide, Y.with_inputs([wide]))),
    }
