"""The command line, called as a shell calls it: exit status, words for people, JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from course_lib.__main__ import main
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import add, matmul, relu, trace
from course_lib.ir.registry import OPS
from course_lib.peers.agree import tolerance


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small ONNX file: relu(x @ y + 1)."""
    graph = trace(lambda x, y: relu(add(matmul(x, y), 1.0)), "f32[3,4]", "f32[4,5]", name="small")
    path = tmp_path / "small.onnx"
    onnx.save(to_onnx(graph), path)
    return path


def call(capsys, *arguments: object) -> tuple[int, str, str]:
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_run_agrees_with_onnxruntime(model: Path, capsys, target: str) -> None:
    arguments = ("run", model, "--target", target, "--compare", "onnxruntime", "--json")
    status, out, _ = call(capsys, *arguments)
    data = json.loads(out.splitlines()[-1])
    assert status == 0
    assert data["compare"]["agrees"] and data["compare"]["max_rel_error"] < 1e-5
    assert data["ops"] == 3 and data["run_ms"] > 0 and data["compile_seconds"] > 0
    assert data["kernels"] == 1  # the three ops are one group, on both targets


def test_two_right_results_may_differ_by_roundings_of_their_own_type(tmp_path, capsys) -> None:
    assert tolerance(np.dtype("f4")) == tolerance(np.dtype("i8")) == 1e-3
    assert 3e-3 < tolerance(np.dtype("f2")) < 5e-3, "f16 rounds to a thousandth"
    graph = trace(lambda x: b.gelu(b.softmax(x * 1.5)) * 3.0, "f16[9,50]", name="half")
    onnx.save(to_onnx(graph), tmp_path / "half.onnx")
    status, out, _ = call(
        capsys, "run", tmp_path / "half.onnx", "--compare", "onnxruntime", "--json"
    )
    data = json.loads(out)
    assert status == 0 and data["compare"]["agrees"] and data["outputs"] == ["float16[9, 50]"]


def test_run_says_in_words_what_it_measured(model: Path, capsys) -> None:
    status, out, _ = call(capsys, "run", model, "--compare", "onnxruntime")
    assert status == 0
    told = "compiled in", "memory:", "median of 20", "agrees with"
    for words in ("3 ops in 1 kernel (1 distinct)", *told):
        assert words in out


def test_run_takes_inputs_by_name_or_in_order(model: Path, tmp_path: Path, capsys) -> None:
    x, y = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    names = [i.name for i in onnx.load(model).graph.input]
    by_name, in_order = tmp_path / "named.npz", tmp_path / "ordered.npz"
    named: Any = {names[1]: y, names[0]: x}
    np.savez(by_name, **named)
    np.savez(in_order, x, y)
    for path in (by_name, in_order):
        assert call(capsys, "run", model, "--inputs", path)[0] == 0


def test_a_symbolic_batch_runs_with_one(tmp_path: Path, capsys) -> None:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 4])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 4])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    opset = [onnx.helper.make_opsetid("", 21)]
    path = tmp_path / "batch.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=10), path)
    status, out, _ = call(capsys, "run", path, "--json")
    assert status == 0 and json.loads(out)["outputs"] == ["float32[1, 4]"]
    inputs = tmp_path / "five.npz"
    np.savez(inputs, x=np.zeros((5, 4), np.float32))
    status, out, _ = call(capsys, "run", path, "--inputs", inputs, "--json")
    assert status == 0 and json.loads(out)["outputs"] == ["float32[5, 4]"]


@pytest.fixture
def shaped(tmp_path: Path) -> Path:
    """relu(reshape(x, shape)): the shape is an input, and must be known at compile time."""
    info, kinds = onnx.helper.make_tensor_value_info, onnx.TensorProto
    nodes = [
        onnx.helper.make_node("Reshape", ["x", "shape"], ["r"]),
        onnx.helper.make_node("Relu", ["r"], ["y"]),
    ]
    inputs = [info("shape", kinds.INT64, [2]), info("x", kinds.FLOAT, [2, 6])]
    graph = onnx.helper.make_graph(nodes, "g", inputs, [info("y", kinds.FLOAT, ["a", "b"])])
    opset = [onnx.helper.make_opsetid("", 21)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=10),
              tmp_path / "shaped.onnx")  # fmt: skip
    np.save(tmp_path / "shape.npy", np.array([3, 4]))
    return tmp_path / "shaped.onnx"


def test_a_frozen_input_is_known_at_compile_time(shaped: Path, capsys) -> None:
    status, _, err = call(capsys, "run", shaped)
    assert status == 1 and "or on the command line --freeze shape=FILE.npy" in err
    freeze = ("--freeze", f"shape={shaped.parent / 'shape.npy'}")
    status, out, _ = call(capsys, "run", shaped, *freeze, "--compare", "onnxruntime", "--json")
    data = json.loads(out)
    assert status == 0 and data["compare"]["agrees"] and data["outputs"] == ["float32[3, 4]"]
    for command in (("show",), ("fma",)):
        assert call(capsys, *command, shaped, *freeze)[0] == 0
    np.savez(shaped.parent / "x.npz", x=np.zeros((2, 6), np.float32))
    assert call(capsys, "run", shaped, *freeze, "--inputs", shaped.parent / "x.npz")[0] == 0


@pytest.mark.parametrize(
    ("freeze", "words"),
    [
        ("shape", "--freeze takes NAME=FILE.npy, got shape"),
        ("shape={dir}/none.npy", "none.npy: cannot be read as an .npy file"),
        ("shape={dir}/several.npz", "several.npz holds several arrays"),
        ("shap={dir}/shape.npy", "the model has no input 'shap'; it has ['shape', 'x']"),
        ("shape={dir}/halves.npy", "freeze: input 'shape' must be i64[2], got f64[2]"),
        ("shape={dir}/three.npy", "input 'shape' must be i64[2], got i64[3]"),
    ],
)
def test_what_cannot_be_frozen_is_one_clear_line(
    shaped: Path, capsys, freeze: str, words: str
) -> None:
    np.savez(shaped.parent / "several.npz", a=np.zeros(2), b=np.zeros(2))
    np.save(shaped.parent / "halves.npy", np.array([0.5, 24]))
    np.save(shaped.parent / "three.npy", np.array([3, 2, 2]))
    status, _, err = call(capsys, "run", shaped, "--freeze", freeze.format(dir=shaped.parent))
    assert status == 1 and words in err and "Traceback" not in err


def test_a_model_of_the_course_has_nothing_to_freeze(shaped: Path, capsys) -> None:
    word = f"x={shaped.parent / 'shape.npy'}"
    status, _, err = call(capsys, "show", "mlp", "--freeze", word)
    assert status == 1 and "mlp is a model of the course" in err


@pytest.mark.parametrize("stage", ["import", "fuse", "loops", "scheduled", "llvm", "optimized"])
def test_show_prints_and_writes_each_stage(model: Path, tmp_path: Path, capsys, stage: str) -> None:
    status, out, _ = call(capsys, "show", model, "--stage", stage)
    assert status == 0 and len(out) > 50
    page = tmp_path / "stage.html"
    assert call(capsys, "show", model, "--stage", stage, "-o", page)[0] == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert not [p for p in tmp_path.iterdir() if p.name.endswith(".tmp")]


def test_show_draws_a_graph_as_svg_and_text(model: Path, tmp_path: Path, capsys) -> None:
    for suffix, start in ((".svg", "<svg"), (".txt", "graph @")):
        path = tmp_path / f"graph{suffix}"
        assert call(capsys, "show", model, "-o", path)[0] == 0
        assert start in path.read_text()


def test_show_all_is_a_page_with_a_slider_that_fetches_nothing(
    model: Path, tmp_path: Path, capsys
) -> None:
    page = tmp_path / "slider.html"
    status, _, _ = call(capsys, "show", model, "--stage", "all", "-o", page)
    text = page.read_text()
    assert status == 0 and "<script" not in text and "http" not in text
    for name in ("import", "fuse", "loops", "scheduled", "llvm", "optimized", "assembly"):
        assert re.search(rf">(\d+\. )?{name}( [−+0-9groups ]+)?</div>", text), name
    assert text.count('type="radio"') == text.count('class="cl-state"') > 15
    status, out, _ = call(capsys, "show", model, "--stage", "all")
    assert status == 0 and "define i64" in out and "kernel @" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "no_such.onnx"), "no such file"),
        (("show", "{model}", "--stage", "nope"), "this compilation has: import, "),
        (("show", "{model}", "-o", "{dir}/x.png"), ".svg, .html or .txt"),
        (("show", "{model}", "--stage", "llvm", "-o", "{dir}/x.svg"), "save it as .html"),
        (("run", "{model}", "--inputs", "{dir}/none.npz"), "none.npz"),
        (("run", "{dir}/broken.onnx"), "broken.onnx is not an ONNX model"),
        (("run", "{model}", "--inputs", "{dir}/one.npz"), "but the model takes"),
        (("ops", "nonsense"), "there is no op"),
    ],
)
def test_bad_input_is_one_clear_line(
    model: Path, tmp_path: Path, capsys, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x0a garbage \xff\xff")
    np.savez(tmp_path / "one.npz", a=np.zeros(3))
    filled = [a.format(model=model, dir=tmp_path) for a in arguments]
    status, out, err = call(capsys, *filled, "--json")
    assert status == 1
    assert words in err and "Traceback" not in err
    assert words in json.loads(out.splitlines()[-1])["error"]


def test_ops_documents_every_row(capsys) -> None:
    _, out, _ = call(capsys, "ops")
    assert all(f"  {name}(" in out for name in OPS)
    _, out, _ = call(capsys, "ops", "--json")
    assert {row["name"] for row in json.loads(out)["ops"]} == set(OPS)
    _, out, _ = call(capsys, "ops", "matmul")
    assert "matmul(a, b)" in out and "add(" not in out


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    """python -m course_lib ops | head -1"""
    command = [sys.executable, "-m", "course_lib", "ops"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout and running.stderr
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run mlp --repeat -5", "--repeat: it takes a whole number of at least 1, got '-5'"),
        ("run mlp --repeat many", "--repeat: it takes a whole number of at least 1, got 'many'"),
        ("run mlp --seed -1", "--seed: it takes a whole number of at least 0, got '-1'"),
        ("run mlp --threads 0", "--threads: it takes a whole number of at least 1, got '0'"),
        ("tune mlp --beam 0", "--beam: it takes a whole number of at least 1, got '0'"),
        ("tune mlp --depth 0", "--depth: it takes a whole number of at least 1, got '0'"),
        ("tune mlp --jobs 99999", "--jobs: it takes a whole number from 1 to 64, got '99999'"),
    ],
)
def test_a_number_outside_its_range_is_wrong_usage(words: str, said: str, capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert said in capsys.readouterr().err


def test_more_threads_than_anybody_has_are_refused(capsys) -> None:
    status, _, err = call(capsys, "run", "mlp", "--threads", 100_000)
    assert status == 1 and "threads must be at most 256, got 100000" in err


@pytest.mark.parametrize("budget", ["nan", "inf", "0"])
def test_a_budget_is_some_seconds(budget: str, capsys) -> None:
    status, _, err = call(capsys, "tune", "mlp", "--budget", budget)
    assert status == 1 and "--budget must be more than 0 seconds, and finite" in err
