"""Where an optional package is missing, whoever needs it says so: what for, and how to get it.

compile(graph)  ->  machine code needs the package llvmlite: pip install 'course-lib[llvm]'
"""

import json
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement

from course_lib.cost.machine import Machine
from course_lib.packages import PACKAGES, MissingPackage, missing
from course_lib.tune.farm import Farm

# Every package is blocked; each line is tried, and what it raises or prints is kept.
TRY_ALL = """
import contextlib, io, json, sys
import numpy as np
sys.modules.update(dict.fromkeys({blocked!r}))
import course_lib
from autograder import check, implements
from course_lib.__main__ import main
from course_lib.bridges.isl import scheduled
from course_lib.peers.onnxruntime import onnxruntime_session
from course_lib.draw.graphs.dot import dot_layout
from course_lib.draw.plots.figure import chart
from course_lib.frontend import coverage, load
from course_lib.ir.graph.build import relu, trace
from course_lib.lower.lower import lower
from course_lib.models import MODELS
from course_lib.plugins.tvm.package import package

graph = trace(relu, "f32[4]")
implements("u00.intensity")(lambda images, inputs, outputs: 1.0)
Module = type("Module", (), {{"state_dict": None}})
for line in {lines!r}:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            result = repr(eval(line))
        except Exception as error:
            result = f"{{type(error).__name__}}: {{error}}"
    print(json.dumps([line, result, said.getvalue()]))
"""
CALLS = {  # what is asked for, and the package that it needs
    "course_lib.compile(graph)": "llvmlite",
    "course_lib.compile(graph, search='kept', target='interpreter')": "llvmlite",
    "MODELS['mlp'].build()": "torch",
    "load(Module(), [np.ones(3)])": "torch",
    "load('model.onnx')": "onnx",
    "coverage()": "onnx",
    "onnxruntime_session('model.onnx')": "onnxruntime",
    "chart('Time', 'size (MB)', 'ms')": "matplotlib",
    "scheduled(lower(graph).steps[0].kernel)": "islpy",
    "package()": "tvm",
    "__import__('course_lib.frontend.onnx.write')": "onnx",
}
COMMANDS = {
    "run mlp": missing("onnx"),
    "run model.onnx": missing("onnx"),
    "look model.onnx": missing("onnx"),
    "quantize model.onnx": missing("onnx"),
    "fma kernel.ll": missing("llvmlite"),
    "tune mlp": missing("llvmlite"),
    "toy -c main --emit affine": missing("xdsl"),
    "npu -m 2 -k 2 -n 2": missing("xdsl"),
    "plug mlp --into tinygrad": missing("tinygrad"),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory) -> dict[str, tuple[str, str]]:
    folder = tmp_path_factory.mktemp("tried")
    for name in ("model.onnx", "kernel.ll"):
        (folder / name).write_bytes(b"")
    lines = [*CALLS, *(f"main({command.split()!r})" for command in COMMANDS)]
    lines += ["check('u00.intensity')", "dot_layout([], [])", "course_lib.compile(graph, "
              "target='interpreter')(np.ones(4, 'f4'))"]  # fmt: skip
    code = TRY_ALL.format(blocked=list(PACKAGES), lines=lines)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {line: (r, s) for line, r, s in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_names_the_package_and_how_to_get_it(tried, call):
    assert tried[call][0] == f"MissingPackage: {missing(CALLS[call])}"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_it_in_one_line(tried, command):
    status, said = tried[f"main({command.split()!r})"]
    assert status == "1" and said.count("\n") == 1, said
    assert said.startswith("error: ") and COMMANDS[command] in said


def test_a_check_says_what_it_needs(tried):
    shown, _ = tried["check('u00.intensity')"]
    assert "needs the package hypothesis: pip install 'course-lib[lab]'" in shown


def test_what_can_do_without_does(tried):
    assert tried["dot_layout([], [])"] == ("None", "")
    assert tried["course_lib.compile(graph, target='interpreter')(np.ones(4, 'f4'))"][0] == (
        "array([1., 1., 1., 1.], dtype=float32)"
    )


def test_a_farm_needs_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackage, match=r"distributed: pip install 'course-lib\[cluster\]'"):
        Farm("", Machine())


def test_every_package_is_in_the_extra_that_is_named(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    for name, package in PACKAGES.items():
        brought = map(Requirement, project["optional-dependencies"][package.extra])
        assert (package.pip or name) in {one.name for one in brought}
