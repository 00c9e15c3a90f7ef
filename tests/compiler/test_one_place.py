"""What docs/architecture.md says of new things holds: each is added in one place.

a row in ir/ops/        ->  text, verifier, interpreters, lowering, machine code, list of ops
a rule in onnx/rules/   ->  the importer, and the list of what it covers
"""

from collections.abc import Iterator

import numpy as np
import pytest

from autograder.check.levels import levels_agree
from course_lib.__main__ import main
from course_lib.frontend import coverage, load
from course_lib.frontend.onnx.table import RULES, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.ops.composite import composite
from course_lib.ir.registry import OPS

onnx = pytest.importorskip("onnx")


@pytest.fixture
def new_op() -> Iterator[str]:
    @composite()
    def leap(x: Node, y: Node) -> Node:
        """relu(x) + 2 * y"""
        return b.relu(x) + 2.0 * y

    yield "leap"
    del OPS["leap"]


def test_an_op_is_one_row(new_op: str, capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph.of(ins := [inp("x", "f32[3,5]"), inp("y", "f32[5]")], [apply(new_op, *ins)])
    again = parse_graph(print_graph(graph, "exact"))
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(i.type.dims).astype(np.float32) for i in ins)
    levels_agree(again, [x, y])
    main(["ops"])
    assert "relu(x) + 2 * y" in capsys.readouterr().out


def test_an_onnx_rule_is_one_function() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> f (float[1,1] x) => (float y) { y = Det(x) }'
    )
    with pytest.raises(ValueError, match="Det"):
        load(proto.SerializeToString())

    @translates("Det")
    def det(x: Node) -> Node:
        return b.reshape(x, ())

    try:
        graph = load(proto.SerializeToString())
        assert [n.op for n in graph.ops] == ["reshape"] and "Det" in coverage()["onnx"]
    finally:
        del RULES["Det"]
