"""IREE, TVM and tinygrad for real: a model in each, in its own process, and all that they wrote."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from course_lib.ir.graph.build import add, conv, matmul, relu, softmax, trace
from course_lib.ir.graph.graph_interp import run
from course_lib.peers.model import Model, model_of
from course_lib.peers.peer import lacking, peer
from course_lib.peers.running import Failed, Running
from course_lib.recorded import recorded

MLP = model_of("mlp")
PHASES = [
    "imported", "input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow",
    "stream", "executable-sources", "executable-configurations", "executable-targets", "hal", "vm",
    "LLVM IR", "LLVM IR, optimized", "assembly",
]  # fmt: skip
draw = np.random.default_rng(3).standard_normal


@pytest.fixture
def running(missing):
    """running("iree", model) is that system in a process; it ends with the test."""
    open_ones = []

    def start(system: str, model: Model, threads: int = 1) -> Running:
        if lacks := lacking(peer(system)):
            missing(lacks)
        open_ones.append(Running(system, model, threads))
        return open_ones[-1]

    yield start
    for one in open_ones:
        one.close()


def right(engine: Running, model: Model) -> bool:
    (got,), (want,) = engine.outputs(), run(model.graph, list(model.inputs))
    return got.shape == want.shape and np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


def left_over(engine: Running) -> set[str]:
    """What lies in the process's temporary folder besides what it was asked to write."""
    ours = {"inputs.npz", "model.onnx", "outputs.npz", "stages.json", "printed.txt"}
    return {one.name for one in Path(engine._folder.path).iterdir() if one.is_file()} - ours


def printed(engine: Running) -> str:
    return Path(engine._folder.path, "printed.txt").read_text()


def test_iree_tells_each_of_its_phases(running):
    iree = running("iree", MLP)
    assert right(iree, MLP)
    stages, kernels = iree.stages(), iree.kernels()
    assert list(stages) == PHASES and all(stages.values())
    assert [name.partition("dispatch_")[2] for name in kernels] == [
        "0_matmul_1x512x784_f32", "1_matmul_1x512x512_f32", "2_matmul_1x10x512_f32"
    ]  # fmt: skip
    assert stages["imported"].count('"onnx.MatMul"') == 3
    assert stages["input"].count("linalg.matmul ") == 3
    assert stages["stream"].count("stream.cmd.dispatch") == 3
    assert all(name in stages["assembly"] for name in kernels)
    above = "imported", "input", "flow", "stream", "hal"
    assert all(len(stages[name]) < 50_000 for name in above), "the weights are written out"
    folder = str(Path(iree._folder.path))
    assert not [name for name, text in stages.items() if folder in text]
    assert not left_over(iree) and not printed(iree)
    assert not list(Path(iree._folder.path).glob("**/course-iree-*"))


def test_iree_puts_a_convolution_its_bias_and_relu_in_one_kernel(running):
    w, b = (draw(s).astype(np.float32) for s in ((4, 3, 3, 3), (1, 4, 1, 1)))
    graph = trace(lambda x: relu(add(conv(x, w), b)), "f32[1, 3, 8, 8]")
    model = Model("small", graph, (draw((1, 3, 8, 8)).astype(np.float32),))
    iree = running("iree", model, threads=2)
    assert right(iree, model)
    assert len([name for name in iree.kernels() if "conv" in name]) == 1


def test_tvm_schedules_the_kernels_that_its_log_knows(running):
    tvm = running("tvm+tuned", MLP)
    assert right(tvm, MLP)
    stages, kernels = tvm.stages(), tvm.kernels()
    assert kernels == ["fused_matmul_add_relu", "fused_matmul1_add_relu", "fused_matmul2_add1"]
    assert stages["Relax, imported"].count("R.matmul(") == 3
    assert stages["FuseTIR"].count("R.call_tir(") == 3
    for name in kernels:
        assert "vectorized" not in stages[f"{name}: TIR"]
        assert "vectorized" in stages[f"{name}: scheduled"]
        assert stages[f"{name}: lowered"]
        assert name in stages["LLVM IR"] and name in stages["assembly"]
    assert not left_over(tvm) and not printed(tvm)


def test_tvm_says_which_kernels_have_no_record(running):
    w = draw((6, 5)).astype(np.float32)
    model = Model("small", trace(lambda x: relu(matmul(x, w)), "f32[3, 6]"),
                  (draw((3, 6)).astype(np.float32),))  # fmt: skip
    tvm = running("tvm+tuned", model)
    assert right(tvm, model)
    assert tvm.kernels() == ["fused_matmul_relu (default schedule)"]


def test_the_log_of_tvm_is_of_the_version_that_is_pinned_and_of_any_processor(
    tvm, monkeypatch, capfd
):
    from course_lib.peers import tvm_log  # tvm need not be installed

    log = recorded(tvm_log.__file__, tvm_log.FILE.name)
    assert log.tool == peer("tvm").version
    texts = {**log.texts, "records": log["records"].replace("x86_64-", "aarch64-")}
    assert texts != log.texts
    monkeypatch.setattr(tvm_log, "recorded", lambda *_: dataclasses.replace(log, texts=texts))
    records = tvm_log.database().get_all_tuning_records()
    assert len(records) == len(log["records"].splitlines()) == len(log["workloads"].splitlines())
    assert "aarch64" not in str([one.target for one in records])
    assert capfd.readouterr() == ("", "")
    texts["records"] = json.dumps([0, "nonsense"]) + "\n"
    with pytest.raises(ValueError, match="cannot read the log, which was recorded with apache-tvm"):
        tvm_log.database()


def test_tinygrad_tells_what_it_made_of_each_kernel(running, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tinygrad = running("tinygrad", MLP)
    assert right(tinygrad, MLP)
    stages, kernels = tinygrad.stages(), tinygrad.kernels()
    assert len(kernels) == 3 == len(stages["schedule"].splitlines())
    texts = [f"{name}: {text}" for name in kernels for text in ("AST", "optimized", "linear", "C")]
    assert list(stages) == ["tensors", "schedule", *texts] and all(stages.values())
    assert stages["tensors"].count("_rop(Ops.ADD") == 3
    assert "# b4 is an input, input\n" in stages["tensors"]
    assert all(f"void {name}(" in stages[f"{name}: C"] for name in kernels)
    assert not left_over(tinygrad) and not printed(tinygrad)
    assert not (tmp_path / "tinygrad").exists(), "it keeps a file for the next time"


def test_tinygrads_kernels_of_one_name_have_their_texts_each(running):
    """The maximum and the sum of a softmax have the same loops, and so the same name."""
    model = Model("small", trace(lambda x: softmax(x), "f32[8, 4]"),
                  (draw((8, 4)).astype(np.float32),))  # fmt: skip
    tinygrad = running("tinygrad", model)
    assert right(tinygrad, model)
    stages, kernels = tinygrad.stages(), tinygrad.kernels()
    assert kernels[:2] == ["r_8_4", "r_8_4n1"] and len(kernels) == 3
    assert [line.partition("(")[0] for line in stages["schedule"].splitlines()] == kernels
    assert "Ops.MAX" in stages["r_8_4: AST"] and "Ops.MAX" not in stages["r_8_4n1: AST"]
    assert ".exp2()" in stages["r_8_4n1: AST"] and ".exp2()" not in stages["r_8_4: AST"]
    assert all("void r_8_4(" in stages[f"{name}: C"] for name in kernels[:2])


def test_tinygrad_searches_before_the_first_call(running):
    w = draw((64, 32)).astype(np.float32)
    model = Model("small", trace(lambda x: relu(matmul(x, w)), "f32[16, 64]"),
                  (draw((16, 64)).astype(np.float32),))  # fmt: skip
    tinygrad = running("tinygrad+beam2", model)
    assert right(tinygrad, model) and len(tinygrad.kernels()) == 1
    assert not printed(tinygrad)


@pytest.mark.parametrize(
    ("system", "words"),
    [("iree", "IREE cannot compile this model: .*onnx.NoSuchOp"),
     ("tvm", "TVM cannot run this model: .*NoSuchOp"),
     ("tinygrad", "tinygrad cannot run this model: op='NoSuchOp' is not supported")],
)  # fmt: skip
def test_an_op_that_a_system_does_not_know_is_told_in_words(running, system, words):
    node = onnx.helper.make_node("NoSuchOp", ["x"], ["y"])
    x, y = (onnx.helper.make_tensor_value_info(name, 1, shape)
            for name, shape in (("x", [2, 2]), ("y", [])))  # fmt: skip
    graph = onnx.helper.make_graph([node], "none", [x], [y])
    file = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])
    model = Model("none", file.SerializeToString(), (np.eye(2, dtype=np.float32),))
    with pytest.raises(Failed, match=words):
        running(system, model)
