"""Every op row with a loop form, and the four models, mean in upstream's MLIR what they mean here.

    golden/mlir_rows.txt      matmul    agrees   linalg.generic, linalg.matmul

`scripts/mlir_rows.py` makes the table, from all cases; here every sixth is tried again. Where
neither torch-mlir's wheel nor MLIR's programs are, these tests are skipped.
"""

import importlib.util

import numpy as np
import pytest

from course_lib.ir.graph.build import inp, relu
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.registry import OPS
from course_lib.ir.types import TensorType, f32
from course_lib.mlir.into.read import from_mlir
from course_lib.mlir.out.to_mlir import prepared, to_mlir, weights_of
from course_lib.mlir.upstream import engine
from course_lib.mlir.upstream.engine import Job, run_all
from course_lib.mlir.upstream.witness import job, table, witness

SHARES = 4  # of the rows; each is a test, and a process of MLIR
NAMED = ["matmul", "conv", "max_pool", "sum_pool", "pad", "slice", "transpose"]


@pytest.fixture(scope="module")
def script(root):
    spec = importlib.util.spec_from_file_location("mlir_rows", root / "scripts/mlir_rows.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def upstream(missing):
    if not engine.engines():
        missing("torch-mlir or MLIR's programs")


def held(root):
    """The table that is kept: the name, the result and the words of each row."""
    lines = (root / "tests/golden/mlir_rows.txt").read_text().splitlines()
    return {line.split()[0]: line.split(maxsplit=2) for line in lines}


def test_the_table_has_every_op_and_refuses_only_those_without_loops(root, script):
    rows = held(root)
    assert list(rows) == script.rows()
    refused = {name for name, row in rows.items() if row[1] == "refused"}
    assert refused == {name for name in rows if OPS[name].loops is None and not _is_made_of(name)}
    assert {row[1] for row in rows.values()} == {"agrees", "refused"}


def _is_made_of(name: str) -> bool:
    return OPS[name].kind == "composite" or name == "reshape"


@pytest.mark.parametrize("share", range(SHARES))
def test_rows_agree(upstream, root, script, share):
    names = script.rows()[share::SHARES]
    found, rows = witness(script.whole_rows(names, every=6)), held(root)
    assert [(r.name, r.result) for r in found] == [tuple(rows[name][:2]) for name in names]


def test_rows_that_have_a_name_agree_without_it(upstream, script):
    rows = witness(script.whole_rows(NAMED, every=3), named=False)
    assert {row.result for row in rows} == {"agrees"}, table(rows)
    assert {word for row in rows for word in row.words.split(", ")} <= {
        "linalg.generic", "tensor.insert_slice"}  # fmt: skip


def test_the_programs_of_mlir_agree_too(script, require_tool):
    if "mlir-opt" not in engine.engines():
        require_tool("mlir-opt-22")
        require_tool("mlir-translate-22")
    rows = witness(script.whole_rows([*NAMED, "cast", "softmax"], every=5), tool="mlir-opt")
    assert {row.result for row in rows} == {"agrees"}, table(rows)


@pytest.mark.parametrize("model", ["mlp", "block", "resnet18", "mobilenet_v2"])
def test_models_agree_and_come_back(upstream, script, model):
    """Upstream computes what we do; and so does what we read back from our own text."""
    pytest.importorskip("torch")
    subjects = script.models([model])
    (row,) = witness(subjects)
    assert row.result == "agrees", row.words
    graph, inputs = subjects[model]
    back = from_mlir(to_mlir(graph, "arguments"))
    (got,), (want,) = run(back, [*inputs, *weights_of(graph)]), run(graph, inputs)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def relu_graph() -> Graph:
    x = inp("x", TensorType(f32, (2, 3)))
    return Graph.of([x], [relu(x)], "small")


def test_a_text_that_means_something_else_is_noticed(upstream, monkeypatch):
    subject = relu_graph(), [np.array([[1, -2, 3], [-4, 5, -6]], np.float32)]
    made = job(*subject)
    wrong = Job(made.text.replace("ugt", "ult"), "main", made.arguments, made.results)
    monkeypatch.setattr("course_lib.mlir.upstream.witness.job", lambda *_: wrong)
    (row,) = witness({"relu": subject})
    assert (row.result, row.words[:8]) == ("differs", "result 0")


CRASH = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %no = arith.constant false
  cf.assert %no, "never"
  return %x : tensor<f32>
}"""


def test_a_crash_costs_a_sentence_and_the_others_run(upstream):
    x = np.array(2, np.float32)
    type = TensorType(f32, ())
    fine = CRASH.replace("false", "true")
    jobs = [Job(text, "main", [x], [type]) for text in (fine, CRASH, "func.func @main(", fine)]
    first, crashed, unread, last = run_all(jobs)
    assert first == last == [x]
    assert isinstance(crashed, str) and crashed.startswith("the engine's process ended: status -6")
    assert isinstance(unread, str) and "parse" in unread


def test_what_upstream_runs_is_what_the_graph_was_before_fusion():
    graph = relu_graph()
    assert [n.op for n in prepared(graph).nodes] == ["input", "relu"]


def test_without_the_wheel_a_sentence(monkeypatch):
    monkeypatch.setattr(engine, "available", lambda: False)
    monkeypatch.setattr(engine, "installed", lambda: False)
    with pytest.raises(ValueError, match="needs the package torch-mlir, or mlir-opt-22 and"):
        run_all([])
