"""Programs with one fault each, and the four tools that are asked about them.

    refusals(verify)  ->  a table: which fault does which tool refuse?, and what they say

Next room: machine.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from textwrap import shorten
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.build import neg, relu
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import parse_type
from course_lib.peers.onnxruntime import session

X = inp("x", "f32[2,4]")
A = replace(relu(X), name="a")
Y = replace(neg(A), name="y")


def refusals() -> tuple[Picture, str]:
    """Which tool refuses which program, as a table, and its words."""
    rows, words = [], []
    for fault, (model, nodes) in _faults().items():
        answers = {name: _verdict(look, model) for name, look in _tools().items()}
        answers["verify"] = _verdict(verify, Graph("g", (X,), nodes, (nodes[-1],)))
        rows.append([fault, *(answer for answer, _ in answers.values())])
        heard = [
            f"    {tool}: {shorten(text, 112)}\n" for tool, (_, text) in answers.items() if text
        ]
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

    strict = partial(shape_inference.infer_shapes, check_type=True, strict_mode=True)
    return {"onnx.checker": checker.check_model, "shape inference, strict": strict,
            "onnxruntime": lambda model: session(model.SerializeToString())}  # fmt: skip


def _file(lines: str, out: str = "2,4", declared: str = "") -> Any:
    from onnx import parser

    head = f'<ir_version: 10, opset_import: ["": 20]> g (float[2,4] x) => (float[{out}] y)'
    return parser.parse_model(f"{head} {declared} {{ {lines} }}")


def _faults() -> dict[str, tuple[Any, tuple[Node, ...]]]:
    """The same fault as an ONNX file and as a list of our nodes."""
    wide = replace(A, type=parse_type("f32[4,2]"))
    pair, unknown = replace(A, name="y", inputs=(X, X)), replace(A, name="y", op="relux")
    square = replace(A, name="y", op="matmul", inputs=(X, X), type=parse_type("f32[2,2]"))
    a, y = "a = Relu(x)", "y = Neg(a)"
    return {
        "nothing": (_file(f"{a} {y}"), (X, A, Y)),
        "read before it is defined": (_file(f"{y} {a}"), (X, Y, A)),
        "defined nowhere": (_file(y), (X, Y)),
        "defined twice": (_file(f"{a} a = Neg(x) {y}"), (X, A, A, Y)),
        "an operand too many": (_file("y = Relu(x, x)"), (X, pair)),
        "unknown operation": (_file("y = Relux(x)"), (X, unknown)),
        "inner sizes differ": (_file("y = MatMul(x, x)", out="2,2"), (X, square)),
        "wrong type declared": (
            _file(f"{a} {y}", declared="<float[4,2] a>"),
            (X, wide, Y.with_inputs([wide])),
        ),
    }
