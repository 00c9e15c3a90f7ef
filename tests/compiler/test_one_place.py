"""What docs/architecture.md says of new things holds: each is added in one place.

a row in ir/ops/              ->  text, verifier, interpreters, lowering, machine code, list of ops
a row in ir/scalar.py         ->  the same; machine code where llvm/scalars.py has a row for it, too
a class in schedule/steps.py  ->  the text of schedules, and what it says where it knows no name
a rule in onnx/rules/         ->  the importer, and the list of what it covers
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from autograder.check.levels import levels_agree
from course_lib.__main__ import main
from course_lib.compiler import compile
from course_lib.frontend import coverage, load
from course_lib.frontend.onnx.table import RULES, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.ops import elementwise
from course_lib.ir.ops.composite import composite
from course_lib.ir.registry import OPS
from course_lib.ir.scalar import SCALARS, Scalar
from course_lib.llvm.scalars import ROWS, Row
from course_lib.schedule.primitives.split import split
from course_lib.schedule.script import parse_schedule
from course_lib.schedule.steps import STEPS, OneLoop

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


@pytest.fixture
def new_scalar(monkeypatch: pytest.MonkeyPatch) -> str:
    """As a row in the list of `ir/scalar.py` would be. Nothing compiled is kept of it."""
    monkeypatch.setenv("COURSE_LIB_CACHE", "off")
    row = Scalar("square", 1, np.square, "a times itself")
    monkeypatch.setitem(SCALARS, row.name, row)
    monkeypatch.setitem(OPS, row.name, elementwise.row(row))
    return row.name


def test_a_scalar_function_is_a_row_and_one_more_for_its_code(
    new_scalar: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = Graph.of([x := inp("x", "f32[3,5]")], [apply(new_scalar, x)])
    graph = parse_graph(print_graph(graph, "exact"))
    given = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    assert np.array_equal(compile(graph, target="interpreter")(given), given * given)
    with pytest.raises(ValueError, match="no code for square: it has no row in ROWS of llvm/"):
        compile(graph)
    code = Row(float=lambda b, a: b.fmul(a, a), int=lambda b, a: b.mul(a, a))
    monkeypatch.setitem(ROWS, new_scalar, code)
    levels_agree(graph, [given])
    main(["ops"])
    assert "a times itself" in capsys.readouterr().out


@pytest.fixture
def new_primitive() -> Iterator[str]:
    def halve(kernel: Kernel, loop: str) -> Kernel:
        return split(kernel, loop, 2)

    @dataclass(frozen=True)
    class Halve(OneLoop):
        primitive = staticmethod(halve)

    yield "halve"
    del STEPS["halve"]


def test_a_primitive_is_a_function_and_a_class(new_primitive: str) -> None:
    kernel = parse_kernel("kernel @k(x: f32[8], out: f32[8]) { for n in 0..8 { out[n] = x[n] } }")
    schedule = parse_schedule(text := f"{new_primitive}(n)\n")
    assert str(schedule) == text
    assert schedule.apply(kernel) == split(kernel, "n", 2)
    with pytest.raises(ValueError, match=r"no primitive 'quarter'; there are split, .*halve"):
        parse_schedule("quarter(n)")


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
