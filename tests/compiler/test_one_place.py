"""What docs/architecture.md says of new things holds: each is added in one place.

a row in ir/ops/              ->  text, verifier, interpreters, lowering, machine code, list of ops
a row in ir/scalar.py         ->  the same; code where the row has a word for LLVM, MLIR, C++
a line in schedule/steps.py   ->  the text of schedules, and what it says where it knows no name
a rule in onnx/rules/         ->  the importer, and the list of what it covers
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from autograder.check.levels import levels_agree
from course_lib.__main__ import main
from course_lib.bridges.gxx import build
from course_lib.compiler import compile, read
from course_lib.frontend import coverage, load
from course_lib.frontend.onnx.rules import RULES
from course_lib.frontend.onnx.table import translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.cpp import cpp
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.ops import elementwise
from course_lib.ir.ops.composite import composite
from course_lib.ir.registry import OPS
from course_lib.ir.scalar import LEVELS, SCALARS, Scalar, spelled
from course_lib.ir.types import DTYPES, f32
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.schedule.primitives.split import split
from course_lib.schedule.script import parse_schedule
from course_lib.schedule.steps import STEPS, steps_of

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
    row = Scalar("log2", 1, np.log2, "how often 2 is in a product", accepts=("float",),
                 llvm="@log2", mlir="math.log2", cpp="std::log2")  # fmt: skip
    monkeypatch.setitem(SCALARS, row.name, row)
    monkeypatch.setitem(OPS, row.name, elementwise.row(row))
    return row.name


def test_a_scalar_function_is_one_row(new_scalar: str, capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph.of([x := inp("x", "f32[3,5]")], [apply(new_scalar, x)])
    graph = parse_graph(print_graph(graph, "exact"))
    given = np.random.default_rng(0).uniform(0.1, 9, (3, 5)).astype(np.float32)
    levels_agree(graph, [given])
    assert "math.log2" in to_mlir(graph)
    assert "std::log2(" in cpp(parse_kernel(LOG2))
    main(["ops"])
    assert "how often 2 is in a product" in capsys.readouterr().out


LOG2 = "kernel @k(out: f32[8]) { for i in 0..8 { out[i] = log2(2.0) } }"


@pytest.mark.parametrize(
    ("without", "make", "words"),
    [
        ("llvm", compile, "no LLVM for log2: its row in ir/scalar.py has no `llvm`"),
        ("mlir", to_mlir, "no MLIR for log2: its row in ir/scalar.py has no `mlir`"),
        ("cpp", lambda graph: cpp(parse_kernel(LOG2)),
         "no C++ for log2: its row in ir/scalar.py has no `cpp`"),
    ],
)  # fmt: skip
def test_a_level_for_which_a_row_has_no_word_says_so(
    new_scalar: str, monkeypatch: pytest.MonkeyPatch, without: str, make: Any, words: str
) -> None:
    """The interpreters need none."""
    monkeypatch.setitem(SCALARS, new_scalar, replace(SCALARS[new_scalar], **{without: ""}))
    graph = Graph.of([x := inp("x", "f32[3,5]")], [apply(new_scalar, x)])
    given = np.full((3, 5), 8, np.float32)
    assert np.array_equal(compile(graph, target="interpreter")(given), given / given * 3)
    with pytest.raises(ValueError, match=re.escape(words)):
        make(graph)


@pytest.mark.parametrize("level", ["llvm", "mlir", "cpp"])
def test_what_is_no_scalar_function_is_refused_in_words(level: str) -> None:
    words = f"no {LEVELS[level]} for twist: it has no row in ir/scalar.py"
    with pytest.raises(ValueError, match=re.escape(words)):
        spelled("twist", level, f32)


def test_every_row_has_words_for_llvm_and_mlir_for_all_that_it_accepts() -> None:
    """What the words mean, tests/ir/test_ops_levels.py and tests/golden/mlir_rows.txt try."""
    for fn, row in SCALARS.items():
        for dtype in (DTYPES[name] for name in ("f32", "i32", "u8", "bool")):
            if dtype.kind in row.accepts:
                assert spelled(fn, "llvm", dtype) and spelled(fn, "mlir", dtype)


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_cpp_knows_every_word_of_the_table() -> None:
    rows = {fn: row for fn, row in SCALARS.items() if row.cpp}
    lines = " ".join(
        f"out[i, {k}] = {fn}({', '.join(['x[i]', 'y[i]'][: row.arity])})"
        for k, (fn, row) in enumerate(rows.items())
    )
    signature = f"x: f32[4], y: f32[4], out: f32[4,{len(rows)}]"
    kernel = parse_kernel(f"kernel @k({signature}) {{ for i in 0..4 {{ {lines} }} }}")
    x, y = (np.array(v, np.float32) for v in ([0.1, 0.5, 0.7, 1], [3, 2, 1, 0.25]))
    out = np.zeros((4, len(rows)), np.float32)
    build(cpp(kernel), "k")(x, y, out)
    with np.errstate(all="ignore"):
        for k, row in enumerate(rows.values()):
            np.testing.assert_allclose(out[:, k], row.numpy(*(x, y)[: row.arity]), rtol=1e-5)


@pytest.mark.parametrize("name", ["softsign", "mish"])
def test_a_composite_is_imported_by_the_name_of_its_row(name: str) -> None:
    assert RULES[name.capitalize()](inp("x", "f32[4]")).op == name


def test_torch_names_the_same_row() -> None:
    torch = pytest.importorskip("torch")
    graph = read(torch.nn.Mish().eval(), [np.ones(4, np.float32)])
    assert [node.op for node in graph.ops] == ["mish"]


@pytest.fixture
def new_primitive() -> Iterator[str]:
    def halve(kernel: Kernel, var: str) -> Kernel:
        return split(kernel, var, 2)

    steps_of(halve)
    yield "halve"
    del STEPS["halve"]


def test_the_steps_of_a_primitive_follow_from_its_signature(
    new_primitive: str,
) -> None:
    kernel = parse_kernel("kernel @k(x: f32[8], out: f32[8]) { for n in 0..8 { out[n] = x[n] } }")
    schedule = parse_schedule(text := f"{new_primitive}(n)\n")
    assert str(schedule) == text
    assert schedule.apply(kernel) == split(kernel, "n", 2)
    with pytest.raises(ValueError, match=r"no primitive 'quarter'; there are cache, .*halve"):
        parse_schedule("quarter(n)")
    with pytest.raises(ValueError, match=r"halve takes \(loop\)"):
        parse_schedule("halve(n, 2)")


def test_an_onnx_rule_is_one_function() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> f (float[1,1] x) => (float y) { y = Det(x) }'
    )
    with patch.dict(RULES):  # so that it may get a rule
        RULES.pop("Det", None)
        with pytest.raises(ValueError, match="Det"):
            load(proto.SerializeToString())

        @translates("Det")
        def det(x: Node) -> Node:
            return b.reshape(x, ())

        graph = load(proto.SerializeToString())
        assert [n.op for n in graph.ops] == ["reshape"] and "Det" in coverage()["onnx"]
