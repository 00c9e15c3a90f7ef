"""A pipeline of upstream's: the text after every pass, by whichever tool is here, or recorded.

passed(text, PIPELINES["loops"]).states[-1].text     has scf.for where the first had linalg.matmul
"""

import json

import pytest

from course_lib.__main__ import main
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.mlir.upstream import passes
from course_lib.mlir.upstream.makers import mm_relu
from course_lib.mlir.upstream.passes import State, passed, tools
from course_lib.mlir.upstream.pipelines import PIPELINES, Pipeline
from course_lib.mlir.upstream.recordings import FOLDER, GIVEN, recording_of
from course_lib.mlir.upstream.recordings import states as states_of
from course_lib.mlir.upstream.slides import short, slides
from course_lib.recorded import read

BROKEN = Pipeline("stops", (("canonicalize", ""), ("convert-bufferization-to-memref", ""),
                            ("cse", "")))  # fmt: skip
NEEDS_BUFFERS = """func.func @main(%x: tensor<4xf32>) -> memref<4xf32> {
  %0 = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  return %0 : memref<4xf32>
}"""


@pytest.fixture
def without_tools(monkeypatch):
    monkeypatch.setattr(passes, "available", lambda: False)
    monkeypatch.setattr(passes, "program", lambda name: None)


@pytest.fixture(params=["torch-mlir", "mlir-opt"])
def tool(request, require_tool, missing):
    found = [t for t in tools() if request.param in t]
    if not found and request.param == "mlir-opt":
        require_tool("mlir-opt-22")
    return found[0] if found else missing(request.param)


@pytest.mark.parametrize("name", PIPELINES)
def test_every_pass_leaves_its_text(name):
    """By mlir-opt; else the recording, which another test holds to what torch-mlir makes."""
    pipeline = PIPELINES[name]
    found = [tool for tool in tools() if "mlir-opt" in tool]
    text = to_mlir(mm_relu())
    if found:
        done = passed(text, pipeline, found[0])
        assert done.trouble == "" and done.tool.startswith("mlir-opt ")
        states = done.states
    else:
        kept = recording_of(pipeline.prepared(text), pipeline.passes)
        assert kept is not None
        states = [State(*state) for state in states_of(kept)]
    assert [s.passes for s in states] == ["", *pipeline.passes]
    assert all(s.text.startswith("module @mm_relu") for s in states)
    last = states[-1].text
    left = {"fused": "linalg.generic", "loops": "scf.for", "llvm": "llvm.br",
            "vectors": "vector.transfer_read", "transform": "tensor.extract_slice"}  # fmt: skip
    assert left[name] in last
    assert ("linalg." in last) == (name in ("fused", "transform"))


def test_a_pass_that_fails_leaves_what_came_before_and_its_words(tool):
    done = passed(NEEDS_BUFFERS, BROKEN, tool)
    assert [s.passes for s in done.states] == ["", "canonicalize"]
    assert "failed to legalize operation 'bufferization.to_buffer'" in done.trouble
    page = slides(NEEDS_BUFFERS, BROKEN, "broken").text
    assert "2. stopped" in page and "failed to legalize" in page


def test_text_that_cannot_be_read_and_passes_that_do_not_exist(tool):
    assert "expected" in passed("func.func @", PIPELINES["loops"], tool).trouble
    unknown = passed(NEEDS_BUFFERS, Pipeline("", (("no-such-pass", ""),)), tool)
    assert "'no-such-pass' does not refer to a registered pass" in unknown.trouble


def test_a_recording_answers_for_what_was_recorded_and_says_so(without_tools):
    text = to_mlir(mm_relu())
    assert tools() == []
    done = passed(text, PIPELINES["loops"])
    assert done.tool == "torch-mlir 20261001"
    assert "scf.for" in done.states[-1].text
    where = "recorded with torch-mlir 20261001 (any machine, 2026-11-23)"
    assert done.recorded == where and where in slides(text, PIPELINES["loops"], "mm").text
    with pytest.raises(ValueError, match="no tool of MLIR's is here"):
        passed(text.replace("mm_relu", "other"), PIPELINES["loops"])
    with pytest.raises(ValueError, match="torch-mlir is not here; there is: nothing"):
        passed(text, PIPELINES["loops"], "torch-mlir")


def test_a_recording_has_the_form_of_all_others_and_writes_it():
    for path in FOLDER.glob("*.mlir"):
        assert list(read(path).texts)[:2] == [GIVEN, "0"]
        assert str(read(path)) == path.read_text()


def test_slides_mark_what_changed_and_say_what_a_pass_does(without_tools):
    page = slides(to_mlir(mm_relu()), PIPELINES["loops"], "mm_relu")
    assert "3. one-shot-bufferize\ntensors become buffers" in page.text
    assert "−     %2 = linalg.generic" in page.text and "+     %alloc = memref.alloc()" in page.text
    assert page.html.count("<ins>") > 10
    shown = slides(to_mlir(mm_relu()), PIPELINES["llvm"], "mm_relu", longest=20).text
    assert "... and 187 more lines" in shown


def test_names_of_passes_without_their_options():
    assert short("func.func(affine-loop-tile{tile-sizes=2,8,4})") == "affine-loop-tile"


def test_a_schedule_stands_in_the_module():
    pipeline = PIPELINES["transform"]
    text = pipeline.prepared("module @x {\n  func.func @f() {\n    return\n  }\n}\n")
    assert text.startswith("module @x attributes {transform.with_named_sequence} {\n  func.func")
    assert text.endswith("    transform.yield\n  }\n}\n")
    with pytest.raises(ValueError, match="begins with `module`"):
        pipeline.prepared("func.func @f()")


def test_show_a_model_as_mlir(tmp_path, capsys, without_tools):
    onnx = pytest.importorskip("onnx")
    from course_lib.frontend.onnx.write import to_onnx

    model, file = str(tmp_path / "mm.onnx"), tmp_path / "mm.mlir"
    onnx.save(to_onnx(mm_relu()), model)
    show = ["show", model, "--stage", "mlir"]
    assert main([*show, "--json"]) == 0
    printed = capsys.readouterr().out
    assert "linalg.matmul ins(%x, %w" in printed
    assert json.loads(printed.splitlines()[-1])["stage"] == "mlir"
    assert main([*show, "--generic", "-o", str(file)]) == 0
    assert "linalg.generic" in file.read_text() and "linalg.matmul" not in file.read_text()
    assert main([*show, "-o", str(tmp_path / "mm.html")]) == 0
    assert main([*show, "--passes", "loops", "-o", str(tmp_path / "mm.html")]) in (0, 1)
    assert main([*show, "--generic", "--passes", "loops"]) == 1
    assert "no tool of MLIR's is here" in capsys.readouterr().err
    assert main(["show", model, "--passes", "loops"]) == 1
    assert "go with --stage mlir" in capsys.readouterr().err
